// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// defaultHashingDim keeps collisions rare enough for texts of some hundred
// distinct terms. On WildGraphBench recall falls by three points of a hundred
// with half of it, by eight with a quarter.
const defaultHashingDim = 4096

// HashingOptions describe a [Hashing] embedder. The zero value is the default.
type HashingOptions struct {
	// Dim is the length of the vectors; 0 means 4,096.
	Dim int
	// Analyzer makes the terms; nil means [text.Default].
	Analyzer text.Analyzer
	// Workers is the number of goroutines; 0 means GOMAXPROCS. It never
	// changes a result.
	Workers int
}

func (o HashingOptions) resolve() (HashingOptions, error) {
	c := opt.Checks{Of: "embed: hashing"}
	opt.Min(&c, "Dim", o.Dim, 0)
	opt.Min(&c, "Workers", o.Workers, 0)
	if o.Analyzer == nil {
		o.Analyzer = text.Default()
	}
	o.Dim = cmp.Or(o.Dim, defaultHashingDim)
	return o, c.Err()
}

// Hashing embeds texts by feature hashing (Weinberger, Dasgupta, Langford,
// Smola and Attenberg, "Feature Hashing for Large Scale Multitask Learning",
// ICML 2009): every term is added to, or by the sign of its hash subtracted
// from, a component that its hash chooses. The dot product of two texts is
// then that of their weighted terms, plus noise that falls with Dim.
//
// Weights are 1 + ln tf. Vectors have length 1; a text without terms is the vector
// of zeros. Unlike [LSA] it knows every word, and no two words as related.
//
// A Hashing is immutable and safe for concurrent use.
type Hashing struct {
	opts     HashingOptions
	name     string
	counters sync.Pool // of *counter
}

var (
	_ Embedder = (*Hashing)(nil)
	_ Model    = (*Hashing)(nil)
)

// NewHashing returns an embedder that needs no corpus.
func NewHashing(opts HashingOptions) (*Hashing, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	h := &Hashing{opts: opts}
	h.counters.New = func() any {
		return &counter{analyzer: opts.Analyzer, numbers: text.NewNumbering(opts.Analyzer)}
	}
	h.name = fmt.Sprintf("hashing-%d-%08x", opts.Dim, crc32.ChecksumIEEE([]byte(opts.Analyzer.Name())))
	return h, nil
}

// Name is "hashing" and the options.
func (h *Hashing) Name() string { return h.name }

// Dim is the length of the vectors.
func (h *Hashing) Dim() int { return h.opts.Dim }

// EmbedDocuments returns a vector of length 1, or of zeros, for each text.
func (h *Hashing) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return embedAll(ctx, h.opts.Workers, texts, h.embed)
}

// EmbedQuery treats the question like a document.
func (h *Hashing) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return embedOne(ctx, text, h.embed)
}

// embed adds up in the order in which the terms occur first.
func (h *Hashing) embed(s string) []float32 {
	c := h.counters.Get().(*counter)
	defer h.counters.Put(c)
	sum := make([]float32, h.opts.Dim)
	c.count(s, func(n, count int32) {
		term := c.numbers.Terms().At(int(n))
		weight := float32(termWeight(count, 1))
		hash := hashTerm(term)
		if hash&1 == 1 {
			weight = -weight
		}
		sum[hash>>1%uint64(len(sum))] += weight
	})
	c.numbers.Trim(maxWords)
	return unit(sum)
}

// hashTerm is FNV-1a with the finisher of SplitMix64 (Steele, Lea and Flood,
// OOPSLA 2014), because the low bits of FNV alone are poor. Vectors that were
// stored depend on it: it does not change.
func hashTerm(term []byte) uint64 {
	x := uint64(14695981039346656037)
	for i := range len(term) {
		x = (x ^ uint64(term[i])) * 1099511628211
	}
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
