// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// The parts of pages that are removed, and offsets that lead back to the page.
func TestCut(t *testing.T) {
	const page = "* [Home](https://a.example/) [News](https://a.example/n) [Sport](https://a.example/s)\n\nThe [barn owl](https://a.example/owl) hunts by ear.\n"
	const whole, plain = "The [barn owl](https://a.example/owl) hunts by ear.", "The barn owl hunts by ear."
	for _, tt := range []struct {
		name string
		cut  kit.Cut
		want string
	}{
		{"as published", kit.Cut{}, plain},
		{"links", kit.Cut{KeepLinks: true}, whole},
	} {
		c := check.Of(tt.cut.Chunker()).OK(t)
		chunks, err := c.Document(t.Context(), graphrag.Document{ID: "d", Text: page})
		check.Must(t, err == nil && len(chunks) == 1, "%s: %d chunks, %v", tt.name, len(chunks), err)
		text := chunks[0].Text
		check.True(t, strings.Contains(text, tt.want) && strings.Contains(text, "Home"), "%s: %q", tt.name, text)
		source := page[chunks[0].Start:chunks[0].End]
		check.True(t, strings.Contains(source, whole) && strings.Contains(source, "Home"), "%s: comes from %q", tt.name, source)
	}
}

func describer(t *testing.T, k kit.Kit) summary.Describer {
	t.Helper()
	return check.Of(k.Describe(20)).OK(t)
}

func offline(t testing.TB) kit.Kit {
	t.Helper()
	return check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
}

func modelKit(t testing.TB, m llm.Model) kit.Kit {
	t.Helper()
	return check.Of(kit.ByModel(kit.ModelOptions{Model: m})).OK(t)
}

// Offline, a description consists of quotes, and names only the passages that it quotes.
func TestDescribeByQuotes(t *testing.T) {
	of := []kg.Description{
		{Text: "The Fram carried Roald Amundsen to Antarctica in 1910.", Passages: []int32{4}},
		{Text: "The Fram carried Fridtjof Nansen to the Arctic in 1893.", Passages: []int32{1, 2}},
		{Text: "Subscribe now.", Passages: []int32{9}},
	}
	got, err := describer(t, offline(t)).Describe(t.Context(), "Fram", of)
	check.Must(t, err == nil && (got.Text == of[0].Text || got.Text == of[1].Text), "%+v, %v", got, err)
	for _, d := range of {
		check.True(t, got.Text != d.Text || cmp.Equal(got.Passages, d.Passages), "%q is from %v", got.Text, got.Passages)
	}
	got, err = describer(t, offline(t)).Describe(t.Context(), "Fram", nil)
	check.True(t, err == nil && got.Text == "" && got.Passages == nil, "of nothing: %+v, %v", got, err)
}

// Texts that do not fit into one prompt are condensed in groups: three of 8,000 tokens make a pair and one left
// over, which take a second round.
func TestDescribeByModel(t *testing.T) {
	long := strings.Repeat("word ", 8000)
	of := []kg.Description{{Text: long + "1", Passages: []int32{3}}, {Text: long + "2", Passages: []int32{1}}, {Text: long + "3", Passages: []int32{2, 3}}}
	m := llmtest.NewScript("m").Reply(llmtest.Any, " one ", "two")
	got, err := describer(t, modelKit(t, m)).Describe(t.Context(), "Fram", of)
	want := (kg.Description{Text: "two", Passages: []int32{1, 2, 3}})
	check.True(t, err == nil && cmp.Equal(want, got) && m.Calls() == 2, "%+v after %d calls, %v", got, m.Calls(), err)
	// The second request contains the result of the first.
	last := m.Requests()[1].Messages[1].Text
	check.True(t, strings.Contains(last, "one") && !strings.Contains(last, long+"1"), "asked for %.200s", last)
}

// Quotes replace an unusable reply; an error of the service is returned.
func TestDescribeFails(t *testing.T) {
	of := []kg.Description{{Text: "The Fram was a ship of Norway.", Passages: []int32{0}}, {Text: "The Fram was built in Larvik.", Passages: []int32{1}}}
	for _, kind := range []llm.Kind{llm.ErrTruncated, llm.ErrContextLength, llm.ErrFiltered} {
		m := llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: kind})
		got, err := describer(t, modelKit(t, m)).Describe(t.Context(), "Fram", of)
		check.True(t, err == nil && strings.HasPrefix(got.Text, "The Fram was"), "%v: %+v, %v", kind, got, err)
	}
	m := llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth})
	_, err := describer(t, modelKit(t, m)).Describe(t.Context(), "Fram", of)
	check.True(t, errors.Is(err, llm.ErrAuth) && strings.Contains(err.Error(), "Fram"), "without a key: %v", err)
}

func TestEach(t *testing.T) {
	got := make([]int, 100)
	err := kit.Each(t.Context(), len(got), func(_ context.Context, i int) error { got[i]++; return nil })
	for i, n := range got {
		check.Must(t, n == 1 && err == nil, "%d is called %d times, %v", i, n, err)
	}
	broken := errors.New("broken")
	check.Is(t, kit.Each(t.Context(), 100, func(context.Context, int) error { return broken }), broken)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, kit.Each(ctx, 100, func(context.Context, int) error { return nil }), context.Canceled)
}

// Of four chunks the model refuses one, one has an unusable record, one is empty, and one reply is garbage; of
// two descriptions one fails. The counts cover the whole index after a change, whatever was requested again,
// and after opening a saved index.
func TestStages(t *testing.T) {
	m := llmtest.NewScript("m").
		Fail(llmtest.Contains("hawk owl"), &llm.Error{Kind: llm.ErrRefused}).
		Reply(llmtest.Contains("barn owl"), `{"entities": [{"name": "barn owl", "type": "bird", "desc": "An owl."}, {"name": "phoenix", "type": "bird", "desc": "x"}], "relationships": []}`).
		Reply(llmtest.Contains("zilch"), `{"entities": [], "relationships": []}`).
		Reply(llmtest.Any, "I would rather not.")
	open := func() *kit.System {
		k := modelKit(t, m)
		f := kit.Frame{Name: "counted", Kit: k}
		f.ExtractBy(nil, k.RecordsFor(extract.RecordOptions{Format: extract.Objects, Types: []string{"bird"}}))
		f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			d := describer(t, k)
			for _, subject := range []string{"hawk owl", "barn owl"} {
				if _, err := d.Describe(ctx, subject, []kg.Description{{Text: "An owl."}, {Text: "A bird."}}); err != nil {
					return nil, err
				}
			}
			kit.Done(ctx, "report", errors.New("does not fit"))
			return finding(c, ctx)
		}
		return check.Of(kit.New(f)).OK(t)
	}
	want := []graphrag.Stage{
		{Name: "extract", Asked: 4, Failed: 2, Refused: 1, Repaired: 1},
		{Name: "describe", Asked: 2, Failed: 1, Refused: 1},
		{Name: "report", Asked: 1, Failed: 1},
	}
	docs := []graphrag.Document{{ID: "1", Text: "A hawk owl."}, {ID: "2", Text: "A barn owl."}, {ID: "3", Text: "There is zilch."}, {ID: "4", Text: "An eagle."}}
	s := open()
	index(t, s, docs[:3]...)
	stats, err := s.Insert(t.Context(), graphrag.Documents(docs[3]))
	diff := cmp.Diff(want, stats.Stages)
	check.True(t, diff == "" && err == nil, "(-want +got):\n%s%v", diff, err)
	dir := t.TempDir()
	check.OK(t, s.Save(t.Context(), dir))
	stats, err = open().Open(t.Context(), dir)
	diff = cmp.Diff(want, stats.Stages)
	check.True(t, diff == "" && err == nil, "opened (-want +got):\n%s%v", diff, err)
}

func triplesOf(t *testing.T, chunks ...graphrag.Chunk) []kg.Extraction {
	t.Helper()
	x := check.Of(offline(t).Triples()).OK(t)
	return check.Of(x.Extract(t.Context(), chunks)).OK(t)
}

func ofTitles(found []kg.Extraction) (tails []string) {
	for _, x := range found {
		for _, f := range x.Facts {
			if f.Relation == "mentions" {
				tails = append(tails, f.Tail)
			}
		}
	}
	return tails
}

// The title of a short passage is related to each name in it, once, and not to itself; text in brackets after
// the title is no part of the name.
func TestTitleFacts(t *testing.T) {
	c := graphrag.Chunk{ID: "a#0", Doc: "a", Title: "Fram (ship)", Text: "It was built by Colin Archer in Larvik. The Fram carried Roald Amundsen. Later Colin Archer saw it.", Tokens: 25}
	// The page states this fact about the Fram itself.
	check.Equal(t, ofTitles(triplesOf(t, c)), []string{"Colin Archer", "Larvik"}, "(-want +got)")
	names := 0
	c.Text = "In 1911 Colin Archer saw the Fram in Larvik."
	for _, m := range triplesOf(t, c)[0].Mentions {
		if m.Name == "Fram" {
			names++
		}
	}
	c.Text = "It was built by Colin Archer in Larvik."
	added := triplesOf(t, c)[0].Mentions
	if last := added[len(added)-1]; names != 1 || last.Name != "Fram" || last.Span != (kg.Span{}) {
		t.Errorf("%d mentions of a title that the passage names; one it does not name is %+v", names, last)
	}
}

// A corpus consists of titled passages if nearly all documents are short, have one chunk, and a short title.
func TestTitledPassages(t *testing.T) {
	passage := func(i int, title string, tokens int) graphrag.Chunk {
		return graphrag.Chunk{ID: fmt.Sprintf("d%02d#0", i), Doc: fmt.Sprintf("d%02d", i), Title: title, Tokens: tokens, Text: fmt.Sprintf("In %d it was seen by Colin Archer.", 1900+i)}
	}
	for _, tt := range []struct {
		name string
		odd  graphrag.Chunk // replaces some of ten chunks
		n    int
		want bool
	}{
		{"all", passage(0, "Fram", 50), 10, true},
		{"one page", passage(0, "Fram", 5000), 1, true},
		{"two pages", passage(0, "Fram", 5000), 2, false},
		{"headlines", passage(0, strings.Repeat("long ", 9), 50), 10, false},
		{"no titles", passage(0, "", 50), 10, false},
	} {
		var chunks []graphrag.Chunk
		for i := range 10 {
			c := passage(i, "Fram", 50)
			if i < tt.n {
				c.Title, c.Tokens = tt.odd.Title, tt.odd.Tokens
			}
			chunks = append(chunks, c)
		}
		facts := ofTitles(triplesOf(t, chunks...))
		check.True(t, len(facts) > 0 == tt.want, "%s: %q", tt.name, facts)
	}
	cut := []graphrag.Chunk{passage(0, "Fram", 50), passage(0, "Fram", 50)}
	cut[1].ID = "d00#1"
	check.True(t, ofTitles(triplesOf(t, cut...)) == nil, "a document in two pieces is no passage")
}
