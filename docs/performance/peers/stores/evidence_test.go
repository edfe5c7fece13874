// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Every system finds in a folder what it finds in memory, for 200 questions without and with three conditions.
func TestEvidence(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if check.Long(t); dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	pages := check.Of(read(dir)).OK(t)
	w := &world{seed: 1, passages: 1500, triples: 6000, questions: asked / 4}
	graph := check.Of(w.graph(t.Context(), t.TempDir())).OK(t)
	defer graph.Close()
	for _, x := range all.Systems() {
		if x.NoDocuments {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			m := measured{corpus: pages, system: x.Name, n: w.passages, where: "memory"}
			if x.NeedsGraph {
				m.corpus, m.graph = w.corpus(), graph
			}
			in := func(where string) (sum string) {
				m := m
				m.where = where
				s, closed, err := m.open(t.Context(), false)
				check.OK(t, err)
				check.OK(t, check.Err(s.Index(t.Context(), m.documents())))
				sum = check.Of(m.digest(t.Context(), s)).OK(t)
				check.OK(t, closed())
				return sum
			}
			check.Equal(t, in(filepath.Join(t.TempDir(), "store")), in("memory"))
		})
	}
}

// digest identifies what a system finds for all questions and three conditions.
func (m *measured) digest(ctx context.Context, s *kit.System) (string, error) {
	sum := sha256.New()
	for _, where := range []graphrag.Condition{{}, graphrag.Equal("tenth", 3), graphrag.Not(graphrag.Equal("tenth", 3)), graphrag.Between("thousandth", 100, 600)} {
		for _, q := range m.questions {
			found, err := s.Retrieve(ctx, graphrag.Question{Text: q, K: 10, Where: &where})
			if err != nil {
				return "", err
			}
			var ids []string
			for _, h := range found.Ranked {
				ids = append(ids, h.Chunk.ID, h.Chunk.Text)
			}
			data, _ := json.Marshal(ids) // nothing in it can fail
			sum.Write(data)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
