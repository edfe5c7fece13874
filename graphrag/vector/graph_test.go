// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// inTopics are vectors around a few hundred topics, and queries like them.
func inTopics(n, queries, dim int) (rows, asked [][]float32) {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	topics := make([][]float32, 200)
	for i := range topics {
		topics[i] = randomVector(rng, dim, 1)
	}
	for range n + queries {
		v := randomVector(rng, dim, .5)
		for j, c := range topics[rng.IntN(len(topics))] {
			v[j] += c
		}
		rows = append(rows, v)
	}
	return rows[:n], rows[n:]
}

var graphOptions = Options{Dim: 24, Cosine: true, Quantized: true, Graph: true}

func withGraph(t *testing.T, o Options, k kernels, rows [][]float32, step int) *Index {
	t.Helper()
	x := newIndex(t, o, k)
	for part := range slices.Chunk(rows, step) {
		if err := x.Add(part...); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// walked is an index with a graph, and queries, for tests that only look.
var walked = sync.OnceValues(func() (*Index, [][]float32) {
	rows, queries := inTopics(6000, 100, graphOptions.Dim)
	x, _ := New(graphOptions)
	_ = x.Add(rows...)
	return x, queries
})

func bytesOf(t *testing.T, x *Index) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := x.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// A walk finds nearly all of the nearest rows, with the scores of the exact search, also
// those that wait to be linked.
func TestWalk(t *testing.T) {
	x, queries := walked()
	if waiting := x.n - x.graph.linked; waiting != 6000%graphRound {
		t.Errorf("%d rows wait", waiting)
	}
	hits := 0
	for _, q := range queries {
		scores, _ := x.Scores(q, nil)
		want, _ := x.Search(q, 10, nil)
		got, err := x.SearchWith(q, Params{K: 10, Beam: 40}, nil)
		if err != nil || len(got) != 10 || !slices.IsSortedFunc(got, rank.Compare) {
			t.Fatal(got, err)
		}
		for _, g := range got {
			if g.Score != scores[g.ID] {
				t.Fatalf("row %d has score %v, want %v", g.ID, g.Score, scores[g.ID])
			}
			if slices.Contains(want, g) {
				hits++
			}
		}
	}
	if hits < 990 {
		t.Errorf("%d of 1000 found", hits)
	}
	late, err := x.SearchWith(x.Vector(5999, nil), Params{K: 1, Beam: 40}, nil)
	if err != nil || late[0].ID != 5999 {
		t.Errorf("a row that waits: %v, %v", late, err)
	}
	batch, err := x.SearchBatch(t.Context(), queries, Params{K: 10, Beam: 40})
	one, _ := x.SearchWith(queries[7], Params{K: 10, Beam: 40}, nil)
	if err != nil || !reflect.DeepEqual(batch[7], one) {
		t.Errorf("in a batch %v, alone %v", batch[7], one)
	}
}

// The graph is the same with any kernels and any number of workers, however rows came.
func TestOneGraph(t *testing.T) {
	rows, _ := inTopics(800, 0, graphOptions.Dim)
	want := bytesOf(t, withGraph(t, graphOptions, portable(), rows, len(rows)))
	for name, k := range kernelSets() {
		for workers, step := range map[int]int{1: 7, 3: 700, 8: 1} {
			o := graphOptions
			o.Workers = workers
			if !bytes.Equal(bytesOf(t, withGraph(t, o, k, rows, step)), want) {
				t.Errorf("%s, %d workers, %d at a time: another graph", name, workers, step)
			}
		}
	}
}

// Conditions hold, and where few rows are left the result is exact.
func TestWalkKeeps(t *testing.T) {
	x, queries := walked()
	queries = queries[:20]
	for _, every := range []int32{2, 3, 100} {
		keep := func(id int32) bool { return id%every == 0 }
		hits := 0
		for _, q := range queries {
			want, _ := x.SearchWith(q, Params{K: 10, Keep: keep}, nil)
			got, err := x.SearchWith(q, Params{K: 10, Keep: keep, Beam: 20}, nil)
			if err != nil || len(got) != 10 || slices.ContainsFunc(got, func(r rank.Scored[int32]) bool { return r.ID%every != 0 }) {
				t.Fatal(got, err)
			}
			for _, g := range got {
				if slices.Contains(want, g) {
					hits++
				}
			}
		}
		if hits < 190 || every == 100 && hits != 200 {
			t.Errorf("every %dth row: %d of 200 found", every, hits)
		}
	}
}

// Links lead to other nodes of their layer, once each.
func TestLinks(t *testing.T) {
	x, _ := walked()
	g := x.graph
	if len(g.layers) < 2 {
		t.Fatalf("%d layers", len(g.layers))
	}
	for at := range g.layers {
		l := &g.layers[at]
		for node := range int32(l.n) {
			own := slices.Clone(l.of(node))
			own = slices.DeleteFunc(own, func(id int32) bool { return id < 0 })
			slices.Sort(own)
			if len(slices.Compact(slices.Clone(own))) != len(own) || slices.Contains(own, node) || len(own) > 0 && int(own[len(own)-1]) >= l.n {
				t.Fatalf("layer %d, node %d: %v", at, node, own)
			}
		}
	}
}

// A graph that was read, or opened in a folder, is that of before.
func TestGraphKept(t *testing.T) {
	for _, n := range []int{0, 1, 300, 3 * graphRound} {
		rows, queries := inTopics(n, 5, graphOptions.Dim)
		x := withGraph(t, graphOptions, fastest(), rows, max(1, n))
		file := bytesOf(t, x)
		y, err := Read(bytes.NewReader(file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytesOf(t, y), file) {
			t.Errorf("%d rows: not the same after reading", n)
		}
		dir := t.TempDir()
		w, err := Create(filepath.Join(dir, "x"), graphOptions)
		if err == nil {
			err = errors.Join(w.Add(rows...), w.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		z, err := Open(filepath.Join(dir, "x"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n%graphRound == 0 && !bytes.Equal(bytesOf(t, z), file) {
			t.Errorf("%d rows: another graph in a folder", n)
		}
		for _, q := range queries {
			p := Params{K: 3, Beam: 5}
			got, err := z.SearchWith(q, p, nil)
			want, _ := x.SearchWith(q, p, nil)
			if err != nil || n != 300 && !reflect.DeepEqual(got, want) {
				t.Errorf("%d rows: %v, want %v; %v", n, got, want, err)
			}
		}
		if err := z.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Whatever links say, a search ends, without a panic; what does not fit is refused.
func TestDamagedGraph(t *testing.T) {
	rows, queries := inTopics(3500, 5, graphOptions.Dim)
	dir := filepath.Join(t.TempDir(), "x")
	w, err := Create(dir, graphOptions)
	if err == nil {
		err = errors.Join(w.Add(rows...), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 8))
	for _, name := range []string{"links", "upper-links"} {
		file := filepath.Join(dir, name)
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(good)
		for range len(bad) / 16 {
			bad[rng.IntN(len(bad))] = byte(rng.Uint32())
		}
		if err := os.WriteFile(file, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		x, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			if got, err := x.SearchWith(q, Params{K: 3, Beam: 30}, nil); err != nil || len(got) != 3 {
				t.Error(name, got, err)
			}
		}
		if err := x.Verify(t.Context()); !errors.Is(err, ErrFolder) {
			t.Errorf("%s: verified: %v", name, err)
		}
		if err := errors.Join(x.Close(), os.WriteFile(file, good, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "upper-rows")
	good, _ := os.ReadFile(file)
	copy(good, good[4:8]) // a row twice
	if err := os.WriteFile(file, good, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrFolder) {
		t.Errorf("rows of another graph: %v", err)
	}
}

func TestNearKernelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	for name, k := range kernelSets() {
		for _, dim := range []int{laneWidth, 64, 96, 384, 416} {
			codes, query := make([]int8, 40*dim), make([]int8, dim)
			for i := range codes {
				codes[i] = int8(rng.IntN(255) - maxCode)
			}
			for i := range query {
				query[i] = int8(rng.IntN(255) - maxCode)
			}
			bounds := make([]bound, 40)
			for _, n := range []int{0, 1, 5, 33} {
				var values []*int8
				var of []*bound
				for range n {
					i := rng.IntN(40)
					bounds[i].scale = rng.Float32()
					values, of = append(values, &codes[i*dim]), append(of, &bounds[i])
				}
				got, want := make([]float32, n), make([]float32, n)
				k.near(got, values, of, query)
				nearRows(want, values, of, query)
				if !slices.Equal(got, want) {
					t.Fatalf("%s, dim %d: %v, want %v", name, dim, got, want)
				}
			}
		}
	}
}

func TestGraphNeedsCosines(t *testing.T) {
	for _, o := range []Options{{Dim: 2, Graph: true}, {Dim: 2, Graph: true, Cosine: true}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
