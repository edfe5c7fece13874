// SPDX-License-Identifier: Apache-2.0

package parquet_test

import (
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
	"github.com/wildgraph/wildgraph/graphrag/graph/parquet"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
)

// Spark and we find the same: .ci/spark names the command that runs it over the
// folder of an export.
func TestSpark(t *testing.T) {
	command := os.Getenv("WILDGRAPH_SPARK")
	if command == "" {
		t.Skip("WILDGRAPH_SPARK names no command")
	}
	list, names := graphtest.Planted(2000, 8000, 10, .9, 1), []string(nil)
	if data := os.Getenv("WILDGRAPHBENCH_DIR"); data != "" {
		var err error
		if list, names, err = graphtest.Cooccurrence(os.DirFS(filepath.Join(data, "corpus", "human_activities"))); err != nil {
			t.Fatal(err)
		}
	}
	// Some nodes are alone.
	names = append(names, make([]string, list.N+5-len(names))...)
	list.N += 5
	g := list.Graph(graph.Unweighted)
	t.Logf("%d nodes, %d edges", g.N(), g.Arcs()/2)
	dir := t.TempDir()
	save(t, filepath.Join(dir, "edges.parquet"), func(w io.Writer) error { return parquet.WriteEdges(w, parquet.EdgesOf(g)) })
	save(t, filepath.Join(dir, "nodes.parquet"), func(w io.Writer) error {
		return parquet.WriteNodes(w, func(yield func(string, error) bool) {
			for _, name := range names {
				if !yield(name, nil) {
					return
				}
			}
		})
	})
	run := exec.CommandContext(t.Context(), command, dir)
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	if err := run.Run(); err != nil {
		t.Fatal(err)
	}
	compareRanks(t, g, dir)
	compareComponents(t, g, dir)
}

func save(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// tolerance is the L1 distance of two PageRanks: a hundred steps leave .85^100, 9e-8, of
// the distance at the beginning, which is at most 2.
const tolerance = 2e-6

func compareRanks(t *testing.T, g *graph.Graph, dir string) {
	theirs, err := parquet.ReadRanks(os.DirFS(filepath.Join(dir, "ranks")), "pagerank", g.N())
	if err != nil {
		t.Fatal(err)
	}
	seeds := make([]ppr.Seed, g.N())
	for i := range seeds {
		seeds[i] = ppr.Seed{Node: int32(i), Weight: 1}
	}
	solver, err := ppr.New(g, ppr.Options{Damping: .85})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := solver.Solve(t.Context(), seeds, nil)
	if err != nil {
		t.Fatal(err)
	}
	l1, most := 0.0, 0.0
	for i := range ours {
		l1 += math.Abs(ours[i] - theirs[i])
		most = max(most, math.Abs(ours[i]-theirs[i])/ours[i])
	}
	t.Logf("PageRank: L1 distance %.2g, largest relative difference %.2g, %d of the 100 first in the same order", l1, most, sameOrder(ours, theirs, 100))
	if l1 > tolerance {
		t.Errorf("the ranks differ by %g, want %g at most", l1, tolerance)
	}
}

// sameOrder is how many of the n first two rankings have in common, up to where they part.
func sameOrder(a, b []float64, n int) int {
	x, y := first(a, n), first(b, n)
	for i := range x {
		if x[i] != y[i] {
			return i
		}
	}
	return len(x)
}

func first(ranks []float64, n int) []int {
	all := make([]int, len(ranks))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(i, j int) int {
		switch {
		case ranks[i] > ranks[j]:
			return -1
		case ranks[i] < ranks[j]:
			return 1
		}
		return 0
	})
	return all[:min(n, len(all))]
}

// compareComponents holds their components, read as communities, to ours.
func compareComponents(t *testing.T, g *graph.Graph, dir string) {
	theirs, err := parquet.ReadCommunities(os.DirFS(filepath.Join(dir, "components")), "component", g.N())
	if err != nil {
		t.Fatal(err)
	}
	ours, count, err := g.Components(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to := make(map[int32]int32)
	for i, c := range theirs {
		if other, ok := to[c]; ok && other != ours[i] {
			t.Fatalf("node %d is in another component", i)
		}
		to[c] = ours[i]
	}
	if len(to) != count {
		t.Errorf("%d components, want %d", len(to), count)
	}
	t.Logf("%d components in both", count)
}
