// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func describer(t *testing.T, k kit.Kit) kit.Describer {
	t.Helper()
	d, err := k.Describe(20)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func offline(t testing.TB) kit.Kit {
	t.Helper()
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func modelKit(t testing.TB, m llm.Model) kit.Kit {
	t.Helper()
	k, err := kit.ByModel(kit.ModelOptions{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Offline, a description quotes, and names the passages that it quotes alone.
func TestDescribeByQuotes(t *testing.T) {
	of := []kg.Description{
		{Text: "The Fram carried Roald Amundsen to Antarctica in 1910.", Passages: []int32{4}},
		{Text: "The Fram carried Fridtjof Nansen to the Arctic in 1893.", Passages: []int32{1, 2}},
		{Text: "Subscribe now.", Passages: []int32{9}},
	}
	got, err := describer(t, offline(t)).Describe(t.Context(), "Fram", of)
	if err != nil || got.Text != of[0].Text && got.Text != of[1].Text {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, d := range of {
		if got.Text == d.Text && !cmp.Equal(got.Passages, d.Passages) {
			t.Errorf("%q is from %v", got.Text, got.Passages)
		}
	}
	if got, err := describer(t, offline(t)).Describe(t.Context(), "Fram", nil); err != nil || got.Text != "" || got.Passages != nil {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
}

// What does not fit into one window is condensed group by group: three of 8,000
// tokens make a pair and one left over, and these a second round.
func TestDescribeByModel(t *testing.T) {
	long := strings.Repeat("word ", 8000)
	of := []kg.Description{{Text: long + "1", Passages: []int32{3}}, {Text: long + "2", Passages: []int32{1}}, {Text: long + "3", Passages: []int32{2, 3}}}
	m := llmtest.NewScript("m").Reply(llmtest.Any, " one ", "two")
	got, err := describer(t, modelKit(t, m)).Describe(t.Context(), "Fram", of)
	if want := (kg.Description{Text: "two", Passages: []int32{1, 2, 3}}); err != nil || !cmp.Equal(want, got) || m.Calls() != 2 {
		t.Errorf("%+v after %d calls, %v", got, m.Calls(), err)
	}
	// The second request holds what the first one made.
	if last := m.Requests()[1].Messages[1].Text; !strings.Contains(last, "one") || strings.Contains(last, long+"1") {
		t.Errorf("asked for %.200s", last)
	}
}

// A reply that is none is replaced by quotes; an error of the service is one.
func TestDescribeFails(t *testing.T) {
	of := []kg.Description{{Text: "The Fram was a ship of Norway.", Passages: []int32{0}}, {Text: "The Fram was built in Larvik.", Passages: []int32{1}}}
	for _, kind := range []llm.Kind{llm.ErrTruncated, llm.ErrContextLength, llm.ErrFiltered} {
		m := llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: kind})
		if got, err := describer(t, modelKit(t, m)).Describe(t.Context(), "Fram", of); err != nil || !strings.HasPrefix(got.Text, "The Fram was") {
			t.Errorf("%v: %+v, %v", kind, got, err)
		}
	}
	m := llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth})
	if _, err := describer(t, modelKit(t, m)).Describe(t.Context(), "Fram", of); !errors.Is(err, llm.ErrAuth) || !strings.Contains(err.Error(), "Fram") {
		t.Errorf("without a key: %v", err)
	}
}

func TestEach(t *testing.T) {
	got := make([]int, 100)
	err := kit.Each(t.Context(), len(got), func(_ context.Context, i int) error { got[i]++; return nil })
	for i, n := range got {
		if n != 1 || err != nil {
			t.Fatalf("%d is called %d times, %v", i, n, err)
		}
	}
	broken := errors.New("broken")
	if err := kit.Each(t.Context(), 100, func(context.Context, int) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := kit.Each(ctx, 100, func(context.Context, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
