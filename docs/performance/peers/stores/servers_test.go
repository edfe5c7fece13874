// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/opensearch"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Every system finds in PostgreSQL and OpenSearch the same as in memory, and nothing of documents that a
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

// Every system finds in a store the same as in memory, for 200 questions without and with three conditions: in the
// servers that are named, or else in a folder.
func TestEvidence(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if check.Long(t); dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	pages := check.Of(read(dir)).OK(t)
	w := &world{seed: 1, passages: 1500, triples: 6000, questions: asked}
	graph := check.Of(w.graph(t.Context(), t.TempDir())).OK(t)
	defer graph.Close()
	conditions := []graphrag.Condition{{}, graphrag.Equal("tenth", 3), graphrag.Not(graphrag.Equal("tenth", 3)), graphrag.Between("thousandth", 100, 600)}
	servers := strings.Fields(os.Getenv("WILDGRAPH_POSTGRES") + " " + os.Getenv("WILDGRAPH_OPENSEARCH"))
	for _, x := range all.Systems() {
		if x.NoDocuments {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			m := measured{corpus: pages, system: x.Name, n: w.passages}
			if x.NeedsGraph {
				m.corpus, m.graph = w.corpus(), graph
			}
			in := func(where string) (digests []string) {
				m := m
				m.where = where
				s, closed, err := m.open(t.Context(), false)
				check.OK(t, err)
				check.OK(t, check.Err(s.Index(t.Context(), m.documents())))
				for _, where := range conditions {
					sum := sha256.New()
					for _, q := range m.questions {
						found := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: q, K: 10, Where: &where})).OK(t)
						for _, h := range found.Ranked {
							fmt.Fprintf(sum, "%q", []string{h.Chunk.ID, h.Chunk.Text})
						}
						sum.Write([]byte{0})
					}
					digests = append(digests, fmt.Sprintf("%x", sum.Sum(nil)))
				}
				check.OK(t, closed())
				return digests
			}
			stores, memory := servers, in("memory")
			if len(stores) == 0 {
				stores = []string{filepath.Join(t.TempDir(), "store")}
			}
			for _, where := range stores {
				same := len(conditions)
				if strings.HasPrefix(where, "http") && (x.Name == "bm25" || x.NeedsGraph) { // it counts words among all records (store.Capabilities.OwnWords)
					same = 1
				}
				check.Equal(t, in(where)[:same], memory[:same])
			}
		})
	}
}
