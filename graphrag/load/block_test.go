// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
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

func TestBlocks(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"front matter", "---\ntitle: The van\ntags: [a]\n# no\n---\nIt is red.\n",
			`0 meta 0 under -1 lead -1 "title: The van"
1 meta 0 under -1 lead -1 "tags: [a]"
2 paragraph 0 under -1 lead -1 "It is red."
`},
		{"a rule is no front matter", "---\nIt is red.\n---\n", "0 heading 2 under -1 lead -1 \"It is red.\"\n"},
		{"headings", "# A\n\n## B\n\n### C\n\n## D\n\nx\n",
			`0 heading 1 under -1 lead -1 "A"
1 heading 2 under 0 lead -1 "B"
2 heading 3 under 1 lead -1 "C"
3 heading 2 under 0 lead -1 "D"
4 paragraph 0 under 3 lead -1 "x"
`},
		{"lists", "To do:\n\n1. buy\n   * milk\n   * bread\n2. cook\n\nDone.\n",
			`0 paragraph 0 under -1 lead -1 "To do:"
1 item 1 under -1 lead 0 "buy"
2 item 2 under -1 lead 1 "milk"
3 item 2 under -1 lead 1 "bread"
4 item 1 under -1 lead 0 "cook"
5 paragraph 0 under -1 lead -1 "Done."
`},
		{"table", "Prices:\n\n| a | b |\n|:--|--:|\n| 1 \\| 2 | `x` |\n| 3 |\n\nend\n",
			`0 paragraph 0 under -1 lead -1 "Prices:"
1 header 0 under -1 lead 0 "a | b" [a] [b]
2 row 0 under -1 lead 1 "1 \\| 2 | ` + "`x`" + `" [1 | 2] [x]
3 row 0 under -1 lead 1 "3" [3] []
4 paragraph 0 under -1 lead -1 "end"
`},
		{"definitions", "Owl\n: A bird.\n: Hunts by ear.\n\nKea\n: A parrot.\n",
			`0 term 0 under -1 lead -1 "Owl"
1 definition 0 under -1 lead 0 "A bird."
2 definition 0 under -1 lead 0 "Hunts by ear."
3 term 0 under -1 lead -1 "Kea"
4 definition 0 under -1 lead 3 "A parrot."
`},
		{"code", "Run:\n\n```sh\n# no heading\n| no | row |\n```\n",
			`0 paragraph 0 under -1 lead -1 "Run:"
1 code 0 under -1 lead 0 "# no heading\n| no | row |"
`},
		{"indented text is text", "    far to the right\n", "0 paragraph 0 under -1 lead -1 \"far to the right\"\n"},
		{"quotation", "> one\n> two\n", "0 paragraph 0 under -1 lead -1 \"one\\ntwo\"\n"},
	} {
		if diff := cmp.Diff(tt.want, sketch(load.Blocks(tt.in))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"**bold** and *italic* and `code`":  "bold and italic and code",
		"[text](https://a.org) <b>b</b>":    "text b",
		"snake_case 2*3 a < b":              "snake_case 2*3 a < b",
		`1\. not \| a \* mark`:              "1. not | a * mark",
		"  two\n lines ":                    "two lines",
		"__under__ _u_ a~b ~~ c":            "under u a~b c",
		"45 ~~gone~~ ~~a `x`~~ 60 ~~ b ~~":  "45 60 b",
		"`Option<T>` and ``a`<b>*c``":       "Option<T> and a`<b>*c",
		"Vec<u8>, List<String>, Map<K, B>":  "Vec<u8>, List<String>, Map<K, B>",
		"`[x](y) www.a.org`` ` \\`<B>a</B>": "[x](y) www.a.org`` `<B>a</B>",
	} {
		if got := load.Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
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
		if plain := load.Plain(got); plain != s {
			t.Fatalf("%q is escaped as %q and shown as %q", s, got, plain)
		}
		if b := load.Blocks(got); s != "" && (len(b) != 1 || b[0].Kind != load.Paragraph || b[0].Text != got) {
			t.Fatalf("%q is escaped as %q and read as %+v", s, got, b)
		}
	})
}

// check holds what is true of the blocks of every text.
func check(t *testing.T, s string, blocks []load.Block) {
	t.Helper()
	for i, b := range blocks {
		if b.Start < 0 || b.Start >= b.End || b.End > len(s) || strings.TrimSpace(b.Text) == "" {
			t.Fatalf("block %d of %q: %+v", i, s, b)
		}
		if b.Under >= i || b.Lead >= i || b.Under < -1 || b.Lead < -1 {
			t.Fatalf("block %d of %q goes on from %d, under %d", i, s, b.Lead, b.Under)
		}
		all := b.Span(text.Span{End: len(b.Text)})
		if all.Start != b.Start || all.End > b.End {
			t.Fatalf("block %d of %q spans %v: %+v", i, s, all, b)
		}
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
	f.Fuzz(func(t *testing.T, s string) { check(t, s, load.Blocks(s)) })
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
		if len(lead) > 8000 {
			t.Fatalf("a lead of %d bytes", len(lead))
		}
		if at > 0 && at < len(s) {
			check(t, lead+s[at:], load.Blocks(lead+s[at:]))
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
		if blocks := load.Blocks(s); len(blocks) > len(s) {
			t.Errorf("%s: %d blocks", name, len(blocks))
		}
	}
	rows := "| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 10_000)
	if n := len(load.Blocks(rows)); n != 10_001 {
		t.Errorf("a table of 10,000 rows has %d blocks", n)
	}
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
		if got := load.Lead(page, strings.Index(page, tt.at)); got != tt.want {
			t.Errorf("lead of %q: %q, want %q", tt.at, got, tt.want)
		}
	}
	// The lead of a far-off piece is bounded, and so is the way back.
	far := "# Top\n\n" + strings.Repeat("word ", 100_000)
	if got := load.Lead(far, len(far)-10); got != "" {
		t.Errorf("a heading half a megabyte above: %q", got)
	}
}
