// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/trace"
)

// Scorer scores how well passages answer a question: a number for each, the larger the
// better. [local.Reranker] is one.
//
// [local.Reranker]: https://pkg.go.dev/github.com/wildgraph/wildgraph/graphrag/embed/local#Reranker
type Scorer interface {
	Scores(ctx context.Context, question string, passages []string) ([]float64, error)
}

// rerankDepth is how many chunks a retriever is asked for, so that there is something to
// choose from: as many as cost about a second with a BERT of six layers on two cores.
const rerankDepth = 50

// Rerank returns a retriever that has the chunks of another one in the order of their
// scores, with their titles before them: both what is ranked and what a system selected
// as evidence. Equal scores keep their order.
func Rerank(of graphrag.Retriever, by Scorer) graphrag.Retriever { return reranked{of, by} }

type reranked struct {
	of graphrag.Retriever
	by Scorer
}

func (r reranked) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	asked := q
	asked.Depth = max(q.Want(), rerankDepth)
	found, err := r.of.Retrieve(ctx, asked)
	if err != nil || len(found.Ranked)+len(found.Evidence) == 0 {
		return found, err
	}
	var passages []string
	at := make(map[string]int) // evidence is often ranked too
	for _, h := range slices.Concat(found.Ranked, found.Evidence) {
		text := Titled(h.Chunk)
		if _, ok := at[text]; !ok {
			at[text] = len(passages)
			passages = append(passages, text)
		}
	}
	scores, err := trace.Do(ctx, "rerank", func(ctx context.Context) ([]float64, error) { return r.by.Scores(ctx, q.Text, passages) }, slog.Int("wildgraph.passages", len(passages)))
	if err != nil {
		return found, fmt.Errorf("retrieve: rerank: %w", err)
	}
	if len(scores) != len(passages) {
		return found, fmt.Errorf("retrieve: rerank: %d scores for %d passages", len(scores), len(passages))
	}
	order := func(hits []graphrag.Hit) []graphrag.Hit {
		hits = slices.Clone(hits)
		for i := range hits {
			hits[i].Score = scores[at[Titled(hits[i].Chunk)]]
		}
		slices.SortStableFunc(hits, func(a, b graphrag.Hit) int { return cmp.Compare(b.Score, a.Score) })
		return hits
	}
	found.Ranked, found.Evidence = order(found.Ranked), order(found.Evidence)
	return found, nil
}
