// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// A list and a stream of it make the same graph, on any number of processors.
func TestListIsStream(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []struct{ nodes, edges int }{{1, 3}, {50, 400}, {3_000, 140_000}, {200_000, 140_000}, {300_000, 20}} {
		edges := make([]graph.Edge, size.edges)
		for i := range edges {
			u := rng.IntN(size.nodes)
			v := min(u+rng.IntN(1+size.nodes/4), size.nodes-1) // many parallel edges, and loops at the last node
			edges[i] = graph.Edge{From: int32(u), To: int32(v), Weight: rng.Float64()}
			if i%2 == 1 {
				edges[i].From, edges[i].To = edges[i].To, edges[i].From
			}
		}
		stream := func(yield func(graph.Edge, error) bool) {
			for _, e := range edges {
				if !yield(e, nil) {
					return
				}
			}
		}
		for _, precision := range []graph.Precision{graph.Float64, graph.Float32, graph.Unweighted} {
			want, err := graph.Build(size.nodes, stream, graph.Options{Precision: precision})
			if err != nil {
				t.Fatal(err)
			}
			for _, procs := range []int{1, 2, 5} {
				runtime.GOMAXPROCS(procs)
				got, err := graph.New(size.nodes, edges, graph.Options{Precision: precision})
				if err != nil {
					t.Fatal(err)
				}
				if !same(got, want) {
					t.Errorf("%d nodes, %d edges, precision %d, %d processors: not the graph of the stream", size.nodes, size.edges, precision, procs)
				}
			}
		}
	}
}

func same(a, b *graph.Graph) bool {
	return slices.Equal(a.Offsets(), b.Offsets()) && slices.Equal(a.Targets(), b.Targets()) &&
		slices.Equal(a.Weights32(), b.Weights32()) && slices.Equal(a.Weights64(), b.Weights64())
}

// The first unusable edge of a list is reported, and parallel edges that weigh too much.
func TestListErrors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	edges := make([]graph.Edge, 300_000)
	for i := range edges {
		edges[i] = graph.Edge{From: int32(i % 100_000), To: int32(i / 3), Weight: 1}
	}
	edges[7].Weight, edges[200_005].Weight = math.MaxFloat64, math.MaxFloat64
	edges[200_005].From, edges[200_005].To = edges[7].To, edges[7].From
	if _, err := graph.New(100_000, edges, graph.Options{}); !errors.Is(err, graph.ErrEdge) || !strings.Contains(err.Error(), "edge 2–7:") {
		t.Errorf("too heavy together: %v", err)
	}
	edges[150_000].To, edges[290_000].From = 100_000, -1
	if _, err := graph.New(100_000, edges, graph.Options{}); !errors.Is(err, graph.ErrEdge) || !strings.Contains(err.Error(), "edge 150000:") {
		t.Errorf("unusable: %v", err)
	}
}
