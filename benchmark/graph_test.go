// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag/graph"
)

func TestDegrees(t *testing.T) {
	d := degrees([]graph.DegreeCount{{Degree: 0, Nodes: 3}, {Degree: 1, Nodes: 4}, {Degree: 3, Nodes: 2}, {Degree: 8, Nodes: 1}})
	if diff := cmp.Diff(record.Degrees{3, 4, 2, 0, 1}, d); diff != "" {
		t.Error(diff)
	}
}
