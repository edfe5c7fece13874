// SPDX-License-Identifier: Apache-2.0

//go:build linux

package graph_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// TestMemory builds a graph of ten million nodes and a hundred million edges
// from a stream, alone in its process, and reads the peak of its memory. It
// runs where GRAPH_MEMORY says how:
//
//	GRAPH_MEMORY=unweighted go test -count=1 -v -run Memory ./graphrag/graph
//	GRAPH_MEMORY=float32    go test -count=1 -v -run Memory ./graphrag/graph
func TestMemory(t *testing.T) {
	c, ok := map[string]struct {
		precision graph.Precision
		limit     int // kB
	}{"unweighted": {graph.Unweighted, 1_300_000}, "float32": {graph.Float32, 2_100_000}}[os.Getenv("GRAPH_MEMORY")]
	if !ok {
		t.Skip("GRAPH_MEMORY is neither unweighted nor float32")
	}
	const n, m = 10_000_000, 100_000_000
	g, err := graph.Build(n, func(yield func(graph.Edge, error) bool) {
		x := uint64(1)
		for range m {
			x = x*6364136223846793005 + 1442695040888963407
			u, v := x>>32*n>>32, (x&0xffffffff)*0x9e3779b1&0xffffffff*n>>32
			if !yield(graph.Edge{From: int32(u), To: int32(v), Weight: float64(x >> 60)}, nil) {
				return
			}
		}
	}, graph.Options{Precision: c.precision})
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	peak, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d nodes, %d arcs, peak %d kB", g.N(), g.Arcs(), peak)
	if g.Arcs() < 2*m*99/100 {
		t.Errorf("%d arcs, want nearly %d", g.Arcs(), 2*m)
	}
	if peak > c.limit {
		t.Errorf("peak %d kB, want at most %d", peak, c.limit)
	}
}
