// SPDX-License-Identifier: Apache-2.0

package kg_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Lists come back as they were added, also empty ones, and do not grow into each other.
func TestLists(t *testing.T) {
	var l kg.Lists
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
	l := kg.Incident(4, len(ends), func(p int32) [2]int32 { return ends[p] })
	if diff := cmp.Diff([][]int32{{0, 1}, {0, 2}, {}, {1, 2}}, [][]int32{l.Of(0), l.Of(1), l.Of(2), l.Of(3)}); diff != "" {
		t.Error(diff)
	}
}
