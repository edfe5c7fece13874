// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// StepSearch is the kind of the steps of [Iterate]: each has its query.
const StepSearch = "search"

// Next says what to look for next, given the question and what was found so far;
// "" ends the search. What it costs goes into the usage.
type Next func(ctx context.Context, q graphrag.Question, sofar graphrag.Found) (query string, usage graphrag.Usage, err error)

// Iterate returns a retriever that retrieves for the question and then, at most
// steps times in all, for the queries that next makes of what was found. A chunk
// has the best of its scores over the steps (IRCoT in HippoRAG, src/ircot), so the
// scores of r must compare between queries.
func Iterate(r graphrag.Retriever, next Next, steps int) (graphrag.Retriever, error) {
	var errs []error
	if r == nil {
		errs = append(errs, fmt.Errorf("retrieve: Iterate: %w", errMissing))
	}
	if next == nil {
		errs = append(errs, errors.New("retrieve: Iterate: the function for the next query is missing"))
	}
	if steps < 1 {
		errs = append(errs, fmt.Errorf("retrieve: Iterate: %d steps, want 1 or more", steps))
	}
	return iterated{r, next, steps}, errors.Join(errs...)
}

type iterated struct {
	r     graphrag.Retriever
	next  Next
	steps int
}

func (it iterated) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	var all []graphrag.Found
	var sofar graphrag.Found
	asked := q
	for step := 1; ; step++ {
		found, err := it.r.Retrieve(ctx, asked)
		if err != nil {
			return graphrag.Found{}, fmt.Errorf("retrieve: step %d: %w", step, err)
		}
		found.Steps = append([]graphrag.Step{{Kind: StepSearch, Query: asked.Text, Found: chunkIDs(found.Read(q))}}, found.Steps...)
		all = append(all, found)
		if sofar, err = merge(all, q.Want(), rank.CombMAX); err != nil {
			return graphrag.Found{}, fmt.Errorf("retrieve: step %d: %w", step, err)
		}
		if step == it.steps {
			return sofar, nil
		}
		query, usage, err := it.next(ctx, q, sofar)
		if err != nil {
			return graphrag.Found{}, fmt.Errorf("retrieve: after step %d: %w", step, err)
		}
		all[len(all)-1].Usage = found.Usage.Add(usage)
		if query == "" {
			sofar.Usage = sofar.Usage.Add(usage)
			return sofar, nil
		}
		asked.Text = query
	}
}

func chunkIDs(hits []graphrag.Hit) []string {
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = h.Chunk.ID
	}
	return out
}
