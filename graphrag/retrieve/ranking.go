// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"cmp"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Ranking makes ranked hits of chunks that a system scored or ordered itself.
type Ranking struct {
	// Chunks are those of the corpus; scores and places refer to them.
	Chunks []graphrag.Chunk
	// PerDoc limits the chunks of one document; 0 is no limit.
	PerDoc int
}

// ByScore returns the n best chunks with a score above 0, best first, equal ones
// in the order of the chunks. scores has one entry for each chunk.
func (r Ranking) ByScore(scores []float64, n int, source string) []graphrag.Hit {
	var order []int32
	if r.PerDoc == 0 { // the first n are enough
		var top rank.Top[int32]
		top.Reset(min(max(n, 0), len(scores)))
		for i, s := range scores {
			if s > 0 {
				top.Push(int32(i), s)
			}
		}
		for _, s := range top.Append(nil) {
			order = append(order, s.ID)
		}
		return r.hits(order, n, source, func(i int32, _ int) float64 { return scores[i] })
	}
	for i, s := range scores {
		if s > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return r.hits(order, n, source, func(i int32, _ int) float64 { return scores[i] })
}

// InOrder returns the first n chunks of an order that has no scores: each is worth
// one over its rank.
func (r Ranking) InOrder(order []int32, n int, source string) []graphrag.Hit {
	return r.hits(order, n, source, func(_ int32, rank int) float64 { return 1 / float64(rank) })
}

func (r Ranking) hits(order []int32, n int, source string, score func(i int32, rank int) float64) []graphrag.Hit {
	out := []graphrag.Hit{}
	limit := newLimit(r.PerDoc)
	for _, i := range order {
		if len(out) >= n {
			break
		}
		if c := r.Chunks[i]; limit.take(c.Doc) {
			out = append(out, graphrag.Hit{Chunk: c, Score: score(i, len(out)+1), Source: source})
		}
	}
	return out
}

// limit counts the chunks of each document.
type limit struct {
	perDoc int
	taken  map[string]int // nil without a limit
}

func newLimit(perDoc int) limit {
	if perDoc == 0 {
		return limit{}
	}
	return limit{perDoc, make(map[string]int)}
}

// take tells whether one more chunk of a document may be taken, and counts it.
func (l limit) take(doc string) bool {
	if l.taken == nil {
		return true
	}
	l.taken[doc]++
	return l.taken[doc] <= l.perDoc
}

// Titled is the title of a chunk, a line break, and its text: what is compared
// with questions.
func Titled(c graphrag.Chunk) string {
	if c.Title == "" {
		return c.Text
	}
	return c.Title + "\n" + c.Text
}

// TitledTexts are the texts of chunks with their titles.
func TitledTexts(chunks []graphrag.Chunk) text.List {
	return text.NewList(len(chunks), func(i int) string { return Titled(chunks[i]) })
}

// byID orders chunks.
func byID(a, b graphrag.Chunk) int { return cmp.Compare(a.ID, b.ID) }
