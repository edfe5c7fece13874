// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Pages are a small corpus in which names meet.
var Pages = []graphrag.Document{
	{ID: "amundsen.md", Title: "Roald Amundsen", Text: "# Roald Amundsen\n\nRoald Amundsen was a Norwegian explorer. Amundsen sailed on the Fram to Antarctica. Roald Amundsen reached the South Pole in 1911."},
	{ID: "fram.md", Title: "Fram", Text: "# Fram\n\nThe Fram was built by Colin Archer. Colin Archer built the ship in Larvik for Fridtjof Nansen. Fridtjof Nansen sailed on the Fram in 1893."},
	{ID: "larvik.md", Title: "Larvik", Text: "# Larvik\n\nLarvik is a town in Norway. Colin Archer was born in Larvik. The shipyard of Colin Archer stood in Larvik."},
	{ID: "scott.md", Title: "Robert Scott", Text: "# Robert Scott\n\nRobert Scott reached the South Pole in 1912. Robert Scott sailed on the Terra Nova to Antarctica."},
	{ID: "tides.md", Title: "Tides", Text: "# Tides\n\nThe moon raises the tides of the sea. The tides rise and fall twice a day."},
}

// Chinese is a corpus without a Latin letter.
var Chinese = []graphrag.Document{
	{ID: "a.md", Title: "北京", Text: "北京是中华人民共和国的首都。故宫位于北京市中心。"},
	{ID: "b.md", Title: "上海", Text: "上海是中国最大的城市。外滩位于上海。"},
}

// Questions are about Pages, and then about nothing in particular.
var Questions = []graphrag.Question{
	{Text: "Where was the builder of the Fram born?", K: 2, Depth: 5, Form: graphrag.Sentence},
	{Text: "Who reached the South Pole in 1911?", K: 1, Depth: 5, Form: graphrag.Sentence},
	{Text: "What do the pages say about Antarctica?", K: 3, Depth: 5, Form: graphrag.Overview},
	{Text: "why is it so", K: 2, Depth: 3},
	{Text: "", K: 2},
	{Text: "Fram", K: -1},
	{Text: "Fram", K: 1000, Depth: 1000},
	{Text: "故宫在哪里？", K: 2},
}

// OfflineKit is the kit that needs nothing.
func OfflineKit(t testing.TB) kit.Kit {
	t.Helper()
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	OK(t, err)
	return k
}

// Maker makes a system of a kit.
type Maker func(kit.Kit) (*kit.System, error)

// Conform checks what every system promises: the same answers for the same
// documents, whatever the way they came in; the old answers after a change that
// failed; no failure on corpora and questions that have nothing to offer; errors
// that name the system.
func Conform(t *testing.T, make Maker) {
	t.Helper()
	t.Run("insert and delete", make.changes)
	t.Run("failed insert", make.failures)
	t.Run("save and open", make.saves)
	t.Run("conditions", make.sees)
	t.Run("retrieve", make.retrieves)
	t.Run("model", make.asks)
	t.Run("errors", make.errors)
	for name, docs := range map[string][]graphrag.Document{"no page": nil, "one page": Pages[:1], "chinese": Chinese, "empty page": {{ID: "x.md"}}} {
		t.Run(name, func(t *testing.T) {
			for i, a := range answers(t, make.over(t, OfflineKit(t), docs...)) {
				if len(a.Ranked) > max(Questions[i].K, Questions[i].Depth) {
					t.Errorf("%q: %d chunks ranked", Questions[i].Text, len(a.Ranked))
				}
			}
		})
	}
}

// over is a system that has indexed documents.
func (make Maker) over(t *testing.T, k kit.Kit, docs ...graphrag.Document) *kit.System {
	t.Helper()
	s, err := make(k)
	OK(t, err)
	in := graphrag.Documents(docs...)
	if len(docs) == 0 {
		in = nil
	}
	if _, err := s.Index(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return s
}

// without are the pages but for one.
func without(id string) []graphrag.Document {
	return slices.DeleteFunc(slices.Clone(Pages), func(d graphrag.Document) bool { return d.ID == id })
}

// changes compares systems whose documents came and went with those that were
// indexed at once.
func (make Maker) changes(t *testing.T) {
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
	older := Pages[1]
	older.Text = "# Fram\n\nThe Fram was built in Ravenna." + strings.Repeat(" Umberto Nobile built the Gauss for Roald Amundsen.", 200) // more chunks than there are now
	for _, tt := range []struct {
		name    string
		from    []graphrag.Document
		changes []func(*kit.System) error
		to      []graphrag.Document
	}{
		{"inserted one after the other", Pages[:2], []func(*kit.System) error{insert(Pages[3]), insert(Pages[2], Pages[0])}, Pages[:4]},
		{"deleted the last", Pages, []func(*kit.System) error{remove("tides.md", "nowhere.md")}, Pages[:4]},
		{"deleted one that others speak of", Pages, []func(*kit.System) error{remove("fram.md")}, without("fram.md")},
		{"replaced an older version", append(without("fram.md"), older), []func(*kit.System) error{insert(Pages[1])}, Pages},
	} {
		s := make.over(t, OfflineKit(t), tt.from...)
		for _, change := range tt.changes {
			if err := change(s); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
		if diff := cmp.Diff(answers(t, make.over(t, OfflineKit(t), tt.to...)), answers(t, s)); diff != "" {
			t.Errorf("%s (-indexed at once +changed):\n%.3000s", tt.name, diff)
		}
	}
}

// failures lets an Insert fail where it reads pages, extracts and builds. What
// was there answers as before, and the next Insert does not find the remains.
func (make Maker) failures(t *testing.T) {
	before, after := answers(t, make.over(t, OfflineKit(t), without("fram.md")...)), answers(t, make.over(t, OfflineKit(t), Pages...))
	for _, part := range []string{"stream", "extractor", "look-up"} {
		f := &faults{}
		s := make.over(t, f.in(OfflineKit(t)), without("fram.md")...)
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
			continue // a part that the system does not have
		}
		f.part = ""
		if !errors.Is(err, errFault) {
			t.Errorf("%s: %v", part, err)
		}
		if diff := cmp.Diff(before, answers(t, s)); diff != "" {
			t.Errorf("after a failed Insert, %s (-before +after):\n%.3000s", part, diff)
		}
		if _, err := s.Insert(t.Context(), graphrag.Documents(Pages[1])); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(after, answers(t, s)); diff != "" {
			t.Errorf("%s: the Insert after the failed one (-indexed at once +inserted):\n%.3000s", part, diff)
		}
	}
}

func (make Maker) saves(t *testing.T) {
	s, dir := make.over(t, OfflineKit(t), Pages...), t.TempDir()
	want := answers(t, s)
	if err := s.Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	opened := make.over(t, OfflineKit(t), Chinese...)
	if _, err := opened.Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, answers(t, opened)); diff != "" {
		t.Errorf("(-saved +opened):\n%.3000s", diff)
	}
}

// retrieves compares what Retrieve finds with what Answer has read, and counts it
// where a question has a budget.
func (make Maker) retrieves(t *testing.T) {
	k := OfflineKit(t)
	s := make.over(t, k, Pages...)
	for _, q := range Questions {
		for _, tokens := range []int{0, 25, 60} {
			q.Tokens = tokens
			found, err := s.Retrieve(t.Context(), q)
			OK(t, err)
			a, err := s.Answer(t.Context(), q)
			OK(t, err)
			if diff := cmp.Diff(found, a.Found, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(graphrag.Found{}, "Usage")); diff != "" {
				t.Errorf("%q (-Retrieve +Answer):\n%.2000s", q.Text, diff)
			}
			n := 0
			for _, h := range a.Evidence {
				n += k.Count(retrieve.Shown(h.Chunk))
			}
			for _, d := range a.Derived {
				n += k.Count(d.Text)
			}
			if tokens > 0 && n > tokens {
				t.Errorf("%q: %d tokens are read, %d are allowed", q.Text, n, tokens)
			}
		}
	}
}

// asks has a model and an embedder do everything, once as they should and once in
// nonsense.
func (make Maker) asks(t *testing.T) {
	obedient := llmtest.NewScript("m").Handle(llmtest.Any, Obedient)
	nonsense := llmtest.NewScript("m").Reply(llmtest.Any, "Colourless green ideas sleep furiously.")
	s := make.over(t, ModelKit(t, obedient), Pages...)
	for _, q := range Questions[:3] {
		if a, err := s.Answer(t.Context(), q); err != nil || a.Text == "" {
			t.Errorf("%q: %+v, %v", q.Text, a, err)
		}
	}
	s = make.over(t, ModelKit(t, nonsense), Pages...)
	for _, q := range Questions[:4] {
		if _, err := s.Answer(t.Context(), q); err != nil && !errors.Is(err, llm.ErrInvalidOutput) {
			t.Errorf("%q: %v", q.Text, err)
		}
	}
}

func (make Maker) errors(t *testing.T) {
	s, err := make(OfflineKit(t))
	OK(t, err)
	if _, err := s.Answer(t.Context(), Questions[0]); err == nil || !strings.Contains(err.Error(), s.Name()) {
		t.Errorf("asked before Index: %v", err)
	}
	if _, err := s.Insert(t.Context(), graphrag.Documents(Pages[0])); err == nil {
		t.Error("Insert before Index")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Index(ctx, graphrag.Documents(Pages...)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := make(kit.Kit{}); err == nil {
		t.Error("made of an empty kit")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// answers asks all questions, twice and from several places at once.
func answers(t *testing.T, s graphrag.System) []graphrag.Answer {
	t.Helper()
	out := make([]graphrag.Answer, len(Questions))
	for i, q := range Questions {
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
		if err := errors.Join(err, second.err); err != nil {
			t.Errorf("%q: %v", q.Text, err)
		}
		if diff := cmp.Diff(a, second.a); diff != "" {
			t.Errorf("%q has two answers:\n%.2000s", q.Text, diff)
		}
		out[i] = a
	}
	return out
}
