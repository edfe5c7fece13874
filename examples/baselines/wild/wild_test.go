// SPDX-License-Identifier: Apache-2.0

package wild_test

import (
	"context"
	"errors"
	"fmt"
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

// With an embedder a question without a word of the pages finds the page that it means.
func TestVectors(t *testing.T) {
	k := baselinestest.OfflineKit(t).WithEmbedder(seamen{})
	ids := ask(t, k, graphrag.Question{Text: "quis navem aedificavit?", K: 1, Depth: 5}, baselinestest.Pages...)
	check.True(t, len(ids) != 0 && ids[0] == "fram.md", "found %v, want fram.md first", ids)
}

// seamen tells texts on building ships from others.
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

// counted counts the passages that are encoded, and not the names by which titled ones lead to each
// other.
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

// Lazily, nothing is encoded to index, and each passage once, when it is first among the candidates;
// what is found does not depend on what was encoded before.
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
			if diff := cmp.Diff(first, before, cmpopts.IgnoreFields(graphrag.Found{}, "Usage")); diff != "" {
				t.Errorf("%q (-first question +after others):\n%s", q.Text, diff)
			}
			if len(c.texts) > 4 {
				t.Errorf("%q: %d passages are encoded for two pages", q.Text, len(c.texts))
			}
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

// alike scores all passages alike.
type alike struct{}

func (alike) Scores(_ context.Context, _ string, passages []string) ([]float64, error) {
	return make([]float64, len(passages)), nil
}

// The rest is encoded between questions, also where a reranker orders what is found: a run that is
// stopped loses the last few texts, and the next one goes on and leaves none.
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

// Without an embedder nothing is made beside the words that Pages have.
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

// counting counts the words that are embedded.
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

// An encoder reads every page once, though passages overlap.
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

// Where passages have titles, names lead from one to the next; long pages lead nowhere.
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

// Recorded facts lead on from any pages.
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

// facts are one for each document.
type facts map[string][3]string

func (f facts) Extract(_ context.Context, chunks []graphrag.Chunk) (out []kg.Extraction, err error) {
	for _, c := range chunks {
		t := graphrag.Triple{Head: f[c.Doc][0], Relation: f[c.Doc][1], Tail: f[c.Doc][2]}
		out = append(out, kg.Extraction{Chunk: c.ID, Doc: c.Doc, Mentions: []kg.Mention{{Name: t.Head}, {Name: t.Tail}}, Facts: []kg.Fact{{Triple: t}}})
	}
	return out, nil
}

func system(k kit.Kit) (*kit.System, error) { return wild.New(k, wild.Options{}) }
