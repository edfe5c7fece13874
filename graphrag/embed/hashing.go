// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// DefaultHashingDim keeps collisions rare enough for texts of some hundred
// distinct terms. On WildGraphBench recall falls by three points of a hundred
// with half of it, by eight with a quarter.
const DefaultHashingDim = 4096

// HashingOptions describe a [Hashing] embedder. The zero value is the default.
type HashingOptions struct {
	// Dim is the length of the vectors; 0 means [DefaultHashingDim].
	Dim int
	// Analyzer makes the terms; the zero value is English.
	Analyzer text.Options
	// MaxTerms bounds the terms whose document frequency [FitHashing] keeps;
	// rarer ones count as new. 0 means [DefaultMaxTerms].
	MaxTerms int
	// Workers is the number of goroutines; 0 means GOMAXPROCS. It never
	// changes a result.
	Workers int
}

func (o HashingOptions) check() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int
	}{{"Dim", o.Dim}, {"MaxTerms", o.MaxTerms}, {"Workers", o.Workers}} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("embed: hashing: %s is %d, want 0 or more", f.name, f.value))
		}
	}
	return errors.Join(errs...)
}

func (o HashingOptions) withDefaults() HashingOptions {
	if o.Dim == 0 {
		o.Dim = DefaultHashingDim
	}
	if o.MaxTerms == 0 {
		o.MaxTerms = DefaultMaxTerms
	}
	return o
}

// Hashing embeds texts by feature hashing (Weinberger, Dasgupta, Langford,
// Smola and Attenberg, "Feature Hashing for Large Scale Multitask Learning",
// ICML 2009): every term is added to, or by the sign of its hash subtracted
// from, a component that its hash chooses. The dot product of two texts is
// then that of their weighted terms, plus noise that falls with Dim.
//
// Weights are those of [LSA]; without a corpus, 1 + ln tf. Vectors have
// length 1; a text without terms is the vector of zeros. Unlike LSA it knows
// every word, and no two words as related.
//
// A Hashing is immutable and safe for concurrent use.
type Hashing struct {
	opts       HashingOptions
	vocabulary *vocabulary // nil without a corpus
	rootIDF    []float64
	newTerm    float64 // root of the idf of a term in no text
	name       string
	counters   sync.Pool // of *counter
}

var (
	_ Embedder = (*Hashing)(nil)
	_ Model    = (*Hashing)(nil)
)

// NewHashing returns an embedder that needs no corpus.
func NewHashing(opts HashingOptions) (*Hashing, error) {
	h, _, err := newHashing(opts)
	return h, err
}

// FitHashing returns an embedder that weighs terms by their document
// frequency in texts. The error is about the options or that of ctx.
func FitHashing(ctx context.Context, texts []string, opts HashingOptions) (*Hashing, error) {
	h, a, err := newHashing(opts)
	if err != nil {
		return nil, err
	}
	v, _, err := readCorpus(ctx, a, texts, h.opts.MaxTerms, 1, opts.Workers)
	if err != nil {
		return nil, fmt.Errorf("embed: fit hashing: %w", err)
	}
	h.vocabulary, h.rootIDF = v, v.rootIDF()
	h.newTerm = math.Sqrt(idf(0, v.texts))
	sum := crc32.New(castagnoli)
	for i, term := range v.terms {
		fmt.Fprintf(sum, "%s %d\n", term, v.df[i])
	}
	h.name = fmt.Sprintf("%s-%d-%08x", h.name, v.texts, sum.Sum32())
	return h, nil
}

func newHashing(opts HashingOptions) (*Hashing, *text.Analyzer, error) {
	if err := opts.check(); err != nil {
		return nil, nil, err
	}
	a, err := text.New(opts.Analyzer)
	if err != nil {
		return nil, nil, fmt.Errorf("embed: hashing: %w", err)
	}
	h := &Hashing{opts: opts.withDefaults(), newTerm: 1}
	h.counters.New = func() any { return newCounter(a) }
	h.name = fmt.Sprintf("hashing-%d-%08x", h.opts.Dim,
		crc32.Checksum(fmt.Appendf(nil, "%+v", a.Options()), castagnoli))
	return h, a, nil
}

// Name is "hashing", the options, and for a fitted embedder the number of
// texts and a checksum of the frequencies.
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
		term := c.terms[n]
		rootIDF := h.newTerm
		if h.vocabulary != nil {
			if number, ok := h.vocabulary.numbers[term]; ok {
				rootIDF = h.rootIDF[number]
			}
		}
		weight := float32(termWeight(count, rootIDF))
		hash := hashTerm(term)
		if hash&1 == 1 {
			weight = -weight
		}
		sum[hash>>1%uint64(len(sum))] += weight
	})
	c.trim()
	return unit(sum)
}

// hashTerm is FNV-1a with the finisher of SplitMix64 (Steele, Lea and Flood,
// OOPSLA 2014), because the low bits of FNV alone are poor. Vectors that were
// stored depend on it: it does not change.
func hashTerm(term string) uint64 {
	x := uint64(14695981039346656037)
	for i := range len(term) {
		x = (x ^ uint64(term[i])) * 1099511628211
	}
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
