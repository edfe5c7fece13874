// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// BenchmarkCacheHit asks 1,000 prompts of 2 kB with replies of 400 bytes
// again and again.
func BenchmarkCacheHit(b *testing.B) {
	j, err := journal.Open(filepath.Join(b.TempDir(), "j"), journal.Header{Schema: paid.Schema}, journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	reply := strings.Repeat("answer ", 57)
	c, err := paid.Cached(llmtest.NewScript("m").Reply(llmtest.Any, reply), j, paid.CacheOptions{})
	if err != nil {
		b.Fatal(err)
	}
	requests := make([]llm.Request, 1000)
	for i := range requests {
		requests[i] = llm.Prompt(fmt.Sprintf("question %d: %s", i, strings.Repeat("text ", 400)))
		if _, err := c.Generate(b.Context(), requests[i]); err != nil {
			b.Fatal(err)
		}
	}
	var next atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, err := c.Generate(b.Context(), requests[next.Add(1)%1000])
			if err != nil || r.Usage.CachedCalls != 1 || len(r.Text) != len(reply) {
				b.Error(r, err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "hits/s")
}
