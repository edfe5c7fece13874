// SPDX-License-Identifier: Apache-2.0

package gear_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// The second passage that the question needs shares no word with it; an external graph has the step between the
// two.
var (
	films = []graphrag.Document{
		{ID: "film", Text: "Laughter in Hell is a drama. Its director was Edward Cahn."},
		{ID: "cahn", Text: "Edward Cahn lived in Hollywood until 1963."},
		{ID: "oyster", Text: "Pacific oysters are farmed in Puget Sound."},
		{ID: "other", Text: "A drama about a choir was shown in Oslo. Who directed it nobody knows."},
	}
	question = graphrag.Question{ID: "q", Text: "Where did the director of Laughter in Hell live?", K: 3}
)

func elsewhere(t *testing.T, lines ...string) *triples.Index {
	t.Helper()
	r := triples.TSV("graph", strings.NewReader(strings.Join(lines, "\n")))
	ix, err := triples.New(t.Context(), r.All(), triples.Options{})
	check.Must(t, err == nil && r.Bad().Lines <= 0, "%v %v", err, r.Bad().First)
	return ix
}

func wiki(t *testing.T) *triples.Index {
	return elsewhere(t, "Laughter in Hell\tdirector\tEdward Cahn", "Edward Cahn\tresidence\tHollywood",
		"Pacific oyster\tstudied in\tHell Gate", "Oslo\tin\tNorway")
}

// model reads one triple from the first step's passages, asks for another step until it has seen a number of
// queries, and keeps the first passage.
func model(steps int) *llmtest.Script {
	return llmtest.NewScript("m").
		Handle(llmtest.Stage(gear.StageRead), func(req llm.Request) llm.Reply {
			query, _, _ := strings.Cut(req.Messages[len(req.Messages)-1].Text, "\n[/")
			return llm.Reply{Text: fmt.Sprintf(`{"triples": [["Laughter in Hell", "director", "Edward Cahn"], ["read", "for", %q], ["only", "two"], ["", "is", "empty"], 5]}`, query[len(query)-20:])}
		}).
		Handle(llmtest.Stage(gear.StageReflect), func(req llm.Request) llm.Reply {
			text := req.Messages[len(req.Messages)-1].Text
			n := strings.Count(text, ". Query ") + 1
			if n >= steps {
				return llm.Reply{Text: `{"answerable": true, "next_question": "What else is told of oysters?"}`}
			}
			return llm.Reply{Text: fmt.Sprintf(`{"answerable": false, "missing": "where he lived", "next_question": "Query %d about oysters"}`, n)}
		}).
		Reply(llmtest.Stage(gear.StageFilter), `{"keep": [1, 99, -4]}`).
		Reply(llmtest.Any, "In Hollywood [1].")
}

func ask(t *testing.T, m llm.Model, o gear.Options) graphrag.Answer {
	t.Helper()
	s := check.Of(gear.New(baselinestest.ModelKit(t, m), o)).OK(t)
	baselinestest.Index(t, s, films...)
	return check.Of(s.Answer(t.Context(), question)).OK(t)
}

// The calls of a step: one to read, another if the graph brought other passages, one to reflect; and at the end
// one to filter. A model that always wants another step gets two, or the number in the options.
func TestCalls(t *testing.T) {
	for _, x := range []struct {
		name  string
		steps int // number of steps that the model wants
		o     gear.Options
		want  map[string]int
	}{
		{"content at once", 1, gear.Options{}, map[string]int{gear.StageRead: 1, gear.StageReflect: 1, gear.StageFilter: 1}},
		{"never content", 99, gear.Options{}, map[string]int{gear.StageRead: 3, gear.StageReflect: 1, gear.StageFilter: 1}},
		{"never content, five steps", 99, gear.Options{Steps: 5}, map[string]int{gear.StageRead: 9, gear.StageReflect: 4, gear.StageFilter: 1}},
		{"one step", 99, gear.Options{Steps: 1}, map[string]int{gear.StageRead: 1, gear.StageFilter: 1}},
		{"never expanded", 99, gear.Options{Expand: gear.ExpandNever}, map[string]int{gear.StageRead: 2, gear.StageReflect: 1, gear.StageFilter: 1}},
		{"always expanded", 1, gear.Options{Expand: gear.ExpandAlways}, map[string]int{gear.StageRead: 1, gear.StageReflect: 1, gear.StageFilter: 1}},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.o.Graph = wiki(t)
			m := model(x.steps)
			a := ask(t, m, x.o)
			got := baselinestest.Stages(m)
			delete(got, "read")
			check.Equal(t, got, x.want)
			check.Equal(t, len(a.Evidence), 1, "passages are read, and one was to be kept")
			check.True(t, x.o.Steps == 1 || a.Steps[len(a.Steps)-1].Kind == "stop", "nothing tells why it stopped: %+v", a.Steps)
		})
	}
}

// With an external graph no model is asked when the corpus is indexed.
func TestIndexIsFree(t *testing.T) {
	m := model(1)
	s, err := gear.New(baselinestest.ModelKit(t, m), gear.Options{Graph: wiki(t)})
	if err == nil {
		_, err = s.Index(t.Context(), graphrag.Documents(films...))
	}
	check.True(t, err == nil && m.Calls() == 0 && s.Name() == gear.Name, "%s makes %d calls, %v", s.Name(), m.Calls(), err)
}

// Unusable replies end the search with what was found, and remove nothing. Replies and single triples are
// counted as unusable.
func TestBadReplies(t *testing.T) {
	m := llmtest.NewScript("m").
		Reply(llmtest.Stage(gear.StageRead), `not JSON`).
		Reply(llmtest.Stage(gear.StageReflect), `{"next_question": "and now?"}`).
		Reply(llmtest.Stage(gear.StageFilter), `{"keep": "all"}`).
		Reply(llmtest.Any, "In Hollywood [1].")
	a := ask(t, m, gear.Options{Graph: wiki(t)})
	check.True(t, len(a.Evidence) == len(a.Ranked) && len(a.Evidence) >= 2 && len(a.Derived) == 0, "%d passages, %v", len(a.Evidence), a.Derived)
	none := llmtest.NewScript("m").Reply(llmtest.Stage(gear.StageFilter), `{"keep": []}`).Reply(llmtest.Any, "[]")
	if a := ask(t, none, gear.Options{Graph: wiki(t)}); len(a.Evidence) != 0 || len(a.Ranked) < 2 {
		t.Errorf("an empty list keeps %d passages of %d", len(a.Evidence), len(a.Ranked))
	}
	stop := a.Steps[len(a.Steps)-1]
	check.True(t, stop.Kind == "stop" && slices.Equal(stop.Found, []string{"no further query"}), "it stopped with %+v", stop)
	if triples := ask(t, model(1), gear.Options{}).Usage.Unread; a.Usage.Unread != 4 || triples != 4 { // three triples, and a cited passage that does not mention Hollywood
		t.Errorf("%d replies and %d triples are counted as lost, want 4 and 4", a.Usage.Unread, triples)
	}
}

// Passages that the filter removes from the first K are replaced by the following ones; its numbers may be
// written as texts.
func TestFilterFills(t *testing.T) {
	m := llmtest.NewScript("m").
		Reply(llmtest.Stage(gear.StageRead), `{"triples": []}`).
		Reply(llmtest.Stage(gear.StageReflect), `{"answerable": "true"}`).
		Reply(llmtest.Stage(gear.StageFilter), `{"keep": ["2", "passage 3"]}`).
		Reply(llmtest.Any, "In Hollywood [1].")
	s := check.Of(gear.New(baselinestest.ModelKit(t, m), gear.Options{Graph: wiki(t)})).OK(t)
	baselinestest.Index(t, s, films...)
	q := question
	q.K, q.Depth = 1, 4
	found, err := s.Retrieve(t.Context(), q)
	check.True(t, err == nil && len(found.Ranked) >= 2 && len(found.Evidence) == 1 &&
		found.Evidence[0].Chunk.ID == found.Ranked[1].Chunk.ID, "%+v, %v", found, err)
}

func TestOptions(t *testing.T) {
	_, err := gear.New(baselinestest.OfflineKit(t), gear.Options{Steps: -1, Passages: -1, LinkShare: 2, Expand: "often", Original: true, Graph: wiki(t)})
	check.Must(t, err != nil, "unusable options are taken")
	for _, want := range []string{"Steps", "Passages", "LinkShare", "Expand", "set one of them"} {
		check.Fails(t, err, want)
	}
}

// The parts of the system over recorded triples, and the effect of the graph compared with the same retrieval
// without it, question by question.
func TestMuSiQue(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	k, common := baselinestest.OfflineKit(t), kit.Common{Cut: kit.Cut{KeepLinks: true}}
	var flat, expanded []float64
	for _, x := range []struct {
		name string
		o    gear.Options
	}{
		{"one step, no graph", gear.Options{Steps: 1}},
		{"two steps, no graph", gear.Options{Expand: gear.ExpandNever}},
		{"one step, expanded", gear.Options{Steps: 1, Expand: gear.ExpandAlways}},
		{"gear", gear.Options{}},
		{"gear, dense links", gear.Options{Link: gear.LinkDense}},
		{"gear, half the graph", gear.Options{Share: .5}},
		{"gear, chained alone", gear.Options{When: gear.WhenForm}},
		{"one step, original", gear.Options{Original: true, Steps: 1}},
		{"gear-original, two steps", gear.Options{Original: true, Steps: 2}},
		{"gear-original", gear.Options{Original: true}},
	} {
		x.o.Common, x.o.Extract = common, m.Triples
		s := check.Of(gear.New(k, x.o)).OK(t)
		r := m.Measure(t, s)
		t.Logf("%-28s R@2 %.1f R@5 %.1f R@10 %.1f all@5 %.0f", x.name, r.At[2], r.At[5], r.At[10], r.All[5])
		switch x.name {
		case "one step, no graph":
			flat = r.Each[10]
		case "one step, expanded":
			expanded = r.Each[10]
		}
	}
	c := check.Of(stats.Compare(flat, expanded, nil, stats.Options{})).OK(t)
	t.Logf("R@10 with the graph %+.1f [%.1f, %.1f], p %.4f", c.Effect.Estimate, c.Effect.Low, c.Effect.High, c.P)
	check.True(t, c.Effect.Low > 0, "the graph brings %.1f, from %.1f on", c.Effect.Estimate, c.Effect.Low)
}

// An external graph leads from the film to its director, and to a page that shares no word with the question.
func Example() {
	ctx := context.Background()
	graph, err := triples.New(ctx, triples.TSV("wikidata.tsv", strings.NewReader(
		"Laughter in Hell\tdirector\tEdward Cahn\nEdward Cahn\tresidence\tHollywood\nOslo\tin\tNorway")).All(), triples.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	offline, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	system, err := gear.New(offline, gear.Options{Graph: graph, Expand: gear.ExpandAlways, Steps: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := system.Index(ctx, graphrag.Documents(films...)); err != nil {
		fmt.Println(err)
		return
	}
	found, err := system.Retrieve(ctx, graphrag.Question{Text: "Where did the director of Laughter in Hell live?", K: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hit := range found.Ranked {
		fmt.Println(hit.Chunk.Doc)
	}
	// Output:
	// cahn
	// film
}

// faraway is a store with the triples of an index, each stated by two sources.
type faraway struct {
	store.Triples
	ix    *triples.Index
	calls *atomic.Int64
	short bool // answers all queries except one
}

func (f faraway) SearchTriples(_ context.Context, queries ...store.TextQuery) ([][]store.TripleHit, error) {
	f.calls.Add(1)
	out := make([][]store.TripleHit, len(queries))
	for i, q := range queries {
		for _, h := range f.ix.Search(q.Text, q.K, nil) {
			out[i] = append(out[i], store.TripleHit{Triple: store.Triple{Triple: f.ix.Triple(h.ID)}, Score: -h.Score}) // scores of two engines differ
		}
	}
	if f.short {
		return out[1:], nil
	}
	return out, nil
}

func (f faraway) Neighbors(_ context.Context, entities []string, o store.Near) ([][]store.Triple, error) {
	out := make([][]store.Triple, len(entities))
	for i, e := range entities {
		for n := range f.ix.Len() {
			if t := f.ix.Triple(int32(n)); t.Head.ID == e || t.Tail.ID == e && !t.Literal {
				out[i] = append(out[i], store.Triple{Triple: t, Source: "a"}, store.Triple{Triple: t, Source: "b"})
			}
		}
		out[i] = out[i][:min(len(out[i]), o.Limit)]
	}
	return out, nil
}

// counted counts the calls of a retriever of many questions.
type counted struct {
	graphrag.Retriever
	calls *atomic.Int64
}

func (c counted) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	c.calls.Add(1)
	return c.Retriever.Retrieve(ctx, q)
}

func (c counted) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	c.calls.Add(1)
	return retrieve.All(ctx, c.Retriever, qs)
}

// knowing is a graph that knows the passages of its triples.
type knowing struct {
	gear.Graph
	passages []graphrag.Chunk
	calls    *atomic.Int64
}

func (g knowing) Link(ctx context.Context, texts []string, k int) ([]gear.Links, error) {
	g.calls.Add(1)
	return g.Graph.Link(ctx, texts, k)
}

func (g knowing) Stated(_ context.Context, passages []graphrag.Chunk) ([][]int32, error) {
	g.calls.Add(1)
	return make([][]int32, len(passages)), nil
}

func (g knowing) Sources(_ context.Context, list []int32) ([]graphrag.Found, error) {
	g.calls.Add(1)
	out := make([]graphrag.Found, len(list))
	for i := range out {
		out[i].Ranked = []graphrag.Hit{{Chunk: g.passages[i%len(g.passages)]}}
	}
	return out, nil
}

// parts are the parts for the films, with their calls counted.
func parts(t *testing.T, k kit.Kit, graph func() gear.Graph, calls *atomic.Int64) gear.Parts {
	t.Helper()
	var chunks []graphrag.Chunk
	for _, d := range films {
		chunks = append(chunks, graphrag.Chunk{ID: d.ID + "#0", Doc: d.ID, Text: d.Text})
	}
	words := check.Of(retrieve.NewSparse(t.Context(), chunks, bm25.Options{K1: 4.46, B: .82, TitleWeight: 2})).OK(t)
	return gear.Parts{Passages: counted{words, calls}, Align: counted{words, calls}, Graph: graph, Kit: k}
}

// Over a store the search reaches the same triples as over an index in memory.
func TestStored(t *testing.T) {
	ix := elsewhere(t, "Edward Cahn\tlived in\tHollywood", "Edward Cahn\tdirector of\tLaughter in Hell", "Hollywood\tin\tLos Angeles",
		"Edward Cahn\tborn in\tBrooklyn", "Oslo\tin\tNorway", "Pacific oyster\tstudied in\tHell Gate")
	found := func(graph func() gear.Graph) (ids, expanded []string) {
		t.Helper()
		r := check.Of(gear.Over(parts(t, baselinestest.OfflineKit(t), graph, new(atomic.Int64)), gear.Options{Expand: gear.ExpandAlways})).OK(t)
		f := check.Of(r.Retrieve(t.Context(), question)).OK(t)
		for _, h := range f.Ranked {
			ids = append(ids, h.Chunk.Doc)
		}
		for _, s := range f.Steps {
			if s.Kind == "expand" {
				expanded = append(expanded, s.Found...)
			}
		}
		return ids, expanded
	}
	ids, expanded := found(gear.Indexed(ix))
	check.Must(t, slices.Contains(ids, "cahn") && slices.Contains(expanded, "Hollywood in Los Angeles"), "over an index: %v by %v", ids, expanded)
	storedIDs, storedExpanded := found(gear.Stored(faraway{ix: ix, calls: new(atomic.Int64)}))
	slices.Sort(expanded) // equal scores are sorted by number in memory, and by occurrence in a store
	slices.Sort(storedExpanded)
	check.Equal(t, [][]string{storedIDs, storedExpanded}, [][]string{ids, expanded})
}

// A step takes at most four calls besides those for neighbors, however many triples were read and reached.
func TestRoundTrips(t *testing.T) {
	lines := []string{"Laughter in Hell\tdirector\tEdward Cahn"}
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("Edward Cahn\tfilm\tDrama %d", i))
	}
	ix := elsewhere(t, lines...)
	for _, original := range []bool{false, true} {
		var calls atomic.Int64
		graph := gear.Stored(faraway{ix: ix, calls: &calls})
		if original {
			graph = func() gear.Graph {
				return knowing{gear.Indexed(ix)(), []graphrag.Chunk{{ID: "cahn#0", Doc: "cahn"}, {ID: "film#0", Doc: "film"}}, &calls}
			}
		}
		const steps = 3
		m := model(99)
		r := check.Of(gear.Over(parts(t, baselinestest.ModelKit(t, m), graph, &calls),
			gear.Options{Original: original, Expand: gear.ExpandAlways, Steps: steps, LinkShare: .1})).OK(t)
		f := check.Of(r.Retrieve(t.Context(), question)).OK(t)
		reached := 0
		for _, s := range f.Steps {
			if s.Kind == "expand" {
				reached += len(s.Found)
			}
		}
		reflected := baselinestest.Stages(m)[gear.StageReflect]
		check.Must(t, reached >= steps*10 && reflected == steps-1, "original %t: %d triples were reached in %d steps", original, reached, reflected+1)
		n := calls.Load()
		check.True(t, n <= 4*steps, "original %t: %d calls of graph and passages in %d steps", original, n, steps)
	}
}

func TestPartsAreChecked(t *testing.T) {
	_, err := gear.Over(gear.Parts{}, gear.Options{Graph: wiki(t), Steps: -1})
	for _, want := range []string{"Passages", "Align", "Graph is missing", "Find", "for New", "Steps", "Triples"} {
		check.Fails(t, err, want, "the error")
	}
	p := parts(t, baselinestest.OfflineKit(t), gear.Indexed(wiki(t)), new(atomic.Int64))
	_, err = gear.Over(p, gear.Options{Original: true})
	check.Fails(t, err, "Sourced", "the original takes a graph of no passages")
	// A part that answers fewer queries than it gets causes an error, not a panic.
	p.Graph = gear.Stored(faraway{ix: wiki(t), calls: new(atomic.Int64), short: true})
	r := check.Of(gear.Over(p, gear.Options{Expand: gear.ExpandAlways})).OK(t)
	_, err = r.Retrieve(t.Context(), question)
	check.Fails(t, err, "texts", "a store with missing results")
}
