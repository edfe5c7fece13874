// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/page"
)

func TestCertain(t *testing.T) {
	one := 1.0
	place := func(name string, behind bool) standing {
		return standing{name: name, measured: measured{value: &one}, behind: behind}
	}
	for want, k := range map[string]ranking{
		"": {standings: []standing{place("a", false)}},
		"No system is certainly better than another: 24 questions show differences of about 13 points or more.": {standings: []standing{place("a", false), place("b", false)}, detectable: .123},
		"a is certainly ahead of all others.": {standings: []standing{place("a", false), place("b", true), place("c", true)}, detectable: .1},
		"Certainly behind a: c (1 system of 3). The others are level with it, as far as can be told.": {standings: []standing{place("a", false), place("b", false), place("c", true)}},
	} {
		if got := k.certain(24); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Whatever a name holds, no line is wider than a terminal and nothing steers it.
func TestRankingOfOddNames(t *testing.T) {
	half := .5
	r := &Report{Config: map[string]any{"dataset": "set \x1b[2J" + strings.Repeat(" of words", 40), "judge": "j"}}
	k := ranking{}
	k.figure, _ = find("accuracy")
	k.second = k.figure
	k.standings = []standing{{measured: measured{value: &half}, second: measured{}}}
	for range 20 {
		k.standings = append(k.standings, standing{name: strings.Repeat("e\u0301梟\n", 60), measured: measured{value: &half, interval: &Interval{0, 1}}, second: measured{value: &half, interval: &Interval{0, 1}}, behind: true})
	}
	var out strings.Builder
	b := bufio.NewWriter(&out)
	k.writeRows(b, r.label)
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteRanking(&out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if width(line) > 101 || strings.ContainsRune(line, '\x1b') {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(out.String(), "… and 9 more") || !strings.Contains(out.String(), " 50.00 ██████████ ") {
		t.Error(out.String())
	}
}

// Columns stand below each other whatever characters the names have.
func TestWideNames(t *testing.T) {
	table := page.Table{Title: "t", Heading: "System", Groups: []page.Group{{Columns: []string{"R@5"}}}}
	for _, name := range []string{"wild", "梟と鷹の百科", "한국어", "cafe\u0301", "ﬁｌｅ"} {
		table.Rows = append(table.Rows, page.Row{Name: name, Cells: []page.Cell{{Text: "50.00"}}})
	}
	var out strings.Builder
	if err := WriteText(&out, table); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		// Twelve columns: six characters of two.
		if before, _, found := strings.Cut(line, " │"); !found || width(before) != 12 {
			t.Errorf("%q is %d wide", before, width(before))
		}
	}
	for s, want := range map[string]int{"a": 1, "梟": 2, "ｌ": 2, "e\u0301": 1, "\u200b": 0, "한": 2, "–": 1} {
		if got := width(s); got != want {
			t.Errorf("%q is %d wide, want %d", s, got, want)
		}
	}
}
