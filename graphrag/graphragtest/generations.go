// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/internal/check"
)

// testSchema checks that a collection can only be opened with its own schema.
func testSchema(t *testing.T, s *suite) {
	ctx := t.Context()
	_, err := s.s.Open(ctx, "corpus")
	wants(t, "open what is not there", err, store.ErrNotFound)
	c, _, _ := s.generation(t)
	if _, err := s.s.Create(ctx, "corpus", schema()); err != nil {
		t.Errorf("creating the collection again: %v", err)
	}
	for what, change := range map[string]func(*store.TableSchema){
		"dimension": func(x *store.TableSchema) { x.Dim++ },
		"model":     func(x *store.TableSchema) { x.Model = "other" },
		"weight":    func(x *store.TableSchema) { x.TitleWeight = 3 },
	} {
		other := schema()
		x := other.Tables["chunks"]
		change(&x)
		other.Tables["chunks"] = x
		_, err := s.s.Create(ctx, "corpus", other)
		wants(t, "create with another "+what, err, store.ErrMismatch)
	}
	for _, bad := range []store.Schema{{}, {Tables: map[string]store.TableSchema{"Bad": {}}}, {Tables: map[string]store.TableSchema{"x": {Dim: -1}}}} {
		_, err := s.s.Create(ctx, "other", bad)
		wants(t, "an unusable schema", err, store.ErrInvalid)
	}
	for _, name := range []string{"", "../corpus", "Ä", "a b"} {
		_, err := s.s.Create(ctx, name, schema())
		wants(t, "the name "+name, err, store.ErrInvalid)
		_, err = c.Write(ctx, name)
		wants(t, "the name "+name, err, store.ErrInvalid)
	}
	_ = check.Of(s.s.Create(ctx, "another", schema())).OK(t)
	names, err := s.s.Collections(ctx)
	if diff := gocmp.Diff([]string{"another", "corpus"}, names); diff != "" || err != nil {
		t.Error(diff, err)
	}
	must(t, s.s.Drop(ctx, "corpus"))
	wants(t, "drop it again", s.s.Drop(ctx, "corpus"), store.ErrNotFound)
	_, err = s.s.Open(ctx, "corpus")
	wants(t, "open what was dropped", err, store.ErrNotFound)
	_, err = c.Pin(ctx)
	wants(t, "pin what was dropped", err, store.ErrNotFound)
}

// testGenerations checks that readers do not see a generation before it is published, and that a pinned
// generation does not change afterwards.
func testGenerations(t *testing.T, s *suite) {
	ctx := t.Context()
	c, first, table := s.generation(t)
	_, err := c.Pin(ctx)
	wants(t, "pin before anything is published", err, store.ErrNotFound)
	wants(t, "publish what is not there", c.Publish(ctx, "nothing", ""), store.ErrNotFound)
	_, err = first.Table("nothing")
	wants(t, "no table", err, store.ErrNotFound)
	put(t, first, table, sample(10, 20)...)
	wants(t, "publish in place of what is not published", c.Publish(ctx, "first", "zeroth"), store.ErrConflict)
	must(t, c.Publish(ctx, "first", ""))
	wants(t, "publish again as the first", c.Publish(ctx, "first", ""), store.ErrConflict)
	pinned := check.Of(c.Pin(ctx)).OK(t)
	old := check.Of(pinned.Table("chunks")).OK(t)
	wants(t, "put into what is pinned", old.Put(ctx, sample(1, 1)...), store.ErrReadOnly)
	wants(t, "delete from what is pinned", old.Delete(ctx, "r00001"), store.ErrReadOnly)
	wants(t, "flush what is pinned", pinned.Flush(ctx), store.ErrReadOnly)

	second := check.Of(c.Write(ctx, "second")).OK(t)
	fresh := check.Of(second.Table("chunks")).OK(t)
	check.Equal(t, check.Of(fresh.Count(ctx, graphrag.Condition{})).OK(t), 0, "a new generation has records")
	put(t, second, fresh, sample(11, 5)...)
	wants(t, "discard what is published", c.Discard(ctx, "first"), store.ErrConflict)
	must(t, c.Publish(ctx, "second", "first"))
	names, published, err := c.Generations(ctx)
	if diff := gocmp.Diff([]string{"first", "second"}, names); diff != "" || published != "second" || err != nil {
		t.Error(diff, published, err)
	}
	must(t, c.Discard(ctx, "first"))
	wants(t, "discard it again", c.Discard(ctx, "first"), store.ErrNotFound)
	same(t, "what is pinned, after it was discarded", allRecords(t, old, ""), sample(10, 20))
	hits, err := old.SearchText(ctx, store.TextQuery{Text: "city river king", K: 3})
	check.True(t, err == nil && len(hits[0]) == 3, "search in it: %v, %v", hits, err)
	must(t, pinned.Close())
	must(t, pinned.Close())
	if _, err := old.Count(ctx, graphrag.Condition{}); err == nil {
		t.Error("a generation can be read after it was closed")
	}
	now := check.Of(c.Pin(ctx)).OK(t)
	defer now.Close()
	check.True(t, now.Name() == "second", "%q is published, want second", now.Name())
	// Small changes are written to the published generation.
	put(t, second, fresh, store.Record{ID: "late", Text: "zeppelin"})
	again := check.Of(c.Pin(ctx)).OK(t)
	defer again.Close()
	latest := check.Of(again.Table("chunks")).OK(t)
	check.Equal(t, check.Of(latest.Count(ctx, graphrag.Condition{})).OK(t), 6, "records after one more was put")
	if s.s.Can().FixedReads {
		before := check.Of(now.Table("chunks")).OK(t)
		check.Equal(t, check.Of(before.Count(ctx, graphrag.Condition{})).OK(t), 5, "what was pinned before has records")
	}
}

// testPublishers checks that one of two concurrent publishers gets a conflict.
func testPublishers(t *testing.T, s *suite) {
	c, _, _ := s.generation(t)
	published := ""
	for round := range 5 {
		errs := make([]error, 4)
		var wait sync.WaitGroup
		for i := range errs {
			name := fmt.Sprintf("g%d-%d", round, i)
			g := check.Of(c.Write(t.Context(), name)).OK(t)
			defer g.Close()
			wait.Go(func() { errs[i] = c.Publish(t.Context(), name, published) })
		}
		wait.Wait()
		won := 0
		_, now, err := c.Generations(t.Context())
		must(t, err)
		for i, err := range errs {
			if err == nil {
				if won++; now != fmt.Sprintf("g%d-%d", round, i) {
					t.Errorf("publisher %d succeeded, and the current generation is %s", i, now)
				}
			} else {
				wants(t, "the others", err, store.ErrConflict)
			}
		}
		check.Must(t, won == 1, "round %d: %d of 4 published", round, won)
		published = now
	}
}

// testFork checks that a fork contains the records of its origin, and that records written to it, even if
// flushed, are seen only after it is published. The origin does not change, and may then be removed.
func testFork(t *testing.T, s *suite) {
	ctx := t.Context()
	c, g, table := s.generation(t)
	records := sample(14, 60)
	put(t, g, table, records...)
	must(t, g.Triples().PutTriples(ctx, fact("Fram", "of", "Oslo", "r")))
	must(t, c.Publish(ctx, "first", ""))
	must(t, g.Close())
	_, err := c.Fork(ctx, "first", "first")
	wants(t, "a fork of a name that is there", err, store.ErrConflict)
	_, err = c.Fork(ctx, "other", "none")
	wants(t, "a fork of nothing", err, store.ErrNotFound)
	for round, from := range []string{"first", "next-0", "next-1"} {
		next := fmt.Sprintf("next-%d", round)
		fork := check.Of(c.Fork(ctx, next, from)).OK(t)
		changed := check.Of(fork.Table("chunks")).OK(t)
		must(t, changed.Delete(ctx, records[round].ID))
		must(t, fork.Flush(ctx))
		more := store.Record{ID: fmt.Sprintf("z%d", round), Text: "zeppelin"}
		put(t, fork, changed, more)
		pinned := check.Of(c.Pin(ctx)).OK(t)
		seen := check.Of(pinned.Table("chunks")).OK(t)
		same(t, "what is published", allRecords(t, seen, ""), slices.Clone(records))
		want := append(slices.DeleteFunc(slices.Clone(records), func(r store.Record) bool { return r.ID == records[round].ID }), more)
		same(t, "the fork", allRecords(t, changed, ""), slices.Clone(want))
		must(t, c.Publish(ctx, next, from))
		must(t, c.Discard(ctx, from))
		hits := check.Of(changed.SearchText(ctx, store.TextQuery{Text: "zeppelin", K: 9})).OK(t)
		if n, err := fork.Triples().CountTriples(ctx); len(hits[0]) != round+1 || n != 1 || err != nil {
			t.Errorf("round %d of forks: got the hits %v, %d triples and error %v", round, hits, n, err)
		}
		if s.s.Can().FixedReads {
			same(t, "what was pinned before", allRecords(t, seen, ""), slices.Clone(records))
		}
		must(t, errors.Join(pinned.Close(), fork.Close()))
		records = want
	}
}

// testReaders runs eight readers, some of them as other processes, while generations are published. Each
// generation is a fork of the one before, with other records under the same IDs, and a reader must see one
// generation completely.
func testReaders(t *testing.T, s *suite) {
	ctx := t.Context()
	c := check.Of(s.s.Create(ctx, "corpus", schema())).OK(t)
	fill := func(name string, g store.Generation, err error) {
		must(t, err)
		defer g.Close()
		table := check.Of(g.Table("chunks")).OK(t)
		records := sample(12, 40)
		for i := range records {
			records[i].Text, records[i].Scope = "zeppelin", name
		}
		put(t, g, table, records[:20]...)
		put(t, g, table, records[20:]...)
		for tr, err := range g.Triples().AllTriples(ctx, "") {
			must(t, errors.Join(err, g.Triples().DeleteTriples(ctx, tr.ID())))
		}
		must(t, g.Triples().PutTriples(ctx, fact("zeppelin", "of", name, name)))
		must(t, g.Flush(ctx))
	}
	first, err := c.Write(ctx, "g0")
	fill("g0", first, err)
	must(t, c.Publish(ctx, "g0", ""))
	var done atomic.Bool
	var read atomic.Int64
	var wait sync.WaitGroup
	for i := range 8 {
		from := c
		if i < 3 && s.f.Reader != nil {
			reader := s.f.Reader(t, s.s)
			defer reader.Close()
			from = check.Of(reader.Open(ctx, "corpus")).OK(t)
			_, err = from.Write(ctx, "mine")
			wants(t, "a reader that writes", err, store.ErrReadOnly)
		}
		wait.Go(func() {
			for !done.Load() {
				if err := readOne(ctx, from); err != nil {
					t.Error(err)
					return
				}
				read.Add(1)
				time.Sleep(time.Millisecond) // lets the other goroutines run
			}
		})
	}
	for i := 1; i <= 10; i++ {
		was, next := fmt.Sprintf("g%d", i-1), fmt.Sprintf("g%d", i)
		g, err := c.Fork(ctx, next, was)
		fill(next, g, err)
		must(t, c.Publish(ctx, next, was))
		must(t, c.Discard(ctx, was))
	}
	for begun := time.Now(); read.Load() < 50 && time.Since(begun) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	done.Store(true)
	wait.Wait()
	check.True(t, read.Load() >= 50, "only %d reads", read.Load())
}

// readOne checks that all records found belong to the pinned generation.
func readOne(ctx context.Context, c store.Collection) (err error) {
	g, err := c.Pin(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	table, err := g.Table("chunks")
	if err != nil {
		return err
	}
	hits, err := table.SearchText(ctx, store.TextQuery{Text: "zeppelin", K: 50})
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Millisecond) // gives time to publish another generation
	records, err := table.Get(ctx, idsOf(hits[0])...)
	if err != nil || len(records) != 40 {
		return fmt.Errorf("%d hits have %d records, want 40; error %v", len(hits[0]), len(records), err)
	}
	found, err := g.Triples().SearchTriples(ctx, store.TextQuery{Text: "zeppelin", K: 9})
	if err != nil || len(found[0]) != 1 || found[0][0].Source != g.Name() {
		return fmt.Errorf("generation %s has the triples %v, want one of its own; error %v", g.Name(), found, err)
	}
	if i := slices.IndexFunc(records, func(r store.Record) bool { return r.Scope != g.Name() }); i >= 0 {
		return fmt.Errorf("generation %s contains a record of generation %s", g.Name(), records[i].Scope)
	}
	return nil
}

// testCancelled checks that a cancelled call returns the context's error and loses nothing.
func testCancelled(t *testing.T, s *suite) {
	c, g, table := s.generation(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, table.Put(t.Context(), sample(13, 30)...))
	_, err1 := table.Get(ctx, "r00001")
	_, err2 := table.SearchText(ctx, store.TextQuery{Text: "city", K: 1})
	_, err3 := table.SearchVectors(ctx, store.VectorQuery{Vector: make([]float32, dim), K: 1})
	_, err4 := g.Triples().Neighbors(ctx, []string{"a"}, store.Near{})
	_, err5 := c.Pin(ctx)
	for i, err := range []error{g.Flush(ctx), table.Put(ctx, sample(1, 1)...), table.Delete(ctx, "r00001"), c.Publish(ctx, "first", ""), err1, err2, err3, err4, err5} {
		wants(t, fmt.Sprintf("call %d", i), err, context.Canceled)
	}
	for _, err := range table.All(ctx, "") {
		wants(t, "All", err, context.Canceled)
	}
	must(t, g.Flush(t.Context()))
	same(t, "after it", allRecords(t, table, ""), sample(13, 30))
}

// StoreFactory makes the stores for the conformance tests.
type StoreFactory struct {
	// New returns an empty store, which the suite closes.
	New func(t *testing.T) store.Store

	// Crash returns the store as another process would find it if this process were killed now. The suite
	// closes it. If nil, tests of crashes are skipped.
	Crash func(t *testing.T, s store.Store) store.Store

	// Reader opens a store only for reading, as another process would, while this one has it open. It may be
	// nil.
	Reader func(t *testing.T, s store.Store) store.Store
}

// Store runs the conformance tests of stores.
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
		{"similar", testSimilar},
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

// schema returns the schema of most tests.
func schema() store.Schema {
	return store.Schema{Tables: map[string]store.TableSchema{
		"chunks": {Text: true, TitleWeight: 1, Dim: dim, Model: "test"},
		"bare":   {},
	}}
}

const dim = 16

// generation creates a collection and begins a generation with a table in it.
func (s *suite) generation(t *testing.T) (store.Collection, store.Generation, store.Table) {
	t.Helper()
	c := check.Of(s.s.Create(t.Context(), "corpus", schema())).OK(t)
	g := check.Of(c.Write(t.Context(), "first")).OK(t)
	t.Cleanup(func() { _ = g.Close() })
	table := check.Of(g.Table("chunks")).OK(t)
	return c, g, table
}

var must = check.OK

// wants fails the test unless err wraps want.
func wants(t *testing.T, doing string, err, want error) {
	t.Helper()
	check.Is(t, err, want, "%s", doing)
}

// put puts records into a table and flushes the generation.
func put(t *testing.T, g store.Generation, table store.Table, records ...store.Record) {
	t.Helper()
	must(t, table.Put(t.Context(), records...))
	must(t, g.Flush(t.Context()))
}

// words are the words of sample, which draws them by Zipf's law.
var words = strings.Fields(`the of a in and to is was by for with city river king
	ship music war science island film team church school bridge garden market
	winter painter engine treaty railway harbor mountain library festival voyage
	cathedral parliament expedition observatory lighthouse manuscript`)

// sample returns n records with words, vectors and fields, which depend only on the seed.
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

// day returns a time that increases with i, by nanoseconds within a day.
func day(i int) time.Time { return time.Date(2024, 1, 1+i/4, 0, 0, 0, i%4*100, time.UTC) }

// normal returns a record as stores return it.
func normal(r store.Record) store.Record {
	if len(r.Data) == 0 {
		r.Data = nil
	}
	return r
}

// allRecords returns the records of a table after an ID.
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

// ordered checks that hits are sorted by descending score, equal ones by ID.
func ordered(t *testing.T, hits []store.Hit) {
	t.Helper()
	check.True(t, slices.IsSortedFunc(hits, func(a, b store.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	}), "the best are not first, or equal ones not in the order of their ids: %v", hits)
}

// fact returns a triple of names.
func fact(head, relation, tail, source string) store.Triple {
	entity := func(name string) triples.Entity { return triples.Entity{ID: name, Label: name} }
	return store.Triple{Triple: triples.Triple{Head: entity(head), Relation: entity(relation), Tail: entity(tail)}, Source: source, Weight: 1}
}

// same compares records, whose vectors may be scaled to length 1.
func same(t *testing.T, what string, got, want []store.Record) {
	t.Helper()
	for i := range got {
		if i < len(want) {
			got[i], want[i] = normal(got[i]), normal(want[i])
			got[i].Vector, want[i].Vector = vector.Unit(slices.Clone(got[i].Vector)), vector.Unit(slices.Clone(want[i].Vector))
		}
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-5), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%.2000s", what, diff)
	}
}
