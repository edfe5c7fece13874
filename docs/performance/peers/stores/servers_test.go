// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"os"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/opensearch"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Every system finds in PostgreSQL and OpenSearch what it finds in memory, and says nothing of documents that a
// condition or a scope excludes.
func TestServers(t *testing.T) {
	graph := check.Of((&world{passages: 80, triples: 320, questions: 10}).graph(t.Context(), t.TempDir())).OK(t)
	defer graph.Close()
	for name, open := range map[string]func(address string) (store.Store, error){
		"WILDGRAPH_POSTGRES": func(a string) (store.Store, error) {
			return postgres.Open(t.Context(), a, postgres.Options{Schema: "systems"})
		},
		"WILDGRAPH_OPENSEARCH": func(a string) (store.Store, error) {
			return opensearch.Open(t.Context(), []string{a}, opensearch.Options{Prefix: "systems"})
		},
	} {
		address := os.Getenv(name)
		if address == "" {
			t.Logf("%s is not set: skipped", name)
			continue
		}
		st, reading := check.Of(open(address)).OK(t), check.Of(open(address)).OK(t)
		for _, x := range all.Systems() {
			if x.NoDocuments {
				continue
			}
			if x.NeedsGraph {
				x = x.WithGraph(graph)
			}
			t.Run(name+"/"+x.Name, func(t *testing.T) {
				baselinestest.Stored(t, x.New, st, reading)
				s := baselinestest.InStore(t, x.New, st)
				baselinestest.Leaks(t, s, 24)
				check.OK(t, s.Close())
			})
		}
		check.OK(t, st.Close())
		check.OK(t, reading.Close())
	}
}
