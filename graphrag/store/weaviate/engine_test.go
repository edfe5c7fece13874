// SPDX-License-Identifier: Apache-2.0

package weaviate_test

import (
	"net/http"
	"slices"
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
	o.Replicas = len(nodes(t)) - 1
	return o
}

// Systems find here what they find in memory, with few requests: many of the vectors of the
// sample are as far from a question, so enough candidates are kept to have all.
func TestSystems(t *testing.T) {
	var sent storetest.Requests
	o := spread(t)
	o.HTTP, o.EfSearch = &http.Client{Transport: &sent}, 5000
	s := open(t, o)
	defer s.Close()
	for _, x := range all.Systems() {
		if slices.Contains([]string{"bm25", "naiverag", "hipporag2", "gear"}, x.Name) {
			t.Run(x.Name, func(t *testing.T) { baselinestest.Stored(t, x.Name, x.New, s, sent.Count) })
		}
	}
}

// A node of several is killed while questions are asked.
func TestOutage(t *testing.T) {
	kill, revive := storetest.Program(t, "WILDGRAPH_KILL"), storetest.Program(t, "WILDGRAPH_REVIVE")
	o := spread(t)
	o.Wait = -1
	s := open(t, o)
	defer s.Close()
	storetest.Outage{Rows: 20_000, For: time.Minute, Kill: kill, Revive: revive}.Test(t, s)
}

// A node of several is killed while passages are put.
func TestInterrupted(t *testing.T) {
	kill, revive := storetest.Program(t, "WILDGRAPH_KILL"), storetest.Program(t, "WILDGRAPH_REVIVE")
	o := spread(t)
	o.Wait = time.Second
	s := open(t, o)
	defer s.Close()
	storetest.Interrupted{Rows: 3000, Nodes: len(nodes(t)), Kill: kill, Revive: revive}.Test(t, s)
}
