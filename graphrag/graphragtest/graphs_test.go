// SPDX-License-Identifier: Apache-2.0

package graphragtest_test

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// The fingerprints were computed by another program in another language.
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

// fingerprint is the FNV-1a hash of the edges, each written as "i,j,w;" with i ≤ j and the
// shortest decimal for w, in ascending order.
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
