// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Index is a BM25 index, in memory or in a folder whose files are mapped into memory. It is immutable and safe
// for concurrent use.
type Index struct {
	inverted
	alone *Collection // a collection of this index only
}

func newIndex(o Options, terms *text.Vocabulary, lengths []uint32) *Index {
	ix := &Index{inverted: newInverted(o, terms, lengths)}
	ix.alone = collect([]*Index{ix})
	return ix
}

// Len returns the number of documents.
func (ix *Index) Len() int { return len(ix.lengths) }

// Analyzer returns the analyzer of the texts.
func (ix *Index) Analyzer() text.Analyzer { return ix.options.Analyzer }

// alike returns an error if the options of two indexes differ or the indexes have too many documents together.
func alike(parts []*Index) error {
	settings := func(ix *Index) string {
		o := ix.options
		return fmt.Sprintf("k1 %g, b %g, titles %d, analyzer %s", o.K1, o.B, o.TitleWeight, o.Analyzer.Name())
	}
	total := 0
	for i, p := range parts {
		if a, b := settings(parts[0]), settings(p); a != b {
			return fmt.Errorf("index %d has other options than the first: %s and %s", i+1, b, a)
		}
		total += p.Len()
	}
	if total > math.MaxInt32 {
		return fmt.Errorf("%d documents: split them over several indexes of at most %d", total, math.MaxInt32)
	}
	return nil
}

// The defaults of [Options]: k1 and b follow Robertson and Zaragoza, "The Probabilistic Relevance
// Framework: BM25 and Beyond" (2009), section 3.2, as Lucene has them.
const (
	DefaultK1 = 1.2
	DefaultB  = 0.75
)

// Zero is the value of K1 or B that means 0, because 0 itself means the default. No score differs in any digit
// from the score with a true 0.
const Zero = 1e-30

// Options of an index. The zero value means k1 1.2 and b 0.75, English stems without stop words, and no titles.
type Options struct {
	// K1 is the saturation of term frequencies: the larger it is, the more repetitions count; 0 means
	// [DefaultK1].
	K1 float64
	// B is the normalization by length, at most 1; 0 means [DefaultB].
	B float64
	// Analyzer cuts texts, titles and queries into terms; nil means [text.Default].
	Analyzer text.Analyzer
	// TitleWeight counts a title as if its words occurred that many times more in the text of each chunk, in
	// term frequencies and in lengths. 0 means that titles do not count.
	TitleWeight int
}

// Plain returns the options of the plain definition, for comparison with baselines: k1 1.2, b 0.75,
// [text.Plain] words, no title.
func Plain() Options {
	return Options{K1: DefaultK1, B: DefaultB, Analyzer: text.Plain()}
}

// maxTitleWeight is the largest TitleWeight with which no term frequency overflows.
const maxTitleWeight = 1000

// Defaults returns the options with defaults for zero values.
func (o Options) Defaults() Options {
	o.K1, o.B = cmp.Or(o.K1, DefaultK1), cmp.Or(o.B, DefaultB)
	return o
}

// resolve returns the options with their defaults, and an error that lists all invalid ones.
func (o Options) resolve() (Options, error) {
	c := opt.Checks{Of: "bm25"}
	opt.Min(&c, "K1", o.K1, 0)
	opt.Range(&c, "B", o.B, 0, 1)
	opt.Range(&c, "TitleWeight", o.TitleWeight, 0, maxTitleWeight)
	o = o.Defaults()
	o.Analyzer = cmp.Or[text.Analyzer](o.Analyzer, text.Default())
	return o, c.Err()
}

// The kind and the version in the header of an index that is saved as a folder.
const (
	folderKind    = "bm25"
	folderVersion = 1
)

// folderMeta is the metadata in the header of an index folder.
type folderMeta struct {
	K1          float64 `json:"k1"`
	B           float64 `json:"b"`
	TitleWeight int     `json:"title_weight"`
	Analyzer    string  `json:"analyzer"`
	// Large lists the frequencies of 255 and more, as [term, document, frequency].
	Large [][3]uint32 `json:"large"`
}

// Open opens a folder that [Merge] wrote without reading all of it: its arrays are mapped into memory. The
// analyzer must be the one that the index was built with; nil means [text.Default]. For a folder that is not an
// index, incomplete or of another version, the error wraps [ErrFolder].
func Open(dir string, a text.Analyzer) (*Index, error) {
	var meta folderMeta
	folder, err := flat.Open(dir, folderKind, folderVersion, &meta)
	if err != nil {
		return nil, fmt.Errorf("bm25: open index: %w", err)
	}
	ix, err := open(folder, meta, a)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("bm25: open index: %s: %w", dir, err), folder.Close())
	}
	return ix, nil
}

// ErrFolder is wrapped by the errors of [Open] for folders that are damaged or not an index.
var ErrFolder = flat.ErrFormat

func open(folder *flat.Folder, meta folderMeta, a text.Analyzer) (*Index, error) {
	o, err := Options{K1: meta.K1, B: meta.B, TitleWeight: meta.TitleWeight, Analyzer: a}.resolve()
	if err != nil {
		return nil, err
	}
	if name := o.Analyzer.Name(); name != meta.Analyzer {
		return nil, fmt.Errorf("it was built with the analyzer %q, not %q: open it with that analyzer, or build it again", meta.Analyzer, name)
	}
	var errs []error
	lengths := view[uint32](folder, "lengths", &errs)
	arena, ends := view[byte](folder, "terms", &errs), view[int](folder, "ends", &errs)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var terms text.Vocabulary
	terms.Map(arena, ends)
	ix := newIndex(o, &terms, lengths)
	ix.folder = folder
	ix.entries, ix.blocks = view[entry](folder, "entries", &errs), view[block](folder, "blocks", &errs)
	ix.docs, ix.tfs = view[uint16](folder, "docs", &errs), view[uint8](folder, "tfs", &errs)
	ix.columns, ix.maxima = view[uint8](folder, "columns", &errs), view[float32](folder, "maxima", &errs)
	for _, l := range meta.Large {
		ix.large[key(int(l[0]), l[1])] = l[2]
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	err = ix.fits()
	folder.Scattered() // from here on, pages are read in no order
	return ix, err
}

func view[T any](f *flat.Folder, name string, errs *[]error) []T {
	v, err := flat.View[T](f, name)
	if err != nil {
		*errs = append(*errs, err)
	}
	return v
}

// fits returns an error unless the lengths of the arrays agree.
func (ix *Index) fits() error {
	columns := uint64(0)
	for _, e := range ix.entries {
		if e.blocks == 0 {
			columns = max(columns, uint64(e.first)+1)
		}
	}
	if len(ix.entries) != ix.terms.Len() || len(ix.blocks) == 0 || ix.blocks[len(ix.blocks)-1].start != uint64(len(ix.docs)) ||
		len(ix.docs) != len(ix.tfs) || uint64(len(ix.columns)) != columns*uint64(len(ix.lengths)) || uint64(len(ix.maxima)) != columns*uint64(ix.windows()) {
		return fmt.Errorf("%w: the lengths of its arrays disagree; build the index again", ErrFolder)
	}
	return nil
}

// Close releases an index that [Open] returned. An index in memory needs no Close.
func (ix *Index) Close() error {
	if ix.folder == nil {
		return nil
	}
	return ix.folder.Close()
}

// The least and the most bytes of text in a batch; each worker gets about one batch. More batches would keep
// processors busier, but every batch builds its own vocabulary.
const (
	leastBytes = 1 << 20
	mostBytes  = 1 << 26
)

// Build indexes the texts of the chunks, and their titles if TitleWeight is above 0. A document is numbered by
// its index in chunks, whereas kg.Graph numbers passages by chunk ID. Build uses GOMAXPROCS goroutines; the
// index does not depend on their number. A cancelled build returns the context's error.
func Build(ctx context.Context, chunks []graphrag.Chunk, o Options) (*Index, error) {
	return build(ctx, len(chunks), func(i int) (string, string) { return chunks[i].Title, chunks[i].Text }, o, mostBytes)
}

// BuildTexts is [Build] for texts without titles.
func BuildTexts(ctx context.Context, texts []string, o Options) (*Index, error) {
	return BuildList(ctx, text.Strings(texts), o)
}

// BuildList is [BuildTexts] for texts that are generated on demand. Each text is read at most twice.
func BuildList(ctx context.Context, texts text.List, o Options) (*Index, error) {
	return build(ctx, texts.Len(), func(i int) (string, string) { return "", texts.At(i) }, o, mostBytes)
}

// build indexes n texts, which at returns, in batches of at most about most bytes.
func build(ctx context.Context, n int, at func(i int) (title, text string), o Options, most int) (*Index, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("bm25: build: %d texts: split them over several indexes of at most %d", n, math.MaxInt32)
	}
	batches, err := analyze(ctx, n, at, o, most)
	if err != nil {
		return nil, fmt.Errorf("bm25: build: %w", err)
	}
	ix, err := invert(ctx, n, batches, o)
	if err != nil {
		return nil, fmt.Errorf("bm25: build: %w", err)
	}
	return ix, nil
}

// batch is the analysis of consecutive documents. Terms are numbered within the batch, in order of occurrence.
type batch struct {
	first    uint32   // number of the first document
	lengths  []uint32 // number of terms of each document
	terms    *text.Vocabulary
	postings []posting         // grouped by term
	ends     []uint32          // by term: index in postings after its last one
	large    map[uint64]uint32 // frequencies of largeTF or more by key, whose documents count from first
}

// analyze cuts the documents into batches and analyzes them concurrently.
func analyze(ctx context.Context, n int, at func(int) (string, string), o Options, most int) ([]*batch, error) {
	starts, share := cut(n, at, most)
	batches := make([]*batch, len(starts)-1)
	err := par.Each(ctx, len(batches), 0, func(b int) error {
		a := newAnalysis(ctx, o, starts[b], share/bytesOfPosting)
		for i := starts[b]; i < starts[b+1]; i++ {
			a.document(at(i))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		batches[b] = a.done()
		return nil
	})
	return batches, err
}

// measured is the most texts that are read to estimate the sizes of batches, because a text.List may generate a
// text on every read.
const measured = 1 << 8

// cut returns the first document of each batch followed by n, and the estimated bytes per batch. It measures
// every step-th text and assumes that the texts between are as long.
func cut(n int, at func(int) (string, string), most int) (starts []int, share int) {
	step := n/measured + 1
	sizes := make([]int, 0, min(n, measured))
	total := 0
	for i := 0; i < n; i += step {
		_, body := at(i)
		sizes = append(sizes, step*len(body))
		total += step * len(body)
	}
	share = min(max(total/par.Workers(0), leastBytes), most)
	size := share
	for i, s := range sizes {
		if size >= share || (i+1)*step-starts[len(starts)-1] > mostBatch {
			starts, size = append(starts, i*step), 0
		}
		size += s
	}
	return append(starts, n), min(share, total)
}

// analysis is the state of building a batch.
type analysis struct {
	batch
	titleWeight uint32
	numbers     *text.Numbering
	found       []uint64 // postings with their term number in the upper 32 bits
	ctx         context.Context
	count       func(terms []int32) bool // the method countTerms, stored once to avoid allocations
	last        []uint64                 // by term + 1 (0 for none): last document + 1 in the upper 32 bits, index in seen in the lower
	seen        []found                  // terms of the current document
	distinct    int                      // number of terms in seen
	weight      uint32                   // 1 for a word of the text, titleWeight for one of the title
}

// found is a term of the current document with its frequency.
type found struct {
	term int32
	tf   uint32
}

// bytesOfPosting is an estimate of the bytes of text per posting, for the size of buffers: 8 in short passages
// of web pages, 14 in long ones.
const bytesOfPosting = 8

func newAnalysis(ctx context.Context, o Options, first, postings int) *analysis {
	a := &analysis{ctx: ctx, numbers: new(text.Vocabulary).Numbering(o.Analyzer), titleWeight: uint32(o.TitleWeight)}
	a.batch = batch{first: uint32(first), terms: a.numbers.Terms(), large: map[uint64]uint32{}}
	a.found = make([]uint64, 0, postings)
	a.count = a.countTerms
	return a
}

// document adds the next document to the batch.
func (a *analysis) document(title, body string) {
	a.weight = 1
	a.numbers.Text(body, a.count)
	if a.titleWeight > 0 {
		a.weight = a.titleWeight
		a.numbers.Text(title, a.count)
	}
	doc, length := uint32(len(a.lengths)), uint32(0)
	for i, f := range a.seen[:a.distinct] {
		a.seen[i].tf = 0
		if f.term < 0 {
			continue
		}
		length += f.tf
		if f.tf >= largeTF {
			a.large[key(int(f.term), doc)] = f.tf
		}
		a.found = append(a.found, uint64(f.term)<<32|uint64(doc<<tfBits|min(f.tf, largeTF)))
	}
	a.lengths, a.distinct = append(a.lengths, length), 0
}

// countTerms counts terms of the current document. It returns false once the context is cancelled, since a
// document may be large.
func (a *analysis) countTerms(terms []int32) bool {
	doc := uint64(len(a.lengths)) + 1
	a.last = atLeast(a.last, a.terms.Len()+1)
	a.seen = atLeast(a.seen, a.distinct+len(terms))
	last, all, n, weight := a.last, a.seen, uint64(a.distinct), a.weight
	for _, t := range terms { // without branches, because whether a term repeats is unpredictable
		was := last[t+1]
		again := ((was>>32 ^ doc) - 1) >> 63 // 1 if the term is in this document already
		at := n ^ (n^was&math.MaxUint32)&-again
		last[t+1] = doc<<32 | at
		f := &all[at]
		f.term = t
		f.tf += weight
		n += 1 - again
	}
	a.distinct = int(n)
	return a.ctx.Err() == nil
}

// atLeast returns the list with a length of at least n.
func atLeast[T any](list []T, n int) []T {
	if n <= len(list) {
		return list
	}
	list = slices.Grow(list, max(n-len(list), len(list)))
	return list[:cap(list)]
}

// done returns the batch, with its postings sorted by term.
func (a *analysis) done() *batch {
	b := a.batch
	b.postings, b.ends = make([]posting, len(a.found)), make([]uint32, a.terms.Len())
	for _, x := range a.found {
		b.ends[x>>32]++
	}
	start := uint32(0)
	for t, df := range b.ends {
		b.ends[t] = start
		start += df
	}
	for _, x := range a.found {
		to := &b.ends[x>>32]
		b.postings[*to] = posting(x)
		*to++
	}
	return &b
}

// posting is a document, counted from the first of its batch, and the frequency of a term in the lowest tfBits
// bits; largeTF means that the frequency is stored separately.
type posting uint32

const (
	tfBits    = 8
	mostBatch = 1 << (32 - tfBits) // most documents of a batch
)

func (p posting) doc() uint32 { return uint32(p) >> tfBits }
func (p posting) tf() uint32  { return uint32(p) & largeTF }
