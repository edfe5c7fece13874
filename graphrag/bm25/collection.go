// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Collection is several indexes that are searched as one: its scores, to the bit, and its order equal the
// results of the index that [Merge] makes of them. The numbers of documents and words and the average length
// count all documents, including documents that keep excludes from a search, but not documents outside of a
// [Collection.Limit]. It is immutable and safe for concurrent use as long as its indexes are open.
type Collection struct {
	options   Options
	parts     []member
	windows   []int32   // by window: the part that contains it
	numbers   int       // number of documents in all indexes
	documents int       // number of documents that count in scores
	average   float64   // average length of these documents in terms
	few       bool      // so few documents are within the limit that each is looked up
	among     bool      // the limit does not change scores
	searchers sync.Pool // pool of *searcher
}

// member is an index in a collection.
type member struct {
	ix     *inverted
	number int
	first  int32   // number of its first document in the collection
	window int     // number of its first window in the collection
	shrink float32 // at most the ratio of any norm to that document's norm in its own index
	// norms holds the norms of each window for the average length of the collection, computed when the window
	// is first searched. It is nil if the index has the same average.
	norms []atomic.Pointer[windowNorms]
	limit
}

type windowNorms [windowSize]float32

// most returns the upper bound of a saturation with the average length of the collection, for the bound s with
// the average length of the member.
//
// The norm k1·(1-b+b·l/avg) of a length l is n for o, the average of the member, and n' for c, the average of
// the collection. With r = min(1, o/c) it is n' ≥ r·n, since l/c ≥ r·l/o and 1-b ≥ r·(1-b). So a saturation
// tf/(tf+n'), which falls with the norm, is at most tf/(tf+r·n) = t/(t+r·(1-t)) for t = tf/(tf+n), which grows
// with t, and t ≤ s.
func (p member) most(s float32) float32 {
	if p.shrink == 1 {
		return s
	}
	return s / (s + p.shrink*(1-s))
}

// NewCollection returns a collection of indexes that have the same options. There may be none, and empty ones.
// The norms take four bytes per document, or none if there is one index.
func NewCollection(parts ...*Index) (*Collection, error) {
	if err := alike(parts); err != nil {
		return nil, fmt.Errorf("bm25: collection: %w", err)
	}
	return collect(parts), nil
}

func collect(indexes []*Index) *Collection {
	c := &Collection{parts: make([]member, len(indexes))}
	total := 0.0
	for i, ix := range indexes {
		c.options = ix.options
		c.parts[i] = member{ix: &ix.inverted, number: i, first: int32(c.numbers), window: len(c.windows)}
		for range ix.windows() {
			c.windows = append(c.windows, int32(i))
		}
		c.numbers += ix.Len()
		total += ix.total
	}
	c.weigh(c.numbers, total)
	return c
}

// weigh sets the number and the average length of the documents, and what depends on them.
func (c *Collection) weigh(documents int, total float64) {
	if c.documents = documents; documents > 0 {
		c.average = total / float64(documents)
	}
	for i := range c.parts {
		p := &c.parts[i]
		p.norms, p.shrink = nil, 1
		if own := p.ix.average; own != c.average {
			p.norms = make([]atomic.Pointer[windowNorms], p.ix.windows())
			if own > 0 {
				p.shrink = float32(min(1, own/c.average))
			}
		}
	}
	c.searchers.New = func() any { return newSearcher(c) }
}

// Found is a document in the result of a search.
type Found struct {
	Part  int   // position of its index in the collection
	Doc   int32 // number of the document in that index
	Score float64
}

// Search searches all indexes as [Index.Search] searches one, among the documents for which keep returns true;
// nil means all. keep must return the same result for a document each time, and is called only for documents
// whose score may be among the k best. Documents of equal score are in the order of their indexes. All
// documents that tie with the k-th are returned, so that a caller can reorder ties without a second search.
func (c *Collection) Search(query string, k int, keep func(part int, doc int32) bool, dst []Found) []Found {
	dst = dst[:0]
	if c.documents == 0 {
		return dst
	}
	s := c.ask(query)
	s.keep, s.tied = c.within(keep), true
	s.found = s.search(k, s.found[:0])
	for _, f := range s.found {
		p := &c.parts[sort.Search(len(c.parts), func(i int) bool { return c.parts[i].first > f.ID })-1]
		dst = append(dst, Found{p.number, f.ID - p.first, f.Score})
	}
	s.done() // not deferred: after a panic in keep the searcher is discarded
	return dst
}

// Scores writes the scores of the given documents of one index to dst: 0 without a term of the query, else
// exactly the score that [Collection.Search] returns. The documents must ascend.
func (c *Collection) Scores(query string, part int, docs []int32, dst []float64) []float64 {
	dst = slices.Grow(dst[:0], len(docs))[:len(docs)]
	s := c.ask(query)
	defer s.done()
	s.few = append(s.few[:0], make([]float32, len(docs))...)
	s.sumUp(&c.parts[part], docs)
	for i, sum := range s.few {
		dst[i] = float64(sum)
	}
	return dst
}

// Whole is [Index.Whole] for all indexes as one.
func (c *Collection) Whole(query string) float64 {
	if c.documents == 0 {
		return 0
	}
	s := c.ask(query)
	defer s.done()
	sum := 0.0
	for _, q := range s.query {
		sum += q.times * c.idf(q.df)
	}
	return sum
}

// idf returns the inverse document frequency of a term that df documents contain.
func (c *Collection) idf(df uint32) float64 { return idf(c.documents, df) }

// idf is ln(1+(N-df+1/2)/(df+1/2)), which is always positive.
func idf(documents int, df uint32) float64 {
	return math.Log1p((float64(documents) - float64(df) + 0.5) / (float64(df) + 0.5))
}

// weight returns the factor of the saturation of a term that occurs once in the query and in df documents.
func (o *Options) weight(documents int, df uint32) float64 { return idf(documents, df) * (o.K1 + 1) }
