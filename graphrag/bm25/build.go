// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// batchBytes is how much text one worker analyzes at a time. Large batches
// stem a word less often, small ones spread better over the processors.
const batchBytes = 8 << 20

// Build indexes the texts of the chunks, and their titles where the options
// say so. Documents of the index are positions in chunks. Work is spread over
// GOMAXPROCS goroutines; the index does not depend on their number. A
// cancelled build returns the context's error.
func Build(ctx context.Context, chunks []graphrag.Chunk, o Options) (*Index, error) {
	return build(ctx, len(chunks), func(i int) (string, string) { return chunks[i].Title, chunks[i].Text }, o, batchBytes)
}

// BuildTexts is [Build] for texts without titles.
func BuildTexts(ctx context.Context, texts []string, o Options) (*Index, error) {
	return build(ctx, len(texts), func(i int) (string, string) { return "", texts[i] }, o, batchBytes)
}

// build indexes n texts that at returns, in batches of at least the given size.
func build(ctx context.Context, n int, at func(i int) (title, text string), o Options, batchBytes int) (*Index, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("bm25: build: %d texts: split them over several indexes of at most %d", n, math.MaxInt32)
	}
	batches, err := analyze(ctx, n, at, o, batchBytes)
	if err != nil {
		return nil, fmt.Errorf("bm25: build: %w", err)
	}
	ix, err := invert(ctx, n, batches, o)
	if err != nil {
		return nil, fmt.Errorf("bm25: build: %w", err)
	}
	return ix, nil
}

// posting says how often a term is in a document.
type posting struct{ term, tf uint32 }

// batch is the analysis of a run of documents. Terms are numbered within the
// batch, in the order of their first appearance.
type batch struct {
	terms    *text.Vocabulary
	postings []posting // document by document
	ends     []int     // ends[i] is where the postings of the batch's document i end
	counts   []uint32  // how many documents have each term
	lengths  []uint32  // in terms
}

// analyze cuts the documents into batches and analyzes them concurrently.
func analyze(ctx context.Context, n int, at func(int) (string, string), o Options, batchBytes int) ([]*batch, error) {
	var starts []int
	for i, size := 0, batchBytes; i < n; i++ {
		if size >= batchBytes {
			starts, size = append(starts, i), 0
		}
		_, body := at(i)
		size += len(body)
	}
	batches := make([]*batch, len(starts))
	progress := progressOf(o.Progress, n)
	err := par.Each(ctx, len(starts), 0, func(b int) error {
		end := n
		if b+1 < len(starts) {
			end = starts[b+1]
		}
		a := newAnalysis(ctx, o)
		for i := starts[b]; i < end; i++ {
			a.document(at(i))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		batches[b] = &a.batch
		progress(end - starts[b])
		return nil
	})
	return batches, err
}

// progressOf adds up what the workers report.
func progressOf(report func(done, total int), total int) func(more int) {
	if report == nil {
		return func(int) {}
	}
	var mu sync.Mutex
	done := 0
	return func(more int) {
		mu.Lock()
		defer mu.Unlock()
		done += more
		report(done, total)
	}
}

// analysis is a batch in the making.
type analysis struct {
	batch
	analyzer    text.Analyzer
	titleWeight uint32
	numbers     *text.Numbering
	ctx         context.Context
	words       int                    // read so far
	count       func(word []byte) bool // countWord, bound once
	last        []place                // of each term
	weight      uint32                 // what the word being read counts
	length      uint32
}

// place is where a term was last.
type place struct {
	doc     uint32 // from 1
	posting uint32
}

func newAnalysis(ctx context.Context, o Options) *analysis {
	a := &analysis{ctx: ctx, analyzer: o.Analyzer, numbers: text.NewNumbering(o.Analyzer), titleWeight: uint32(o.TitleWeight)}
	a.terms = a.numbers.Terms()
	a.count = a.countWord
	return a
}

// document adds one document.
func (a *analysis) document(title, body string) {
	a.length = 0
	a.weight = 1
	a.analyzer.Words(body, a.count)
	if a.titleWeight > 0 {
		a.weight = a.titleWeight
		a.analyzer.Words(title, a.count)
	}
	a.ends = append(a.ends, len(a.postings))
	a.lengths = append(a.lengths, a.length)
}

// stride is the number of words between two looks at the context: a document may
// be large.
const stride = 1 << 14

// countWord counts one word of the document. It stops the reading when the
// context has ended.
func (a *analysis) countWord(word []byte) bool {
	if a.words++; a.words%stride == 0 && a.ctx.Err() != nil {
		return false
	}
	t := a.numbers.Number(word)
	if t < 0 {
		return true
	}
	if int(t) == len(a.last) {
		a.last = append(a.last, place{})
		a.counts = append(a.counts, 0)
	}
	a.length += a.weight
	last := &a.last[t]
	if doc := uint32(len(a.ends)) + 1; last.doc != doc {
		*last = place{doc, uint32(len(a.postings))}
		a.counts[t]++
		a.postings = append(a.postings, posting{uint32(t), a.weight})
		return true
	}
	a.postings[last.posting].tf += a.weight
	return true
}
