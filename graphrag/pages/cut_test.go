// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/pages"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

func cut(t *testing.T, o pages.CutOptions, texts ...string) []pages.Page {
	t.Helper()
	var docs []graphrag.Document
	for i, s := range texts {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("p%02d", i), Title: fmt.Sprint("pages.Page ", i), Text: s})
	}
	list := check.Of(pages.Cut(t.Context(), docs, o)).OK(t)
	for i, p := range list {
		checkPage(t, texts[i], p)
	}
	return list
}

// checkPage tests the properties of every page.
func checkPage(t *testing.T, source string, p pages.Page) {
	t.Helper()
	at := 0
	for i, u := range p.Units {
		check.Must(t, u.Start >= at && u.End > u.Start && u.From >= 0 && u.To <= len(source) && u.To >= u.From,
			"unit %d is %+v", i, u)
		check.Must(t, strings.TrimSpace(p.Text[at:u.Start]) == "", "%q stands between units", p.Text[at:u.Start])
		if n := text.Cl100k().Count(p.Text[u.Start:u.End]); utf8.ValidString(p.Text) && (n < u.Tokens-8 || n > u.Tokens+8) {
			t.Fatalf("unit %d has %d tokens, %d were counted", i, u.Tokens, n)
		}
		at = u.End
	}
	check.Must(t, strings.TrimSpace(p.Text[at:]) == "", "%q is in no unit", p.Text[at:])
	for i, c := range p.Passages() {
		check.Must(t, c.Tokens >= pages.DefaultPassage || len(p.Ends) <= 1, "passage %d has %d tokens", i, c.Tokens)
		check.Must(t, i+1 >= len(p.Ends) || c.Tokens-p.Units[p.Ends[i]-1].Tokens < pages.DefaultPassage,
			"passage %d of %d tokens does not need its last unit", i, c.Tokens)
		check.Must(t, !utf8.ValidString(source) || utf8.ValidString(c.Text), "passage %d cuts a character", i)
	}
	n := len(p.Ends)
	check.Must(t, n <= 0 || p.Ends[n-1] == len(p.Units), "the last passage does not reach the end of the page")
	checkTiles(t, p)
}

// Tiles cover each page, and overlap in the last at most.
func checkTiles(t *testing.T, p pages.Page) {
	t.Helper()
	end, tiles := 0, p.Tiles()
	for n, i := range tiles {
		check.Must(t, i <= end && (i >= end || n >= len(tiles)-1),
			"tile %d of %d begins at unit %d, after %d", n, len(tiles), i, end)
		end = p.Ends[i]
	}
	check.Must(t, end == len(p.Units), "tiles end at unit %d of %d", end, len(p.Units))
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
	p := cut(t, pages.CutOptions{}, source)[0]
	check.Must(t, len(p.Units) >= 6 && len(p.Ends) < len(p.Units), "%d units, %d passages", len(p.Units), len(p.Ends))
	for i, u := range p.Units[1:] { // no link stands in these
		got, want := source[u.From:u.To], p.Text[u.Start:u.End]
		check.Equal(t, got, want, "unit %d is %q in the source", i+1, got)
	}
	check.True(t, strings.HasPrefix(p.Text, "# A title\n\nThe depth of number 0 ") && source[p.Units[0].From] == '#', "the page begins with %.40q", p.Text)
	c := p.Chunk(2, 5)
	check.True(t, c.ID == "p00#000002" && c.Start == p.Units[2].From && c.End == p.Units[4].To &&
		c.Tokens == p.Tokens(2, 5) && c.Title == "pages.Page 0", "chunk %+v", c)
}

func TestHeadingBeginsUnit(t *testing.T) {
	p := cut(t, pages.CutOptions{}, sentences(2, "depth")+"\n\n## Width\n\n"+sentences(4, "width"))[0]
	for _, u := range p.Units[1:] {
		if strings.HasPrefix(p.Text[u.Start:], "## Width") {
			return
		}
	}
	t.Errorf("no unit begins at the heading: %q", p.Text)
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
			p := cut(t, pages.CutOptions{}, source)[0]
			blank := strings.TrimSpace(source) == ""
			check.True(t, (len(p.Units) == 0) == blank && (len(p.Ends) == 0) == blank, "%d units, %d passages", len(p.Units), len(p.Ends))
			for _, u := range p.Units {
				check.Must(t, u.Tokens <= 150, "a unit of %d tokens", u.Tokens)
			}
		})
	}
}

// A corpus is cut in the same way by one worker and by many.
func TestWorkers(t *testing.T) {
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("# pages.Page %d\n\nSign up.\n\n", i%7)+sentences(i, "height"))
	}
	check.Equal(t, cut(t, pages.CutOptions{Workers: 7}, texts...), cut(t, pages.CutOptions{Workers: 1}, texts...))
}

func TestPageErrors(t *testing.T) {
	_, err := pages.Cut(t.Context(), nil, pages.CutOptions{Unit: -1, Passage: -2})
	check.True(t, err != nil && strings.Contains(err.Error(), "Unit is -1") && strings.Contains(err.Error(), "Passage is -2"), "got %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(pages.Cut(ctx, []graphrag.Document{{ID: "a", Text: "Owls."}}, pages.CutOptions{})), context.Canceled, "cancelled")
}

func FuzzCut(f *testing.F) {
	f.Add(sentences(9, "depth")+strings.Repeat("word ", 60)+". End here.", sentences(5, "a")+strings.Repeat("long ", 85)+". Few words are left for the end of it all.")
	f.Add("# Owls\n\nBarn owls [hunt](x) by ear. 故宫。", "Barn owls [hunt](x) by ear.")
	f.Fuzz(func(t *testing.T, a, b string) { cut(t, pages.CutOptions{}, a, b, a, b) })
}
