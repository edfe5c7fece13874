// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Stored searches the chunks in a table of a store, which are records made by [store.RecordOf]. A search is two
// calls of the table: for the hits, and for their records. A chunk that is deleted in between is left out.
type Stored struct {
	Table store.Table
	// Where is a condition on the chunks (see [store.TextQuery]).
	Where graphrag.Condition
	// Effort is the effort of searches by vectors (see [store.VectorQuery]).
	Effort float64
}

// Sparse returns a retriever that ranks the chunks by their words. It is a [Batch].
func (s Stored) Sparse() graphrag.Retriever {
	return stored{s.Table, "bm25", func(ctx context.Context, qs []graphrag.Question) ([][]store.Hit, error) {
		queries := make([]store.TextQuery, len(qs))
		for i, q := range qs {
			queries[i] = store.TextQuery{Text: q.Text, K: q.Want(), Where: s.Where}
		}
		return s.Table.SearchText(ctx, queries...)
	}}
}

// Dense returns a retriever that ranks the chunks by the similarity of their vectors to the vector of the
// question. The embedder must be the one that made the vectors. A question that the embedder maps to zeros
// finds nothing. The retriever is a [Batch].
func (s Stored) Dense(e embed.Embedder) graphrag.Retriever {
	return stored{s.Table, "dense", func(ctx context.Context, qs []graphrag.Question) ([][]store.Hit, error) {
		rows := make([][]float32, len(qs))
		err := each(ctx, len(qs), func(i int) (err error) {
			rows[i], err = embed.Query(ctx, e, qs[i].Text)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("embed a question: %w", err)
		}
		return askFor(len(qs), func(i int) bool { return rows[i] != nil }, func(asked []int) ([][]store.Hit, error) {
			queries := make([]store.VectorQuery, len(asked))
			for i, at := range asked {
				queries[i] = store.VectorQuery{Vector: rows[at], K: qs[at].Want(), Where: s.Where, Effort: s.Effort}
			}
			return s.Table.SearchVectors(ctx, queries...)
		})
	}}
}

// stored is a retriever that searches a table.
type stored struct {
	table  store.Table
	source string
	search func(ctx context.Context, qs []graphrag.Question) ([][]store.Hit, error)
}

func (s stored) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	return retrieveOne(ctx, s, q)
}

// RetrieveAll implements [Batch]. Questions with a limit of 0 are not sent.
func (s stored) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	answers, err := askFor(len(qs), func(i int) bool { return qs[i].Want() > 0 }, func(asked []int) ([][]store.Hit, error) {
		these := make([]graphrag.Question, len(asked))
		for i, at := range asked {
			these[i] = qs[at]
		}
		return s.search(ctx, these)
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("retrieve: %s: %w", s.source, err)
	}
	chunks, err := s.chunks(ctx, answers)
	if err != nil {
		return nil, err
	}
	out := make([]graphrag.Found, len(qs))
	for i, hits := range answers {
		out[i] = graphrag.Nothing()
		for _, h := range hits {
			if c, ok := chunks[h.ID]; ok {
				out[i].Ranked = append(out[i].Ranked, graphrag.Hit{Chunk: c, Score: h.Score, Source: s.source})
			}
		}
	}
	return out, nil
}

// askFor calls ask once for the wanted ones of n queries, if there are any, and returns the answers by the
// index of the query.
func askFor(n int, wanted func(i int) bool, ask func(asked []int) ([][]store.Hit, error)) ([][]store.Hit, error) {
	var asked []int
	for i := range n {
		if wanted(i) {
			asked = append(asked, i)
		}
	}
	out := make([][]store.Hit, n)
	if len(asked) == 0 {
		return out, nil
	}
	answers, err := ask(asked)
	if err == nil && len(answers) != len(asked) {
		err = fmt.Errorf("the store returned %d answers to %d queries", len(answers), len(asked))
	}
	if err != nil {
		return nil, err
	}
	for i, at := range asked {
		out[at] = answers[i]
	}
	return out, nil
}

// chunks returns the chunks of all hits, by ID.
func (s stored) chunks(ctx context.Context, answers [][]store.Hit) (map[string]graphrag.Chunk, error) {
	var ids []string
	chunks := make(map[string]graphrag.Chunk)
	for _, hits := range answers {
		for _, h := range hits {
			if _, ok := chunks[h.ID]; !ok {
				ids = append(ids, h.ID)
				chunks[h.ID] = graphrag.Chunk{}
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	records, err := s.table.Get(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("retrieve: %s: records of hits: %w", s.source, err)
	}
	clear(chunks) // chunks deleted since the search are left out
	for _, r := range records {
		if chunks[r.ID], err = r.Chunk(); err != nil {
			return nil, err
		}
	}
	return chunks, nil
}
