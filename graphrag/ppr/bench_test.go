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
	"github.com/wildgraph/wildgraph/graphrag/rank"
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
		seeds[i] = ppr.Uniform(set...)
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
func perQuery(b *testing.B, queries int, query func(i int) error) float64 {
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
		times = append(times, float64(cpu()-start)/1e6/float64(queries))
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
//
// With [BenchmarkTop], which this runs too, it is the whole comparison.
func BenchmarkSolve(b *testing.B) {
	eachWorkload(b, func(b *testing.B, g *graph.Graph, damping float64) {
		sets := graphtest.Resets(g, 5*lanes, 1)
		resets := seedsOf(sets)
		b.Run("single/1e-09", func(b *testing.B) {
			s := solver(b, g, ppr.Options{Damping: damping})
			var x []float64
			perQuery(b, 1, func(i int) (err error) {
				x, err = s.Solve(b.Context(), resets[i%len(resets)], x)
				return err
			})
		})
		for _, tolerance := range []float64{1e-9, 1e-6} {
			b.Run(fmt.Sprintf("batch/%.0e", tolerance), func(b *testing.B) {
				s := solver(b, g, ppr.Options{Damping: damping, Tolerance: tolerance})
				var x [][]float64
				perQuery(b, lanes, func(i int) (err error) {
					first := i % 5 * lanes
					x, err = s.SolveBatch(b.Context(), resets[first:first+lanes], x)
					return err
				})
			})
		}
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
	ours, err := solver(b, g, ppr.Options{Damping: damping, Tolerance: 1e-12}).Solve(b.Context(), ppr.Uniform(sets[0]...), nil)
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

// BenchmarkTop measures rankings, the mean of many since a close one takes longer,
// and how many of them have the exact set of the first 20 nodes. Nodes that tie
// with the last of them are as good. There are 1,000 reset sets for the names at
// d = 0.5, and fewer where exact results take long.
func BenchmarkTop(b *testing.B) {
	eachWorkload(b, func(b *testing.B, g *graph.Graph, damping float64) {
		count := 1000
		if testing.Short() || damping != .5 || g.N() > 500_000 {
			count = 64
		}
		resets := seedsOf(graphtest.Resets(g, count, 2))
		s := solver(b, g, ppr.Options{Damping: damping})
		exact := exactFirst(b, s, resets)
		for _, epsilon := range []float64{1e-6, 1e-7} {
			b.Run(fmt.Sprintf("%.0e", epsilon), func(b *testing.B) {
				b.ReportAllocs()
				hits := 0
				var top []rank.Scored[int32]
				var spent time.Duration
				for b.Loop() {
					hits, spent = 0, 0
					for i, seeds := range resets {
						start := cpu()
						var err error
						if top, err = s.Top(b.Context(), seeds, first, epsilon, top); err != nil {
							b.Fatal(err)
						}
						spent += cpu() - start
						if among(top, exact[i]) {
							hits++
						}
					}
				}
				b.ReportMetric(float64(spent)/1e6/float64(count), "mean-cpu-ms/query")
				b.ReportMetric(float64(hits)/float64(count), "exact-sets")
			})
		}
	})
}

// first is the number of nodes of a ranking.
const first = 20

func among(top []rank.Scored[int32], nodes map[int32]float64) bool {
	for _, score := range top {
		if _, ok := nodes[score.ID]; !ok {
			return false
		}
	}
	return len(top) == first
}

// exactFirst returns the exact values of the first nodes of each reset vector.
func exactFirst(b *testing.B, s *ppr.Solver, resets [][]ppr.Seed) []map[int32]float64 {
	var exact []map[int32]float64
	var x [][]float64
	for group := range slices.Chunk(resets, lanes) {
		var err error
		if x, err = s.SolveBatch(b.Context(), group, x); err != nil {
			b.Fatal(err)
		}
		for _, values := range x {
			exact = append(exact, firstNodes(values, first))
		}
	}
	return exact
}

// firstNodes returns the k nodes of highest value, and those that tie with the
// last of them up to what an exact solution leaves open.
func firstNodes(values []float64, k int) map[int32]float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	least := sorted[len(sorted)-k] - 1e-10
	nodes := map[int32]float64{}
	for u, v := range values {
		if v >= least {
			nodes[int32(u)] = v
		}
	}
	return nodes
}

// lanes is how many queries of a batch read the edges together.
const lanes = 16
