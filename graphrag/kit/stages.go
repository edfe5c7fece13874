// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
)

// The steps of building: the kit counts what a chunk says, texts that are embedded,
// and summaries, and recipes count with [Done] one description of many, one fact of
// those that say the same, and the report on a community.
const (
	stepExtract = "extract"
	stepEmbed   = "embed"
)

// steps are the names of [graphrag.Stage] in the order in which they run.
var steps = []string{stepExtract, stepEmbed, summary.Stage, "describe", "merge", "report"}

// tally counts the pieces of work of the steps of one change.
type tally struct {
	mu     sync.Mutex
	stages map[string]graphrag.Stage
}

type tallyKey struct{}

func withTally(ctx context.Context) (context.Context, *tally) {
	t := &tally{stages: make(map[string]graphrag.Stage)}
	return context.WithValue(ctx, tallyKey{}, t), t
}

// Done counts a piece of work of a step of building, for the statistics of the
// index: err is why the model gave nothing for it, nil if it did. What stands in
// for a missing reply makes the index whole, and the piece has failed all the same.
func Done(ctx context.Context, step string, err error) {
	one := graphrag.Stage{Asked: 1}
	if err != nil {
		one.Failed = 1
		if errors.Is(err, llm.ErrRefused) || errors.Is(err, llm.ErrFiltered) {
			one.Refused = 1
		}
	}
	count(ctx, step, one)
}

func count(ctx context.Context, step string, more graphrag.Stage) {
	t, _ := ctx.Value(tallyKey{}).(*tally)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stages[step]
	t.stages[step] = graphrag.Stage{Name: step, Asked: s.Asked + more.Asked, Failed: s.Failed + more.Failed, Refused: s.Refused + more.Refused, Repaired: s.Repaired + more.Repaired}
}

// list is what was counted, in the order of the steps.
func (t *tally) list() []graphrag.Stage {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []graphrag.Stage
	for _, s := range t.stages {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b graphrag.Stage) int {
		return cmp.Or(cmp.Compare(slices.Index(steps, a.Name), slices.Index(steps, b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// extracted says how the extraction of the chunks went. A chunk has failed if the
// model gave no usable reply for it, or nothing of its replies could be used.
func extracted(g *kg.Graph) graphrag.Stage {
	out := graphrag.Stage{Name: stepExtract, Asked: len(g.Passages)}
	place := make(map[string]int32, len(g.Passages))
	for p := range g.Passages {
		place[g.Passages[p].Chunk] = int32(p)
	}
	kinds := make(map[int32]map[string]bool)
	for _, r := range g.Rejected {
		p := place[r.Chunk]
		if kinds[p] == nil {
			kinds[p] = make(map[string]bool)
		}
		kinds[p][r.Kind] = true
	}
	for p, kind := range kinds {
		switch {
		case kind[kg.ProblemRefused]:
			out.Failed, out.Refused = out.Failed+1, out.Refused+1
		case kind[kg.ProblemChunk], len(g.PassageEntities(p)) == 0:
			out.Failed++
		default:
			out.Repaired++
		}
	}
	return out
}
