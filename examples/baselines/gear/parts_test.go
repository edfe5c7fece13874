// SPDX-License-Identifier: Apache-2.0

package gear_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
)

// faraway is a store whose triples are those of an index, each stated by two sources.
type faraway struct {
	store.Triples
	ix    *triples.Index
	calls *atomic.Int64
	short bool // it answers all queries but one
}

func (f faraway) SearchTriples(_ context.Context, queries ...store.TextQuery) ([][]store.TripleHit, error) {
	f.calls.Add(1)
	out := make([][]store.TripleHit, len(queries))
	for i, q := range queries {
		for _, h := range f.ix.Search(q.Text, q.K, nil) {
			out[i] = append(out[i], store.TripleHit{Triple: store.Triple{Triple: f.ix.Triple(h.ID)}, Score: -h.Score}) // no two engines score alike
		}
	}
	if f.short {
		return out[1:], nil
	}
	return out, nil
}

func (f faraway) Neighbors(_ context.Context, entities []string, o store.Near) ([][]store.Triple, error) {
	out := make([][]store.Triple, len(entities))
	for i, e := range entities {
		for n := range f.ix.Len() {
			if t := f.ix.Triple(int32(n)); t.Head.ID == e || t.Tail.ID == e && !t.Literal {
				out[i] = append(out[i], store.Triple{Triple: t, Source: "a"}, store.Triple{Triple: t, Source: "b"})
			}
		}
		out[i] = out[i][:min(len(out[i]), o.Limit)]
	}
	return out, nil
}

// counted counts the calls of a retriever of many questions.
type counted struct {
	graphrag.Retriever
	calls *atomic.Int64
}

func (c counted) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	c.calls.Add(1)
	return c.Retriever.Retrieve(ctx, q)
}

func (c counted) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	c.calls.Add(1)
	return retrieve.All(ctx, c.Retriever, qs)
}

// knowing is a graph that knows the passages of its triples.
type knowing struct {
	gear.Graph
	passages []graphrag.Chunk
	calls    *atomic.Int64
}

func (g knowing) Link(ctx context.Context, texts []string, k int) ([]gear.Links, error) {
	g.calls.Add(1)
	return g.Graph.Link(ctx, texts, k)
}

func (g knowing) Stated(_ context.Context, passages []graphrag.Chunk) ([][]int32, error) {
	g.calls.Add(1)
	return make([][]int32, len(passages)), nil
}

func (g knowing) Sources(_ context.Context, list []int32) ([]graphrag.Found, error) {
	g.calls.Add(1)
	out := make([]graphrag.Found, len(list))
	for i := range out {
		out[i].Ranked = []graphrag.Hit{{Chunk: g.passages[i%len(g.passages)]}}
	}
	return out, nil
}

// parts are those of the films, whose calls are counted.
func parts(t *testing.T, k kit.Kit, graph func() gear.Graph, calls *atomic.Int64) gear.Parts {
	t.Helper()
	var chunks []graphrag.Chunk
	for _, d := range films {
		chunks = append(chunks, graphrag.Chunk{ID: d.ID + "#0", Doc: d.ID, Text: d.Text})
	}
	words := check.Of(retrieve.NewSparse(t.Context(), chunks, bm25.Options{K1: 4.46, B: .82, TitleWeight: 2})).OK(t)
	return gear.Parts{Passages: counted{words, calls}, Align: counted{words, calls}, Graph: graph, Kit: k}
}

// Over a store the search reaches what it reaches over an index in memory.
func TestStored(t *testing.T) {
	ix := elsewhere(t, "Edward Cahn\tlived in\tHollywood", "Edward Cahn\tdirector of\tLaughter in Hell", "Hollywood\tin\tLos Angeles",
		"Edward Cahn\tborn in\tBrooklyn", "Oslo\tin\tNorway", "Pacific oyster\tstudied in\tHell Gate")
	found := func(graph func() gear.Graph) (ids, expanded []string) {
		t.Helper()
		r := check.Of(gear.Over(parts(t, baselinestest.OfflineKit(t), graph, new(atomic.Int64)), gear.Options{Expand: gear.ExpandAlways})).OK(t)
		f := check.Of(r.Retrieve(t.Context(), question)).OK(t)
		for _, h := range f.Ranked {
			ids = append(ids, h.Chunk.Doc)
		}
		for _, s := range f.Steps {
			if s.Kind == "expand" {
				expanded = append(expanded, s.Found...)
			}
		}
		return ids, expanded
	}
	ids, expanded := found(gear.Indexed(ix))
	check.Must(t, slices.Contains(ids, "cahn") && slices.Contains(expanded, "Hollywood in Los Angeles"), "over an index: %v by %v", ids, expanded)
	storedIDs, storedExpanded := found(gear.Stored(faraway{ix: ix, calls: new(atomic.Int64)}))
	slices.Sort(expanded) // equal scores go by number, and those of a store by when they are met
	slices.Sort(storedExpanded)
	check.Equal(t, [][]string{storedIDs, storedExpanded}, [][]string{ids, expanded})
}

// A step takes four calls at most beside those for neighbors, however many triples
// were read and reached.
func TestRoundTrips(t *testing.T) {
	lines := []string{"Laughter in Hell\tdirector\tEdward Cahn"}
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("Edward Cahn\tfilm\tDrama %d", i))
	}
	ix := elsewhere(t, lines...)
	for _, original := range []bool{false, true} {
		var calls atomic.Int64
		graph := gear.Stored(faraway{ix: ix, calls: &calls})
		if original {
			graph = func() gear.Graph {
				return knowing{gear.Indexed(ix)(), []graphrag.Chunk{{ID: "cahn#0", Doc: "cahn"}, {ID: "film#0", Doc: "film"}}, &calls}
			}
		}
		const steps = 3
		m := model(99)
		r := check.Of(gear.Over(parts(t, baselinestest.ModelKit(t, m), graph, &calls),
			gear.Options{Original: original, Expand: gear.ExpandAlways, Steps: steps, LinkShare: .1})).OK(t)
		f := check.Of(r.Retrieve(t.Context(), question)).OK(t)
		reached := 0
		for _, s := range f.Steps {
			if s.Kind == "expand" {
				reached += len(s.Found)
			}
		}
		reflected := baselinestest.Stages(m)[gear.StageReflect]
		check.Must(t, reached >= steps*10 && reflected == steps-1, "original %t: %d triples were reached in %d steps", original, reached, reflected+1)
		n := calls.Load()
		check.True(t, n <= 4*steps, "original %t: %d calls of graph and passages in %d steps", original, n, steps)
	}
}

func TestPartsAreChecked(t *testing.T) {
	_, err := gear.Over(gear.Parts{}, gear.Options{Graph: wiki(t), Steps: -1})
	for _, want := range []string{"Passages", "Align", "Graph is missing", "Find", "for New", "Steps", "Triples"} {
		check.Fails(t, err, want, "the error")
	}
	p := parts(t, baselinestest.OfflineKit(t), gear.Indexed(wiki(t)), new(atomic.Int64))
	_, err = gear.Over(p, gear.Options{Original: true})
	check.Fails(t, err, "Sourced", "the original takes a graph of no passages")
	// What answers for less than it was asked is an error and no panic.
	p.Graph = gear.Stored(faraway{ix: wiki(t), calls: new(atomic.Int64), short: true})
	r := check.Of(gear.Over(p, gear.Options{Expand: gear.ExpandAlways})).OK(t)
	_, err = r.Retrieve(t.Context(), question)
	check.Fails(t, err, "texts", "a store with missing results")
}
