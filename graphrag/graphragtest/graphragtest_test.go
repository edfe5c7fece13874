// SPDX-License-Identifier: Apache-2.0

package graphragtest_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
)

// mutants are faults, each with the test that must detect it.
var mutants = map[string]string{
	"nothing is deleted":           "records",
	"the first of an id stays":     "records",
	"bad items are not told":       "bad_items",
	"no scope is deleted":          "scopes",
	"an iteration begins anew":     "iterator",
	"one hit too many":             "words",
	"equal ones in any order":      "neighbors",
	"words are ranked from behind": "words",
	"vectors of another query":     "vectors",
	"similarities are rounded":     "similar",
	"conditions are forgotten":     "conditions",
	"words of all are counted":     "conditions",
	"a fork is written to both":    "fork",
	"the limit is forgotten":       "neighbors",
	"the other end":                "neighbors",
	"the text is forgotten":        "neighbors",
	"any schema will do":           "schema",
	"publishing does not compare":  "generations",
	"what is pinned is writable":   "generations",
	"readers follow":               "readers",
	"cancelling is ignored":        "cancelled",
	"a flush that does nothing":    "crash",
	"durable in words alone":       "crash",
	"no triples in an export":      "snapshot",
}

// Each fault is detected by its test, so the suite can fail.
func TestMutants(t *testing.T) {
	check.Long(t)
	for bug, test := range mutants {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestMutant$/^"+test+"$", "-test.v")
			cmd.Env = append(os.Environ(), "WILDGRAPH_MUTANT="+bug)
			out, err := cmd.CombinedOutput()
			check.True(t, err != nil && strings.Contains(string(out), "--- FAIL: TestMutant/"+test), "%q is not noticed by %s: %v\n%s", bug, test, err, out)
		})
	}
}

// TestMutant is started by TestMutants.
func TestMutant(t *testing.T) {
	bug := os.Getenv("WILDGRAPH_MUTANT")
	if bug == "" {
		t.Skip("run by TestMutants")
	}
	dirs := map[store.Store]string{}
	open := func(t *testing.T, dir string) store.Store {
		s := check.Of(disk.Open(dir, disk.Options{})).OK(t)
		m := &mutant{s, bug}
		dirs[m] = dir
		return m
	}
	graphragtest.Store(t, graphragtest.StoreFactory{
		New: func(t *testing.T) store.Store { return open(t, t.TempDir()) },
		Crash: func(t *testing.T, s store.Store) store.Store {
			dir := t.TempDir() + "/left"
			check.OK(t, os.CopyFS(dir, os.DirFS(dirs[s])))
			return open(t, dir)
		},
	})
}

type mutant struct {
	store.Store
	bug string
}

func (m *mutant) Can() store.Capabilities {
	can := m.Store.Can()
	can.Durable = m.bug == "durable in words alone"
	return can
}

func (m *mutant) Create(ctx context.Context, name string, s store.Schema) (store.Collection, error) {
	if c, err := m.Store.Open(ctx, name); m.bug == "any schema will do" && err == nil {
		return c, nil
	}
	c, err := m.Store.Create(ctx, name, s)
	return &collection{c, m.bug}, err
}

func (m *mutant) Open(ctx context.Context, name string) (store.Collection, error) {
	c, err := m.Store.Open(ctx, name)
	return &collection{c, m.bug}, err
}

type collection struct {
	store.Collection
	bug string
}

func (c *collection) Write(ctx context.Context, name string) (store.Generation, error) {
	g, err := c.Collection.Write(ctx, name)
	return &generation{Generation: g, bug: c.bug}, err
}

func (c *collection) Fork(ctx context.Context, next, from string) (store.Generation, error) {
	g, err := c.Collection.Fork(ctx, next, from)
	if c.bug == "a fork is written to both" && err == nil {
		return c.Collection.Write(ctx, from)
	}
	return g, err
}

func (c *collection) Pin(ctx context.Context) (store.Generation, error) {
	g, err := c.Collection.Pin(ctx)
	switch {
	case err != nil:
		return nil, err
	case c.bug == "what is pinned is writable":
		return c.Collection.Write(ctx, g.Name())
	case c.bug == "readers follow":
		return &generation{g, c.bug, c.Collection}, nil
	}
	return &generation{Generation: g, bug: c.bug}, nil
}

func (c *collection) Publish(ctx context.Context, name, was string) error {
	if c.bug == "publishing does not compare" {
		_, was, _ = c.Generations(ctx)
	}
	return c.Collection.Publish(ctx, name, was)
}

type generation struct {
	store.Generation
	bug string
	of  store.Collection // its published generation is read at each call
}

func (g *generation) now() store.Generation {
	if g.of != nil {
		if now, err := g.of.Pin(context.Background()); err == nil {
			return now
		}
	}
	return g.Generation
}

func (g *generation) Flush(ctx context.Context) error {
	if g.bug == "a flush that does nothing" {
		return nil
	}
	if g.bug == "cancelling is ignored" {
		ctx = context.WithoutCancel(ctx)
	}
	return g.Generation.Flush(ctx)
}

func (g *generation) Table(name string) (store.Table, error) {
	t, err := g.now().Table(name)
	return &table{t, g, name, map[string]bool{}}, err
}

func (g *generation) Triples() store.Triples { return &facts{g.Generation.Triples(), g.bug} }

type table struct {
	store.Table
	g    *generation
	name string
	ids  map[string]bool
}

func (t *table) Put(ctx context.Context, records ...store.Record) error {
	if t.g.bug == "the first of an id stays" {
		records = slices.DeleteFunc(slices.Clone(records), func(r store.Record) bool { return t.ids[r.ID] })
		for _, r := range records {
			t.ids[r.ID] = true
		}
	}
	err := t.Table.Put(ctx, records...)
	if t.g.bug == "bad items are not told" {
		return nil
	}
	return err
}

func (t *table) Delete(ctx context.Context, ids ...string) error {
	if t.g.bug == "nothing is deleted" {
		return ctx.Err()
	}
	return t.Table.Delete(ctx, ids...)
}

func (t *table) DeleteScope(ctx context.Context, scope string) error {
	if t.g.bug == "no scope is deleted" {
		return nil
	}
	return t.Table.DeleteScope(ctx, scope)
}

func (t *table) All(ctx context.Context, after string) iter.Seq2[store.Record, error] {
	if t.g.bug == "an iteration begins anew" {
		after = ""
	}
	return t.Table.All(ctx, after)
}

func (t *table) Get(ctx context.Context, ids ...string) ([]store.Record, error) {
	if now, err := t.g.now().Table(t.name); t.g.bug == "readers follow" && err == nil {
		return now.Get(ctx, ids...)
	}
	return t.Table.Get(ctx, ids...)
}

func (t *table) SearchText(ctx context.Context, queries ...store.TextQuery) ([][]store.Hit, error) {
	queries = slices.Clone(queries)
	for i := range queries {
		switch t.g.bug {
		case "conditions are forgotten":
			queries[i].Where = graphrag.Condition{}
		case "one hit too many":
			queries[i].K++
		}
	}
	if t.g.bug == "words of all are counted" {
		return t.withWordsOfAll(ctx, queries)
	}
	hits, err := t.Table.SearchText(ctx, queries...)
	if t.g.bug == "words are ranked from behind" {
		for _, list := range hits {
			slices.Reverse(list)
		}
	}
	return hits, err
}

// withWordsOfAll removes documents that do not meet a condition from the hits of all documents.
func (t *table) withWordsOfAll(ctx context.Context, queries []store.TextQuery) ([][]store.Hit, error) {
	some, err := t.Table.SearchText(ctx, queries...)
	for i := range queries {
		queries[i].Where, queries[i].K = graphrag.Condition{}, 1<<20
	}
	all, err2 := t.Table.SearchText(ctx, queries...)
	for i := range all {
		all[i] = slices.DeleteFunc(all[i], func(h store.Hit) bool {
			return !slices.ContainsFunc(some[i], func(x store.Hit) bool { return x.ID == h.ID })
		})
	}
	return all, errors.Join(err, err2)
}

func (t *table) SearchVectors(ctx context.Context, queries ...store.VectorQuery) ([][]store.Hit, error) {
	queries = slices.Clone(queries)
	for i := range queries {
		if t.g.bug == "vectors of another query" {
			queries[i].Vector = slices.Clone(queries[i].Vector)
			slices.Reverse(queries[i].Vector)
		}
	}
	hits, err := t.Table.SearchVectors(ctx, queries...)
	for _, list := range hits {
		if t.g.bug == "similarities are rounded" && len(list) > 0 {
			list[0].Score += 1e-7
		}
	}
	return hits, err
}

type facts struct {
	store.Triples
	bug string
}

func (f *facts) AllTriples(ctx context.Context, after string) iter.Seq2[store.Triple, error] {
	if f.bug == "no triples in an export" {
		return func(func(store.Triple, error) bool) {}
	}
	return f.Triples.AllTriples(ctx, after)
}

func (f *facts) Neighbors(ctx context.Context, entities []string, o store.Near) ([][]store.Triple, error) {
	switch f.bug {
	case "the limit is forgotten":
		o.Limit = 0
	case "the text is forgotten":
		o.Like = ""
	case "the other end":
		o.End = map[store.End]store.End{store.Head: store.Tail, store.Tail: store.Head}[o.End]
	}
	found, err := f.Triples.Neighbors(ctx, entities, o)
	if f.bug == "equal ones in any order" {
		for _, list := range found {
			slices.Reverse(list)
		}
	}
	return found, err
}

// A program in another language computed the fingerprints.
func TestFingerprints(t *testing.T) {
	for _, c := range []struct {
		name        string
		list        graphragtest.EdgeList
		n, edges    int
		weight      float64
		fingerprint uint64
	}{
		{"karate", graphragtest.Karate(), 34, 78, 78, 0x801dc995eccd26db},
		{"ring30x5", graphragtest.Ring(30, 5), 150, 330, 330, 0x98be4e80262080bd},
		{"ring8x6", graphragtest.Ring(8, 6), 48, 128, 128, 0x1883f0f4beafbc3f},
		{"planted", graphragtest.Blocks200(), 200, 1117, 1117, 0xe66157d111ba2e37},
		{"lfr300", graphragtest.LFR300(), 300, 1952, 2253, 0x9dcd4ca77475a193},
		{"lfr2333", graphragtest.LFR2333(), 2333, 16753, 17511, 0xd1534e03cb457f45},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, weight := c.list.Graph(), 0.0
			for _, e := range c.list.Edges {
				weight += e.Weight
			}
			if g.N() != c.n || int(g.Arcs()) != 2*c.edges || weight != c.weight {
				t.Errorf("%d nodes, %d arcs, weight %g, want %d, %d, %g", g.N(), g.Arcs(), weight, c.n, 2*c.edges, c.weight)
			}
			check.Equal(t, fingerprint(g), c.fingerprint, "fingerprint")
		})
	}
}

// fingerprint returns the FNV-1a hash of the edges, each written as "i,j,w;" with i ≤ j and the shortest
// decimal for w, in ascending order.
func fingerprint(g *graph.Graph) uint64 {
	h := fnv.New64a()
	for e := range g.Edges() {
		fmt.Fprintf(h, "%d,%d,%s;", e.From, e.To, strconv.FormatFloat(e.Weight, 'f', -1, 64))
	}
	return h.Sum64()
}

// Example shows the test of an embedder, as it stands in a test file.
func Example() {
	_ = func(t *testing.T) {
		e := check.Of(embed.FitLSA(t.Context(), []string{"the texts of the corpus"}, embed.LSAOptions{})).OK(t)
		graphragtest.Embedder(t, e)
	}
}
