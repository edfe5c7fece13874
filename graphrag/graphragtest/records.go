// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/internal/check"
)

// testRecords checks that the last record put under an ID can be read, and that deleted ones cannot.
func testRecords(t *testing.T, s *suite) {
	_, g, table := s.generation(t)
	records := sample(1, 50)
	put(t, g, table, records...)
	put(t, g, table, records[:10]...) // puts the same records again
	got := check.Of(table.Get(t.Context(), records[7].ID, "nobody", records[3].ID)).OK(t)
	same(t, "Get", got, []store.Record{records[7], records[3]})
	check.Equal(t, check.Of(table.Count(t.Context(), graphrag.Condition{})).OK(t), 50, "records")

	changed := records[4]
	changed.Text, changed.Vector, changed.Fields, changed.Data = "a zeppelin", nil, nil, nil
	must(t, table.Put(t.Context(), records[4], changed, records[5]))
	must(t, table.Delete(t.Context(), records[5].ID, "nobody"))
	must(t, table.Delete(t.Context(), records[6].ID))
	must(t, table.Put(t.Context(), records[6]))
	must(t, g.Flush(t.Context()))
	want := slices.Clone(records)
	want[4] = changed
	want = slices.Delete(want, 5, 6)
	same(t, "All", allRecords(t, table, ""), want)
	found := check.Of(table.SearchText(t.Context(), store.TextQuery{Text: "zeppelin", K: 5})).OK(t)
	check.Equal(t, idsOf(found[0]), []string{changed.ID}, "search for zeppelin")
	found = check.Of(table.SearchVectors(t.Context(), store.VectorQuery{Vector: records[5].Vector, K: 60, Effort: 1})).OK(t)
	if ids := idsOf(found[0]); len(ids) != 48 || slices.Contains(ids, records[4].ID) || slices.Contains(ids, records[5].ID) {
		t.Errorf("a search by vectors finds %d records, want the 48 that have a vector: %v", len(ids), ids)
	}

	bare := check.Of(g.Table("bare")).OK(t)
	put(t, g, bare, store.Record{ID: "only", Data: []byte("data")})
	same(t, "a table without words and vectors", allRecords(t, bare, ""), []store.Record{{ID: "only", Data: []byte("data")}})

	records[0].Vector[0], records[0].Data[0] = 99, 99
	got = check.Of(table.Get(t.Context(), records[0].ID)).OK(t)
	check.True(t, len(got) == 1 && got[0].Data[0] != 99, "the store kept a slice of the caller's")
}

// testBadItems checks that errors name the records that cannot be stored, and that the others are stored.
func testBadItems(t *testing.T, s *suite) {
	_, g, table := s.generation(t)
	good := sample(2, 2)
	bad := []store.Record{
		{},
		{ID: strings.Repeat("x", store.MaxID+1)},
		{ID: "vector", Vector: []float32{1, 2}},
		{ID: "nan", Vector: append(make([]float32, dim-1), float32(math.NaN()))},
		{ID: "huge", Vector: append(make([]float32, dim-1), math.MaxFloat32)},
		{ID: "field", Fields: graphrag.Fields{"weight": 1}},
		{ID: "kind", Fields: graphrag.Fields{"size": math.NaN()}},
		{ID: "bytes", Text: "\xff"},
	}
	err := table.Put(t.Context(), slices.Concat(good[:1], bad, good[1:])...)
	var items *store.ItemsError
	check.Must(t, errors.As(err, &items) && errors.Is(err, store.ErrInvalid), "put: %v, want an ItemsError", err)
	check.Must(t, len(items.Items) == len(bad), "%d of %d bad items are told: %v", len(items.Items), len(bad), err)
	for i, item := range items.Items {
		check.True(t, item.Index == i+1 && item.ID == bad[i].ID, "item %d: %+v", i, item)
	}
	must(t, g.Flush(t.Context()))
	same(t, "what is good", allRecords(t, table, ""), good)
	err = g.Triples().PutTriples(t.Context(), fact("a", "b", "c", ""), fact("", "b", "c", ""), fact("a", "b", strings.Repeat("x", 100_000), ""))
	check.True(t, errors.As(err, &items) && len(items.Items) == 2 && items.Items[0].Index == 1, "triples: %v", err)
}

func testScopes(t *testing.T, s *suite) {
	_, g, table := s.generation(t)
	records := sample(3, 12) // three records per scope
	put(t, g, table, records...)
	moved := records[4]
	moved.Scope = "doc9"
	must(t, table.Put(t.Context(), moved))
	late := records[0]
	late.ID = "z"
	late.Scope = "doc1"
	must(t, table.Put(t.Context(), late))
	must(t, table.DeleteScope(t.Context(), "doc1"))
	must(t, table.DeleteScope(t.Context(), "none"))
	must(t, g.Flush(t.Context()))
	want := slices.Concat(records[:3], []store.Record{moved}, records[6:])
	same(t, "after deleting a scope", allRecords(t, table, ""), want)
}

// testIterator checks that an iteration sees one state, whatever is written meanwhile, and that another can
// continue from its last ID.
func testIterator(t *testing.T, s *suite) {
	c, g, table := s.generation(t)
	records := sample(4, 200)
	put(t, g, table, records...)
	must(t, c.Publish(t.Context(), "first", ""))
	pinned := check.Of(c.Pin(t.Context())).OK(t)
	defer pinned.Close()
	if s.s.Can().FixedReads {
		table = check.Of(pinned.Table("chunks")).OK(t)
	}
	writing := check.Of(g.Table("chunks")).OK(t)
	var got []store.Record
	for r, err := range table.All(t.Context(), records[9].ID) {
		must(t, err)
		if got = append(got, r); len(got)%50 == 1 && s.s.Can().FixedReads {
			must(t, writing.Delete(t.Context(), records[len(got)+20].ID))
			put(t, g, writing, store.Record{ID: "s" + r.ID})
		}
		if len(got) == 150 {
			break
		}
	}
	same(t, "the first 150 after the tenth", got, slices.Clone(records[10:160]))
	rest := allRecords(t, table, got[149].ID)
	same(t, "the rest", rest, slices.Clone(records[160:]))
}

// testModel compares random writes with a map.
func testModel(t *testing.T, s *suite) {
	_, g, table := s.generation(t)
	r := rand.New(rand.NewPCG(5, 5))
	records, model := sample(5, 60), map[string]store.Record{}
	for round := range 25 {
		for range 1 + r.IntN(12) {
			x := records[r.IntN(len(records))]
			switch r.IntN(4) {
			case 0:
				must(t, table.Delete(t.Context(), x.ID))
				delete(model, x.ID)
			default:
				x.Title = fmt.Sprintf("round%d", round)
				must(t, table.Put(t.Context(), x))
				model[x.ID] = x
			}
		}
		must(t, g.Flush(t.Context()))
		var want []store.Record
		var named, vectors []string
		for _, x := range records {
			if x, ok := model[x.ID]; ok {
				want = append(want, x)
				vectors = append(vectors, x.ID)
				if x.Title == fmt.Sprintf("round%d", round) {
					named = append(named, x.ID)
				}
			}
		}
		same(t, fmt.Sprintf("after round %d", round), allRecords(t, table, ""), want)
		byWord := check.Of(table.SearchText(t.Context(), store.TextQuery{Text: fmt.Sprintf("round%d", round), K: 100})).OK(t)
		ordered(t, byWord[0])
		byVector := check.Of(table.SearchVectors(t.Context(), store.VectorQuery{Vector: records[0].Vector, K: 100, Effort: 1})).OK(t)
		ordered(t, byVector[0])
		for _, x := range []struct {
			by        string
			got, want []string
		}{{"word", idsOf(byWord[0]), named}, {"vector", idsOf(byVector[0]), vectors}} {
			slices.Sort(x.got)
			if diff := cmp.Diff(x.want, x.got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("round %d, by %s: %s", round, x.by, diff)
			}
		}
	}
	check.Equal(t, check.Of(table.Count(t.Context(), graphrag.Condition{})).OK(t), len(model), "records")
}

func allTriples(t *testing.T, ts store.Triples, after string) (all []store.Triple) {
	t.Helper()
	for x, err := range ts.AllTriples(t.Context(), after) {
		must(t, err)
		all = append(all, x)
	}
	return all
}

func byID(list []store.Triple) []store.Triple {
	return slices.SortedFunc(slices.Values(list), func(a, b store.Triple) int { return strings.Compare(a.ID(), b.ID()) })
}

// testTriples checks that equal triples of a source are stored once, and that triples are found by words.
func testTriples(t *testing.T, s *suite) {
	_, g, _ := s.generation(t)
	ts := g.Triples()
	facts := []store.Triple{
		fact("Fram", "designed by", "Colin Archer", "r1"),
		fact("Fram", "designed by", "Colin Archer", "r2"),
		fact("Fram", "sailed to", "Antarctica", "r1"),
		fact("Roald Amundsen", "led", "Antarctic expedition", "r3"),
		fact("a", "is", "a", ""), // a triple from a node to itself
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
	check.Equal(t, allTriples(t, ts, ""), want, "all triples")
	check.Equal(t, allTriples(t, ts, want[1].ID()), want[2:], "from the third on")
	check.Equal(t, check.Of(ts.CountTriples(t.Context())).OK(t), 5, "triples")
	hits := check.Of(ts.SearchTriples(t.Context(), store.TextQuery{Text: "who designed Fram?", K: 2}, store.TextQuery{Text: "Amundsen", K: 9})).OK(t)
	for i, n := range []int{2, 0} {
		check.True(t, len(hits[i]) == n, "query %d: %d triples, want %d: %v", i, len(hits[i]), n, hits[i])
	}
	check.True(t, len(hits[0]) != 2 || hits[0][0].Tail.ID == "Colin Archer" && hits[0][0].ID() <= hits[0][1].ID(),
		"the best of two that are equal: %v", hits[0])
}

// testNeighbors checks that neighbors are found by end and relation, up to a limit, also for a node with many
// triples.
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
	got := check.Of(ts.Neighbors(t.Context(), []string{"leaf 1", entity}, near)).OK(t)
	check.True(t, len(got) == 2 && slices.Equal(got[1], want),
		"neighbors of %s, %+v: %d, want %d in order", entity, near, len(got[1]), len(want))
}

// testLikeNeighbors checks that the neighbors that match the search come first, then the others.
func testLikeNeighbors(t *testing.T, ts store.Triples, facts []store.Triple) {
	for _, near := range []store.Near{
		{Like: "what is behind leaf 20 or leaf 1207?"}, {Like: "leaf 20 and 1207", Limit: 4}, {Like: "leaf 20 back", End: store.Tail},
		{Like: "relation 2 of leaf 23 and leaf 300", Limit: 1100}, {Like: "20 23", Relation: "relation 2", Limit: 9}, {Like: "Oslo", Limit: 5},
	} {
		hits := check.Of(ts.SearchTriples(t.Context(), store.TextQuery{Text: near.Like, K: len(facts)})).OK(t)
		around := check.Of(ts.Neighbors(t.Context(), []string{"hub"}, store.Near{End: near.End, Relation: near.Relation})).OK(t)
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
