// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Stages of DRIFT in accounts.
const (
	StageHyde   = "hypothetical answer"
	StagePrimer = "primer"
	StageStep   = "follow-up"
)

// The words of what the model writes; the code says about 2,000 characters of an
// intermediate answer.
const (
	hydeWords   = 500
	primerWords = 350
	stepWords   = 500
)

// primed are the reports nearest to a hypothetical answer.
func (d *drift) primed(ctx context.Context, question string) ([]int32, error) {
	if len(d.global.shuffled) == 0 {
		return nil, nil
	}
	like, err := d.way.hypothetical(ctx, question)
	if err != nil {
		return nil, err
	}
	likeness, err := d.global.texts.Scores(ctx, like, nil)
	order := slices.Sorted(slices.Values(d.global.shuffled))
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(likeness[b], likeness[a]) })
	return order[:min(len(order), d.o.Reports)], err
}

// root is the question with the first reports.
func (d *drift) root(question string, reports []int32) action {
	root := action{query: question}
	for _, r := range reports {
		of := d.global.reportOf(r)
		root.derived = append(root.derived, of)
		root.docs = append(root.docs, of.Docs...)
	}
	slices.Sort(root.docs)
	root.docs = slices.Compact(root.docs)
	return root
}

// split divides a list into so many parts of nearly equal length, fewer if there
// is less.
func split(list []int32, parts int) [][]int32 {
	var out [][]int32
	for i := range parts {
		lo, hi := i*len(list)/parts, (i+1)*len(list)/parts
		if lo < hi {
			out = append(out, list[lo:hi])
		}
	}
	return out
}

// step answers one question by local search.
func (d *drift) step(ctx context.Context, query string, q graphrag.Question) (action, error) {
	a := action{query: query}
	entities, order, err := d.local.search(ctx, query)
	if err != nil {
		return a, err
	}
	a.ranked = d.corpus.InOrder(order, q.Want(), NameDrift)
	return a, d.way.answer(ctx, q.Text, &a, entities, order)
}

// quoting takes the steps without a model: the titles of the best reports are the
// follow-ups, and what was found is read as it is.
type quoting struct{ *drift }

func (w quoting) hypothetical(_ context.Context, question string) (string, error) {
	return question, nil
}

func (w quoting) prime(ctx context.Context, root *action, folds [][]int32) error {
	for _, fold := range folds {
		root.next = append(root.next, root.query+" "+w.global.reports.Reports[fold[0]].Title)
	}
	return ctx.Err()
}

func (w quoting) answer(ctx context.Context, _ string, _ *action, _, _ []int32) error {
	return ctx.Err()
}

func (w quoting) read(q graphrag.Question, root action, _ []action, ranked []graphrag.Hit) graphrag.Found {
	return graphrag.Found{Ranked: ranked, Evidence: w.local.read(ranked, q), Derived: w.fit(root.derived)}
}
