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

// Workers analyze texts in batches of so many bytes. Large batches stem a word less often and
// leave less to be put together, small ones spread better over the processors: each has two.
const (
	leastBatch = 1 << 20
	mostBatch  = 1 << 26
)

// Build indexes the texts of the chunks, and their titles where the options
// say so. Documents of the index are positions in chunks. Work is spread over
// GOMAXPROCS goroutines; the index does not depend on their number. A
// cancelled build returns the context's error.
func Build(ctx context.Context, chunks []graphrag.Chunk, o Options) (*Index, error) {
	return build(ctx, len(chunks), func(i int) (string, string) { return chunks[i].Title, chunks[i].Text }, o, mostBatch)
}

// BuildTexts is [Build] for texts without titles.
func BuildTexts(ctx context.Context, texts []string, o Options) (*Index, error) {
	return BuildList(ctx, text.Strings(texts), o)
}

// BuildList is [BuildTexts] for texts that are made when they are read, which each is at
// most twice.
func BuildList(ctx context.Context, texts text.List, o Options) (*Index, error) {
	return build(ctx, texts.Len(), func(i int) (string, string) { return "", texts.At(i) }, o, mostBatch)
}

// build indexes n texts that at returns, in batches of about the given size at most.
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
func analyze(ctx context.Context, n int, at func(int) (string, string), o Options, most int) ([]*batch, error) {
	starts, share := cut(n, at, most)
	batches := make([]*batch, len(starts)-1)
	progress := progressOf(o.Progress, n)
	err := par.Each(ctx, len(batches), 0, func(b int) error {
		a := newAnalysis(ctx, o, share/bytesOfPosting)
		told := starts[b]
		for i := starts[b]; i < starts[b+1]; i++ {
			a.document(at(i))
			if err := ctx.Err(); err != nil {
				return err
			}
			if a.read > leastBatch || i+1 == starts[b+1] {
				progress(i + 1 - told)
				told, a.read = i+1, 0
			}
		}
		only := a.batch // without what it was made with
		batches[b] = &only
		return nil
	})
	return batches, err
}

// measured is of how many texts at most the length is taken, to cut them into batches: some
// are only made when they are read.
const measured = 1 << 12

// cut returns where the batches of documents start, and n, and about how many bytes they have:
// as many as if those between the measured ones were of their lengths.
func cut(n int, at func(int) (string, string), most int) (starts []int, share int) {
	step := n/measured + 1
	sizes := make([]int, 0, min(n, measured))
	total := 0
	for i := 0; i < n; i += step {
		_, body := at(i)
		sizes = append(sizes, step*len(body))
		total += step * len(body)
	}
	share = min(max(total/(2*par.Workers(0)), leastBatch), most)
	size := share
	for i, s := range sizes {
		if size >= share {
			starts, size = append(starts, i*step), 0
		}
		size += s
	}
	return append(starts, n), min(share, total)
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
	titleWeight uint32
	numbers     *text.Numbering
	ctx         context.Context
	read        int                      // bytes since progress was told
	count       func(terms []int32) bool // countTerms, bound once
	last        []place                  // of each term
	weight      uint32                   // what the word being read counts
	length      uint32
}

// place is where a term was last.
type place struct {
	doc     uint32 // from 1
	posting uint32
}

// bytesOfPosting is about how much text has a posting: of web pages 10 bytes in short
// passages, and 16 in long ones.
const bytesOfPosting = 10

func newAnalysis(ctx context.Context, o Options, postings int) *analysis {
	a := &analysis{ctx: ctx, numbers: text.NewNumbering(o.Analyzer), titleWeight: uint32(o.TitleWeight)}
	a.terms, a.postings = a.numbers.Terms(), make([]posting, 0, postings)
	a.count = a.countTerms
	return a
}

// document adds one document.
func (a *analysis) document(title, body string) {
	a.read += len(body)
	a.length = 0
	a.weight = 1
	a.numbers.Text(body, a.count)
	if a.titleWeight > 0 {
		a.weight = a.titleWeight
		a.numbers.Text(title, a.count)
	}
	a.ends = append(a.ends, len(a.postings))
	a.lengths = append(a.lengths, a.length)
}

// countTerms counts terms of the document. It stops the reading when the context has ended:
// a document may be large.
func (a *analysis) countTerms(terms []int32) bool {
	doc := uint32(len(a.ends)) + 1
	for _, t := range terms {
		if t < 0 {
			continue
		}
		if int(t) == len(a.last) {
			a.last = append(a.last, place{})
			a.counts = append(a.counts, 0)
		}
		a.length += a.weight
		if last := &a.last[t]; last.doc == doc {
			a.postings[last.posting].tf += a.weight
		} else {
			*last = place{doc, uint32(len(a.postings))}
			a.counts[t]++
			a.postings = append(a.postings, posting{uint32(t), a.weight})
		}
	}
	return a.ctx.Err() == nil
}
