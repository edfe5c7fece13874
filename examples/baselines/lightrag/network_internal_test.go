// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func knowledge(t *testing.T, chunks ...[]kg.Fact) *kg.Graph {
	t.Helper()
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	for i, facts := range chunks {
		check.OK(t, b.Insert(kg.Extraction{Chunk: fmt.Sprintf("d%03d#0", i), Doc: fmt.Sprintf("d%03d", i), Facts: facts}))
	}
	return check.Of(b.Graph(t.Context())).OK(t)
}

func fact(head, label, tail, description string, keywords ...string) kg.Fact {
	return kg.Fact{Triple: graphrag.Triple{Head: head, Relation: label, Tail: tail}, Description: description, Keywords: keywords}
}

// Relations have no direction: weights are added, keywords become a sorted set, equal descriptions one, in the
// order of the chunks. An entity has no relation with itself.
func TestRelations(t *testing.T) {
	g := knowledge(t,
		[]kg.Fact{fact("B", "", "A", "first", "sea", "ice"), fact("A", "", "A", "self")},
		[]kg.Fact{fact("A", "", "B", "second", "ice"), fact("C", "built", "B", "")},
		[]kg.Fact{fact("A", "", "B", "first")})
	n := check.Of(newNetwork(t.Context(), baselinestest.OfflineKit(t), Options{}, &kit.Corpus{Graph: g})).OK(t)
	check.True(t, n.pairs.Len() == 2 && n.joins(0) == [2]int32{0, 1} && n.joins(1) == [2]int32{1, 2} &&
		n.weight(0) == 3 && n.weight(1) == 1, "%d pairs: %+v", n.pairs.Len(), n.pairs)
	check.Equal(t, [][]int32{n.pairs.Of(0), n.pairs.Of(1)}, [][]int32{{1, 2}, {3}})
	want := []statements{
		{[]string{"ice", "sea"}, []kg.Description{{Text: "first<SEP>second", Passages: []int32{0, 1, 2}}}, []int32{0, 1, 2}},
		{[]string{"built"}, []kg.Description{{Text: "C built B", Passages: []int32{1}}}, []int32{1}},
	}
	check.Equal(t, cmp.Diff(want, []statements{n.relation(0), n.relation(1)}, cmp.AllowUnexported(statements{})), "")
	check.Equal(t, [][]int32{n.incident.Of(0), n.incident.Of(1), n.incident.Of(2)}, [][]int32{{0}, {0, 1}, {1}})
	check.Equal(t, n.relationText(0), "ice, sea\tA\nB\nfirst<SEP>second", "found by")
}

// Relations are sorted by the degrees of their ends, then by weight.
func TestRank(t *testing.T) {
	var facts []kg.Fact
	for ends, weight := range map[string]float64{"AB": 1, "AC": 2, "AD": 1, "DE": 9} {
		f := fact(ends[:1], "", ends[1:], "")
		f.Weight = weight
		facts = append(facts, f)
	}
	n := check.Of(newNetwork(t.Context(), baselinestest.OfflineKit(t), Options{}, &kit.Corpus{Graph: knowledge(t, facts)})).OK(t)
	got := []int32{0, 1, 2, 3}
	kept := check.Of(n.keep(&kit.Corpus{})).OK(t)
	kept.byDegree(got)
	check.Equal(t, cmp.Diff([]int32{2, 1, 0, 3}, got), "")
}

// Fewer than eight descriptions with fewer than 1,200 tokens are joined; the paper joins any number below 500
// tokens.
func TestDescribe(t *testing.T) {
	all := func(n, tokens int) (of []kg.Description, chunks []int32) {
		for i := range n {
			of = append(of, kg.Description{Text: strings.Repeat("long", tokens-1) + fmt.Sprintf(" %03d", i), Passages: []int32{int32(i)}})
			chunks = append(chunks, int32(i))
		}
		return of, chunks
	}
	for _, tt := range []struct {
		paper     bool
		n, tokens int
		condensed bool
	}{
		{false, 0, 9, false}, {false, 1, 5000, false}, {false, 7, 100, false}, {false, 8, 2, true}, {false, 2, 599, false}, {false, 2, 600, true},
		{true, 8, 2, false}, {true, 2, 249, false}, {true, 2, 250, true},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, "condensed")
		c := check.Of(baselinestest.ModelKit(t, m).Describe(describeTokens)).OK(t)
		of, chunks := all(tt.n, tt.tokens)
		of = from(of, chunks)
		condensed, err := describer{c, llm.EstimateTokens, tt.paper}.all(t.Context(), 1, func(int32) (string, []kg.Description) { return "x", of })
		got, ok := condensed[0]
		if !ok {
			got = joined(of)
		}
		if err != nil || (m.Calls() == 1) != tt.condensed || (got.Text == "condensed") != tt.condensed || len(got.Passages) != tt.n {
			t.Errorf("%+v: %d calls, %.80q of %d passages, %v", tt, m.Calls(), got.Text, len(got.Passages), err)
		}
	}
}

// Of more than 200 chunks of an entity the first 200 are kept, and descriptions that only the others give are
// left out.
func TestSources(t *testing.T) {
	var chunks [][]kg.Fact
	for i := range 205 {
		chunks = append(chunks, []kg.Fact{fact("A", "", "B", fmt.Sprint("says ", i))})
	}
	n := check.Of(newNetwork(t.Context(), baselinestest.OfflineKit(t), Options{}, &kit.Corpus{Graph: knowledge(t, chunks...)})).OK(t)
	r := n.relation(0)
	if len(n.chunks(0)) != 200 || len(r.chunks) != 200 || n.weight(0) != 205 || r.descriptions[0].Passages[len(r.descriptions[0].Passages)-1] >= 200 {
		t.Errorf("%d and %d chunks, weight %v, from %v", len(n.chunks(0)), len(r.chunks), n.weight(0), r.descriptions[0].Passages)
	}
}

// An entity is found by its name and its description, which may be condensed, joined from the first 200 chunks,
// or missing.
func TestEntityText(t *testing.T) {
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	for i := range 205 {
		m := []kg.Mention{{Name: "Fram", Description: fmt.Sprint("says ", i/2)}, {Name: "Ice"}}
		if i > 0 {
			m[0].Description = fmt.Sprint("says ", max(1, i-200)) // few descriptions, with new ones at the end
		}
		if i%100 == 0 {
			m = append(m, kg.Mention{Name: "Gjøa", Description: fmt.Sprint("sailed ", i)})
		}
		check.OK(t, b.Insert(kg.Extraction{Chunk: fmt.Sprintf("d%03d#0", i), Doc: fmt.Sprintf("d%03d", i), Mentions: m}))
	}
	g := check.Of(b.Graph(t.Context())).OK(t)
	n := &network{g: g, condensed: map[int32]kg.Description{}}
	for e, want := range []string{"Fram\nsays 0<SEP>says 1", "Gjøa\nsailed 0<SEP>sailed 100<SEP>sailed 200", "Ice\n"} {
		got := n.entityText(e)
		check.True(t, got == want && got == g.Entities[e].Name+"\n"+n.described(int32(e)).Text, "%q, want %q", got, want)
	}
	n.condensed[1] = kg.Description{Text: "a ship"}
	check.Equal(t, n.entityText(1), "Gjøa\na ship", "condensed")
}

// Each entity with chunks brings ⌊5n/2⌋ chunks, even if an earlier entity has them too; relations count if they
// bring a chunk.
func TestPicked(t *testing.T) {
	similarity := make([]float64, 22)
	var one []int32
	for c := range similarity {
		one = append(one, int32(c))
		similarity[c] = -float64(c % 10)
	}
	s := &searcher{o: Options{RelatedChunks: 5}}
	for _, c := range []struct{ entities, relations, ofEntities, ofRelations [][]int32 }{
		{},
		{entities: [][]int32{one[:20]}, ofEntities: [][]int32{{0, 10}}},
		{entities: [][]int32{one[:20], {0}, nil, {1}}, ofEntities: [][]int32{{0, 10, 1, 11, 2, 12, 3}}},
		{
			entities: [][]int32{{9}}, ofEntities: [][]int32{{9}},
			relations: [][]int32{{1, 2, 3, 4, 5, 6}, {2, 3, 4}, {9}}, ofRelations: [][]int32{{1, 2}},
		},
	} {
		e, r := s.picked(c.entities, c.relations, similarity)
		diff := cmp.Diff(slices.Concat(c.ofEntities...), e, cmpopts.EquateEmpty())
		check.Equal(t, diff, "", "%v", c.entities)
		diff = cmp.Diff(slices.Concat(c.ofRelations...), r, cmpopts.EquateEmpty())
		check.Equal(t, diff, "", "%v", c.relations)
	}
}

// The paper's order: by the number of entities, then by the number of neighbours in the chunk.
func TestByNeighbours(t *testing.T) {
	self := func(name string) kg.Fact { return fact(name, "", name, "") }
	g := knowledge(t, []kg.Fact{self("A")}, []kg.Fact{fact("A", "", "B", "")}, []kg.Fact{fact("A", "", "C", ""), self("B")}, []kg.Fact{self("B")})
	n := check.Of(newNetwork(t.Context(), baselinestest.OfflineKit(t), Options{}, &kit.Corpus{Graph: g})).OK(t)
	k := check.Of(n.keep(&kit.Corpus{})).OK(t)
	s := &searcher{lookup: k}
	check.Equal(t, cmp.Diff([]int32{2, 1, 0, 3}, s.byNeighbours([]int32{0, 1})), "")
	check.Equal(t, cmp.Diff([]int32{2, 1}, s.inOrder([]int32{1, 0})), "")
}

func TestReadKeywords(t *testing.T) {
	for reply, want := range map[string]extract.Parts{
		`{"high_level_keywords":["ships"," "],"low_level_keywords":["Fram"]}`:                                 {Names: []string{"Fram"}, Themes: []string{"ships"}},
		"<think>hm</think>```json\n{\"high_level_keywords\":\"ships; ice\",\"low_level_keywords\":\"\"}\n```": {Themes: []string{"ships", "ice"}},
		`{}`:             {},
		`{"other": "x"}`: {},
		`no`:             {},
	} {
		got, err := byModel(llmtest.NewScript("m").Reply(llmtest.Any, reply))(t.Context(), "Who?")
		check.True(t, err == nil && len(got.Names) == len(want.Names) && len(got.Themes) == len(want.Themes) &&
			fmt.Sprint(got) == fmt.Sprint(want), "%q: %+v, %v", reply, got, err)
	}
	k := orQuestion(extract.Parts{}, strings.Repeat("é", 49))
	check.Equal(t, len(k.Names), 1, "49 characters: %+v", k)
	k = orQuestion(extract.Parts{}, strings.Repeat("é", 50))
	check.Equal(t, len(k.Names), 0, "50 characters: %+v", k)
}

// over is a searcher over a graph: entities and relations are in the order of the numbers low and high, from 1,
// chunks in the order of the given numbers.
func over(t *testing.T, o Options, g *kg.Graph, low, high, chunks []float64) *searcher {
	t.Helper()
	o = baselinestest.Filled(o).Defaults()
	var all []graphrag.Chunk
	for _, p := range g.Passages {
		all = append(all, graphrag.Chunk{ID: p.Chunk, Doc: p.Doc})
	}
	c := kit.Kit{}.Corpus(all, g)
	n := check.Of(newNetwork(t.Context(), baselinestest.OfflineKit(t), o, c)).OK(t)
	k := check.Of(n.keep(c)).OK(t)
	return &searcher{
		o: o, corpus: c.Ranking, lookup: k, count: func(string) int { return 1000 },
		units: baselinestest.Alike(chunks), entities: baselinestest.Alike(low), relations: baselinestest.Alike(high),
		keywords: func(context.Context, string) (extract.Parts, error) {
			return extract.Parts{Names: []string{"low"}, Themes: []string{"high"}}, nil
		},
	}
}

func shown(f graphrag.Found) (derived, chunks []string) {
	for _, d := range f.Derived {
		derived = append(derived, strings.SplitN(d.Text, ":", 2)[0])
	}
	for _, h := range f.Ranked {
		chunks = append(chunks, h.Chunk.Doc)
	}
	return derived, chunks
}

// Round robin by hand. Low-level keywords find A; its relations are A–B and A–E, and E has one more relation,
// so that A–E is first. High-level keywords find C–D. Both levels take turns, the low one first. Each two
// entities or relations with chunks bring RelatedChunks chunks, the ones most similar to the question, and take
// turns, entities first; with Mix the chunks most similar to the question precede both.
func TestHybridMerge(t *testing.T) {
	g := knowledge(t, []kg.Fact{fact("A", "", "B", "ab")}, []kg.Fact{fact("C", "", "D", "cd")}, []kg.Fact{fact("A", "", "E", "ae")},
		[]kg.Fact{fact("E", "", "F", "ef")}, []kg.Fact{fact("E", "", "F", "ef")})
	low, high, chunks := []float64{1, 0, 0, 0, 0, 0}, []float64{0, 0, 1, 0}, []float64{.1, .8, .5, .2, .9}
	for _, tt := range []struct {
		mode            Mode
		related         int
		derived, chunks []string
	}{
		{Hybrid, 1, []string{"A", "C", "D", "A – E", "C – D", "A – B"}, []string{"d001", "d002"}},
		{Mix, 1, []string{"A", "C", "D", "A – E", "C – D", "A – B"}, []string{"d004", "d001", "d002"}},
		{Local, 2, []string{"A", "A – E", "A – B"}, []string{"d002", "d000"}},
		{Global, 2, []string{"C", "D", "C – D"}, []string{"d001"}},
	} {
		s := over(t, Options{Mode: tt.mode, RelatedChunks: tt.related, ChunkTopK: 1}, g, low, high, chunks)
		found := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "?", K: 1, Depth: 3})).OK(t)
		derived, ranked := shown(found)
		check.Equal(t, derived, tt.derived, "%s: derived", tt.mode)
		check.Equal(t, ranked, tt.chunks, "%s: chunks", tt.mode)
	}
}

// With rows of 1,000 tokens there is room for six entities, the hub with all chunks, and eight relations; the
// paper has room for four of each, and reads the chunks of these relations.
func TestBudgets(t *testing.T) {
	var facts []kg.Fact
	var chunks [][]kg.Fact
	for i := range 12 {
		facts = append(facts, fact("Hub", "", fmt.Sprintf("Spoke %02d", i), "x"))
		chunks = append(chunks, []kg.Fact{facts[i]})
	}
	all := slices.Repeat([]float64{1}, 13)
	for _, tt := range []struct {
		o                           Options
		entities, relations, chunks int
	}{{Options{Mode: Hybrid}, 6, 8, 12}, {Options{Mode: Hybrid, Paper: true}, 4, 4, 12}, {Options{Paper: true, Mode: Global}, 4, 4, 4}} {
		found := check.Of(over(t, tt.o, knowledge(t, chunks...), all, all[:12], all[:12]).Retrieve(t.Context(), graphrag.Question{Text: "?", Depth: 99})).OK(t)
		n := map[string]int{}
		for _, d := range found.Derived {
			n[d.Kind]++
		}
		check.True(t, n["entity"] == tt.entities && n["relation"] == tt.relations &&
			len(found.Ranked) == tt.chunks, "%+v: %v, %d chunks", tt, n, len(found.Ranked))
	}
}
