// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// secret makes a document of one of two groups. A word that occurs in no other document or version is in
// its title, source, tags and facts.
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
// deleted. It fails if a word of an excluded document is in the result: in ranked, evidence, derived,
// steps, citations, streams, graphs or errors.
func Leaks(t *testing.T, s *kit.System, questions int) {
	r := rand.New(rand.NewPCG(11, 12))
	docs := map[string]graphrag.Document{}
	var words []string // of all documents and versions
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

// someQuestion returns a random question under a condition, a scope, or both, and a predicate for the
// fields they permit.
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
