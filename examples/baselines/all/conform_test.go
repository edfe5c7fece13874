// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Every system keeps the promises that all make, with one agent of each kind and the options that change the
// search; systems that need a model get one.
func TestConform(t *testing.T) {
	made := systems(t)
	for _, name := range []string{"agentic:bm25", "files", "context"} {
		made = append(made, system(t, name))
	}
	for _, changed := range []struct{ name, option string }{{"raptor", "traverse"}, {"lightrag", "paper"}} {
		s := check.Of(system(t, changed.name).With(changed.option, "true")).OK(t)
		made = append(made, s)
	}
	for _, s := range made {
		t.Run(strings.ReplaceAll(s.Name, ":", "-"), func(t *testing.T) { conforms(t, s) })
	}
}

func conforms(t *testing.T, s all.System) {
	make := func(k kit.Kit) (*kit.System, error) {
		if (s.NoDocuments || s.NeedsModel) && k.AnswerModel == nil && k.Count != nil {
			k.AnswerModel = llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		}
		x, err := s.New(k, kit.Common{})
		if err == nil {
			check.Equal(t, x.Name(), s.Name, "the name")
		}
		return x, err
	}
	conform(t, make)
	if !s.Words && !s.NoDocuments && !s.NeedsModel && !s.NeedsGraph && s.Name != "wild" && s.Name != "context" { // wild then compares the candidates by vectors
		vectors(t, make)
	}
}

// maker makes a system from a kit.
type maker func(kit.Kit) (*kit.System, error)

// conform checks what every system promises: the same answers for the same documents, in whatever order and
// number of changes they came; the old answers after a failed change; no failure for corpora and questions
// without content; errors that name the system.
func conform(t *testing.T, make maker) {
	t.Helper()
	t.Run("insert and delete", make.changes)
	t.Run("failed insert", make.failures)
	t.Run("save and open", make.saves)
	t.Run("conditions", make.sees)
	t.Run("retrieve", make.retrieves)
	t.Run("model", make.asks)
	t.Run("errors", make.errors)
	for name, docs := range map[string][]graphrag.Document{"no page": nil, "one page": baselinestest.Pages[:1], "chinese": baselinestest.Chinese, "empty page": {{ID: "x.md"}}} {
		t.Run(name, func(t *testing.T) {
			for i, a := range answers(t, make.over(t, baselinestest.OfflineKit(t), docs...)) {
				if len(a.Ranked) > max(baselinestest.Questions[i].K, baselinestest.Questions[i].Depth) {
					t.Errorf("%q: %d chunks ranked", baselinestest.Questions[i].Text, len(a.Ranked))
				}
			}
		})
	}
}

// over returns a system that has indexed the documents.
func (make maker) over(t *testing.T, k kit.Kit, docs ...graphrag.Document) *kit.System {
	t.Helper()
	s := check.Of(make(k)).OK(t)
	in := graphrag.Documents(docs...)
	if len(docs) == 0 {
		in = nil
	}
	check.OK(t, check.Err(s.Index(t.Context(), in)))
	return s
}

// without returns the pages except one.
func without(id string) []graphrag.Document {
	return slices.DeleteFunc(slices.Clone(baselinestest.Pages), func(d graphrag.Document) bool { return d.ID == id })
}

// changes compares systems whose documents were inserted and deleted with systems that indexed the rest at
// once.
func (make maker) changes(t *testing.T) {
	insert := func(docs ...graphrag.Document) func(*kit.System) error {
		return func(s *kit.System) error {
			_, err := s.Insert(t.Context(), graphrag.Documents(docs...))
			return err
		}
	}
	remove := func(ids ...string) func(*kit.System) error {
		return func(s *kit.System) error {
			_, err := s.Delete(t.Context(), ids...)
			return err
		}
	}
	older := baselinestest.Pages[1]
	older.Text = "# Fram\n\nThe Fram was built in Ravenna." + strings.Repeat(" Umberto Nobile built the Gauss for Roald Amundsen.", 200) // more chunks than the corpus has
	for _, tt := range []struct {
		name    string
		from    []graphrag.Document
		changes []func(*kit.System) error
		to      []graphrag.Document
	}{
		{"inserted one after the other", baselinestest.Pages[:2], []func(*kit.System) error{insert(baselinestest.Pages[3]), insert(baselinestest.Pages[2], baselinestest.Pages[0])}, baselinestest.Pages[:4]},
		{"deleted the last", baselinestest.Pages, []func(*kit.System) error{remove("tides.md", "nowhere.md")}, baselinestest.Pages[:4]},
		{"deleted one that others speak of", baselinestest.Pages, []func(*kit.System) error{remove("fram.md")}, without("fram.md")},
		{"replaced an older version", append(without("fram.md"), older), []func(*kit.System) error{insert(baselinestest.Pages[1])}, baselinestest.Pages},
	} {
		s := make.over(t, baselinestest.OfflineKit(t), tt.from...)
		for _, change := range tt.changes {
			check.OK(t, change(s), "%s", tt.name)
		}
		check.Equal(t, answers(t, s), answers(t, make.over(t, baselinestest.OfflineKit(t), tt.to...)), "%s (-indexed at once +changed)", tt.name)
	}
}

// failures makes an Insert fail while it reads pages, extracts and builds. The old state still answers, and the
// next Insert finds no remains.
func (make maker) failures(t *testing.T) {
	before, after := answers(t, make.over(t, baselinestest.OfflineKit(t), without("fram.md")...)), answers(t, make.over(t, baselinestest.OfflineKit(t), baselinestest.Pages...))
	for _, part := range []string{"stream", "extractor", "look-up"} {
		f := &faults{}
		s := make.over(t, f.in(baselinestest.OfflineKit(t)), without("fram.md")...)
		f.part = part
		gamma := graphrag.Document{ID: "gamma.md", Text: "The Fram was sold to Gamma. Gamma lives in Antarctica."}
		_, err := s.Insert(t.Context(), func(yield func(graphrag.Document, error) bool) {
			if yield(gamma, nil) {
				if err := f.at("stream"); err != nil {
					yield(graphrag.Document{}, err)
				}
			}
		})
		if !f.met {
			continue // the system does not use this part
		}
		f.part = ""
		check.Is(t, err, errFault, "%s", part)
		check.Equal(t, answers(t, s), before, "after a failed Insert, %s (-before +after)", part)
		check.OK(t, check.Err(s.Insert(t.Context(), graphrag.Documents(baselinestest.Pages[1]))))
		check.Equal(t, answers(t, s), after, "%s: the Insert after the failed one (-indexed at once +inserted)", part)
	}
}

func (make maker) saves(t *testing.T) {
	s, dir := make.over(t, baselinestest.OfflineKit(t), baselinestest.Pages...), t.TempDir()
	want := answers(t, s)
	check.OK(t, s.Save(t.Context(), dir))
	opened := make.over(t, baselinestest.OfflineKit(t), baselinestest.Chinese...)
	check.OK(t, check.Err(opened.Open(t.Context(), dir)))
	check.Equal(t, answers(t, opened), want, "(-saved +opened)")
}

// retrieves compares what Retrieve finds with what Answer reads, and counts its tokens if a question has a
// budget.
func (make maker) retrieves(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	s := make.over(t, k, baselinestest.Pages...)
	for _, q := range baselinestest.Questions {
		for _, tokens := range []int{0, 25, 60} {
			q.Tokens = tokens
			found := check.Of(s.Retrieve(t.Context(), q)).OK(t)
			a := check.Of(s.Answer(t.Context(), q)).OK(t)
			check.Equal(t, cmp.Diff(found, a.Found, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(graphrag.Found{}, "Usage")), "",
				"%q (-Retrieve +Answer):\n", q.Text)
			n := 0
			for _, h := range a.Evidence {
				n += k.Count(h.Chunk.Prompt())
			}
			for _, d := range a.Derived {
				n += k.Count(d.Text)
			}
			check.True(t, tokens <= 0 || n <= tokens,
				"%q: %d tokens are read, %d are allowed", q.Text, n, tokens)
		}
	}
}

// asks has a model and an embedder do everything, once with usable replies and once with nonsense.
func (make maker) asks(t *testing.T) {
	obedient := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
	nonsense := llmtest.NewScript("m").Reply(llmtest.Any, "Colourless green ideas sleep furiously.")
	s := make.over(t, baselinestest.ModelKit(t, obedient), baselinestest.Pages...)
	for _, q := range baselinestest.Questions[:3] {
		a, err := s.Answer(t.Context(), q)
		check.True(t, err == nil && a.Text != "", "%q: %+v, %v", q.Text, a, err)
	}
	s = make.over(t, baselinestest.ModelKit(t, nonsense), baselinestest.Pages...)
	for _, q := range baselinestest.Questions[:4] {
		_, err := s.Answer(t.Context(), q)
		check.True(t, err == nil || errors.Is(err, llm.ErrInvalidOutput), "%q: %v", q.Text, err)
	}
}

func (make maker) errors(t *testing.T) {
	s, err := make(baselinestest.OfflineKit(t))
	check.OK(t, err)
	_, err = s.Answer(t.Context(), baselinestest.Questions[0])
	check.Fails(t, err, s.Name(), "asked before Index")
	check.True(t, check.Err(s.Insert(t.Context(), graphrag.Documents(baselinestest.Pages[0]))) != nil, "Insert before Index")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(s.Index(ctx, graphrag.Documents(baselinestest.Pages...))), context.Canceled, "cancelled")
	check.True(t, check.Err(make(kit.Kit{})) != nil, "made of an empty kit")
	err = s.Close()
	check.OK(t, err)
}

// answers asks all questions twice and concurrently.
func answers(t *testing.T, s graphrag.System) []graphrag.Answer {
	t.Helper()
	out := make([]graphrag.Answer, len(baselinestest.Questions))
	for i, q := range baselinestest.Questions {
		type result struct {
			a   graphrag.Answer
			err error
		}
		again := make(chan result)
		go func() {
			a, err := s.Answer(t.Context(), q)
			again <- result{a, err}
		}()
		a, err := s.Answer(t.Context(), q)
		second := <-again
		err = errors.Join(err, second.err)
		check.True(t, err == nil, "%q: %v", q.Text, err)
		check.Equal(t, second.a, a, "%q has two answers", q.Text)
		out[i] = a
	}
	return out
}

// vectors checks that a system with an embedder compares texts by it: a question without a word or a name of
// the pages finds the page with the same meaning.
func vectors(t *testing.T, make maker) {
	t.Helper()
	s := make.over(t, baselinestest.OfflineKit(t).WithEmbedder(latin), baselinestest.Pages...)
	a, err := s.Answer(t.Context(), graphrag.Question{Text: "quis navem aedificavit?", K: 1, Depth: 5})
	check.True(t, err == nil && len(a.Ranked) != 0 && a.Ranked[0].Chunk.Doc == "fram.md", "%+v, %v; want fram.md first", a.Ranked, err)
}

var translated = strings.NewReplacer("quis", "colin archer", "navem", "the fram, ship of fridtjof nansen,", "aedificavit", "built in larvik")

// latin embeds texts by their words, and knows the translations of three Latin words.
var latin = embed.Func(func(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = translated.Replace(strings.ToLower(t))
	}
	rows := make([][]float32, len(out))
	for i, t := range out {
		rows[i] = llmtest.HashVector(t, 256)
	}
	return rows, ctx.Err()
})
