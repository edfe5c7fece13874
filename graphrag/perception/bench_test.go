// SPDX-License-Identifier: Apache-2.0

package perception_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/perception"
)

// BenchmarkByMembers takes 100,000 entities in 500 groups: from k-means, and from 5,000
// communities that are merged.
func BenchmarkByMembers(b *testing.B) {
	const n, dim, groups = 100_000, 48, 500
	vectors, triples := entities(n, dim, groups, 1)
	initial := make([]int32, n)
	for e := range initial {
		initial[e] = int32(e%groups*10 + e/groups%10)
	}
	for name, o := range map[string]perception.Options{
		"kmeans": {MaxSize: perception.None},
		"given":  {MaxSize: perception.None, Initial: initial},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var p perception.Partition
			for b.Loop() {
				p = byMembers(b, vectors, dim, triples, o)
			}
			b.ReportMetric(float64(len(p.Communities)), "communities")
		})
	}
}
