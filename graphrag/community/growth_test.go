// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
)

// BenchmarkGrowth measures how the time of Leiden grows with planted partitions of the same
// degree and size of communities: the exponent is that of n from an eighth to the whole.
func BenchmarkGrowth(b *testing.B) {
	seconds := [4]float64{}
	nodes := 1_000_000
	if testing.Short() {
		nodes = 100_000
	}
	for i := range seconds {
		n := nodes >> (3 - i)
		g := graphtest.Planted(n, 5*n, n/1000, .3, 1).Graph()
		b.Run(fmt.Sprintf("nodes=%d", g.N()), func(b *testing.B) {
			start := cpu()
			for b.Loop() {
				leiden(b, g, community.Options{MaxPasses: 2})
			}
			seconds[i] = (cpu() - start).Seconds() / float64(b.N)
			b.ReportMetric(seconds[i], "cpu-s/op")
			if seconds[0] > 0 && i == 3 {
				b.ReportMetric(math.Log2(seconds[3]/seconds[0])/3, "exponent")
			}
		})
	}
}

// cpu is the time of all processors that the process has taken.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
