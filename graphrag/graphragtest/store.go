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
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
)

// StoreFactory makes stores for the tests.
type StoreFactory struct {
	// New returns an empty store. The suite closes it.
	New func(t *testing.T) store.Store

	// Crash returns the store as another process finds it if this process is killed now. The
	// suite closes it too. If nil, tests of crashes are left out.
	Crash func(t *testing.T, s store.Store) store.Store

	// Reader opens a store as another process opens it for reading alone, beside this one. If nil, it is
	// not tested.
	Reader func(t *testing.T, s store.Store) store.Store
}

// Store runs the suite.
func Store(t *testing.T, f StoreFactory) {
	for _, x := range []struct {
		name string
		test func(*testing.T, *suite)
	}{
		{"records", testRecords},
		{"bad items", testBadItems},
		{"scopes", testScopes},
		{"iterator", testIterator},
		{"model", testModel},
		{"words", testWords},
		{"vectors", testVectors},
		{"conditions", testConditions},
		{"bad queries", testBadQueries},
		{"triples", testTriples},
		{"neighbors", testNeighbors},
		{"schema", testSchema},
		{"generations", testGenerations},
		{"fork", testFork},
		{"publishers", testPublishers},
		{"readers", testReaders},
		{"cancelled", testCancelled},
		{"snapshot", testSnapshot},
		{"crash", testCrash},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := &suite{f: f, s: f.New(t)}
			t.Cleanup(func() {
				if err := s.s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			x.test(t, s)
		})
	}
}

// suite is one store under test.
type suite struct {
	f StoreFactory
	s store.Store
}

// schema is the schema of most tests.
func schema() store.Schema {
	return store.Schema{Tables: map[string]store.TableSchema{
		"chunks": {Text: true, TitleWeight: 1, Dim: dim, Model: "test"},
		"bare":   {},
	}}
}

const dim = 16

// generation begins a generation in a new collection.
func (s *suite) generation(t *testing.T) (store.Collection, store.Generation, store.Table) {
	t.Helper()
	c, err := s.s.Create(t.Context(), "corpus", schema())
	must(t, err)
	g, err := c.Write(t.Context(), "first")
	must(t, err)
	t.Cleanup(func() { _ = g.Close() })
	table, err := g.Table("chunks")
	must(t, err)
	return c, g, table
}

var must = check.OK

// wants checks an error.
func wants(t *testing.T, doing string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", doing, err, want)
	}
}

// put puts and flushes.
func put(t *testing.T, g store.Generation, table store.Table, records ...store.Record) {
	t.Helper()
	must(t, table.Put(t.Context(), records...))
	must(t, g.Flush(t.Context()))
}

// words are drawn by Zipf's law.
var words = strings.Fields(`the of a in and to is was by for with city river king
	ship music war science island film team church school bridge garden market
	winter painter engine treaty railway harbor mountain library festival voyage
	cathedral parliament expedition observatory lighthouse manuscript`)

// sample returns records with words, vectors and fields, which depend on the seed only.
func sample(seed uint64, n int) []store.Record {
	r := rand.New(rand.NewPCG(seed, 1))
	zipf := rand.NewZipf(r, 1.3, 2, uint64(len(words)-1))
	records := make([]store.Record, n)
	for i := range records {
		text := make([]string, 20+r.IntN(60))
		for j := range text {
			text[j] = words[zipf.Uint64()]
		}
		records[i] = store.Record{
			ID: fmt.Sprintf("r%05d", i), Scope: fmt.Sprintf("doc%d", i/3), Title: words[r.IntN(len(words))],
			Text: strings.Join(text, " "), Vector: direction(r), Data: []byte{0, byte(i), 0xff},
			Fields: graphrag.Fields{"color": []string{"red", "green", "blue"}[r.IntN(3)], "size": float64(r.IntN(100))},
		}
		if i%7 == 0 {
			delete(records[i].Fields, "size")
			records[i].Fields["tags"], records[i].Fields["day"], records[i].Fields["open"] = words[i%4:i%4+r.IntN(3)], day(i%40), i%2 == 0
		}
	}
	return records
}

// direction returns a vector near one of the axes.
func direction(r *rand.Rand) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	v[r.IntN(dim)] += 3
	return v
}

// day is a time of which nanoseconds count.
func day(i int) time.Time { return time.Date(2024, 1, 1+i/4, 0, 0, 0, i%4*100, time.UTC) }

// normal returns a record as stores return it.
func normal(r store.Record) store.Record {
	if len(r.Data) == 0 {
		r.Data = nil
	}
	return r
}

// allRecords reads a table.
func allRecords(t *testing.T, table store.Table, after string) (records []store.Record) {
	t.Helper()
	for r, err := range table.All(t.Context(), after) {
		must(t, err)
		records = append(records, r)
	}
	return records
}

func idsIn(records []store.Record) []string {
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return ids
}

func idsOf(hits []store.Hit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids
}

// ordered checks that hits are sorted by score, equal ones by id.
func ordered(t *testing.T, hits []store.Hit) {
	t.Helper()
	if !slices.IsSortedFunc(hits, func(a, b store.Hit) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	}) {
		t.Errorf("the best are not first, or equal ones not in the order of their ids: %v", hits)
	}
}

// fact returns a triple of names.
func fact(head, relation, tail, source string) store.Triple {
	entity := func(name string) triples.Entity { return triples.Entity{ID: name, Label: name} }
	return store.Triple{Triple: triples.Triple{Head: entity(head), Relation: entity(relation), Tail: entity(tail)}, Source: source, Weight: 1}
}

// same compares records. Vectors may be scaled to length 1.
func same(t *testing.T, what string, got, want []store.Record) {
	t.Helper()
	for i := range got {
		if i < len(want) {
			got[i], want[i] = normal(got[i]), normal(want[i])
			got[i].Vector, want[i].Vector = unit(got[i].Vector), unit(want[i].Vector)
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-5), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%.2000s", what, diff)
	}
}

func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return out
}
