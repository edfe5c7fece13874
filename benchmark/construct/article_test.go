// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/construct"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

//go:embed testdata/owls.md
var owls string

func TestFootnotes(t *testing.T) {
	a := construct.Parse(owls, "owls.md", construct.Options{})
	check.Equal(t, a.Title, "Barn owl", "title")
	want := []construct.Reference{
		{Title: "Owls of the World", URL: "https://owls.example/world"},
		{Title: "The ear of the owl", URL: "https://ear.example/owl#page"},
		{Title: "Storm of owls", URL: "file:notes/storm.md"},
		{Title: "file:notes/bare.md", URL: "file:notes/bare.md"},
		{Title: "Acoustic location of prey", URL: "https://prey.example/p(1)", Archive: "https://web.archive.org/web/1/https://prey.example/p"},
	}
	check.Equal(t, a.References(), want)
	var paths []string
	for _, s := range a.Sections() {
		paths = append(paths, strings.Join(s.Path, " > "))
	}
	check.Equal(t, paths, []string{"Barn owl", "Barn owl > Hunting"})
}

//go:embed testdata/owls.wiki
var owlsWiki string

func TestWikitext(t *testing.T) {
	a := construct.Parse(construct.Wikitext(owlsWiki, "Barn owl"), "Barn owl", construct.Options{})
	want := []construct.Reference{
		{Title: "The ear of (the) owl", URL: "https://ear.example/owl", Archive: "https://web.archive.org/web/1/https://ear.example/owl"},
		{Title: "Acoustic location of prey", URL: "https://prey.example/p"},
		{Title: "late.example", URL: "https://late.example/x"},
	}
	check.Equal(t, a.References(), want)
	var paths []string
	body := ""
	for _, s := range a.Sections() {
		paths = append(paths, strings.Join(s.Path, " > "))
		body += s.Body + "\n"
	}
	check.Equal(t, paths, []string{"Barn owl", "Barn owl > Hunting", "Barn owl > Hunting > Nests", "Barn owl > Hunting > Eggs"})
	for _, said := range []string{"Barn owls", "hunt by their ears", "Roger Payne showed that they catch mice", "church towers"} {
		check.Contains(t, body, said)
	}
	for _, gone := range []string{"{{", "[[ear", "wikitable", "Owl.jpg", "'''", "<br", "<ref", "no -->"} {
		check.True(t, !strings.Contains(body, gone), "%q stands in\n%s", gone, body)
	}
	grounds := construct.NewGrounds(a.Citations(), func(string) bool { return true })
	var stated []string
	for _, s := range a.Sections() {
		claims := check.Of(construct.Rules{}.State(t.Context(), a, s)).OK(t)
		gold, _ := grounds.Ground(a, s, claims)
		for _, g := range gold.Triples {
			stated = append(stated, g.Statement+" "+strings.Join(g.URLs, " "))
		}
	}
	check.Contains(t, strings.Join(stated, "\n"), "total darkness. https://ear.example/owl https://prey.example/p", "stated")
}

// What is never closed, and what is nested deeply, is read to its end, and does not swell.
func TestHostileWikitext(t *testing.T) {
	for name, piece := range map[string]string{
		"templates": "{{a|", "closed": "}}", "links": "[[a|", "references": "<ref name=x>", "named": "<ref name=x/>", "tags": "<b ", "comments": "<!--", "tables": "{|\n",
		"headings": "== a =\n", "addresses": "[https://a ", "fields": "<ref>{{cite|url=https://a|title=", "both": "{{[[",
	} {
		page := strings.Repeat(piece, 10_000)
		out := construct.Wikitext(page, "a")
		check.True(t, len(out) <= 3*len(page)+100, "%s: %d bytes become %d", name, len(page), len(out))
	}
}

func FuzzWikitext(f *testing.F) {
	f.Add(owlsWiki)
	f.Fuzz(func(t *testing.T, page string) {
		construct.Parse(construct.Wikitext(page, "a"), "a", construct.Options{}).Sections()
	})
}

// A question that repeats its sentence is asked for once more, with the words that it repeats, and
// then there is none; of a fact and of a summary.
func TestAskRepeats(t *testing.T) {
	const copied, good = `{"question": "Who found that kelp forests recovered within a decade?"}`, `{"question": "What did James A. Estes of Santa Cruz report of kelp?"}`
	triple := construct.Triple{Sentence: "Estes found that kelp forests recovered within a decade.[[1]](#cite_note-1)", Statement: "Kelp came back soon, as Estes saw."}
	for _, replies := range [][]string{{good}, {copied, good}, {copied, copied}} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, replies...)
		q, err := construct.NewByModel(m).Ask(t.Context(), construct.Draft{Type: wildgraph.SingleFact, Triples: []construct.Triple{triple}})
		if last := replies[len(replies)-1]; m.Calls() != len(replies) || (q != "") != (last == good) || (err == nil) != (last == good) {
			t.Errorf("%q: %q, %v after %d calls", replies, q, err, m.Calls())
		}
		if said := m.Requests()[m.Calls()-1].Messages; m.Calls() > 1 && !strings.Contains(said[len(said)-1].Text, "words]\nfound that kelp forests recovered within a decade\n[/") {
			t.Errorf("the words are not named: %+v", said)
		}
	}
	triple.Statement = "Kelp forests recovered within a decade."
	m := llmtest.NewScript("m").Reply(llmtest.Any, `{"question": "How was it that kelp forests recovered within a decade?"}`)
	q, err := construct.NewByModel(m).Ask(t.Context(), construct.Draft{Type: wildgraph.Summary, Path: []string{"Kelp"}, Triples: []construct.Triple{triple, triple}})
	check.True(t, q == "" && err != nil && m.Calls() == 2, "summary: %q, %v after %d calls", q, err, m.Calls())
}

// A sentence that was copied without marks and links is that of the section, or its loss is said.
func TestGroundUnmarked(t *testing.T) {
	a := construct.Parse("# Otter\n\nOtters rest in *rafts*,[^1] wrapped in [kelp](https://w.example/Kelp).[^2] They sleep.\n\n[^1]: [\"On rafts\"](https://rafts.example/)\n[^2]: [\"Rafts\"](https://rafts.example/)\n", "otter.md", construct.Options{})
	g := construct.NewGrounds(a.Citations(), func(string) bool { return true })
	s := a.Sections()[slices.IndexFunc(a.Sections(), func(s construct.Section) bool { return len(construct.Marks(s.Body)) > 0 })]
	gold, dropped := g.Ground(a, s, []construct.Stated{{"Otters rest in rafts, [1] wrapped in kelp.[^2]", "Otters rest in rafts."}, {"They sleep.", "Otters sleep."}})
	check.True(t, len(gold.Triples) == 1 && gold.Triples[0].Count == 1 && len(dropped) == 1 &&
		dropped[0].Reason == "no citation mark", "%+v, %+v", gold, dropped)
	gold, dropped = g.Ground(a, s, []construct.Stated{{"Otters rest in rafts, [1] wrapped in kelp.[^2]", "Otters rest."}, {"Otters rest in rafts, [1] wrapped in kelp.[^2]", "Otters rest."}})
	check.True(t, len(gold.Triples) == 1 && len(dropped) == 1 && dropped[0].Reason == "stated before", "stated twice: %+v, %+v", gold, dropped)
}

func Example() {
	a := construct.Parse(`# Barn owl

Barn owls catch mice in total darkness.[^1] Everybody knows that.

[^1]: ["Acoustic location of prey"](https://prey.example/owls)
`, "owl.md", construct.Options{})
	grounds := construct.NewGrounds(a.Citations(), func(url string) bool { return true })
	for _, s := range a.Sections() {
		stated, _ := construct.Rules{}.State(context.Background(), a, s)
		gold, _ := grounds.Ground(a, s, stated)
		for _, t := range gold.Triples {
			fmt.Println(gold.Path, t.Statement, t.URLs)
		}
	}
	fmt.Println(a.References()[0].Title)
	// Output:
	// [Barn owl] Barn owls catch mice in total darkness. [https://prey.example/owls]
	// Acoustic location of prey
}
