// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// maxTerms limits the vocabulary, and so the memory, to the terms that occur in the most texts. It and the
// least document frequency were chosen by evidence recall on all domains of WildGraphBench.
const maxTerms = 50_000

// automaticDim returns the number of dimensions for a corpus of n texts: 7√n, from 384 to 1,024. More texts
// have more subjects to separate. On the single domains of WildGraphBench (209 to 2,936 chunks) 192, 384 and
// 768 dimensions find 48.8, 53.1 and 51.4 % of the gold pages; on all domains together (8,643 chunks) 30.9,
// 40.0 and 47.3 %.
func automaticDim(texts int) int {
	return min(max(int(7*math.Sqrt(float64(texts))), 384), 1024)
}

// LSAOptions describe a model of latent semantic analysis. The zero value is the default.
type LSAOptions struct {
	// Dim is the number of latent dimensions; 0 means 384 for up to 3,000 texts, rising to 1,024 for 21,000. A
	// corpus of a lower rank gets fewer, see [LSA.Dim].
	Dim int
	// Analyzer cuts texts into terms; nil means [text.Default].
	Analyzer text.Analyzer
	// Seed is the seed of the random sketch; any value will do.
	Seed uint64
	// Workers is the number of goroutines; 0 means GOMAXPROCS. It never changes a result.
	Workers int
}

// resolve returns the options with defaults for the number of texts.
func (o LSAOptions) resolve(texts int) (LSAOptions, error) {
	c := opt.Checks{Of: "embed: LSA"}
	opt.Min(&c, "Dim", o.Dim, 0)
	opt.Min(&c, "Workers", o.Workers, 0)
	o.Analyzer = cmp.Or[text.Analyzer](o.Analyzer, text.Default())
	o.Dim = cmp.Or(o.Dim, automaticDim(texts))
	return o, c.Err()
}

// LSA embeds texts by latent semantic analysis (Deerwester, Dumais, Furnas, Landauer and Harshman, JASIS 41(6),
// 1990): the weighted terms of a text, projected onto the leading right singular vectors of a corpus. Terms that
// occur in the same texts fall together, so a text is near to others on its subject also where the words differ.
//
// Weights are (1 + ln tf)·√idf with idf = ln(1 + (N-df+½)/(df+½)). The rows of the corpus are scaled to
// length 1 before the decomposition A = UΣVᵀ. The vector of a text with weights d is Σ^(-1/2)·Vᵀd, scaled
// to length 1: halfway between the plain projection, which the few largest topics rule, and the whitened
// one, which gives noise an equal voice (Caron, "Experiments with LSA Scoring", 2001, studies the
// exponent). A text without any known term is the vector of zeros.
//
// An LSA is immutable and safe for concurrent use.
type LSA struct {
	vocabulary *vocabulary
	analyzer   text.Analyzer
	projection []float32 // one row of dim numbers per term
	dim        int
	workers    int
	name       string
	counters   sync.Pool // pool of *counter
}

var (
	_ Embedder = (*LSA)(nil)
	_ Model    = (*LSA)(nil)
)

// FitLSA builds a model of texts, usually the chunks of the corpus to be searched. Time and memory grow
// with the number of distinct terms per text, the vocabulary and Dim. Equal texts, options and seed give
// equal bytes on one kind of processor, for any number of workers. Errors are about the options, or ctx's.
func FitLSA(ctx context.Context, texts []string, opts LSAOptions) (*LSA, error) {
	opts, err := opts.resolve(len(texts))
	if err != nil {
		return nil, err
	}
	v, bags, err := readCorpus(ctx, opts.Analyzer, texts, opts.Workers)
	if err != nil {
		return nil, fmt.Errorf("embed: fit LSA: %w", err)
	}
	m := newLSA(v, opts)
	corpus := newSparse(v.terms.Len())
	for i, b := range bags {
		if i%grain == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("embed: fit LSA: %w", ctx.Err())
		}
		row, squares := weigh(b, v.rootIDF)
		for i := range row {
			row[i].weight /= math.Sqrt(squares)
		}
		corpus.add(row)
	}
	sigma, right, err := rightSingular(ctx, corpus, opts.Dim, opts.Seed, opts.Workers)
	if err != nil {
		return nil, fmt.Errorf("embed: fit LSA: %w", err)
	}
	m.dim = max(1, len(sigma))
	m.projection = make([]float32, v.terms.Len()*m.dim)
	for i, x := range right {
		m.projection[i] = float32(x / math.Sqrt(sigma[i%m.dim]))
	}
	m.sign()
	return m, nil
}

// newLSA returns a model that still lacks its projection.
func newLSA(v *vocabulary, opts LSAOptions) *LSA {
	m := &LSA{vocabulary: v, analyzer: opts.Analyzer, workers: opts.Workers}
	m.counters.New = func() any {
		return &counter{numbers: v.terms.Lookup(opts.Analyzer)}
	}
	return m
}

// Name returns "lsa" with the dimension and a checksum of the model.
func (m *LSA) Name() string { return m.name }

// Dim returns the length of the vectors: Dim of the options, or the rank of the corpus if that
// is less, but at least 1.
func (m *LSA) Dim() int { return m.dim }

// EmbedDocuments returns a vector for each text, of length 1 or all zeros.
func (m *LSA) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	err := par.Each(ctx, len(texts), m.workers, func(i int) error {
		vectors[i] = m.embed(texts[i])
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("embed: vectors of %d documents by LSA: %w", len(texts), err)
	}
	return vectors, nil
}

// EmbedQuery returns the vector that EmbedDocuments returns for the same text.
func (m *LSA) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed: vector of the query by LSA: %w", err)
	}
	return m.embed(text), nil
}

// embed returns the vector of a text: the sum of its terms' rows of the projection, in ascending order of
// terms, scaled to length 1.
func (m *LSA) embed(s string) []float32 {
	c := m.counters.Get().(*counter)
	defer m.counters.Put(c)
	c.numbers.Trim(maxWords)
	terms, _ := weigh(c.bag(s), m.vocabulary.rootIDF)
	c.cols, c.vals = c.cols[:0], c.vals[:0]
	for _, e := range terms {
		c.cols, c.vals = append(c.cols, e.term), append(c.vals, float32(e.weight))
	}
	sum := make([]float32, m.dim)
	sumRows(sum, m.projection, c.cols, c.vals)
	return vector.Unit(sum)
}

// sign sets the model's name from a checksum of its analyzer, vocabulary and projection.
func (m *LSA) sign() {
	sum := crc32.NewIEEE()
	v := m.vocabulary
	fmt.Fprintf(sum, "%s %d %d\n", m.analyzer.Name(), v.texts, m.dim)
	for i, df := range v.df {
		fmt.Fprintf(sum, "%d %q\n", df, v.terms.At(i))
	}
	for part := range slices.Chunk(m.projection, 1<<14) { // in parts, because binary.Write copies its argument
		_ = binary.Write(sum, binary.LittleEndian, part) // writing to a hash cannot fail
	}
	m.name = fmt.Sprintf("lsa-%d-%08x", m.dim, sum.Sum32())
}

// sparse is a matrix in compressed row format: row i has entries starts[i] to starts[i+1]-1, by column.
type sparse struct {
	cols   int
	starts []int
	col    []int32
	val    []float32
}

func newSparse(cols int) *sparse { return &sparse{cols: cols, starts: []int{0}} }

func (a *sparse) rows() int { return len(a.starts) - 1 }

// add appends a row.
func (a *sparse) add(row []weighted) {
	for _, e := range row {
		a.col = append(a.col, e.term)
		a.val = append(a.val, float32(e.weight))
	}
	a.starts = append(a.starts, len(a.col))
}

// transpose returns the transposed matrix.
func (a *sparse) transpose() *sparse {
	t := &sparse{
		cols:   a.rows(),
		starts: make([]int, a.cols+1),
		col:    make([]int32, len(a.col)),
		val:    make([]float32, len(a.val)),
	}
	for _, c := range a.col {
		t.starts[c+1]++
	}
	for i := range a.cols {
		t.starts[i+1] += t.starts[i]
	}
	next := append([]int(nil), t.starts...)
	for i := range a.rows() {
		for k := a.starts[i]; k < a.starts[i+1]; k++ {
			at := next[a.col[k]]
			next[a.col[k]]++
			t.col[at], t.val[at] = int32(i), a.val[k]
		}
	}
	return t
}

// mul computes out = a·x, where x and out are dense matrices of width columns. One goroutine computes each row
// of out, in the order of the columns: the result does not depend on the number of goroutines. The only errors
// are the context's.
func mul[F float](ctx context.Context, a *sparse, out, x []F, width, workers int) error {
	return par.Ranges(ctx, a.rows(), grain, workers, func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			start, end := a.starts[i], a.starts[i+1]
			sumRows(out[i*width:(i+1)*width], x, a.col[start:end], a.val[start:end])
		}
		return nil
	})
}

// operator is a sparse matrix that package matrix can decompose.
type operator struct {
	matrix, transposed *sparse
	workers            int
}

func (o operator) Dims() (rows, cols int) { return o.matrix.rows(), o.matrix.cols }

func (o operator) Mul(ctx context.Context, out, x []float64, width int) error {
	return mul(ctx, o.matrix, out, x, width, o.workers)
}

func (o operator) MulT(ctx context.Context, out, x []float64, width int) error {
	return mul(ctx, o.transposed, out, x, width, o.workers)
}

func (o operator) MulSingle(ctx context.Context, out, x []float32, width int) error {
	return mul(ctx, o.matrix, out, x, width, o.workers)
}

func (o operator) MulTSingle(ctx context.Context, out, x []float32, width int) error {
	return mul(ctx, o.transposed, out, x, width, o.workers)
}

// powerIterations is scikit-learn's default. With 5 iterations the nearest neighbours of texts are as near as
// by the exact decomposition; with 2, two of the ten nearest neighbours differ.
const powerIterations = 5

// rightSingular returns the leading singular values of a and its right singular vectors.
func rightSingular(ctx context.Context, a *sparse, rank int, seed uint64, workers int) (sigma, v []float64, err error) {
	sigma, _, v, err = matrix.Truncated(ctx, operator{a, a.transpose(), workers}, rank, powerIterations, seed)
	return sigma, v, err
}

// float is the type of a matrix's numbers.
type float interface{ float32 | float64 }

// sumRows computes out = Σ vals[k]·(row cols[k] of x), in the order of k; the rows of x are as long as out. In
// single precision, sumFirst computes as many components as it can. Each product and sum is rounded by itself,
// so that all processors give the same bits.
func sumRows[F float](out, x []F, cols []int32, vals []float32) {
	width, done := len(out), 0
	for _, c := range cols {
		_ = x[int(c)*width : (int(c)+1)*width] // bounds check, which the assembly does not make
	}
	if single, ok := any(out).([]float32); ok {
		done = sumFirst(single, any(x).([]float32), cols, vals[:len(cols)])
	}
	sumRest(out, done, x, cols, vals)
}

// sumRest computes the components of out from the index from on.
func sumRest[F float](out []F, from int, x []F, cols []int32, vals []float32) {
	width := len(out)
	out = out[from:]
	clear(out)
	row := func(k int) []F { return x[int(cols[k])*width+from:][:len(out)] }
	for ; len(cols) >= 4; cols, vals = cols[4:], vals[4:] { // four at a time, still in order
		a, b, c, d := row(0), row(1), row(2), row(3)
		va, vb, vc, vd := F(vals[0]), F(vals[1]), F(vals[2]), F(vals[3])
		for i := range out {
			out[i] = out[i] + F(va*a[i]) + F(vb*b[i]) + F(vc*c[i]) + F(vd*d[i])
		}
	}
	for k := range cols {
		row, val := row(k), F(vals[k])
		for i, f := range row {
			out[i] += F(val * f)
		}
	}
}
