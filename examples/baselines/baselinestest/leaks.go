// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/internal/check"
)

// secret makes a document of one of two groups. Its title, source, tags and facts have a word that no other
// document and no other version has.
func secret(r *rand.Rand, i, version int) graphrag.Document {
	word := fmt.Sprintf("Zorg%cblat%c%c%c", 'a'+i, 'a'+version/676%26, 'a'+version/26%26, 'a'+version%26)
	return graphrag.Document{
		ID: fmt.Sprintf("d%d", i), Title: word + " papers", Source: word,
		Text:   fmt.Sprintf("%s Archer built the Fram in %d. Fridtjof Nansen met %s Archer in Oslo. The Fram sailed to the %s Sea with Nansen.", word, 1880+i, word, word),
		Fields: graphrag.Fields{"team": string(rune('a' + i%2)), "n": float64(r.IntN(20)), "tags": []string{"all", word}},
	}
}

// someCondition returns a random condition.
func someCondition(r *rand.Rand, depth int) graphrag.Condition {
	if depth > 0 && r.IntN(2) == 0 {
		a, b := someCondition(r, depth-1), someCondition(r, depth-1)
		return []graphrag.Condition{graphrag.And(a, b), graphrag.Or(a, b), graphrag.Not(a)}[r.IntN(3)]
	}
	return []graphrag.Condition{
		graphrag.Equal("team", string(rune('a'+r.IntN(2)))), graphrag.Between("n", r.IntN(20), nil), graphrag.Between("n", nil, r.IntN(20)),
		graphrag.In("n", r.IntN(20), r.IntN(20), r.IntN(20)), graphrag.Has("tags", "all"), graphrag.Not(graphrag.Equal("team", "a")),
	}[r.IntN(6)]
}

// Leaks asks questions with random conditions under random scopes while documents are added, changed and
// deleted. It fails if a result has a word of an excluded document, be it in ranked, evidence, derived, steps,
// citations, streams, graphs or errors.
func Leaks(t *testing.T, s *kit.System, questions int) {
	r := rand.New(rand.NewPCG(11, 12))
	docs := map[string]graphrag.Document{}
	var words []string // words of all documents in all versions
	version := 0
	fresh := func(i int) graphrag.Document {
		version++
		d := secret(r, i, version)
		docs[d.ID], words = d, append(words, d.Source)
		return d
	}
	var first []graphrag.Document
	for i := range 6 {
		first = append(first, fresh(i))
	}
	if _, err := s.Index(t.Context(), graphrag.Documents(first...)); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for n := range questions {
		if n%8 == 7 {
			gone := fmt.Sprintf("d%d", r.IntN(7))
			delete(docs, gone)
			if _, err := s.Update(t.Context(), graphrag.Documents(fresh(r.IntN(7))), gone); err != nil {
				t.Fatal(err)
			}
		}
		q, ctx, meets := someQuestion(t.Context(), r, words)
		result := resultOf(ctx, t, s, q)
		permitted := map[string]bool{}
		for _, d := range docs {
			if meets(d.Fields) {
				permitted[d.Source] = true
			}
		}
		apart := strings.ReplaceAll(strings.ToLower(result), strings.ToLower(q.Text), "")
		for _, word := range words {
			has := strings.Contains(apart, strings.ToLower(word))
			if has && permitted[word] {
				seen++
			}
			if has && !permitted[word] && !strings.Contains(q.Text, word) {
				t.Fatalf("question %d, %q where %v, scope %v: %s is in\n%.3000s", n, q.Text, q.Where, graphrag.ScopeOf(ctx), word, result)
			}
		}
	}
	if seen == 0 {
		t.Error("no word of a permitted document was seen: nothing is tested")
	}
}

// someQuestion returns a random question under a condition, a scope, or both, and a function that reports
// whether both permit a document with some fields.
func someQuestion(ctx context.Context, r *rand.Rand, words []string) (graphrag.Question, context.Context, func(graphrag.Fields) bool) {
	where := someCondition(r, 2)
	q := graphrag.Question{Text: []string{"Who built the Fram?", "Where did Nansen meet Archer?", "Summarize the voyages of the Fram."}[r.IntN(3)], K: 1 + r.IntN(6), Depth: 8, Where: &where}
	if r.IntN(3) == 0 {
		q.Text = fmt.Sprintf("What did %s Archer build?", words[r.IntN(len(words))])
	}
	if r.IntN(3) == 0 {
		q.Tokens = 20 + r.IntN(100)
	}
	meets := where.Compile()
	if r.IntN(2) == 0 {
		scope := someCondition(r, 1)
		ctx = graphrag.WithScope(ctx, scope)
		if r.IntN(3) == 0 {
			q.Where, meets = nil, func(graphrag.Fields) bool { return true }
		}
		asked, within := meets, graphrag.NewScope(scope).Compile()
		meets = func(f graphrag.Fields) bool { return asked(f) && within(f) }
	}
	return q, ctx, meets
}

// resultOf returns everything that a system returns for a question, as text.
func resultOf(ctx context.Context, t *testing.T, s *kit.System, q graphrag.Question) string {
	t.Helper()
	var out strings.Builder
	put := func(v any, err error) {
		data, _ := json.Marshal(v)
		fmt.Fprintf(&out, "%s %+v %v\n", data, v, err)
	}
	answer, err := s.Answer(ctx, q)
	put(answer, err)
	if err != nil {
		t.Fatalf("%v where %v: %v", q.Text, q.Where, err)
	}
	found, err := s.Retrieve(ctx, q)
	put(found, err)
	for part, err := range s.Stream(ctx, q) {
		put(part, err)
	}
	g, err := s.GraphFor(ctx, q.Where)
	if put(nil, err); g != nil {
		put([]any{g.Entities, g.Relations, g.Passages, g.Rejected}, nil)
	}
	return out.String()
}

// Stored checks that a system finds the same in store s as in memory, with a budget of tokens, after changes, and
// opened again by the handle reading; if s counts its own words, also scores, and under conditions and scopes.
func Stored(t *testing.T, recipe func(kit.Kit, kit.Common) (*kit.System, error), s, reading store.Store) {
	t.Helper()
	memory, err := recipe(OfflineKit(t).WithEmbedder(sharedWords), kit.Common{Cut: kit.Cut{Size: 60}})
	check.OK(t, err)
	stored := InStore(t, recipe, s)
	own := s.Can().OwnWords
	pages := slices.Clone(Pages)
	for i := range pages {
		pages[i].Fields = graphrag.Fields{"n": float64(i), "tags": []string{"all", pages[i].ID}}
	}
	same := func(change func(*kit.System) (graphrag.IndexStats, error)) {
		t.Helper()
		want, err1 := change(memory)
		got, err2 := change(stored)
		check.OK(t, errors.Join(err1, err2))
		opened, inMemory := InStore(t, recipe, reading), evidence(t, memory, own)
		for name, s := range map[string]*kit.System{"the one that wrote": stored, "opened": opened} {
			if diff := cmp.Diff(inMemory, evidence(t, s, own)); diff != "" || got.Documents != want.Documents || got.Chunks != want.Chunks {
				t.Fatalf("%s, of %+v and %+v (-memory +store):\n%s", name, want, got, diff)
			}
		}
		check.OK(t, opened.Close())
	}
	same(func(s *kit.System) (graphrag.IndexStats, error) {
		return s.Index(t.Context(), graphrag.Documents(pages...))
	})
	same(func(s *kit.System) (graphrag.IndexStats, error) { return s.Delete(t.Context(), pages[0].ID, "unknown") })
	pages[1].Text = pages[1].Text[:len(pages[1].Text)/3]
	pages[2].Text += pages[0].Text
	same(func(s *kit.System) (graphrag.IndexStats, error) {
		return s.Update(t.Context(), graphrag.Documents(pages[1], pages[2], graphrag.Document{ID: "empty"}), pages[2].ID, "empty")
	})
	same(func(s *kit.System) (graphrag.IndexStats, error) {
		return s.Index(t.Context(), graphrag.Documents(pages[2:]...))
	})
	check.OK(t, stored.Close())
}

// Storable lists the systems that keep no texts in memory when they are in a store.
var Storable = []string{"bm25", "naiverag", "hipporag2", "lightrag", "fastgraphrag", "gear", "gear-corpus"}

// InStore opens a system in a store, by its name.
func InStore(t *testing.T, recipe func(kit.Kit, kit.Common) (*kit.System, error), st store.Store) *kit.System {
	t.Helper()
	memory, err := recipe(OfflineKit(t).WithEmbedder(sharedWords), kit.Common{Cut: kit.Cut{Size: 60}})
	check.OK(t, err)
	s, err := kit.Open(t.Context(), memory.Frame(), st, memory.Name())
	check.OK(t, err)
	return s
}

// evidence lists the documents of a system and its results for questions. If the system's store counts its own
// words, questions under conditions and scopes are among them.
func evidence(t *testing.T, s *kit.System, own bool) (out []string) {
	t.Helper()
	ids, err := s.List(t.Context())
	check.OK(t, err)
	for _, id := range append(ids, "unknown") {
		chunks, ok, err := s.Get(t.Context(), id)
		check.OK(t, err)
		out = append(out, fmt.Sprint(id, ok, chunks))
	}
	tag := graphrag.Has("tags", Pages[2].ID)
	few, others, none := graphrag.Between("n", 1, 2), graphrag.Not(tag), graphrag.Equal("nothing", 1)
	for _, q := range Questions {
		for _, where := range []*graphrag.Condition{nil, &few, &others, &none} {
			for _, scope := range []*graphrag.Condition{nil, &few, &tag} {
				ctx := t.Context()
				if !own && (where != nil || scope != nil) {
					continue
				}
				if scope != nil {
					ctx = graphrag.WithScope(ctx, *scope)
				}
				for _, q := range []graphrag.Question{{Text: q.Text, K: 4, Where: where}, {Text: q.Text, Tokens: 150, Where: where}} {
					found, err := s.Retrieve(ctx, q)
					if errors.Is(err, kit.ErrField) {
						err = kit.ErrField
					}
					out = append(out, fmt.Sprint(q, err))
					for _, h := range slices.Concat(found.Ranked, found.Evidence) {
						score := h.Score
						if !own {
							score = 0 // scores depend on deleted chunks until segments are merged
						}
						out = append(out, fmt.Sprintf("%v %.5f %s", h.Chunk, score, h.Source))
					}
				}
			}
		}
	}
	return out
}
