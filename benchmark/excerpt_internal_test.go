// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

var filler = strings.Repeat("Nothing of interest stands here at all. ", 40)

func keep(a graphrag.Answer, it Item) record.Answer {
	out := record.NewAnswer(record.Key{}, a, nil, false)
	excerpt(&out, a, it)
	return out
}

func TestExcerpt(t *testing.T) {
	const quote = "The comet returned in 1758."
	text := filler + quote + " " + filler
	doc := strings.Repeat("x", 100) + text
	from := strings.Index(doc, quote)
	chunk := graphrag.Chunk{Doc: "d", Start: 100, End: 100 + len(text), Text: text}
	cleaned := chunk
	cleaned.End += 7 // the text is no longer the span of the document
	gold := Item{Reference: "It returned in 1758, that comet.", Gold: []Unit{{"g"}}}
	for name, tt := range map[string]struct {
		chunk  graphrag.Chunk
		cited  bool
		quoted string
	}{
		"by offsets":             {chunk, true, quote},
		"found by its words":     {cleaned, true, quote},
		"by gold words, uncited": {chunk, false, ""},
	} {
		a := graphrag.Answer{Text: quote, Found: graphrag.Found{Evidence: []graphrag.Hit{{Chunk: tt.chunk}}}}
		if tt.cited {
			a.Citations = []graphrag.Citation{{Start: 0, End: len(quote), SourceStart: from, SourceEnd: from + len(quote)}}
		}
		got := keep(a, gold).Evidence[0]
		check.True(t, strings.Contains(got.Excerpt, quote) && len(got.Excerpt) <= excerptBytes+20, "%s: %q", name, got.Excerpt)
		lit := ""
		for _, q := range got.Quotes {
			lit += got.Excerpt[q[0]:q[1]]
		}
		check.Equal(t, lit, tt.quoted, "%s: %q is quoted", name, lit)
	}
}

// Of many passages the cited ones are kept first, then passages of gold documents.
func TestChosenExcerpts(t *testing.T) {
	var a graphrag.Answer
	a.Text = "yes"
	for range 30 {
		a.Evidence = append(a.Evidence, graphrag.Hit{Chunk: graphrag.Chunk{Doc: "d", Text: "text"}})
	}
	a.Evidence[20].Chunk.Doc = "gold"
	a.Citations = []graphrag.Citation{{End: 3, Evidence: 25}}
	a.Derived = make([]graphrag.Derived, 5)
	got := keep(a, Item{Gold: []Unit{{"gold"}}})
	kept := 0
	for _, e := range got.Evidence {
		if e.Excerpt != "" {
			kept++
		}
	}
	check.True(t, kept == excerpts && got.Evidence[20].Excerpt != "" && got.Evidence[25].Excerpt != "" && got.Evidence[0].Excerpt != "", "%d excerpts", kept)
}

// Offsets come from the system under test: no value makes a run fail, and no character is cut in two.
func TestHostileExcerpt(t *testing.T) {
	texts := []string{"", strings.Repeat("字", 500), strings.Repeat("a", 1<<20), strings.Repeat("\xff", 900), filler + "é"}
	for _, text := range texts {
		for _, at := range [][2]int{{-9, 3}, {0, 1 << 30}, {5, 2}, {319, 321}, {0, 0}} {
			a := graphrag.Answer{Text: "né", Found: graphrag.Found{Evidence: []graphrag.Hit{{Chunk: graphrag.Chunk{Text: text, Start: 3, End: 3 + len(text)}}}}}
			for _, evidence := range []int{0, -1, 9} {
				a.Citations = append(a.Citations,
					graphrag.Citation{Start: at[0], End: at[1], Evidence: evidence},
					graphrag.Citation{Start: 0, End: 3, Evidence: evidence, SourceStart: at[0], SourceEnd: at[1]},
					graphrag.Citation{Start: 0, End: 3, Of: graphrag.OfDerived, Evidence: evidence})
			}
			got := keep(a, Item{Reference: "né"}).Evidence[0]
			if len(got.Excerpt) > excerptBytes+40 || utf8.ValidString(text) && !utf8.ValidString(got.Excerpt) {
				t.Errorf("%d bytes: %.60q", len(got.Excerpt), got.Excerpt)
			}
			for _, q := range got.Quotes {
				_ = got.Excerpt[q[0]:q[1]]
			}
		}
	}
}

// Worked by hand: of four pages "fram" is on all, "larvik" on one. ln(1+.5/4.5) is .105,
// ln(1+3.5/1.5) is 1.204: a text with "larvik" contains most of "fram larvik", one with
// "fram" an eleventh of it.
func TestFound(t *testing.T) {
	docs := func() ([]graphrag.Document, error) {
		return []graphrag.Document{{Text: "fram larvik"}, {Text: "fram"}, {Text: "fram moon"}, {Text: "fram moon"}}, nil
	}
	words := check.Of(countWords(t.Context(), docs)).OK(t)
	hit := func(doc, text string) graphrag.Hit {
		return graphrag.Hit{Chunk: graphrag.Chunk{Doc: doc, Text: text}}
	}
	it := Item{Statements: []string{"The Fram of Larvik", "the moon", "of the B"}, Gold: []Unit{{"gold"}, {"also", "gold2"}}}
	for _, tt := range []struct {
		name     string
		evidence []graphrag.Hit
		want     float64
	}{
		{"nothing", nil, 0},
		{"the rare word", []graphrag.Hit{hit("gold", "A town named LARVIK")}, .5},
		{"the word of all pages", []graphrag.Hit{hit("gold", "the Fram")}, 0},
		{"another page", []graphrag.Hit{hit("other", "the Fram of Larvik, the moon")}, 0},
		{"another page of the unit", []graphrag.Hit{hit("gold2", "the moon over Larvik")}, 1},
		{"in two chunks", []graphrag.Hit{hit("gold", "Larvik"), hit("gold", "moon")}, 1},
	} {
		got, ok := words.found(it, tt.evidence)
		check.True(t, got == tt.want && ok, "%s: %v, %v, want %v", tt.name, got, ok, tt.want)
	}
	for name, it := range map[string]Item{"gold documents": {Statements: it.Statements}, "a statement": {Gold: it.Gold}, "a content word": {Gold: it.Gold, Statements: []string{"it is"}}} {
		_, ok := words.found(it, nil)
		check.True(t, !ok, "measured without %s", name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(countWords(ctx, docs)), context.Canceled, "cancelled")
}
