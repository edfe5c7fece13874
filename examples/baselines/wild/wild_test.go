// SPDX-License-Identifier: Apache-2.0

package wild_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/pages"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// With an embedder, a question without a word of the pages finds the page with its meaning.
func TestVectors(t *testing.T) {
	k := baselinestest.OfflineKit(t).WithEmbedder(seamen{})
	ids := ask(t, k, graphrag.Question{Text: "quis navem aedificavit?", K: 1, Depth: 5}, baselinestest.Pages...)
	check.True(t, len(ids) != 0 && ids[0] == "fram.md", "found %v, want fram.md first", ids)
}

// seamen embeds texts by whether they are about building ships.
type seamen struct{}

func (seamen) EmbedDocuments(ctx context.Context, texts []string) (rows [][]float32, err error) {
	for _, s := range texts {
		row := []float32{0, 1}
		if strings.Contains(s, "navem aedificavit") || strings.Contains(s, "The Fram was built") {
			row = []float32{1, 0}
		}
		rows = append(rows, row)
	}
	return rows, ctx.Err()
}

func (e seamen) EmbedQuery(ctx context.Context, s string) ([]float32, error) {
	rows, err := e.EmbedDocuments(ctx, []string{s})
	return rows[0], err
}

// counted counts the encoded passages, but not the names by which titled passages lead to each other.
type counted struct {
	seamen
	texts map[string]int
}

func (c counted) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	for _, s := range texts {
		if strings.Contains(s, ".") {
			c.texts[s]++
		}
	}
	return c.seamen.EmbedDocuments(ctx, texts)
}

// With Lazy nothing is encoded while indexing, and each passage once when it is first a candidate; what is
// found does not depend on what was encoded before.
func TestLazily(t *testing.T) {
	opened := func() (*kit.System, counted) {
		c := counted{texts: make(map[string]int)}
		s, err := wild.New(baselinestest.OfflineKit(t).WithEmbedder(c), wild.Options{Pages: pages.Options{Among: 2}})
		check.OK(t, err)
		_, err = s.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
		check.Must(t, err == nil && len(c.texts) == 0, "%v %v", err, c.texts)
		return s, c
	}
	one, seen := opened()
	for range 2 {
		for _, q := range baselinestest.Questions {
			before := check.Of(one.Retrieve(t.Context(), q)).OK(t)
			fresh, c := opened()
			first := check.Of(fresh.Retrieve(t.Context(), q)).OK(t)
			check.Equal(t, cmp.Diff(first, before, cmpopts.IgnoreFields(graphrag.Found{}, "Usage")), "",
				"%q (-first question +after others):\n", q.Text)
			check.True(t, len(c.texts) <= 4, "%q: %d passages are encoded for two pages", q.Text, len(c.texts))
		}
	}
	for s, n := range seen.texts {
		check.Equal(t, n, 1, "%q is encoded %d times", s, n)
	}
	check.True(t, len(seen.texts) != 0, "nothing is encoded")
}

// stopping ends a context when it has encoded some texts.
type stopping struct {
	counted
	stop  context.CancelFunc
	after *int
}

func (s stopping) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	rows, err := s.counted.EmbedDocuments(ctx, texts)
	if *s.after--; *s.after == 0 {
		s.stop()
	}
	return rows, err
}

// alike gives all passages equal scores.
type alike struct{}

func (alike) Scores(_ context.Context, _ string, passages []string) ([]float64, error) {
	return make([]float64, len(passages)), nil
}

// The other passages are encoded between questions, also if a reranker orders the results. A stopped run loses
// the last few texts, and the next one encodes all that are left.
func TestEncodeTheRest(t *testing.T) {
	var docs []graphrag.Document
	for i := range 50 {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("%02d.md", i), Title: fmt.Sprint("Page ", i), Text: fmt.Sprintf("The Fram was built by number %d.", i)})
	}
	ctx, stop := context.WithCancel(t.Context())
	after := 2
	e := stopping{counted{texts: make(map[string]int)}, stop, &after}
	k := baselinestest.OfflineKit(t).WithEmbedder(e)
	k.Rerank = alike{}
	s, err := wild.New(k, wild.Options{Pages: pages.Options{Among: 2}})
	check.OK(t, err)
	err = s.Encode(ctx)
	check.True(t, err == nil, "before Index: %v", err)
	baselinestest.Index(t, s, docs...)
	err = s.Encode(ctx)
	check.Must(t, errors.Is(err, context.Canceled) && len(e.texts) != 0 && len(e.texts) != len(docs), "stopped: %v, %d texts", err, len(e.texts))
	err = s.Encode(t.Context())
	check.Must(t, err == nil && len(e.texts) == len(docs), "%v, %d texts of %d", err, len(e.texts), len(docs))
	check.OK(t, check.Err(s.Retrieve(t.Context(), graphrag.Question{Text: "quis navem aedificavit number 7?", K: 2, Depth: 5})))
	twice := 0
	for _, n := range e.texts {
		twice += n - 1
	}
	check.True(t, twice <= 16, "%d texts are encoded twice, more than were under way when it was stopped", twice)
}

// Without an embedder the index has only the words of Pages.
func TestByWordsAlone(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	k.Find = func(context.Context, func(context.Context) (embed.Embedder, error), text.List) (retrieve.Texts, error) {
		return nil, errors.New("not asked")
	}
	ask(t, k, graphrag.Question{Text: "Who reached the South Pole in 1911?", K: 1}, baselinestest.Pages...)
}

// ask indexes documents, asks, and returns the pages that were found.
func ask(t *testing.T, k kit.Kit, q graphrag.Question, docs ...graphrag.Document) (ids []string) {
	t.Helper()
	s := check.Of(system(k)).OK(t)
	baselinestest.Index(t, s, docs...)
	a := check.Of(s.Answer(t.Context(), q)).OK(t)
	for _, h := range a.Ranked {
		ids = append(ids, h.Chunk.Doc)
	}
	return ids
}

// A model is asked once for an overview, before it reads, and never for a fact.
func TestPlan(t *testing.T) {
	for _, tt := range []struct {
		question string
		planned  float64
		calls    int
	}{
		{"Describe the ships of Fridtjof Nansen.", 0, 1},
		{"Describe the ships of Fridtjof Nansen.", -1, 0},
		{"Who sailed on the Fram in 1893?", 0, 0},
	} {
		m := llmtest.NewScript("m").
			Reply(llmtest.Stage(agent.StageAspects), `{"aspects": ["moon raises tides"]}`).
			Reply(llmtest.Any, "I do not know.")
		k := check.Of(kit.ByModel(kit.ModelOptions{Model: m})).OK(t)
		s := check.Of(wild.New(k, wild.Options{Pages: pages.Options{Planned: tt.planned}})).OK(t)
		baselinestest.Index(t, s, baselinestest.Pages...)
		a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: tt.question, K: 2, Depth: 5})).OK(t)
		planned := slices.ContainsFunc(a.Steps, func(s graphrag.Step) bool { return s.Kind == "aspects" && s.Found[0] == "moon raises tides" })
		if n := baselinestest.Stages(m)[agent.StageAspects]; n != tt.calls || planned != (tt.calls == 1) || a.Usage.Calls != 1+tt.calls {
			t.Errorf("%q: %d calls for aspects, %d in all, planned: %v", tt.question, n, a.Usage.Calls, planned)
		}
	}
}

// counting counts the embedded words.
type counting struct{ words int }

func (c *counting) EmbedDocuments(ctx context.Context, texts []string) (rows [][]float32, err error) {
	for _, s := range texts {
		c.words += len(strings.Fields(s))
		rows = append(rows, llmtest.HashVector(s, 64))
	}
	return rows, ctx.Err()
}

func (c *counting) EmbedQuery(ctx context.Context, s string) ([]float32, error) {
	return llmtest.HashVector(s, 64), ctx.Err()
}

// An encoder reads every page once, although passages overlap.
func TestEncodesOnce(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "The keeper of lighthouse %d wrote down %d ships that year. ", i, 7*i)
	}
	var c counting
	ask(t, baselinestest.OfflineKit(t).WithEmbedder(&c), graphrag.Question{Text: "Which keeper?", K: 1},
		graphrag.Document{ID: "log", Title: "Log", Text: b.String()})
	words := len(strings.Fields(b.String()))
	check.True(t, c.words >= words && c.words <= words*6/5, "%d words are embedded of %d", c.words, words)
}

// If passages have titles, names lead from one to the next; long pages lead to no others.
func TestWalk(t *testing.T) {
	docs := []graphrag.Document{
		{ID: "fram", Title: "Fram", Text: "The Fram was a ship that Colin Archer built. It sailed to the ice."},
		{ID: "archer", Title: "Colin Archer", Text: "Colin Archer came from Larvik."},
		{ID: "gjoa", Title: "Gjoa", Text: "The Gjoa was a ship that sailed to the ice as well, and where it was built is told elsewhere."},
		{ID: "maud", Title: "Maud", Text: "Queen Maud lived in a town by the sea, as Queen Sonja does."},
		{ID: "sonja", Title: "Queen Sonja", Text: "Queen Sonja is the wife of Harald."},
	}
	q := graphrag.Question{Text: "In which town was the builder of the Fram born?", K: 2, Depth: 2}
	ids := ask(t, baselinestest.OfflineKit(t), q, docs...)
	check.True(t, len(ids) == 2 && ids[1] == "archer", "found %v, want archer as the second", ids)
	for i := range docs {
		docs[i].Text += strings.Repeat(" There is much to say about this, and it goes on and on.", 40)
	}
	ids = ask(t, baselinestest.OfflineKit(t), q, docs...)
	check.True(t, !slices.Contains(ids, "archer"), "long pages lead to %v", ids)
}

// Recorded facts lead from any page to others.
func TestWalkOfRecordedFacts(t *testing.T) {
	docs := []graphrag.Document{
		{ID: "a", Text: "The Fram lay in the harbour."},
		{ID: "b", Text: "He was a master of his craft, in a workshop by the fjord."},
		{ID: "c", Text: "Nothing of this."},
	}
	s, err := wild.New(baselinestest.OfflineKit(t), wild.Options{Extract: facts{
		"a": {"Fram", "built by", "Colin Archer"}, "b": {"Colin Archer", "lived in", "Larvik"}, "c": {"tide", "raised by", "moon"},
	}})
	check.OK(t, err)
	baselinestest.Index(t, s, docs...)
	found, err := s.Retrieve(t.Context(), graphrag.Question{Text: "Where did the builder of the Fram live?", K: 2})
	check.True(t, err == nil && len(found.Ranked) == 2 && found.Ranked[1].Chunk.Doc == "b", "found %+v, %v", found.Ranked, err)
}

// facts returns one fact for each document.
type facts map[string][3]string

func (f facts) Extract(_ context.Context, chunks []graphrag.Chunk) (out []kg.Extraction, err error) {
	for _, c := range chunks {
		t := graphrag.Triple{Head: f[c.Doc][0], Relation: f[c.Doc][1], Tail: f[c.Doc][2]}
		out = append(out, kg.Extraction{Chunk: c.ID, Doc: c.Doc, Mentions: []kg.Mention{{Name: t.Head}, {Name: t.Tail}}, Facts: []kg.Fact{{Triple: t}}})
	}
	return out, nil
}

func system(k kit.Kit) (*kit.System, error) { return wild.New(k, wild.Options{}) }

// changing makes pages from shared sentences: long pages, or titled passages with names.
type changing struct {
	r      *rand.Rand
	titled bool
	german int // number of German pages in a hundred
}

func (c changing) page(id string) graphrag.Document {
	names := []string{"Fridtjof Nansen", "Colin Archer", "Roald Amundsen", "Hjalmar Johansen", "Otto Sverdrup"}
	name := func() string { return names[c.r.IntN(len(names))] }
	d := graphrag.Document{ID: id, Fields: graphrag.Fields{"n": float64(c.r.IntN(9))}}
	sentences := 1 + c.r.IntN(60)
	if c.titled {
		d.Title, sentences = name(), 1+c.r.IntN(6)
	}
	german := c.r.IntN(100) < c.german
	var b strings.Builder
	for range sentences {
		word := fmt.Sprintf("w%d", int(1/(c.r.Float64()+.01)))
		switch {
		case german:
			fmt.Fprintf(&b, "Das Schiff %s und der Kapitän waren nicht auf dem Meer mit %s. ", word, name())
		case c.r.IntN(4) == 0:
			fmt.Fprintf(&b, "Subscribe to our newsletter and follow page %d of the site. ", c.r.IntN(90))
		default:
			fmt.Fprintf(&b, "%s sailed the %s with %s to the harbour of %s. ", name(), word, name(), word)
		}
	}
	d.Text = b.String()
	return d
}

// Whatever pages are inserted, changed and deleted, the results equal, bit for bit, those of a new index: for
// pages and titled passages, by words and by vectors, also if most pages become titled or are in another
// language.
func TestChanges(t *testing.T) {
	encoded := 0
	encoder := embed.Func(func(_ context.Context, texts []string) (rows [][]float32, err error) {
		for _, s := range texts {
			encoded++
			rows = append(rows, llmtest.HashVector(s, 8))
		}
		return rows, nil
	})
	for name, o := range map[string]struct {
		pages   changing
		among   int
		encodes bool
	}{
		"pages": {}, "titled": {pages: changing{titled: true}}, "German": {pages: changing{german: 50}},
		"vectors": {encodes: true}, "lazily": {encodes: true, among: 5}, "titled vectors": {pages: changing{titled: true}, encodes: true},
	} {
		t.Run(name, func(t *testing.T) {
			k := baselinestest.OfflineKit(t)
			if o.encodes {
				k = k.WithEmbedder(encoder)
			}
			indexed := func(docs map[string]graphrag.Document) *kit.System {
				s, err := wild.New(k, wild.Options{Pages: pages.Options{Among: o.among}})
				if err == nil {
					_, err = s.Index(t.Context(), graphrag.Documents(slices.Collect(maps.Values(docs))...))
				}
				check.OK(t, err)
				return s
			}
			o.pages.r = rand.New(rand.NewPCG(4, uint64(len(name))))
			r, docs := o.pages.r, map[string]graphrag.Document{}
			for i := range 30 {
				id := fmt.Sprintf("d%d", i)
				docs[id] = o.pages.page(id)
			}
			s := indexed(docs)
			for step := range 40 {
				if step == 30 { // titled passages become pages, and the other way round
					o.pages.titled = !o.pages.titled
				}
				var come []graphrag.Document
				for range 1 + r.IntN(5) {
					id := fmt.Sprintf("d%d", r.IntN(60))
					if slices.ContainsFunc(come, func(d graphrag.Document) bool { return d.ID == id }) {
						continue
					}
					come = append(come, o.pages.page(id))
				}
				gone := fmt.Sprintf("d%d", r.IntN(60))
				delete(docs, gone)
				for _, d := range come {
					docs[d.ID] = d
				}
				before := encoded
				check.OK(t, check.Err(s.Update(t.Context(), graphrag.Documents(come...), gone)))
				if tiles := encoded - before; o.encodes && !o.pages.titled && step < 30 && tiles > 40*len(come) {
					t.Errorf("step %d: %d texts were encoded for %d pages", step, tiles, len(come))
				}
				fresh := indexed(docs)
				for _, q := range []graphrag.Question{
					{Text: fmt.Sprintf("Who sailed the w%d with Nansen to w2?", 1+r.IntN(50)), K: 5, Depth: 50},
					{Text: "Summarize the voyages of Otto Sverdrup and the w3.", Tokens: 300, Depth: 20},
					{Text: "Welches Schiff war mit Colin Archer auf dem Meer?", Tokens: 200, Depth: 60},
				} {
					want, err1 := fresh.Retrieve(t.Context(), q)
					got, err2 := s.Retrieve(t.Context(), q)
					if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(graphrag.Found{}, "Usage")); diff != "" || err1 != nil || err2 != nil {
						t.Fatalf("step %d, %d pages, %q (-made anew +changed):\n%.3000s %v %v", step, len(docs), q.Text, diff, err1, err2)
					}
				}
			}
		})
	}
}
