// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
)

// With the graph much more is found of the questions that need it, and no less of the others.
func TestGraph(t *testing.T) {
	w := &world{seed: 1, passages: 4000, triples: 24000, questions: 40}
	graph := check.Of(w.graph(t.Context(), t.TempDir())).OK(t)
	defer graph.Close()
	st := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	defer st.Close()
	parts := check.Of(kit.Offline(kit.OfflineOptions{})).OK(t)
	parts.Trained, parts.Embed = true, func(context.Context, []string) (embed.Embedder, error) { return hashed(384), nil }
	recall := func(expand gear.Expansion, bridged bool) float64 {
		system := check.Of(gear.New(parts, gear.Options{Graph: graph, Steps: 1, Expand: expand})).OK(t)
		s := check.Of(kit.Open(t.Context(), system.Frame(), st, "gear")).OK(t)
		defer s.Close()
		m := &measured{corpus: w.corpus(), n: w.passages}
		if list := check.Of(s.List(t.Context())).OK(t); len(list) == 0 {
			check.OK(t, check.Err(s.Index(t.Context(), m.documents())))
		}
		found := 0
		for n := range w.questions {
			q := w.question(n)
			if q.bridged != bridged {
				continue
			}
			hits := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: q.text, K: 10})).OK(t).Ranked
			for _, gold := range q.gold {
				if slices.ContainsFunc(hits, func(h graphrag.Hit) bool { return h.Chunk.Doc == m.document(gold).ID }) {
					found++
				}
			}
		}
		return 100 * float64(found) / float64(w.questions)
	}
	without, with := recall(gear.ExpandNever, true), recall(gear.ExpandAlways, true)
	others, both := recall(gear.ExpandNever, false), recall(gear.ExpandAlways, false)
	t.Logf("that need the graph: %.1f, %.1f with it; that do not: %.1f, %.1f", without, with, others, both)
	check.True(t, with >= without+25 && both >= others && others >= 50, "too little is found with the graph, or too much is lost")
}

// Only the first passage of a bridged question has words of it, and each of its passages states its edge.
func TestQuestions(t *testing.T) {
	w := &world{seed: 1, passages: 4000, triples: 24000, questions: 40}
	for n := range w.questions {
		q := w.question(n)
		for i, gold := range q.gold {
			body, e := w.passage(gold), q.edges[i]
			_, states := w.relation(e.relation)
			check.True(t, strings.Contains(body, w.name(e.head)+" "+states+" "+w.name(e.tail)),
				"%s: passage %d does not state its edge", q.text, gold)
			_, subject, _ := strings.Cut(strings.TrimSuffix(q.text, "?"), " of ")
			if named := strings.Contains(body, w.name(e.head)) && strings.Contains(subject, w.name(e.head)); named == (q.bridged && i == 1) {
				t.Errorf("%s: bridged %t, but passage %d names its subject: %t", q.text, q.bridged, i+1, named)
			}
		}
	}
}
