// SPDX-License-Identifier: Apache-2.0

package baselines_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func condenser(t *testing.T, kit baselines.Kit) *baselines.Condenser {
	t.Helper()
	c, err := kit.Condenser(20)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func modelKit(t *testing.T, m llm.Model) baselines.Kit {
	t.Helper()
	kit, err := baselines.ModelKit(baselines.ModelOptions{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	return kit
}

// Offline, a description quotes, and names the passages that it quotes alone.
func TestCondenseOffline(t *testing.T) {
	of := []kg.Description{
		{Text: "The Fram carried Roald Amundsen to Antarctica in 1910.", Passages: []int32{4}},
		{Text: "The Fram carried Fridtjof Nansen to the Arctic in 1893.", Passages: []int32{1, 2}},
		{Text: "Subscribe now.", Passages: []int32{9}},
	}
	got, err := condenser(t, offline(t)).Condense(t.Context(), "Fram", of)
	if err != nil || got.Text != of[0].Text && got.Text != of[1].Text {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, d := range of {
		if got.Text == d.Text && !cmp.Equal(got.Passages, d.Passages) {
			t.Errorf("%q is from %v", got.Text, got.Passages)
		}
	}
	if got, err := condenser(t, offline(t)).Condense(t.Context(), "Fram", nil); err != nil || got.Text != "" || got.Passages != nil {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
}

// What does not fit into one window is condensed group by group: three of 8,000
// tokens make a pair and one left over, and these a second round.
func TestCondenseByModel(t *testing.T) {
	long := strings.Repeat("word ", 8000*4/5)
	of := []kg.Description{{Text: long + "1", Passages: []int32{3}}, {Text: long + "2", Passages: []int32{1}}, {Text: long + "3", Passages: []int32{2, 3}}}
	m := llmtest.NewScript("m").Reply(llmtest.Any, " one ", "two")
	got, err := condenser(t, modelKit(t, m)).Condense(t.Context(), "Fram", of)
	if want := (kg.Description{Text: "two", Passages: []int32{1, 2, 3}}); err != nil || !cmp.Equal(want, got) || m.Calls() != 2 {
		t.Errorf("%+v after %d calls, %v", got, m.Calls(), err)
	}
	// The second request holds what the first one made.
	if last := m.Requests()[1].Messages[1].Text; !strings.Contains(last, "one") || strings.Contains(last, long+"1") {
		t.Errorf("asked for %.200s", last)
	}
}

// A reply that is none is replaced by quotes; an error of the service is one.
func TestCondenseFails(t *testing.T) {
	of := []kg.Description{{Text: "The Fram was a ship of Norway.", Passages: []int32{0}}, {Text: "The Fram was built in Larvik.", Passages: []int32{1}}}
	for _, kind := range []llm.Kind{llm.ErrTruncated, llm.ErrContextLength, llm.ErrFiltered} {
		m := llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: kind})
		if got, err := condenser(t, modelKit(t, m)).Condense(t.Context(), "Fram", of); err != nil || !strings.HasPrefix(got.Text, "The Fram was") {
			t.Errorf("%v: %+v, %v", kind, got, err)
		}
	}
	m := llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth})
	if _, err := condenser(t, modelKit(t, m)).Condense(t.Context(), "Fram", of); !errors.Is(err, llm.ErrAuth) || !strings.Contains(err.Error(), "Fram") {
		t.Errorf("without a key: %v", err)
	}
}

func TestEach(t *testing.T) {
	got := make([]int, 100)
	err := baselines.Each(t.Context(), len(got), func(_ context.Context, i int) error { got[i]++; return nil })
	for i, n := range got {
		if n != 1 || err != nil {
			t.Fatalf("%d is called %d times, %v", i, n, err)
		}
	}
	broken := errors.New("broken")
	if err := baselines.Each(t.Context(), 100, func(context.Context, int) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := baselines.Each(ctx, 100, func(context.Context, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestThemes(t *testing.T) {
	for _, tt := range []struct {
		question string
		names    []string
		want     []string
	}{
		{"Where was the builder of the Fram born?", []string{"Fram"}, []string{"builder", "born"}},
		{"What role did maritime trade routes play in Norway, and who paid?", []string{"Norway"}, []string{"role", "maritime trade routes play", "paid"}},
		{"the ice and the Ice", nil, []string{"ice"}},
		{"steam-engine parts, engines", nil, []string{"steam-engine parts", "engines"}},
		{"who is it?", nil, nil},
		{"", nil, nil},
	} {
		if diff := cmp.Diff(tt.want, baselines.Themes(tt.question, tt.names)); diff != "" {
			t.Errorf("%q: %s", tt.question, diff)
		}
	}
}

// fixed is an extractor that has found some names and a fact before.
type fixed struct{ kg.Extraction }

func (f fixed) Extract(context.Context, []graphrag.Chunk) ([]kg.Extraction, error) {
	return []kg.Extraction{f.Extraction}, nil
}

// Neighbours in a sentence are related, once in a chunk, and not where a fact
// relates them; names without a place are not.
func TestLinked(t *testing.T) {
	text := "Ann met Bob and Cid. Ann saw Bob. Dan left."
	var x kg.Extraction
	for at, name := range map[int]string{0: "Ann", 8: "Bob", 16: "Cid", 21: "Ann", 29: "Bob", 34: "Dan"} {
		x.Mentions = append(x.Mentions, kg.Mention{Name: name, Span: kg.Span{Start: at, End: at + 3}})
	}
	x.Mentions = append(x.Mentions, kg.Mention{Name: "Eve"})
	relate := func() (out []string) {
		found, err := baselines.Described(baselines.Linked(fixed{x})).Extract(t.Context(), []graphrag.Chunk{{Text: text}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found[0].Facts {
			out = append(out, f.Head+" "+f.Relation+" "+f.Tail+": "+f.Description)
		}
		return out
	}
	if diff := cmp.Diff([]string{"Ann met Bob: Ann met Bob and Cid.", "Bob and Cid: Ann met Bob and Cid."}, relate()); diff != "" {
		t.Error(diff)
	}
	x.Facts = []kg.Fact{{Triple: graphrag.Triple{Head: "bob", Relation: "met by", Tail: "Ann"}, Description: "known"}}
	if diff := cmp.Diff([]string{"bob met by Ann: known", "Bob and Cid: Ann met Bob and Cid."}, relate()); diff != "" {
		t.Error(diff)
	}
}
