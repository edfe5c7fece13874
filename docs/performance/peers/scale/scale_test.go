// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// With the graph much more is found where it is needed; started again, nothing is built.
func TestScale(t *testing.T) {
	for _, args := range [][]string{{}, {"-index", "x", "-limit", "1"}, {"-index", "x", "-passages", "9"}, {"-sed", "1"}} {
		check.True(t, scale(t.Context(), args, io.Discard, io.Discard) != nil, "%q is measured", args)
	}
	check.Long(t)
	args := []string{"-index", filepath.Join(t.TempDir(), "store"), "-passages", "4000", "-triples", "24000", "-limit", "40"}
	for n := range 2 {
		var printed strings.Builder
		check.OK(t, scale(t.Context(), args, &printed, io.Discard))
		out := printed.String()
		figures := func(line string) (a, b float64) {
			_, rest, _ := strings.Cut(out, line)
			_, err := fmt.Sscan(rest, &a, &b)
			check.True(t, err == nil, "start %d, %q: %v\n%s", n+1, line, err, out)
			return a, b
		}
		without, with := figures("that need the graph")
		others, both := figures("that do not")
		var nearest float64
		_, rest, _ := strings.Cut(out, "nearest vectors")
		if _, err := fmt.Sscan(rest, &nearest); err != nil || with < without+25 || both < others || others < 50 || nearest < 90 {
			t.Errorf("too little is found with the graph, or too much is lost, %v:\n%s", err, out)
		}
		check.True(t, strings.Contains(out, "indexed in") == (n == 0), "start %d: %s", n+1, out)
	}
}

// The planted questions are what they claim to be: only the first passage of a bridged
// question has words of it, and each passage states its edge.
func TestQuestions(t *testing.T) {
	w := &world{seed: 1, passages: 4000, triples: 24000, questions: 40}
	for n := range w.questions {
		q := w.question(n)
		for i, gold := range q.gold {
			body, e := w.passage(gold).Text, q.edges[i]
			_, states := w.relation(e.relation)
			check.True(t, strings.Contains(body, w.name(e.head)+" "+states+" "+w.name(e.tail)),
				"%s: passage %d does not state its edge", q.text, gold)
			_, subject, _ := strings.Cut(strings.TrimSuffix(q.text, "?"), " of ")
			if named := strings.Contains(body, w.name(e.head)) && strings.Contains(subject, w.name(e.head)); named == (q.bridged && i == 1) {
				t.Errorf("%s: bridged %t, but passage %d names its subject: %t", q.text, q.bridged, i+1, named)
			}
		}
	}
	graphragtest.Embedder(t, hashed{})
}
