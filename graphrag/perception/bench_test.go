// SPDX-License-Identifier: Apache-2.0

package perception_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/perception"
)

// BenchmarkByMembers takes 100,000 entities in 500 groups.
func BenchmarkByMembers(b *testing.B) {
	vectors, triples := entities(100_000, 48, 500, 1)
	b.ReportAllocs()
	var p perception.Partition
	for b.Loop() {
		p = byMembers(b, vectors, 48, triples, perception.Options{MaxSize: perception.None})
	}
	b.ReportMetric(float64(len(p.Communities)), "communities")
}
