// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// exactly is the largest number of vectors that are all compared. Of more, a share is, and recall says what it finds.
var exactly = 500_000

// dimOf is the length of the vectors of an embedder.
func dimOf(ctx context.Context, k Kit, e embed.Embedder) (int, error) {
	if k.Dim > 0 {
		return k.Dim, nil
	}
	row, err := e.EmbedQuery(ctx, "length")
	return len(row), err
}

// stored ranks the chunks that meet a condition.
func (s *System) stored(p *pinned, where graphrag.Condition) graphrag.Retriever {
	t := retrieve.Stored{Table: p.chunks, Where: where, Effort: 1}
	if p.contents.Chunks > exactly {
		t.Effort = 0
	}
	r := t.Sparse()
	if s.tables.embedder != nil {
		r = t.Dense(s.tables.embedder)
	}
	r, _ = retrieve.PerDoc(r, s.frame.MaxPerDoc) // it was checked
	return s.frame.reranked(r)
}

// measure sets the recall of searches by vectors, again when the chunks have doubled or halved: the ten nearest of
// some chunks, as a question finds them and of all.
func (s *System) measure(ctx context.Context, p *pinned) error {
	const samples, nearest = 32, 10
	c := &p.contents
	switch {
	case s.tables.embedder == nil || c.Chunks <= exactly:
		c.Recall, c.Measured = 0, 0
		return nil
	case c.Recall > 0 && c.Chunks < 2*c.Measured && 2*c.Chunks > c.Measured:
		return nil
	}
	if err := p.generation.Flush(ctx); err != nil {
		return err
	}
	var asked []store.VectorQuery
	n := 0
	for r, err := range p.chunks.All(ctx, "") {
		if err != nil {
			return err
		}
		if n++; n%max(1, c.Chunks/samples) == 0 {
			asked = append(asked, store.VectorQuery{Vector: r.Vector, K: nearest})
		}
	}
	approximate, err := p.chunks.SearchVectors(ctx, asked...)
	if err != nil {
		return err
	}
	for i := range asked {
		asked[i].Effort = 1
	}
	exact, err := p.chunks.SearchVectors(ctx, asked...)
	found, all := 0, 0
	for i, hits := range exact {
		all += len(hits)
		for _, h := range hits {
			if slices.ContainsFunc(approximate[i], func(a store.Hit) bool { return a.ID == h.ID }) {
				found++
			}
		}
	}
	c.Recall, c.Measured = float64(found)/float64(max(all, 1)), c.Chunks
	return err
}

// records are chunks as the table has them.
func (s *System) records(ctx context.Context, chunks []graphrag.Chunk) ([]store.Record, error) {
	records := make([]store.Record, len(chunks))
	for i, c := range chunks {
		records[i] = store.RecordOf(c)
	}
	if s.tables.embedder == nil {
		return records, nil
	}
	i := 0
	for rows, err := range embed.Batches(ctx, s.tables.embedder, retrieve.TitledTexts(chunks)) {
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			records[i].Vector = row
			i++
		}
	}
	return records, nil
}
