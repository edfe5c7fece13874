// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

func allTriples(t *testing.T, ts store.Triples, after string) (all []store.Triple) {
	t.Helper()
	for x, err := range ts.AllTriples(t.Context(), after) {
		must(t, err)
		all = append(all, x)
	}
	return all
}

func byID(list []store.Triple) []store.Triple {
	return slices.SortedFunc(slices.Values(list), func(a, b store.Triple) int {
		if a.ID() < b.ID() {
			return -1
		}
		return 1
	})
}

// Triples are one if the same source states the same, and are found by their words.
func testTriples(t *testing.T, s *suite) {
	_, g, _ := s.generation(t)
	ts := g.Triples()
	facts := []store.Triple{
		fact("Fram", "designed by", "Colin Archer", "r1"),
		fact("Fram", "designed by", "Colin Archer", "r2"),
		fact("Fram", "sailed to", "Antarctica", "r1"),
		fact("Roald Amundsen", "led", "Antarctic expedition", "r3"),
		fact("a", "is", "a", ""), // a cycle of one
	}
	value := fact("Fram", "built in", "Fram", "r1")
	value.Literal = true
	facts = append(facts, value)
	must(t, ts.PutTriples(t.Context(), facts...))
	must(t, g.Flush(t.Context()))
	must(t, ts.PutTriples(t.Context(), facts[0]))
	heavier := facts[2]
	heavier.Weight = 7
	must(t, ts.PutTriples(t.Context(), facts[2], heavier))
	must(t, ts.DeleteTriples(t.Context(), facts[3].ID(), "nothing"))
	must(t, g.Flush(t.Context()))
	want := byID([]store.Triple{facts[0], facts[1], heavier, facts[4], value})
	if diff := cmp.Diff(want, allTriples(t, ts, "")); diff != "" {
		t.Errorf("all triples: %s", diff)
	}
	if diff := cmp.Diff(want[2:], allTriples(t, ts, want[1].ID())); diff != "" {
		t.Errorf("from the third on: %s", diff)
	}
	if n, err := ts.CountTriples(t.Context()); n != 5 || err != nil {
		t.Errorf("%d triples, %v; want 5", n, err)
	}
	hits, err := ts.SearchTriples(t.Context(), store.TextQuery{Text: "who designed Fram?", K: 2}, store.TextQuery{Text: "Amundsen", K: 9})
	must(t, err)
	for i, n := range []int{2, 0} {
		if len(hits[i]) != n {
			t.Errorf("query %d: %d triples, want %d: %v", i, len(hits[i]), n, hits[i])
		}
	}
	if len(hits[0]) == 2 && (hits[0][0].Tail.ID != "Colin Archer" || hits[0][0].ID() > hits[0][1].ID()) {
		t.Errorf("the best of two that are equal: %v", hits[0])
	}
}

// Neighbors are found by an end, a relation and up to a limit, of a hub too.
func testNeighbors(t *testing.T, s *suite) {
	_, g, _ := s.generation(t)
	ts := g.Triples()
	var facts []store.Triple
	for i := range 3000 {
		facts = append(facts, fact("hub", fmt.Sprintf("relation %d", i%3), fmt.Sprintf("leaf %d", i), "r"))
		if i%10 == 0 {
			facts = append(facts, fact(fmt.Sprintf("leaf %d", i), "back", "hub", "r"))
		}
	}
	for part := range slices.Chunk(facts, 700) {
		must(t, ts.PutTriples(t.Context(), part...))
		must(t, g.Flush(t.Context()))
	}
	must(t, ts.DeleteTriples(t.Context(), facts[0].ID()))
	must(t, g.Flush(t.Context()))
	facts = facts[1:]
	for _, x := range []struct {
		entity string
		near   store.Near
	}{
		{"hub", store.Near{}}, {"hub", store.Near{Limit: 7}}, {"hub", store.Near{End: store.Tail}}, {"hub", store.Near{End: store.Head, Limit: 100}},
		{"hub", store.Near{Relation: "relation 1", Limit: 5}}, {"leaf 20", store.Near{}}, {"leaf 20", store.Near{End: store.Head}},
		{"leaf 0", store.Near{End: store.Tail}}, {"nobody", store.Near{}}, {"r", store.Near{}},
	} {
		var want []store.Triple
		for _, f := range byID(facts) {
			at := f.Head.ID == x.entity && x.near.End != store.Tail || f.Tail.ID == x.entity && x.near.End != store.Head
			if at && (x.near.Relation == "" || x.near.Relation == f.Relation.ID) && (x.near.Limit == 0 || len(want) < x.near.Limit) {
				want = append(want, f)
			}
		}
		neighbors(t, ts, x.entity, x.near, want)
	}
	testLikeNeighbors(t, ts, facts)
}

func neighbors(t *testing.T, ts store.Triples, entity string, near store.Near, want []store.Triple) {
	t.Helper()
	got, err := ts.Neighbors(t.Context(), []string{"leaf 1", entity}, near)
	must(t, err)
	if len(got) != 2 || !slices.Equal(got[1], want) {
		t.Errorf("neighbors of %s, %+v: %d, want %d in order", entity, near, len(got[1]), len(want))
	}
}

// testLikeNeighbors wants the neighbors that match the search first, then the others.
func testLikeNeighbors(t *testing.T, ts store.Triples, facts []store.Triple) {
	for _, near := range []store.Near{
		{Like: "what is behind leaf 20 or leaf 1207?"}, {Like: "leaf 20 and 1207", Limit: 4}, {Like: "leaf 20 back", End: store.Tail},
		{Like: "relation 2 of leaf 23 and leaf 300", Limit: 1100}, {Like: "20 23", Relation: "relation 2", Limit: 9}, {Like: "Oslo", Limit: 5},
	} {
		hits, err := ts.SearchTriples(t.Context(), store.TextQuery{Text: near.Like, K: len(facts)})
		must(t, err)
		around, err := ts.Neighbors(t.Context(), []string{"hub"}, store.Near{End: near.End, Relation: near.Relation})
		must(t, err)
		var want []store.Triple
		for _, h := range hits[0] {
			if slices.Contains(around[0], h.Triple) {
				want = append(want, h.Triple)
			}
		}
		for _, f := range around[0] {
			if !slices.Contains(want, f) {
				want = append(want, f)
			}
		}
		if near.Limit > 0 {
			want = want[:near.Limit]
		}
		neighbors(t, ts, "hub", near, want)
	}
}
