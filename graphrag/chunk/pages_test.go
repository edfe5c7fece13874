// SPDX-License-Identifier: Apache-2.0

package chunk_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

func cut(t *testing.T, o chunk.PageOptions, texts ...string) []chunk.Page {
	t.Helper()
	var docs []graphrag.Document
	for i, s := range texts {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("p%02d", i), Title: fmt.Sprint("Page ", i), Text: s})
	}
	_, pages, err := chunk.NewSite(t.Context(), docs, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pages {
		check(t, texts[i], p)
	}
	return pages
}

// check holds a page to what every page is.
func check(t *testing.T, source string, p chunk.Page) {
	t.Helper()
	at := 0
	for i, u := range p.Units {
		if u.Start < at || u.End <= u.Start || u.From < 0 || u.To > len(source) || u.To < u.From {
			t.Fatalf("unit %d is %+v", i, u)
		}
		if strings.TrimSpace(p.Text[at:u.Start]) != "" {
			t.Fatalf("%q stands between units", p.Text[at:u.Start])
		}
		if n := tokens.Cl100k().Count(p.Text[u.Start:u.End]); utf8.ValidString(p.Text) && (n < u.Tokens-8 || n > u.Tokens+8) {
			t.Fatalf("unit %d has %d tokens, %d were counted", i, u.Tokens, n)
		}
		at = u.End
	}
	if strings.TrimSpace(p.Text[at:]) != "" {
		t.Fatalf("%q is in no unit", p.Text[at:])
	}
	for i, c := range p.Passages() {
		if c.Tokens < chunk.DefaultPassage && len(p.Ends) > 1 {
			t.Fatalf("passage %d has %d tokens", i, c.Tokens)
		}
		if i+1 < len(p.Ends) && c.Tokens-p.Units[p.Ends[i]-1].Tokens >= chunk.DefaultPassage {
			t.Fatalf("passage %d of %d tokens does not need its last unit", i, c.Tokens)
		}
		if utf8.ValidString(source) && !utf8.ValidString(c.Text) {
			t.Fatalf("passage %d cuts a character", i)
		}
	}
	if n := len(p.Ends); n > 0 && p.Ends[n-1] != len(p.Units) {
		t.Fatal("the last passage does not reach the end of the page")
	}
	checkTiles(t, p)
}

// Tiles cover each page, and overlap in the last at most.
func checkTiles(t *testing.T, p chunk.Page) {
	t.Helper()
	end, tiles := 0, p.Tiles()
	for n, i := range tiles {
		if i > end || i < end && n < len(tiles)-1 {
			t.Fatalf("tile %d of %d begins at unit %d, after %d", n, len(tiles), i, end)
		}
		end = p.Ends[i]
	}
	if end != len(p.Units) {
		t.Fatalf("tiles end at unit %d of %d", end, len(p.Units))
	}
}

// sentences are n that differ.
func sentences(n int, of string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "The %s of number %d was measured twice in the year %d. ", of, i, 1000+i)
	}
	return b.String()
}

func TestUnitsAndOffsets(t *testing.T) {
	source := "# A [title](https://example.org/a)\n\n" + sentences(30, "depth")
	p := cut(t, chunk.PageOptions{}, source)[0]
	if len(p.Units) < 6 || len(p.Ends) >= len(p.Units) {
		t.Fatalf("%d units, %d passages", len(p.Units), len(p.Ends))
	}
	for i, u := range p.Units[1:] { // no link stands in these
		if got, want := source[u.From:u.To], p.Text[u.Start:u.End]; got != want {
			t.Errorf("unit %d is %q in the source, want %q", i+1, got, want)
		}
	}
	if !strings.HasPrefix(p.Text, "# A title\nThe depth of number 0 ") || source[p.Units[0].From] != '#' {
		t.Errorf("the page begins with %.40q", p.Text)
	}
	c := p.Chunk(2, 5)
	if c.ID != "p00#000002" || c.Start != p.Units[2].From || c.End != p.Units[4].To || c.Tokens != p.Tokens(2, 5) || c.Title != "Page 0" {
		t.Errorf("chunk %+v", c)
	}
}

func TestHeadingBeginsUnit(t *testing.T) {
	p := cut(t, chunk.PageOptions{}, sentences(2, "depth")+"\n\n## Width\n\n"+sentences(4, "width"))[0]
	for _, u := range p.Units[1:] {
		if strings.HasPrefix(p.Text[u.Start:], "## Width") {
			return
		}
	}
	t.Errorf("no unit begins at the heading: %q", p.Text)
}

// What stands on four pages stays on the first.
func TestBoilerplate(t *testing.T) {
	short, long := "Sign up for free.", "This long sentence is quoted by several of the pages that have been collected here today."
	texts := make([]string, 5)
	for i := range texts {
		texts[i] = fmt.Sprintf("# Page\n\n%s\n\n%s\n\nNumber %d is here. Number %d is here.\n\n***\n\n%s\n", short, long, i, i, short)
	}
	for i, p := range cut(t, chunk.PageOptions{}, texts...) {
		for said, want := range map[string]int{"# Page": 1, short: 0, long: 1, "***": 0, fmt.Sprintf("Number %d is here.", i): 1} {
			if said == short && i == 0 {
				want = 1
			}
			if got := strings.Count(p.Text, said); got != want {
				t.Errorf("page %d has %q %d times, want %d: %q", i, said, got, want, p.Text)
			}
		}
	}
	var docs []string
	for range 6 {
		docs = append(docs, "# Page\n\n"+short+"\n\n"+long)
	}
	pages := cut(t, chunk.PageOptions{}, docs...) // all boilerplate
	if !strings.Contains(pages[0].Text, long) || pages[5].Text != "# Page" {
		t.Errorf("first %q, last %q", pages[0].Text, pages[5].Text)
	}
}

func TestOddPages(t *testing.T) {
	rows := "| name | depth |\n|---|---|\n"
	for i := range 10_000 {
		rows += fmt.Sprintf("| item %d | %d |\n", i, 3*i)
	}
	for name, source := range map[string]string{
		"empty":           "",
		"blank":           " \n\t\n",
		"no word":         "***\n---\n!!!",
		"one line":        "Barn owls hunt by ear",
		"two megabytes":   strings.Repeat("owl mouse snow ", 140_000),
		"without a blank": strings.Repeat("owlmouse", 30_000),
		"table":           rows,
		"Chinese":         strings.Repeat("北京是中华人民共和国的首都，故宫位于北京市中心", 200),
		"mixed scripts":   "Fram 弗拉姆号 was built. Фрам построен в Ларвике. فرام سفينة. 故宫在哪里？",
		"not UTF-8":       "The Fram\xff was built. " + strings.Repeat("\x80\xfe ", 400),
	} {
		t.Run(name, func(t *testing.T) {
			p := cut(t, chunk.PageOptions{}, source)[0]
			words := strings.ContainsAny(source, "owl北F|")
			if (len(p.Units) > 0) != words || (len(p.Ends) > 0) != words {
				t.Errorf("%d units, %d passages", len(p.Units), len(p.Ends))
			}
			for _, u := range p.Units {
				if u.Tokens > 150 {
					t.Fatalf("a unit of %d tokens", u.Tokens)
				}
			}
		})
	}
}

// A corpus is cut in the same way by one worker and by many.
func TestWorkers(t *testing.T) {
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("# Page %d\n\nSign up.\n\n", i%7)+sentences(i, "height"))
	}
	if diff := cmp.Diff(cut(t, chunk.PageOptions{Workers: 1}, texts...), cut(t, chunk.PageOptions{Workers: 7}, texts...)); diff != "" {
		t.Error(diff)
	}
}

func TestPageErrors(t *testing.T) {
	_, _, err := chunk.NewSite(t.Context(), nil, chunk.PageOptions{Unit: -1, Passage: -2})
	if err == nil || !strings.Contains(err.Error(), "Unit is -1") || !strings.Contains(err.Error(), "Passage is -2") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := chunk.NewSite(ctx, []graphrag.Document{{ID: "a", Text: "Owls."}}, chunk.PageOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzCut(f *testing.F) {
	f.Add(sentences(9, "depth")+strings.Repeat("word ", 60)+". End here.", sentences(5, "a")+strings.Repeat("long ", 85)+". Few words are left for the end of it all.")
	f.Add("# Owls\n\nBarn owls [hunt](x) by ear. 故宫。", "Barn owls [hunt](x) by ear.")
	f.Fuzz(func(t *testing.T, a, b string) { cut(t, chunk.PageOptions{}, a, b, a, b) })
}

// Whatever pages came, changed and went, the pages of a site are those that are cut anew together,
// and a change cuts few that it does not bring.
func TestSite(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	long := "This sentence is long, so that it has to stand on six pages until it is taken for boilerplate %d."
	docs, now := map[string]graphrag.Document{}, map[string]chunk.Page{}
	random := func() graphrag.Document {
		d := graphrag.Document{ID: fmt.Sprintf("d%d", r.IntN(40)), Text: "Title.\n"}
		for range r.IntN(12) {
			d.Text += fmt.Sprintf([]string{"Share this with %d. ", long + " ", "\nOwls %d. ", "[x](http://a/%d). "}[r.IntN(4)], r.IntN(5))
		}
		return d
	}
	site, _, err := chunk.NewSite(t.Context(), nil, chunk.PageOptions{})
	texttest.OK(t, err)
	recut := 0
	for step := range 400 {
		var come []graphrag.Document
		var gone []string
		for range r.IntN(3) {
			if d := random(); !slices.ContainsFunc(come, func(o graphrag.Document) bool { return o.ID == d.ID }) {
				come = append(come, d)
				docs[d.ID] = d
			}
		}
		if id := fmt.Sprintf("d%d", r.IntN(40)); !slices.ContainsFunc(come, func(o graphrag.Document) bool { return o.ID == id }) {
			gone = append(gone, id)
			delete(docs, id)
			delete(now, id)
		}
		next, pages, err := site.Change(t.Context(), come, gone)
		texttest.OK(t, err)
		if _, again, err := site.Change(t.Context(), come, gone); err != nil || cmp.Diff(pages, again) != "" {
			t.Fatalf("step %d: a site that was changed is another: %v", step, err)
		}
		site = next
		for _, p := range pages {
			now[p.Doc] = p
		}
		recut += len(pages) - len(come)
		_, want, err := chunk.NewSite(t.Context(), slices.Collect(maps.Values(docs)), chunk.PageOptions{})
		texttest.OK(t, err)
		if diff := cmp.Diff(want, slices.SortedFunc(maps.Values(now), cmpID)); diff != "" {
			t.Fatalf("step %d (-anew +changed):\n%s", step, diff)
		}
	}
	if recut < 100 || recut > 1500 {
		t.Errorf("%d pages were cut again in 400 changes of some 30 pages", recut)
	}
	if _, _, err := site.Change(t.Context(), []graphrag.Document{{ID: "x"}, {ID: "x"}}, nil); err == nil {
		t.Error("two pages of one ID")
	}
}

func cmpID(a, b chunk.Page) int {
	if a.ID() < b.ID() {
		return -1
	}
	return 1
}
