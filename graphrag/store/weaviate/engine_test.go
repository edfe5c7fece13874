// SPDX-License-Identifier: Apache-2.0

package weaviate_test

import (
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
	"github.com/wildgraph/wildgraph/graphrag/store/weaviate"
)

// spread is how indexes are kept where there are several nodes: all on each, since words
// are counted by shard.
func spread(t testing.TB) (o weaviate.Options) {
	if len(nodes(t)) > 1 {
		o.Replicas = 2
	}
	return o
}

// trips counts requests.
type trips struct{ n atomic.Int64 }

func (c *trips) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

// Systems find here what they find in memory, with few requests: many of the vectors of the
// sample are as far from a question, so enough candidates are kept to have all.
func TestSystems(t *testing.T) {
	var c trips
	o := spread(t)
	o.HTTP, o.EfSearch = &http.Client{Transport: &c}, 5000
	s := open(t, o)
	defer s.Close()
	for _, x := range all.Systems() {
		if slices.Contains([]string{"bm25", "naiverag", "hipporag2", "gear"}, x.Name) {
			t.Run(x.Name, func(t *testing.T) { baselinestest.Stored(t, x.Name, x.New, s, c.n.Load) })
		}
	}
}

// A node of several is killed while questions are asked.
func TestOutage(t *testing.T) {
	kill, revive := os.Getenv("WILDGRAPH_KILL"), os.Getenv("WILDGRAPH_REVIVE")
	if kill == "" {
		t.Skip("WILDGRAPH_KILL names no program that kills a node")
	}
	run := func(program string) func(*testing.T) {
		return func(t *testing.T) {
			if out, err := exec.Command("sh", program).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
	o := spread(t)
	o.Wait = -1
	s := open(t, o)
	defer s.Close()
	storetest.Outage{Rows: 20_000, Settle: 75 * time.Second, For: time.Minute, Kill: run(kill), Revive: run(revive)}.Test(t, s)
}
