// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"fmt"
	"slices"
)

// Contribution is what one term of a query adds to a document's score.
type Contribution struct {
	Term      string
	Times     int // how often the query has it
	Frequency int // how often the document has it
	Documents int // how many documents have it
	IDF       float64
	Score     float64 // Times · IDF · the saturated frequency
}

// Explain returns the contributions of a query's terms to the score of a
// document, largest first; their sum is the score. Terms that the document
// does not have are left out.
func (ix *Index) Explain(query string, doc int) ([]Contribution, error) {
	if doc < 0 || doc >= ix.Len() {
		return nil, fmt.Errorf("bm25: explain document %d: the index has documents 0 to %d", doc, ix.Len()-1)
	}
	return ix.alone.explain(query, 0, doc), nil
}

// Explain is [Index.Explain] of a document of an index, with its score among all.
func (c *Collection) Explain(query string, part int, doc int32) ([]Contribution, error) {
	if part < 0 || part >= len(c.parts) {
		return nil, fmt.Errorf("bm25: explain a document of index %d: there are %d", part, len(c.parts))
	}
	if n := len(c.parts[part].ix.lengths); doc < 0 || int(doc) >= n {
		return nil, fmt.Errorf("bm25: explain document %d of index %d: it has documents 0 to %d", doc, part, n-1)
	}
	return c.explain(query, part, int(doc)), nil
}

// explain is [Collection.Explain] of a document that is there.
func (c *Collection) explain(query string, part, doc int) (cs []Contribution) {
	s, p := c.ask(query), c.parts[part]
	defer s.done()
	for _, q := range s.query {
		id := int(q.ids[part])
		if id < 0 {
			continue
		}
		tf := float64(p.ix.termFrequency(id, uint32(doc)))
		if tf == 0 {
			continue
		}
		cs = append(cs, Contribution{
			Term: string(p.ix.terms.At(id)), Times: int(q.times), Frequency: int(tf),
			Documents: int(q.df), IDF: c.idf(q.df),
			Score: q.times * c.options.weight(c.documents, q.df) * tf / (tf + float64(p.norms[doc])),
		})
	}
	slices.SortStableFunc(cs, func(a, b Contribution) int { return cmp.Compare(b.Score, a.Score) })
	return cs
}
