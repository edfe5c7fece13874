// SPDX-License-Identifier: Apache-2.0

package pairs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/pairs"
)

// Lists come back as they were added, also empty ones, and do not grow into each other.
func TestLists(t *testing.T) {
	var l pairs.Lists
	l.Append(3, 1)
	l.Append()
	l.Append(2)
	l.Clip()
	_ = append(l.Of(0), 9)
	var got [][]int32
	for i, list := range l.All() {
		if int(i) != len(got) {
			t.Errorf("list %d after %d", i, len(got))
		}
		got = append(got, list)
	}
	if diff := cmp.Diff([][]int32{{3, 1}, {}, {2}}, got); diff != "" || l.Len() != 3 {
		t.Errorf("%d lists: %s", l.Len(), diff)
	}
}

// Who is in no pair has none, and the pairs of an entity are in their order.
func TestIncident(t *testing.T) {
	ends := [][2]int32{{0, 1}, {3, 0}, {1, 3}}
	l := pairs.Incident(4, len(ends), func(p int32) [2]int32 { return ends[p] })
	if diff := cmp.Diff([][]int32{{0, 1}, {0, 2}, {}, {1, 2}}, [][]int32{l.Of(0), l.Of(1), l.Of(2), l.Of(3)}); diff != "" {
		t.Error(diff)
	}
}

// The relations of two entities are together whatever their label; there and back
// are one unless they are directed.
func TestPairs(t *testing.T) {
	x := kg.Extraction{Chunk: "a#0", Doc: "a"}
	for _, s := range []string{"BxA", "AzB", "AyC", "AwB", "CvC"} {
		x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: s[:1], Relation: s[1:2], Tail: s[2:]}})
	}
	b, err := kg.NewBase(kg.Options{})
	if err == nil {
		err = b.Insert(x)
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	words := func(directed bool) (out []string) {
		of := pairs.Of(g, directed)
		for _, pair := range of.All() {
			s := ""
			for _, r := range pair {
				x := g.Triple(r)
				s += x.Head + x.Relation + x.Tail + " "
			}
			out = append(out, strings.TrimSpace(s))
		}
		return out
	}
	if diff := cmp.Diff([]string{"AwB AzB BxA", "AyC", "CvC"}, words(false)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"AwB AzB", "AyC", "BxA", "CvC"}, words(true)); diff != "" {
		t.Error(diff)
	}
}
