// SPDX-License-Identifier: Apache-2.0

package e2graphrag

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
)

// over is a searcher over the chunks of pages, which "|" separates.
func over(t *testing.T, o Options, pages ...string) *searcher {
	t.Helper()
	k := check.Of(kit.Offline(kit.OfflineOptions{})).OK(t)
	var chunks []graphrag.Chunk
	for p, page := range pages {
		for i, text := range strings.Split(page, "|") {
			text = strings.ReplaceAll(text, ". ", ".\n\n") // makes sentences that may begin without capitals
			chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprintf("%d#%06d", p, i), Doc: fmt.Sprint(p), Index: i, Text: text})
		}
	}
	return check.Of(build(t.Context(), k, baselinestest.Filled(o), k.Corpus(chunks, nil))).OK(t)
}

func (s *searcher) number(word string) int32 {
	found := s.terms.in(word, 1)
	return found[0]
}

// toy has alice and bob in chunks 0 and 1, and louvre, two edges away from alice, in no chunk with her.
const toy = "alice bob engine. alice engine.|bob paris. alice paris.|paris louvre.|louvre monalisa."

// A page of 31 chunks has 7 and 2 summaries, one of 4 chunks has one, a short one none.
func TestCalls(t *testing.T) {
	page := func(chunks int) string { return strings.TrimSuffix(strings.Repeat("alice|", chunks), "|") }
	s := over(t, Options{}, page(31), page(4), page(1))
	got := len(s.tree.Nodes) - len(s.corpus.Chunks)
	check.True(t, got == 7+2+1 && len(s.corpus.Chunks) == 36, "%d summaries of %d chunks", got, len(s.corpus.Chunks))
}

// The worked example: sentences [alice, bob, engine], [alice, engine], [bob, paris].
func TestCooccurrence(t *testing.T) {
	s := over(t, Options{}, "alice bob engine. alice engine. bob paris.")
	got := make(map[string]float64)
	for e := range s.terms.graph.Edges() {
		a, b := string(s.terms.words.At(int(e.From))), string(s.terms.words.At(int(e.To)))
		got[min(a, b)+"–"+max(a, b)] = e.Weight
	}
	engine := string(s.terms.words.At(int(s.number("engine"))))
	check.Equal(t, got, map[string]float64{"alic–bob": 1, "alic–" + engine: 2, "bob–" + engine: 1, "bob–pari": 1})
}

// Two terms in one chunk are a local question. A path between terms that are never in one chunk is not, unless
// the chunks along the path are wanted; a single term has no pair.
func TestPairs(t *testing.T) {
	ask := func(o Options, question string) string {
		nodes, step, err := over(t, o, toy).search(t.Context(), question)
		check.OK(t, err)
		of := make(map[int32]bool)
		for _, n := range nodes {
			of[n] = true
		}
		return fmt.Sprint(step.Kind, " ", of)
	}
	for _, x := range []struct {
		o              Options
		question, want string
	}{
		{Options{}, "Did alice meet bob?", "local map[0:true 1:true]"},
		{Options{}, "Is alice in the louvre?", "global, by terms map[0:true 1:true 2:true 3:true 4:true]"}, // chunk 4 is the summary
		{Options{}, "Who is alice?", "global, by terms map[0:true 1:true 4:true]"},
		{Options{}, "why is it so", "global map[]"},
		{Options{}, "", "global map[]"},
		{Options{}, "Who was in Atlantis?", "global map[]"},
		{Options{}, "alice\nbob paris", "global, by terms map[0:true 1:true 2:true 4:true]"}, // only the first line
	} {
		check.Equal(t, ask(x.o, x.question), x.want, "%q", x.question)
	}
}

// If too many chunks remain, paths are shortened. If none remain then, the chunks before that are ranked by
// their terms, then by the length of their run of neighbours, then by the frequency of the terms.
func TestTooManyChunks(t *testing.T) {
	s := over(t, Options{Chunks: 2}, "alice bob.|alice bob. alice.|alice bob engine.", "alice bob. alice bob. alice bob.")
	nodes, step, err := s.search(t.Context(), "alice bob engine")
	check.OK(t, err)
	check.Equal(t, step.Kind, "local, too many")
	check.Equal(t, nodes, []int32{2, 1})
	// alice and engine are in one chunk but in no sentence together: the path between them has three terms, and
	// is first.
	s = over(t, Options{Chunks: 2}, "alice bob.|alice bob.|alice. engine bob.")
	nodes, step, err = s.search(t.Context(), "alice engine bob")
	check.True(t, err == nil && step.Kind == "local, too many" && len(nodes) == 2, "%v, %s, %v", nodes, step.Kind, err)
	s = over(t, Options{Chunks: 2}, "alice bob.|alice. bob engine.|alice. engine.|alice. engine.")
	nodes, step, err = s.search(t.Context(), "alice engine")
	check.True(t, err == nil && step.Kind == "local, too many" && len(nodes) == 2, "%v, %s, %v", nodes, step.Kind, err)
}

// A term with a hundred thousand neighbours, a page without a full stop, and a question as long as a page take
// linear time.
func TestHub(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "hub thing%d. ", i)
	}
	s := over(t, Options{}, b.String(), strings.Repeat("whale ship ", 50_000))
	d := s.terms.graph.Degree(s.number("hub"))
	check.True(t, d >= 100_000, "the hub has %d neighbours", d)
	arcs := s.terms.graph.Arcs()
	check.True(t, arcs <= 250_000, "%d arcs", arcs)
	got := s.terms.path(s.number("thing1"), s.number("thing99999"))
	check.Equal(t, got, 3, "terms of a path")
	got = s.terms.path(s.number("hub"), s.number("whale"))
	check.Equal(t, got, 0, "terms of a path")
	got = len(s.terms.in(b.String(), maxTerms))
	check.Equal(t, got, maxTerms, "terms of a question")
	_, _, err := s.search(t.Context(), b.String())
	check.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.True(t, check.Err(newTermIndex(ctx, s.corpus.Chunks)) != nil, "cancelled")
}
