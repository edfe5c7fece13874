// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func graphFrom(t *testing.T, lines ...string) *triples.Index {
	t.Helper()
	return check.Of(triples.New(t.Context(), triples.TSV("graph", strings.NewReader(strings.Join(lines, "\n"))).All(), triples.Options{})).OK(t)
}

// listed answers each question with a fixed list, and stores the questions.
type listed struct {
	lists map[string]string
	asked []string
}

func (l *listed) Retrieve(_ context.Context, q graphrag.Question) (graphrag.Found, error) {
	if ask := fmt.Sprint(q.Text, " ", q.Want()); !slices.Contains(l.asked, ask) {
		l.asked = append(l.asked, ask)
	}
	out := graphrag.Nothing()
	for _, id := range strings.Fields(l.lists[q.Text]) {
		out.Ranked = append(out.Ranked, graphrag.Hit{Chunk: graphrag.Chunk{ID: id, Doc: id, Text: id}})
	}
	out.Ranked = out.Ranked[:min(len(out.Ranked), q.Want())]
	return out, nil
}

// RetrieveAll answers the questions in their order.
func (l *listed) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	out := make([]graphrag.Found, len(qs))
	for i, q := range qs {
		out[i], _ = l.Retrieve(ctx, q) // cannot fail
	}
	return out, nil
}

// sourced is a graph whose triple i is stated by passage ti.
type sourced struct{ Graph }

func (sourced) Stated(context.Context, []graphrag.Chunk) ([][]int32, error) { panic("a model reads") }

func (sourced) Sources(_ context.Context, list []int32) ([]graphrag.Found, error) {
	out := make([]graphrag.Found, len(list))
	for i, n := range list {
		id := fmt.Sprint("t", n)
		out[i].Ranked = []graphrag.Hit{{Chunk: graphrag.Chunk{ID: id, Doc: id}}}
	}
	return out, nil
}

// The requests of each step with the defaults: it searches twice, reads ten passages, expands in the second
// step only, grows chains of two triples from each triple that was read, and asks for one passage of each. The
// former defaults search four times, expand at once, and let the passages of remembered triples vote.
func TestStepsWorked(t *testing.T) {
	lines := []string{"Fram\tbuilder\tArcher", "Archer\tborn in\tLarvik", "Larvik\tin\tNorway", "Tide\tnear\tLindisfarne", "Oslo\tin\tNorway"}
	const twelve = "a b c d e f g h i j k l"
	for _, x := range []struct {
		o               Options
		asked           string
		aligned, ranked string
		facts           int
	}{
		{Options{}, "q0 10, q1 10", "Fram builder Archer 1, Tide near Lindisfarne 1, Archer born in Larvik 1", "a b c d e f g t0 t3 t1", 6},
		{Options{Expand: ExpandNever}, "q0 10, q1 10", "", "a b c d e f g h i j", 6},
		{Options{Original: true}, "q0 10, q1 10, Tide near Lindisfarne 10, Fram builder Archer 10, A b C 10, D e F 10, G h I0 10, G h I1 10, q2 10, G h I2 10, q3 10, G h I3 10", "", "t0 t3 a b c t1 d e f g", 8},
	} {
		shown, n := 0, 0
		m := llmtest.NewScript("m").
			Handle(llmtest.Stage(StageRead), func(req llm.Request) llm.Reply {
				shown = strings.Count(req.Messages[1].Text, " passage]") / 2
				return llm.Reply{Text: fmt.Sprintf(`{"triples": [["Tide","near","Lindisfarne"],["Fram","builder","Archer"],["A","b","C"],["D","e","F"],["G","h","I%d"]]}`, n)}
			}).
			Handle(llmtest.Stage(StageReflect), func(llm.Request) llm.Reply {
				n++
				return llm.Reply{Text: fmt.Sprintf(`{"answerable": false, "missing": "x", "next_question": "q%d"}`, n)}
			}).
			Reply(llmtest.Stage(StageFilter), `{"keep": "all"}`)
		lists := map[string]string{"Fram builder Archer": "t0 x", "Archer born in Larvik": "t1 x", "Tide near Lindisfarne": "t3 x"}
		for i := range 4 {
			lists[fmt.Sprint("q", i)] = twelve
		}
		passages, align := &listed{lists: lists}, &listed{lists: lists}
		graph := sourced{Indexed(graphFrom(t, lines...))()}
		p := Parts{Passages: passages, Align: align, Kit: kit.Kit{AnswerModel: m}, Graph: func() Graph { return graph },
			Find: func(ctx context.Context, texts text.List) (retrieve.Texts, error) {
				return retrieve.NewWords(ctx, texts)
			}}
		r := check.Of(Over(p, x.o)).OK(t)
		found := check.Of(r.Retrieve(t.Context(), graphrag.Question{Text: "q0", K: 10})).OK(t)
		var ranked []string
		for _, h := range found.Ranked {
			ranked = append(ranked, h.Chunk.ID)
		}
		got := []string{strings.Join(passages.asked, ", "), strings.Join(align.asked, ", "), strings.Join(ranked, " "), fmt.Sprint(len(found.Derived), shown)}
		check.Equal(t, got, []string{x.asked, x.aligned, x.ranked, fmt.Sprint(x.facts, " ", 10)}, "%+v", x.o)
	}
}

// meaning embeds texts by their meaning: synonyms have one vector.
var meaning = embed.Func(func(_ context.Context, list []string) ([][]float32, error) {
	out := make([][]float32, len(list))
	for i, s := range list {
		out[i] = []float32{.1, .1, .1}
		for k, words := range [][]string{{"shipwright", "builder"}, {"Larvik", "Tolerodden"}, {"tide", "sea"}} {
			for _, w := range words {
				if strings.Contains(s, w) {
					out[i][k] = 1
				}
			}
		}
	}
	return out, nil
})

func systemOf(t *testing.T, o Options, k kit.Kit, docs ...string) graphrag.Retriever {
	t.Helper()
	s := check.Of(New(k.WithEmbedder(meaning), o)).OK(t)
	var list []graphrag.Document
	for i, d := range docs {
		list = append(list, graphrag.Document{ID: fmt.Sprint("d", i), Text: d})
	}
	baselinestest.Index(t, s, list...)
	return s
}

func firstOf(t *testing.T, r graphrag.Retriever, q string, k int) (docs, expanded []string) {
	t.Helper()
	found := check.Of(r.Retrieve(t.Context(), graphrag.Question{Text: q, K: k})).OK(t)
	for _, h := range found.Ranked {
		docs = append(docs, h.Chunk.Doc)
	}
	for _, s := range found.Steps {
		if s.Kind == "expand" {
			expanded = append(expanded, s.Found...)
		}
	}
	return docs, expanded
}

// One passage has the words of the question, another its meaning; equation 1 finds both.
func TestBothHalves(t *testing.T) {
	r := systemOf(t, Options{Steps: 1, Graph: graphFrom(t, "A\tb\tC")}, baselinestest.OfflineKit(t),
		"A shipwright is at work.", "Colin Archer was famous.", "The shipwright sleeps.", "The sea is wide.")
	docs, _ := firstOf(t, r, "Which builder was Archer?", 2)
	slices.Sort(docs)
	check.Equal(t, docs, []string{"d0", "d1"}, "found")
}

// A triple that was read is linked by words, or by the meaning of its words.
func TestDenseLinks(t *testing.T) {
	facts := graphFrom(t, "Archer\tvisited the works\tLarvik town hall", "Archer\tshipwright at\tTolerodden")
	for _, x := range []struct {
		link      Linking
		want, doc string
	}{{"", "Archer visited the works Larvik town hall", "d1"}, {LinkWords, "Archer visited the works Larvik town hall", "d1"}, {LinkDense, "Archer shipwright at Tolerodden", "d2"}} {
		k := baselinestest.ModelKit(t, llmtest.NewScript("m").
			Reply(llmtest.Stage(StageRead), `{"triples": [["Archer","builder at the works","Larvik"]]}`).
			Reply(llmtest.Stage(StageFilter), `{"keep": "all"}`))
		r := systemOf(t, Options{Steps: 1, Expand: ExpandAlways, Graph: facts, Link: x.link, Beam: graph.BeamOptions{Length: 1}}, k,
			"Archer is asked for.", "Archer visited the works and the town hall.", "The builder at Larvik was busy.", "Rain.")
		docs, expanded := firstOf(t, r, "Archer?", 4)
		check.True(t, slices.Equal(expanded, []string{x.want}) && docs[0] == x.doc, "%q: linked to %q, found %v", x.link, expanded, docs)
	}
}

// A triple is linked if it is similar enough and one of its ends has the same name.
func TestLinkConditions(t *testing.T) {
	g := Indexed(graphFrom(t, "Archer\tborn in\tLarvik"))()
	for _, x := range []struct {
		head  string
		score float64
		o     Options
		want  int
	}{
		{"Archer", .5, Options{}, 1}, {"Archer", .49, Options{}, 0}, {"Archer", .3, Options{LinkShare: .3}, 1},
		{"Nansen", 1, Options{}, 0}, {"Nansen", .1, Options{PlainLinks: true}, 1},
	} {
		s := &searcher{o: x.o.Defaults()}
		near := []proximal{{graphrag.Triple{Head: x.head, Relation: "r", Tail: "T"}, -1, graphrag.Provenance{}}}
		start, err := s.link(t.Context(), fixed{g, Links{[]rank.Scored[int32]{{ID: 0, Score: x.score}}, 1}}, near)
		check.True(t, err == nil && len(start) == x.want, "%+v: %v, %v", x, start, err)
	}
}

type fixed struct {
	Graph
	links Links
}

func (f fixed) Link(context.Context, []string, int) ([]Links, error) { return []Links{f.links}, nil }

// A share of a graph has about that share of its triples, and contains every smaller share; another seed gives
// another choice. A passage still states the triples that remain.
func TestShare(t *testing.T) {
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	var chunks []graphrag.Chunk
	var lines []string
	for i := range 300 {
		id := fmt.Sprintf("%03d", i)
		chunks, lines = append(chunks, graphrag.Chunk{ID: id, Doc: id}), append(lines, "Ship "+id+"\tbuilt in\tTown "+id)
		check.OK(t, b.Insert(kg.Extraction{Chunk: id, Doc: id, Facts: []kg.Fact{{Triple: graphrag.Triple{Head: "Ship " + id, Relation: "built in", Tail: "Town " + id}}}}))
	}
	g := check.Of(b.Graph(t.Context())).OK(t)
	there := func(o Options) map[string]bool {
		graph := check.Of(graphOf(t.Context(), o.Defaults(), kit.Kit{}.Corpus(chunks, g))).OK(t)
		out := map[string]bool{}
		for i := range int32(indexOf(graph()).Len()) {
			out[graph().Triple(i).Head.Label] = true
		}
		if s, ok := graph().(own); ok {
			lists := check.Of(s.Stated(t.Context(), chunks)).OK(t)
			for i, list := range lists {
				sources, err := s.Sources(t.Context(), list)
				for j, n := range list {
					if err != nil || s.Triple(n).Head.Label != "Ship "+chunks[i].ID || sources[j].Ranked[0].Chunk.ID != chunks[i].ID {
						t.Errorf("passage %d states %s, %v", i, s.Triple(n).Text(), err)
					}
				}
			}
		}
		return out
	}
	for _, ix := range []*triples.Index{nil, graphFrom(t, lines...)} {
		all, half, tenth, other := there(Options{Graph: ix}), there(Options{Graph: ix, Share: .5}), there(Options{Graph: ix, Share: .1}), there(Options{Graph: ix, Share: .5, Seed: 1})
		if len(all) != 300 || len(half) < 120 || len(half) > 180 || len(tenth) < 15 || len(tenth) > 50 || cmp.Equal(half, other) {
			t.Errorf("%d, %d, %d triples; the same for another seed: %t", len(all), len(half), len(tenth), cmp.Equal(half, other))
		}
		for s := range tenth {
			check.True(t, half[s], "%s is in a tenth and not in the half", s)
		}
	}
}

// Simple questions are searched without the graph, questions that need several facts with it.
func TestWhen(t *testing.T) {
	for question, simple := range map[string]bool{
		"Who is the mayor of Oslo?": true, "When was the Fram built?": true, "Where is Larvik?": true, "Who built the Fram?": true, "What's the capital of Norway?": true,
		"Where was the mayor of Oslo born?": false, "Who is the mother of the director of Laughter in Hell?": false, "Which is older, the Fram or the one that Nansen’s brother built?": false,
		"Where did the builder's son live?": false, "Qui a construit le Fram ?": false, "": false, "Name the ship.": false,
	} {
		got, err := simpleByForm(t.Context(), question)
		check.True(t, got == simple && err == nil, "%q: simple %t, %v", question, got, err)
	}
	const easy, hard = "Who is Archer?", "Who is the builder of the ship that Archer saw?"
	for _, x := range []struct {
		when            Classifier
		question, reply string
		calls           int
		expanded        bool
	}{
		{"", easy, "", 0, true}, {WhenEvery, easy, "", 0, true}, {WhenForm, easy, "", 0, false}, {WhenForm, hard, "", 0, true},
		{WhenModel, hard, `{"simple": true}`, 1, false}, {WhenModel, easy, `{"simple": false}`, 1, true}, {WhenModel, easy, `simple`, 2, true},
	} {
		m := llmtest.NewScript("m").
			Reply(llmtest.Stage(StageRead), `{"triples": [["Archer","born in","Larvik"]]}`).
			Reply(llmtest.Stage(StageFilter), `{"keep": "all"}`).Reply(llmtest.Any, x.reply)
		r := systemOf(t, Options{Steps: 1, Expand: ExpandAlways, Graph: graphFrom(t, "Archer\tborn in\tLarvik"), When: x.when}, baselinestest.ModelKit(t, m), "Archer is asked for.", "Rain.")
		_, expanded := firstOf(t, r, x.question, 2)
		n := baselinestest.Stages(m)[StageClassify]
		check.True(t, n == x.calls && len(expanded) > 0 == x.expanded, "%q, %q: %d calls, expanded by %v", x.when, x.question, n, expanded)
	}
	_, err := New(baselinestest.OfflineKit(t), Options{When: WhenModel, Graph: graphFrom(t, "A\tb\tC")})
	check.Fails(t, err, "AnswerModel", "a model judges, and there is none")
}

// Chains are scored by the index of the graph, as if they were among its texts; if graph and passages use other
// words or embedders, by their texts alone.
func TestScores(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	name := func() triples.Entity {
		s := fmt.Sprint([]string{"Edward", "Laughter's", "漢字", "choir", "oysters", "the"}[rnd.IntN(6)], " ", rnd.IntN(30))
		return triples.Entity{ID: s, Label: s}
	}
	source := func(yield func(triples.Triple, error) bool) {
		for range 500 {
			if !yield(triples.Triple{Head: name(), Relation: name(), Tail: name()}, nil) {
				return
			}
		}
	}
	chains := func() [][]int32 {
		out := make([][]int32, 1+rnd.IntN(200))
		for i := range out {
			for range 1 + rnd.IntN(3) {
				out[i] = append(out[i], int32(rnd.IntN(500)))
			}
		}
		return out
	}
	const question = "Where did the choir of Edward 7 eat oysters, 漢字 12?"
	for _, x := range []struct {
		analyzer text.Analyzer
		hidden   bool // whether the graph hides that it compares words
		joined   bool
	}{{nil, false, true}, {text.Plain(), false, false}, {nil, true, false}} {
		ix := check.Of(triples.New(t.Context(), source, triples.Options{Analyzer: x.analyzer})).OK(t)
		find := func(ctx context.Context, texts text.List) (retrieve.Texts, error) {
			w, err := retrieve.NewWords(ctx, texts)
			if x.hidden {
				return struct{ retrieve.Texts }{w}, err
			}
			return w, err
		}
		g := check.Of(corpusGraph(kit.Kit{}.Corpus(nil, nil), Indexed(ix), nil)).OK(t)
		a := &around{Graph: g(), question: question, find: find}
		for range 5 {
			asked := chains()
			got := check.Of(a.Scores(t.Context(), asked)).OK(t)
			want, err := (&around{Graph: a.Graph, question: question, find: find}).Scores(t.Context(), asked)
			check.Must(t, err == nil && slices.Equal(got, want), "%v, want %v, %v", got, want, err)
			var near []proximal
			for _, c := range asked {
				n := a.Triple(c[0])
				near = append(near, proximal{graphrag.Triple{Head: n.Head.Label, Relation: n.Relation.Label, Tail: n.Tail.Label}, c[0], graphrag.Provenance{}})
			}
			s := &searcher{Parts: Parts{Find: find}}
			remembered, err1 := s.memory(t.Context(), a, near)
			fresh, err2 := s.memory(t.Context(), &around{question: question}, near)
			if diff := cmp.Diff(fresh, remembered); diff != "" || err1 != nil || err2 != nil {
				t.Fatal(diff, err1, err2)
			}
			check.Must(t, a.joined != nil == x.joined, "by the index: %v", a.joined != nil)
		}
	}
}
