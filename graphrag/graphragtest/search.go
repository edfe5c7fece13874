// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/internal/check"
)

// testWords checks that the ten best records by words are the results of package bm25.
func testWords(t *testing.T, s *suite) {
	c, g, table := s.generation(t)
	records := sample(6, 400)
	for part := range slices.Chunk(records, 90) {
		put(t, g, table, part...)
	}
	chunks := make([]graphrag.Chunk, len(records))
	for i, r := range records {
		chunks[i] = graphrag.Chunk{Title: r.Title, Text: r.Text}
	}
	ix := check.Of(bm25.Build(t.Context(), chunks, bm25.Options{TitleWeight: 1})).OK(t)
	r := rand.New(rand.NewPCG(6, 6))
	queries := []store.TextQuery{{Text: "lighthouse expedition", K: 0}, {Text: "the of", K: 10}, {Text: "", K: 10}, {Text: "zeppelin", K: 10}}
	for range 40 {
		queries = append(queries, store.TextQuery{Text: words[14+r.IntN(20)] + " " + words[20+r.IntN(20)] + " " + words[r.IntN(len(words))], K: 10})
	}
	check := func(when string) {
		t.Helper()
		hits := check.Of(table.SearchText(t.Context(), queries...)).OK(t)
		shared, most := 0, 0
		for i, q := range queries {
			ordered(t, hits[i])
			best := ix.Search(q.Text, q.K, []rank.Scored[int32]{})
			want := make([]string, len(best))
			for n, b := range best {
				want[n] = records[b.ID].ID
			}
			shared, most = shared+inBoth(want, idsOf(hits[i])), most+len(want)
			check.True(t, len(hits[i]) <= q.K, "%s: %d hits for %+v", when, len(hits[i]), q)
		}
		if overlap := float64(shared) / float64(most); overlap < .99 { // with equal scores at the end, stores may return different records
			t.Errorf("%s: a share of %.3f of the ten best is among BM25's ten best, want .99", when, overlap)
		}
	}
	check("flushed")
	must(t, c.Publish(t.Context(), "first", ""))
	check("published")
}

// testVectors checks that a search finds nearly all of the ten nearest vectors, and all with full effort.
func testVectors(t *testing.T, s *suite) {
	c, g, table := s.generation(t)
	records := sample(7, 5000)
	for part := range slices.Chunk(records, 2000) {
		put(t, g, table, part...)
	}
	r := rand.New(rand.NewPCG(7, 7))
	shared, most := 0, 0
	for range 50 {
		q := store.VectorQuery{Vector: direction(r), K: 10, Effort: 1}
		usual := q
		usual.Effort = 0
		hits := check.Of(table.SearchVectors(t.Context(), usual, q)).OK(t)
		ordered(t, hits[0])
		similar(t, records, q, hits[1])
		shared, most = shared+inBoth(idsOf(hits[0]), idsOf(hits[1])), most+len(hits[1])
	}
	if recall := float64(shared) / float64(most); recall < .95 {
		t.Errorf("recall of the ten nearest is %.3f, want .95", recall)
	}
	must(t, c.Publish(t.Context(), "first", "")) // scores must not change when segments are merged
	query := store.VectorQuery{Vector: direction(r), K: 900, Effort: 1}
	similar(t, records, query, check.Of(table.SearchVectors(t.Context(), query)).OK(t)[0])
}

// inBoth returns the number of ids that two lists share.
func inBoth(a, b []string) (n int) {
	for _, id := range a {
		if slices.Contains(b, id) {
			n++
		}
	}
	return n
}

// similar checks that hits are the records that package vector finds, with the same scores.
func similar(t *testing.T, records []store.Record, q store.VectorQuery, hits []store.Hit) {
	t.Helper()
	if diff := cmp.Diff(nearest(t, records, q), hits, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the %d nearest (-package vector +got): %.500s", q.K, diff)
	}
}

// nearest returns what package vector finds among records in the order of their ids.
func nearest(t *testing.T, records []store.Record, q store.VectorQuery) (hits []store.Hit) {
	ix := check.Of(vector.New(vector.Options{Dim: dim, Cosine: true})).OK(t)
	for _, r := range records {
		must(t, ix.Add(r.Vector))
	}
	for _, x := range check.Of(ix.Search(q.Vector, q.K, nil)).OK(t) {
		hits = append(hits, store.Hit{ID: records[x.ID].ID, Score: x.Score})
	}
	return hits
}

// testSimilar checks that an exact search finds what package vector finds, with its scores, where records
// have equal vectors or vectors that differ in the last bits.
func testSimilar(t *testing.T, s *suite) {
	_, g, table := s.generation(t)
	records := sample(10, 900)
	r := rand.New(rand.NewPCG(10, 10))
	first := records[0].Vector
	for i := range records[:600] {
		records[i].Vector = slices.Clone(first)
		for j := range records[i].Vector[:i%3*dim/2] { // none, a half or all of it
			records[i].Vector[j] *= 1 + float32(i%11)*0x1p-22
		}
	}
	records[700].Vector = make([]float32, dim)
	for _, part := range r.Perm(3) { // ids are not in the order of puts
		put(t, g, table, records[part*300:(part+1)*300]...)
	}
	var queries []store.VectorQuery
	for _, v := range [][]float32{first, direction(r), records[650].Vector, make([]float32, dim)} {
		for _, k := range []int{0, 1, 10, 450, 590, 900, 2000} {
			queries = append(queries, store.VectorQuery{Vector: v, K: k, Effort: 1})
		}
	}
	hits := check.Of(table.SearchVectors(t.Context(), queries...)).OK(t)
	for i, q := range queries {
		similar(t, records, q, hits[i])
	}
}

// testConditions compares searches under a condition with a scan of all records.
func testConditions(t *testing.T, s *suite) {
	_, g, table := s.generation(t)
	records := sample(8, 300)
	for part := range slices.Chunk(records, 110) {
		put(t, g, table, part...)
	}
	put(t, g, table, records[:5]...)
	gone := records[7]
	gone.ID = "gone"
	put(t, g, table, gone)
	must(t, table.Delete(t.Context(), gone.ID)) // also a flush that contains only a deletion
	must(t, g.Flush(t.Context()))
	r := rand.New(rand.NewPCG(8, 8))
	met, found := 0, 0
	for round := range 150 {
		if round%8 == 7 {
			records = changeRecords(t, g, table, r, records)
		}
		where := randomCondition(r, 3)
		meets := where.Compile()
		some := slices.DeleteFunc(slices.Clone(records), func(x store.Record) bool { return !meets(x.Fields) })
		query := store.VectorQuery{Vector: records[0].Vector, K: 300, Where: where, Effort: 1}
		three, ten := query, query
		three.K, ten.K, ten.Effort = 3, 10, 0
		hits := check.Of(table.SearchVectors(t.Context(), query, three, ten)).OK(t)
		similar(t, some, query, hits[0])
		similar(t, some, three, hits[1])
		got, want := idsOf(hits[2]), idsOf(hits[0][:min(10, len(hits[0]))])
		met, found = met+len(want), found+inBoth(got, want)
		check.Must(t, inBoth(got, idsIn(some)) == len(got), "%s is not met by one of %q, which are found", where, got)
		testOwnWords(t, s, table, where, some)
	}
	if recall := float64(found) / float64(met); recall < .95 {
		t.Errorf("under conditions recall of the ten nearest is %.3f, want .95", recall)
	}
}

// testOwnWords compares the hits by words under a condition with the hits of an index of only the records that
// meet it (given as some), or only the IDs if the store does not promise equal scores.
func testOwnWords(t *testing.T, s *suite, table store.Table, where graphrag.Condition, some []store.Record) {
	t.Helper()
	const query = "city river king ship music war science island film"
	hits := check.Of(table.SearchText(t.Context(), store.TextQuery{Text: query, K: 300, Where: where})).OK(t)
	ordered(t, hits[0])
	chunks := make([]graphrag.Chunk, len(some))
	for i, r := range some {
		chunks[i] = graphrag.Chunk{Title: r.Title, Text: r.Text}
	}
	ix := check.Of(bm25.Build(t.Context(), chunks, bm25.Options{TitleWeight: 1})).OK(t)
	var want []store.Hit
	for _, x := range ix.Search(query, 300, nil) {
		want = append(want, store.Hit{ID: some[x.ID].ID, Score: x.Score})
	}
	if !s.s.Can().OwnWords {
		got, ids := idsOf(hits[0]), idsOf(want)
		slices.Sort(got)
		slices.Sort(ids)
		check.Must(t, slices.Equal(got, ids), "under %s words find %d records, want %d", where, len(got), len(ids))
		return
	}
	if diff := cmp.Diff(want, hits[0], cmpopts.EquateEmpty(), cmpopts.EquateApprox(1e-6, 0)); diff != "" {
		t.Fatalf("by words under %s (-of these alone +got):\n%s", where, diff)
	}
}

// changeRecords deletes one of the records, and gives a second one the fields of a third.
func changeRecords(t *testing.T, g store.Generation, table store.Table, r *rand.Rand, records []store.Record) []store.Record {
	t.Helper()
	i := r.IntN(len(records))
	must(t, table.Delete(t.Context(), records[i].ID))
	records = slices.Delete(records, i, i+1)
	a, b := r.IntN(len(records)), r.IntN(len(records))
	records[a].Fields = records[b].Fields
	put(t, g, table, records[a])
	return records
}

// randomCondition returns a random condition of any kind, also with fields and values that no record has.
func randomCondition(r *rand.Rand, depth int) graphrag.Condition {
	some := func() []graphrag.Condition {
		list := make([]graphrag.Condition, r.IntN(3))
		for i := range list {
			list[i] = randomCondition(r, depth-1)
		}
		return list
	}
	kind := r.IntN(11)
	if depth == 0 {
		kind = r.IntN(8)
	}
	switch kind {
	case 0:
		return graphrag.Equal("color", []string{"red", "green", "mauve", strings.Repeat("long ", 90)}[r.IntN(4)])
	case 1:
		return graphrag.In("size", r.IntN(100), float64(r.IntN(100)), r.IntN(100))
	case 2:
		low := r.Float64() * 100
		return graphrag.Between([]string{"size", "color", "none"}[r.IntN(3)], low, low+r.Float64()*50)
	case 3:
		return graphrag.Condition{}
	case 4:
		return graphrag.Has("tags", words[r.IntN(6)], words[r.IntN(6)])
	case 5:
		return graphrag.Between("day", nil, day(r.IntN(40)))
	case 6:
		return graphrag.In("day", day(r.IntN(40)), "red", true)
	case 7:
		return graphrag.NewScope(graphrag.Not(graphrag.Equal("size", r.IntN(9)))).Condition()
	case 8:
		return graphrag.Not(randomCondition(r, depth-1))
	case 9:
		return graphrag.And(some()...)
	default:
		return graphrag.Or(some()...)
	}
}

func testBadQueries(t *testing.T, s *suite) {
	_, g, table := s.generation(t)
	put(t, g, table, sample(9, 3)...)
	for _, f := range []graphrag.Condition{
		graphrag.Between("size", math.NaN(), 1), graphrag.Between("size", "a", 1), graphrag.And(graphrag.Or(graphrag.Equal("", ""))), graphrag.Equal("size", []int{3}),
	} {
		_, err := table.SearchText(t.Context(), store.TextQuery{Text: "city", K: 1, Where: f})
		wants(t, "a search with an unusable condition", err, store.ErrInvalid)
		_, err = table.SearchVectors(t.Context(), store.VectorQuery{Vector: make([]float32, dim), K: 1, Where: f})
		wants(t, "a search with an unusable condition", err, store.ErrInvalid)
	}
	_, err := table.SearchVectors(t.Context(), store.VectorQuery{Vector: make([]float32, dim+1), K: 1})
	wants(t, "a query of another dimension", err, store.ErrInvalid)
	_, err = table.SearchVectors(t.Context(), store.VectorQuery{Vector: make([]float32, dim), K: 1, Effort: 2})
	wants(t, "an effort of 2", err, store.ErrInvalid)
	bare := check.Of(g.Table("bare")).OK(t)
	_, err = bare.SearchText(t.Context(), store.TextQuery{Text: "city", K: 1})
	wants(t, "a search by words in a table without", err, store.ErrInvalid)
	_, err = bare.SearchVectors(t.Context(), store.VectorQuery{Vector: make([]float32, dim), K: 1})
	wants(t, "a search by vectors in a table without", err, store.ErrInvalid)
	_, err = g.Triples().SearchTriples(t.Context(), store.TextQuery{Text: "city", K: 1, Where: graphrag.Equal("color", "red")})
	wants(t, "a condition on triples", err, store.ErrInvalid)
}
