// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// fixed has given similarities: for a key "query|text", the similarity of query and text.
type fixed struct {
	texts  []string
	scores map[string]float64
}

func (f fixed) Len() int { return len(f.texts) }

func (f fixed) Best(ctx context.Context, query string, k int) ([]rank.Scored[int32], error) {
	scores, err := f.Scores(ctx, query, nil)
	var out []rank.Scored[int32]
	for i, s := range scores {
		if s > 0 {
			out = append(out, rank.Scored[int32]{ID: int32(i), Score: s})
		}
	}
	return rank.Best(out, k), err
}

func (f fixed) Scores(_ context.Context, query string, _ []float64) ([]float64, error) {
	out := make([]float64, len(f.texts))
	for i, t := range f.texts {
		for key, score := range f.scores {
			if strings.Contains(query+"|"+t, key) {
				out[i] = score
			}
		}
	}
	return out, nil
}

// corpusOf has a chunk for each extraction, whose texts have given vectors and similarities: find gives these
// for the chunks, names, facts, keywords and communities.
func corpusOf(t *testing.T, vector func(text string) []float32, find []map[string]float64, found ...kg.Extraction) (kit.Kit, *kit.Corpus) {
	t.Helper()
	k := check.Of(kit.Offline(kit.OfflineOptions{})).OK(t)
	k.Embed = func(context.Context, []string) (embed.Embedder, error) {
		return embed.Func(func(_ context.Context, texts []string) (out [][]float32, err error) {
			for _, s := range texts {
				out = append(out, vector(s))
			}
			return out, nil
		}), nil
	}
	k.Find = func(_ context.Context, _ func(context.Context) (embed.Embedder, error), texts text.List) (retrieve.Texts, error) {
		f := fixed{slices.Collect(texts.All()), find[0]}
		find = find[1:]
		return f, nil
	}
	var chunks []graphrag.Chunk
	for i := range found {
		id := fmt.Sprint("c", i+1)
		found[i].Chunk, found[i].Doc = id, id
		chunks = append(chunks, graphrag.Chunk{ID: id, Doc: id, Text: "Text of " + id})
	}
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	check.OK(t, b.Insert(found...))
	g := check.Of(b.Graph(t.Context())).OK(t)
	return k, k.Corpus(chunks, g)
}

func triple(head, relation, tail string) kg.Extraction {
	return kg.Extraction{Mentions: []kg.Mention{{Name: head}, {Name: tail}}, Facts: []kg.Fact{{Triple: graphrag.Triple{Head: head, Relation: relation, Tail: tail}}}}
}

// The four routes of section 3.3, by hand. The facts t1 to t4, similar to the query by .9, .2, .8
// and .6, are from c1 to c4; c1 and c5 are similar to it by .3 and .5; m facts are member_of.
//
//	entities     Uma alone is similar: t3, mUma
//	facts        t1, t3, t4, t2
//	communities  by its text for "first": t1, t2; by a keyword for "second": t3, t4
//	paths        a fact scores half its similarity, a path their mean less .1 an edge:
//	             t3 .3; t3 t4 .15; t3 mVic 0; t3 t4 mWes -.067; mUma -.1
//
// RRF of "first": t3 2/61+1/62 = .04892, t1 2/61 = .03279, t4 1/63+1/62 = .03200, t2 1/64+1/62 =
// .03175. A chunk has its best path, .2 of its similarity and .02 of its best fact by the best of
// all: c3 .3+.02, c4 .15+.02·.03200/.04892, c5 .2·.5, c1 .2·.3+.02·.03279/.04892, c2
// .02·.03175/.04892. The wanted route counts twice, and t4 of a wanted relation 1.1.
func TestFourRoutesWorked(t *testing.T) {
	side := func(s string) []float32 {
		return map[bool][]float32{true: {1, 0}, false: {0, 1}}[strings.Contains("Ada, Bo, Cy", s)]
	}
	k, c := corpusOf(t, side, []map[string]float64{
		{"c1": .3, "c5": .5}, {"Uma": .9}, {"Ada knows Bo": .9, "Bo likes Cy": .2, "Uma meets Vic": .8, "Vic helps Wes": .6}, {"second|Wes": .7}, {"first|Bo": .5},
	}, triple("Ada", "knows", "Bo"), triple("Bo", "likes", "Cy"), triple("Uma", "meets", "Vic"), triple("Vic", "helps", "Wes"), kg.Extraction{})
	s := &searcher{o: Options{}.Defaults(), corpus: c}
	var err error
	s.tree, err = grow(t.Context(), k, s.o, c)
	check.OK(t, cmp.Or(err, s.index(t.Context(), k), s.join()))
	for _, tt := range []struct {
		without               string
		sub                   agent.SubQuery
		routes, ranked, facts string // routes has the first facts of each route, ranked and facts the results of all routes
	}{
		{"", agent.SubQuery{Text: "first"}, "t3 mUma, t1 t3 t4, t1 t2, t3 t4 mVic", "c3 .320000, c4 .163085, c5 .100000, c1 .073405, c2 .012983", "t3 t1 t4 t2"},
		{"", agent.SubQuery{Text: "second"}, "t3 mUma, t1 t3 t4, t3 t4, t3 t4 mVic", "c3 .320000, c4 .164739, c5 .100000, c1 .065020, c2 .004785", "t3 t4 t1 t2"},
		{"", agent.SubQuery{Text: "first", Target: agent.Node}, "t3 mUma, t1 t3 t4, t1 t2, t3 t4 mVic", "c3 .320000, c4 .159800, c5 .100000, c1 .070040, c2 .009724", "t3 t1 t4 t2"},
		{"", agent.SubQuery{Text: "first", Target: agent.Fact}, "t3 mUma, t1 t3 t4, t1 t2, t3 t4 mVic", "c3 .320000, c4 .164721, c5 .100000, c1 .075122, c2 .014568", "t3 t1 t4 t2"},
		{"", agent.SubQuery{Text: "first", Target: agent.Community}, "t3 mUma, t1 t3 t4, t1 t2, t3 t4 mVic", "c3 .319892, c4 .163014, c5 .100000, c1 .080000, c2 .019472", "t1 t3 t2 t4"},
		{"", agent.SubQuery{Text: "first", Types: []string{"helps"}}, "t3 mUma, t1 t3 t4, t1 t2, t3 t4 mVic", "c3 .320000, c4 .178085, c5 .100000, c1 .073405, c2 .012983", "t3 t1 t4 t2"},
		{"paths", agent.SubQuery{Text: "first"}, "t3 mUma, t1 t3 t4, t1 t2", "c5 .100000, c1 .080000, c3 .019839, c2 .019370, c4 .009683", "t1 t3 t2 t4"},
	} {
		s.o.Without = tt.without
		f := check.Of(s.search(t.Context(), graphrag.Question{Text: tt.sub.Text, K: 5}, tt.sub)).OK(t)
		short := strings.NewReplacer("Ada knows Bo", "t1", "Bo likes Cy", "t2", "Uma meets Vic", "t3", "Vic helps Wes", "t4", "Uma member_of Vic", "mUma", "Vic member_of Vic", "mVic")
		var routes, ranked, facts []string
		for _, step := range f.Steps {
			routes = append(routes, short.Replace(strings.Join(step.Found, " ")))
		}
		for _, h := range f.Ranked {
			ranked = append(ranked, h.Chunk.ID+" "+strings.TrimPrefix(fmt.Sprintf("%.6f", h.Score), "0"))
		}
		for _, d := range f.Derived {
			if d.Kind == kindFact {
				facts = append(facts, short.Replace(d.Text))
			}
		}
		got := fmt.Sprintln(strings.Join(routes, ", ")) + fmt.Sprintln(strings.Join(ranked, ", ")) + strings.Join(facts, " ")
		diff := gocmp.Diff(tt.routes+"\n"+tt.ranked+"\n"+tt.facts, got)
		check.True(t, diff == "" && len(f.Derived) == len(facts)+1, "%+v: %d derived (-want +got):\n%s", tt.sub, len(f.Derived), diff)
	}
}

// Equation 4 with an attribute, by hand: A (1,0) knows (1,1) B (0,1), and has the attribute
// (0,1) age: 9 (.5,.5). A is the mean of [1 0 1 1 0 1] and [1 0 0 1 .5 .5], B the first of them.
//
// Equations 5 and 6 in one community of both: Ψ(A) = {knows, attribute}, Ψ(B) = {knows},
// Ψ(C) = {2 knows, attribute}, so S_r is 2/3 and 1/3; S_s is .98774 and .99120. By .3 and .7 A
// is the centre (.891 and .794), by λ = 200 it is B (198.21 and 198.57).
func TestAttributesAndLambdaWorked(t *testing.T) {
	x := triple("A", "knows", "B")
	x.Attributes = []kg.Attribute{{Entity: "A", Key: "age", Value: "9"}}
	vectors := map[string][]float32{"A": {1, 0}, "B": {0, 1}, "knows": {1, 1}, "has attribute": {0, 1}, "age: 9": {.5, .5}}
	_, c := corpusOf(t, func(s string) []float32 { return vectors[s] }, nil, x)
	e := check.Of(c.Embedder(t.Context())).OK(t)
	got, dim, triples, err := perceived(t.Context(), Options{}, e, c.Graph)
	want := "[1 0 0.5 1 0.25 0.75 1 0 1 1 0 1] 6 [{0 1 1} {0 0 0}]"
	check.True(t, err == nil && fmt.Sprint(got, dim, triples) == want, "%v %v %v, %v, want %v", got, dim, triples, err, want)
	for lambda, want := range map[float64]int32{0: 0, 200: 1} {
		p, err := divided(t.Context(), Options{Communities: perception.Options{MaxCommunities: 1, Lambda: lambda}}, c)
		check.True(t, err == nil && len(p.Communities) == 1 && p.Communities[0].Center == want,
			"λ %v: %+v, %v, want the centre %d", lambda, p.Communities, err, want)
	}
}

// Of 700 entities in 70 groups without anything in common 64 communities are made.
func TestMostCommunities(t *testing.T) {
	var x kg.Extraction
	for i := range 700 {
		x.Mentions = append(x.Mentions, kg.Mention{Name: fmt.Sprintf("e%03d", i)})
	}
	_, c := corpusOf(t, func(s string) []float32 {
		v, i := make([]float32, 70), 0
		fmt.Sscanf(s, "e%d", &i)
		v[i%70] = 1
		return v
	}, nil, x)
	p, err := divided(t.Context(), Options{}.Defaults(), c)
	check.True(t, err == nil && len(p.Communities) == 64, "%d communities, %v", len(p.Communities), err)
}

// A question is decomposed with the most frequent names of the graph, sixty of a kind.
func TestVocabulary(t *testing.T) {
	g := &kg.Graph{Entities: []kg.Entity{{Type: "ship"}, {Type: "person"}, {Type: "person"}, {}}}
	for i := range 70 {
		g.Relations = append(g.Relations, kg.Relation{Label: fmt.Sprintf("r%02d", i), Count: i})
	}
	s := vocabulary(g)
	check.True(t, len(s.Relations) == 60 && s.Relations[0].Name == "r69" && gocmp.Equal(s.EntityTypes, items("person", "ship")), "%+v", s)
}

// A plan by rules has the question, the types of its question words, and the schema's names that share its
// words.
func TestByRules(t *testing.T) {
	schema := &extract.Schema{EntityTypes: items("person", "place", "ship"), Relations: items("was built by", "sailed on"), Attributes: items("launch_year")}
	for question, want := range map[string][]string{
		"Who built the ships in Larvik?":               {"person", "ship", "was built by"},
		"Where and in what launch year was it built?":  {"place", "was built by", "launch_year"},
		"Name everything that the moon has to do with": nil,
	} {
		subs, err := byRules(schema)(t.Context(), question)
		check.Must(t, err == nil && len(subs) == 1 && subs[0].Text == question, "%+v, %v", subs, err)
		check.Equal(t, subs[0].Types, want, "%s", question)
	}
	subs, err := byRules(nil)(t.Context(), "Who?")
	check.True(t, err == nil && len(subs) == 1 && subs[0].Types == nil, "without a schema: %+v, %v", subs, err)
}

// If no fact that was found contains a word of the question, it is searched for, unless no page has it.
func TestFillGaps(t *testing.T) {
	known := func(term string) bool { return term != "zaphod" }
	m := agent.Memory{Question: graphrag.Question{Text: "Where was the builder of Zaphod's ship born?", K: 1}, Found: graphrag.Found{
		Ranked:  []graphrag.Hit{{Chunk: graphrag.Chunk{Title: "Ships", Text: "Colin Archer builds."}}, {Chunk: graphrag.Chunk{Text: "He was born."}}},
		Derived: []graphrag.Derived{{Kind: kindCommunity, Text: "towns"}, {Kind: kindFact, Text: "Fram built by Archer"}},
	}}
	want := agent.Move{Thought: "nothing says: builder born", Query: "builder born Fram built by Archer"}
	check.Equal(t, fillGaps(&m, known), want)
	m.Found.Derived = append(m.Found.Derived, graphrag.Derived{Kind: kindFact, Text: "Archer was born in Larvik, the builder of ships"})
	got := fillGaps(&m, known)
	check.True(t, got.Answered && got.Query == "", "%+v", got)
}

// The projection is the product with its matrix, with sums in float64 in the order of the components; short
// vectors are not projected.
func TestTransform(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var f transform
	for range 3 {
		v := make([]float32, 3*perceivedDim+1)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		v[7] = 0
		got := f.apply(v)
		for j := range perceivedDim {
			want := 0.0
			for i, x := range v {
				want += float64(float64(x) * f.matrix[i*perceivedDim+j])
			}
			check.Must(t, got[j] == float32(want), "component %d is %v, want %v", j, got[j], want)
		}
	}
	short := []float32{1, 2, 3}
	check.Equal(t, len(f.apply(short)), len(short), "a short vector was projected")
}

// With a memo the communities of a graph are found once for each set of options.
func TestCommunitiesAreFoundOnce(t *testing.T) {
	k := check.Of(kit.Offline(kit.OfflineOptions{})).OK(t)
	chunks := []graphrag.Chunk{{ID: "a", Text: "Skien is a town in Norway."}, {ID: "b", Text: "Larvik is a town in Norway."}}
	g := &kg.Graph{
		Entities:  []kg.Entity{{Name: "Skien"}, {Name: "Norway"}, {Name: "Larvik"}},
		Relations: []kg.Relation{{Head: 0, Tail: 1, Label: "in"}, {Head: 2, Tail: 1, Label: "in"}},
	}
	find := func(ctx context.Context, o Options) *perception.Community {
		t.Helper()
		p := check.Of(divided(ctx, o, k.Corpus(chunks, g))).OK(t)
		return &p.Communities[0]
	}
	under := memo.With(t.Context())
	first := find(under, Options{})
	check.True(t, find(under, Options{NoAgent: true}) == first, "found twice")
	other := Options{Communities: perception.Options{Seed: 7}}
	check.True(t, find(t.Context(), Options{}) != first && find(under, other) != first, "shared without a memo, or with other options")
}
