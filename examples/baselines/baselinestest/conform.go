// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
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
	{Text: "Fram", K: 0},
	{Text: "Fram", K: 1000, Depth: 1000},
	{Text: "故宫在哪里？", K: 2},
}

// Stream yields documents.
func Stream(docs ...graphrag.Document) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// OfflineKit is the kit that needs nothing.
func OfflineKit(t testing.TB) kit.Kit {
	t.Helper()
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Conform checks what every graph system promises: the same answers for the same
// documents, whatever the way they came in; no failure on corpora and questions
// that have nothing to offer; errors that name the system.
func Conform(t *testing.T, make func(kit.Kit) (*kit.System, error)) {
	t.Helper()
	fresh := func(t *testing.T, k kit.Kit, docs ...graphrag.Document) *kit.System {
		t.Helper()
		s, err := make(k)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Index(t.Context(), Stream(docs...)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("insert and delete", func(t *testing.T) {
		want := answers(t, fresh(t, OfflineKit(t), Pages[:4]...))
		inserted := fresh(t, OfflineKit(t), Pages[:2]...)
		for _, docs := range [][]graphrag.Document{Pages[3:4], {Pages[2], Pages[0]}} {
			if _, err := inserted.Insert(t.Context(), Stream(docs...)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, answers(t, inserted)); diff != "" {
			t.Errorf("inserted one after the other (-at once +inserted):\n%.3000s", diff)
		}
		deleted := fresh(t, OfflineKit(t), Pages...)
		stats, err := deleted.Delete(t.Context(), "tides.md", "nowhere.md")
		if err != nil || stats.Documents != 4 {
			t.Fatalf("%+v, %v", stats, err)
		}
		if diff := cmp.Diff(want, answers(t, deleted)); diff != "" {
			t.Errorf("deleted (-never there +deleted):\n%.3000s", diff)
		}
	})
	for name, docs := range map[string][]graphrag.Document{"no page": nil, "one page": Pages[:1], "chinese": Chinese, "empty page": {{ID: "x.md"}}} {
		t.Run(name, func(t *testing.T) {
			for i, a := range answers(t, fresh(t, OfflineKit(t), docs...)) {
				if len(a.Ranked) > max(Questions[i].K, Questions[i].Depth) {
					t.Errorf("%q: %d chunks ranked", Questions[i].Text, len(a.Ranked))
				}
			}
		})
	}
	t.Run("a model of nonsense", func(t *testing.T) {
		k, err := kit.ByModel(kit.ModelOptions{Model: llmtest.NewScript("m").Reply(llmtest.Any, "Colourless green ideas sleep furiously.")})
		if err != nil {
			t.Fatal(err)
		}
		s := fresh(t, k, Pages...)
		for _, q := range Questions[:4] {
			if _, err := s.Answer(t.Context(), q); err != nil && !errors.Is(err, llm.ErrInvalidOutput) {
				t.Errorf("%q: %v", q.Text, err)
			}
		}
	})
	t.Run("errors", func(t *testing.T) {
		s, err := make(OfflineKit(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Answer(t.Context(), Questions[0]); err == nil || !strings.Contains(err.Error(), s.Name()) {
			t.Errorf("asked before Index: %v", err)
		}
		if _, err := s.Insert(t.Context(), Stream()); err == nil {
			t.Error("Insert before Index")
		}
		broken := fmt.Errorf("unreadable page")
		if _, err := s.Index(t.Context(), func(yield func(graphrag.Document, error) bool) { yield(graphrag.Document{}, broken) }); !errors.Is(err, broken) {
			t.Errorf("a page that cannot be read: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Index(ctx, Stream(Pages...)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if _, err := make(kit.Kit{}); err == nil {
			t.Error("made of an empty kit")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
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
