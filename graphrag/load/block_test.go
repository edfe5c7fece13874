// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

var kinds = []string{"paragraph", "heading", "item", "header", "row", "term", "definition", "code", "meta"}

// sketch is the structure of a text in lines: number, kind, level, heading, lead, text.
func sketch(blocks []load.Block) string {
	var b strings.Builder
	for i, x := range blocks {
		fmt.Fprintf(&b, "%d %s %d under %d lead %d %q", i, kinds[x.Kind], x.Level, x.Under, x.Lead, x.Text)
		for c := range x.Cells {
			fmt.Fprintf(&b, " [%s]", x.Cell(c))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// table returns the rows of a file of test data: quoted texts with tabs between.
func table(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	data := check.Of(os.ReadFile("testdata/" + name)).OK(t)
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i, s := range row {
			row[i] = check.Of(strconv.Unquote(s)).OK(t)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestBlocks(t *testing.T) {
	for _, row := range table(t, "blocks.txt") {
		check.Equal(t, sketch(load.Blocks(row[1])), row[2], "%s", row[0])
	}
}

func TestPlain(t *testing.T) {
	for _, row := range table(t, "plain.txt") {
		if got := load.Plain(row[0]); got != row[1] {
			t.Errorf("Plain(%q) = %q, want %q", row[0], got, row[1])
		}
	}
}

// What is escaped is a paragraph, and shown as it was.
func FuzzEscape(f *testing.F) {
	for _, s := range append(seeds, "# no heading", "2) Thames", "- dash", "```", "~~~", "---", "<b>not</b> <br", "[x](y) ![a](b)", "a `b` c", `\`, `C:\x \* *a*b _c_d__`, "~~a~~~",
		"| a | b |", ": x", "=", "10. x", "<a href=x>", "> q", "__init__", "a]( b") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, ":wW\x00") || !utf8.ValidString(s) {
			return // addresses
		}
		s = strings.Join(strings.Fields(s), " ")
		got := load.Escape(s)
		plain := load.Plain(got)
		check.Must(t, plain == s, "%q is escaped as %q and shown as %q", s, got, plain)
		if b := load.Blocks(got); s != "" && (len(b) != 1 || b[0].Kind != load.Paragraph || b[0].Text != got) {
			t.Fatalf("%q is escaped as %q and read as %+v", s, got, b)
		}
	})
}

// checkBlocks tests the properties of the blocks of every text.
func checkBlocks(t *testing.T, s string, blocks []load.Block) {
	t.Helper()
	for i, b := range blocks {
		check.Must(t, b.Start >= 0 && b.Start < b.End && b.End <= len(s) && strings.TrimSpace(b.Text) != "", "block %d of %q: %+v", i, s, b)
		check.Must(t, b.Under < i && b.Lead < i && b.Under >= -1 && b.Lead >= -1, "block %d of %q goes on from %d, under %d", i, s, b.Lead, b.Under)
		all := b.Span(text.Span{End: len(b.Text)})
		check.Must(t, all.Start == b.Start && all.End <= b.End, "block %d of %q spans %v: %+v", i, s, all, b)
		for j := 0; j < len(b.Text); j++ { // every byte leads to itself
			if p := b.Span(text.Span{Start: j, End: j + 1}); s[p.Start] != b.Text[j] {
				t.Fatalf("block %d of %q: byte %d is %q, in the source %q", i, s, j, b.Text[j], s[p.Start])
			}
		}
		for _, c := range b.Cells {
			if c.Start < 0 || c.End < c.Start || c.End > len(b.Text) {
				t.Fatalf("block %d of %q: cell %v", i, s, c)
			}
		}
	}
}

var seeds = []string{
	"", "\n", "# A\n\ntext *a* [b](c)\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "- a\n  - b\n\n    c\n", "T\n: d\n", "```go\nx\n", "---\na: b\n---\nc",
	"> > a\n> b\n", "a | b\n--|--\n1 | 2\nc | d\n-|-\n", "Title\n=====\n", "\x00\xff\n- \x80", "1. a\n\n   b\n2. c", "\ufeff# x", "a\r\nb\r\n\r\n- c\r\n",
	"* \t*\n\n\t\t- x\n:  y\n: z", "[a]: http://b\n\n[a]\n", "\f\n-|",
}

func FuzzBlocks(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkBlocks(t, s, load.Blocks(s)) })
}

func FuzzLead(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, s string, at int) {
		lead := load.Lead(s, at)
		if (at <= 0 || at >= len(s)) && lead != "" {
			t.Fatalf("a lead of nothing: %q", lead)
		}
		check.Must(t, len(lead) <= 8000, "a lead of %d bytes", len(lead))
		if at > 0 && at < len(s) {
			checkBlocks(t, lead+s[at:], load.Blocks(lead+s[at:]))
		}
	})
}

// Hostile files end as paragraphs, and soon.
func TestHostile(t *testing.T) {
	wide := "|" + strings.Repeat("a|", 20_000) + "\n|" + strings.Repeat("-|", 20_000) + "\n" + strings.Repeat("|x|\n", 20_000)
	for name, s := range map[string]string{
		"quotations": strings.Repeat(strings.Repeat("> ", 2_000)+"a\n", 50),
		"lists":      strings.Repeat("- ", 20_000) + "a\n",
		"wide":       wide,
		"brackets":   strings.Repeat("[", 1<<20),
		"fences":     strings.Repeat("```\n", 1<<16),
		"pipes":      strings.Repeat("|", 1<<20),
		"one line":   strings.Repeat("word ", 1<<18),
		"delimiters": strings.Repeat("|-|-|\n", 1<<15),
		"indents":    deepList(600),
		"definition": strings.Repeat("a\n: ", 1<<15),
	} {
		blocks := load.Blocks(s)
		check.True(t, len(blocks) <= len(s), "%s: %d blocks", name, len(blocks))
	}
	rows := "| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 10_000)
	n := len(load.Blocks(rows))
	check.Equal(t, n, 10_001, "a table of 10,000 rows has %d blocks", n)
}

func deepList(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- x\n")
	}
	return b.String()
}

func TestLead(t *testing.T) {
	page := "# Shop\n\n## Hours\n\nWe are open:\n\n- Monday\n- Tuesday\n\n## Prices\n\n| what | how much |\n|---|---|\n| tea | 2 |\n| cake | 4 |\n\nThat is all.\n"
	for _, tt := range []struct{ at, want string }{
		{"# Shop", ""},
		{"## Hours", "# Shop\n\n"},
		{"- Tuesday", "# Shop\n\n## Hours\n\nWe are open:\n\n"},
		{"| cake", "# Shop\n\n## Prices\n\n| what | how much |\n|---|---|\n"},
		{"e | 4", "# Shop\n\n## Prices\n\n| what | how much |\n|---|---|\n| cak"},
		{"| what", "# Shop\n\n## Prices\n\n"},
		{"is all", "# Shop\n\n## Prices\n\n"},
	} {
		check.Equal(t, load.Lead(page, strings.Index(page, tt.at)), tt.want, "lead of %q", tt.at)
	}
	// The lead of a far-off piece is bounded, and so is the way back.
	far := "# Top\n\n" + strings.Repeat("word ", 100_000)
	check.Equal(t, load.Lead(far, len(far)-10), "", "a heading half a megabyte above")
}
