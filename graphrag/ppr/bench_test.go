// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ppr_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
)

// The graphs to measure on: a planted partition (a million nodes, five million
// edges; a tenth of it with -short), and the names of real pages where
// WILDGRAPHBENCH_DIR says where they are.
var workloads = map[string]func() graphtest.List{
	"planted": sync.OnceValue(func() graphtest.List {
		if testing.Short() {
			return graphtest.Planted(1e5, 5e5, 100, .3, 1)
		}
		return graphtest.Planted(1e6, 5e6, 1000, .3, 1)
	}),
	"names": sync.OnceValue(func() graphtest.List {
		l, _, err := graphtest.Cooccurrence(os.DirFS(os.Getenv("WILDGRAPHBENCH_DIR")))
		if err != nil {
			panic(err)
		}
		return l
	}),
}

func eachWorkload(b *testing.B, run func(b *testing.B, g *graph.Graph, damping float64)) {
	for _, name := range []string{"names", "planted"} {
		if name == "names" && os.Getenv("WILDGRAPHBENCH_DIR") == "" {
			continue
		}
		for _, damping := range []float64{.5, .85} {
			b.Run(fmt.Sprintf("%s/d=%v", name, damping), func(b *testing.B) {
				run(b, workloads[name]().Graph(graph.Float32), damping)
			})
		}
	}
}

func seedsOf(sets [][]int32) [][]ppr.Seed {
	seeds := make([][]ppr.Seed, len(sets))
	for i, set := range sets {
		seeds[i] = uniform(set...)
	}
	return seeds
}

// cpu returns the processor time of the process. Other programs on the machine
// change it less than they change the time of day.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// perQuery runs query over and over and reports its least and its median
// processor time.
func perQuery(b *testing.B, query func(i int) error) float64 {
	b.ReportAllocs()
	if err := query(0); err != nil { // fills the pools
		b.Fatal(err)
	}
	var times []float64
	for i := 0; b.Loop(); i++ {
		start := cpu()
		if err := query(i); err != nil {
			b.Fatal(err)
		}
		times = append(times, float64(cpu()-start)/1e6)
	}
	slices.Sort(times)
	b.ReportMetric(times[0], "min-cpu-ms/query")
	b.ReportMetric(times[len(times)/2], "cpu-ms/query")
	return times[len(times)/2]
}

// BenchmarkSolve measures exact queries, and beside them igraph's prpack if
// PPR_PEER names a Python interpreter that has igraph and numpy:
//
//	PPR_PEER=/usr/bin/python3 WILDGRAPHBENCH_DIR=… go test -run '^$' -bench . -benchtime 3x -timeout 1h ./graphrag/ppr
func BenchmarkSolve(b *testing.B) {
	eachWorkload(b, func(b *testing.B, g *graph.Graph, damping float64) {
		sets := graphtest.Resets(g, 8, 1)
		resets := seedsOf(sets)
		b.Run("1e-09", func(b *testing.B) {
			s := solver(b, g, ppr.Options{Damping: damping})
			var x []float64
			perQuery(b, func(i int) (err error) {
				x, err = s.Solve(b.Context(), resets[i%len(resets)], x)
				return err
			})
		})
		b.Run("igraph", func(b *testing.B) {
			python := os.Getenv("PPR_PEER")
			if python == "" {
				b.Skip("PPR_PEER is not set")
			}
			peer(b, python, g, sets[:3], damping)
		})
	})
}

// peer runs igraph on the same edges and checks that it agrees.
func peer(b *testing.B, python string, g *graph.Graph, sets [][]int32, damping float64) {
	dir := b.TempDir()
	var edges, weights []byte
	for e := range g.Edges() {
		edges = binary.LittleEndian.AppendUint32(edges, uint32(e.From))
		edges = binary.LittleEndian.AppendUint32(edges, uint32(e.To))
		weights = binary.LittleEndian.AppendUint32(weights, math.Float32bits(float32(e.Weight)))
	}
	queries, err := json.Marshal(map[string]any{"nodes": g.N(), "resets": sets})
	if err != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{"edges.i32": edges, "weights.f32": weights, "resets.json": queries} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		out, err := exec.Command(python, "testdata/peer.py", dir, fmt.Sprint(damping)).Output()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		var result struct{ Ms []float64 }
		if err := json.Unmarshal(out, &result); err != nil {
			b.Fatal(err)
		}
		slices.Sort(result.Ms)
		b.ReportMetric(result.Ms[0], "min-cpu-ms/query")
		b.ReportMetric(result.Ms[len(result.Ms)/2], "cpu-ms/query")
		if b.N > 1 {
			break // a query takes seconds, and there are several in a run
		}
	}
	theirs, err := os.ReadFile(filepath.Join(dir, "first.f64"))
	if err != nil {
		b.Fatal(err)
	}
	ours, err := solver(b, g, ppr.Options{Damping: damping, Tolerance: 1e-12}).Solve(b.Context(), uniform(sets[0]...), nil)
	if err != nil {
		b.Fatal(err)
	}
	difference := 0.0
	for u, x := range ours {
		difference += math.Abs(x - math.Float64frombits(binary.LittleEndian.Uint64(theirs[8*u:])))
	}
	b.ReportMetric(difference, "L1-difference")
	if difference > 1e-8 {
		b.Errorf("igraph differs by %g", difference)
	}
}
