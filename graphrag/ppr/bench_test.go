// SPDX-License-Identifier: Apache-2.0

//go:build unix

package ppr_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
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
		l, err := graphtest.Cooccurrence(os.DirFS(os.Getenv("WILDGRAPHBENCH_DIR")))
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
				run(b, workloads[name]().Graph(), damping)
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
		texttest.OK(b, query(i))
		times = append(times, float64(cpu()-start)/1e6)
	}
	slices.Sort(times)
	b.ReportMetric(times[0], "min-cpu-ms/query")
	b.ReportMetric(times[len(times)/2], "cpu-ms/query")
	return times[len(times)/2]
}

// BenchmarkSolve measures exact queries; docs/performance/peers/graph has igraph beside them.
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
	})
}
