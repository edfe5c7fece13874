// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

var kinds = []string{"paragraph", "heading", "item", "header", "row", "term", "definition", "code", "meta"}

// sketch returns the structure of a text in lines: number, kind, level, heading, lead, text.
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
		check.Equal(t, load.Plain(row[0]), row[1], "Plain(%q)", row[0])
	}
}

// An escaped text is a paragraph, and its blocks show the original text.
func FuzzEscape(f *testing.F) {
	for _, s := range append(seeds, "# no heading", "2) Thames", "- dash", "```", "~~~", "---", "<b>not</b> <br", "[x](y) ![a](b)", "a `b` c", `\`, `C:\x \* *a*b _c_d__`, "~~a~~~",
		"| a | b |", ": x", "=", "10. x", "<a href=x>", "> q", "__init__", "a]( b") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, ":wW\x00") || !utf8.ValidString(s) {
			return // texts with addresses are excluded
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

// checkBlocks checks the properties of the blocks of any text.
func checkBlocks(t *testing.T, s string, blocks []load.Block) {
	t.Helper()
	for i, b := range blocks {
		check.Must(t, b.Start >= 0 && b.Start < b.End && b.End <= len(s) && strings.TrimSpace(b.Text) != "", "block %d of %q: %+v", i, s, b)
		check.Must(t, b.Under < i && b.Lead < i && b.Under >= -1 && b.Lead >= -1, "block %d of %q goes on from %d, under %d", i, s, b.Lead, b.Under)
		all := b.Span(text.Span{End: len(b.Text)})
		check.Must(t, all.Start == b.Start && all.End <= b.End, "block %d of %q spans %v: %+v", i, s, all, b)
		for j := 0; j < len(b.Text); j++ { // every byte can be mapped to the source
			if p := b.Span(text.Span{Start: j, End: j + 1}); s[p.Start] != b.Text[j] {
				t.Fatalf("block %d of %q: byte %d is %q, in the source %q", i, s, j, b.Text[j], s[p.Start])
			}
		}
		for _, c := range b.Cells {
			check.Must(t, c.Start >= 0 && c.End >= c.Start && c.End <= len(b.Text),
				"block %d of %q: cell %v", i, s, c)
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
		check.Must(t, at > 0 && at < len(s) || lead == "", "a lead of nothing: %q", lead)
		check.Must(t, len(lead) <= 8000, "a lead of %d bytes", len(lead))
		if at > 0 && at < len(s) {
			checkBlocks(t, lead+s[at:], load.Blocks(lead+s[at:]))
		}
	})
}

// Hostile files are read as paragraphs, in a short time.
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
	// The lead of a distant piece is limited, and so is the search for it.
	far := "# Top\n\n" + strings.Repeat("word ", 100_000)
	check.Equal(t, load.Lead(far, len(far)-10), "", "a heading half a megabyte above")
}

const page = `<!doctype html><html><head><title>Lights &amp;
 more</title><script>var a = "<p>no</p>"</script></head>
<body><nav><a href=/>Home</a></nav>
<h1>Lights</h1><p>One&nbsp;light,
<b>two</b> lights.<p>1. is no item, * is no <i>mark</i>
<table><tr><td>red<td>no | internet<tr><td colspan=2>blue</table>
<table><thead><tr><td>a</td><td>b</td></tr></thead><tbody><tr><td>1<td>2</tbody></table>
<table><tr><td><h2>Layout</h2><ul><li>x<ul><li>y</ul><li>z</ul></td></tr></table>
<dl><dt>Owl<dd>A bird.</dl><pre>if a &lt; b {
  run()
}</pre><div style="display: none">hidden</div><p hidden>hidden</p>
<footer>© K-Net</footer></body></html>`

func TestHTML(t *testing.T) {
	f := load.HTML("a.html", page)
	checkKept(t, f)
	want := "# Lights\n\nOne light, two lights.\n\n1\\. is no item, * is no mark\n\n" +
		"| | |\n|---|---|\n| red | no \\| internet |\n| blue | |\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Layout\n\n- x\n    - y\n- z\n\n" +
		"Owl\n: A bird.\n\n```\nif a < b {\n  run()\n}\n```\n"
	check.Equal(t, f.Document.Text, want, "text")
	check.Equal(t, f.Document.Title, "Lights & more", "title")
	for _, word := range []string{"two", "internet", "Layout", "bird.", "mark", "run()", "blue"} {
		at := strings.Index(f.Document.Text, word)
		p := f.Source(text.Span{Start: at, End: at + len(word)})
		check.Equal(t, page[p.Start:p.End], word, "%q leads to", word)
		want := 1 + strings.Count(page[:strings.LastIndex(page, word)], "\n")
		check.Equal(t, f.Line(at), want, "%q is in line", word)
	}
	all := load.HTML("a.html", "<nav>Only this</nav>").Document
	check.True(t, all.Text == "Only this\n" && all.Title == "Only this", "a page of navigation: %+v", all)
}

func TestRead(t *testing.T) {
	for _, row := range table(t, "titles.txt") {
		name, data, title, want := row[0], row[1], row[2], row[3]
		d := read(t, name, data).Document
		check.True(t, d.Title == title && d.ID == name && (d.Text == want || want == "" && d.Text == data),
			"%s: %+v", name, d)
	}
	for name, data := range map[string]string{"a.pdf": "%PDF", "b": "\x00\x01", "c.md": "\xd6\xa3\xba\xcd"} {
		if _, err := (load.Options{}).Read(name, []byte(data)); err == nil || !strings.Contains(err.Error(), name) || errors.Is(err, load.ErrFormat) == strings.HasSuffix(name, ".md") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type broken struct{ fstest.MapFS }

func (b broken) Open(name string) (fs.File, error) {
	if name == "b.md" {
		return nil, errors.New("b.md cannot be opened")
	}
	return b.MapFS.Open(name)
}

func TestFolder(t *testing.T) {
	big := bytes.Repeat([]byte("x"), load.MaxFile+1)
	files, skipped, err := load.Options{}.Folder(t.Context(), broken{fstest.MapFS{
		"z.txt": {Data: []byte("last")}, "a.md": {Data: []byte("first")}, "b.md": {Data: []byte("x")}, "big.txt": {Data: big},
		".git/x.md": {Data: []byte("no")}, ".x.md": {Data: []byte("no")}, "sub/c.html": {Data: []byte("<p>c")}, "d.pdf": {}, "e.pdf": {}, "g.rst": {Data: []byte("G\n=\n")}, "f": {Data: []byte("\x7fELF\x00")},
	}})
	check.OK(t, err)
	var got []string
	for _, f := range files {
		got = append(got, f.Document.ID)
	}
	for _, err := range skipped {
		got = append(got, err.Error())
	}
	want := []string{"a.md", "sub/c.html", "z.txt", "b.md cannot be opened", "load: big.txt: the file is larger than 32 MiB",
		"load: 2 files: unsupported kind of file (.pdf): read it with the Reader of package load/pdf",
		"load: 1 file: unsupported kind of file (.rst): convert it to Markdown or HTML, by pandoc or asciidoctor", "load: 1 file: unsupported kind of file (no extension)"}
	check.Equal(t, got, want, "(-want +got)")
	for _, name := range []string{"a.rst", "a.rest", "a.adoc", "a.asciidoc", "A.ORG"} {
		if _, err := (load.Options{}).Read(name, []byte("text")); !errors.Is(err, load.ErrFormat) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "by pandoc") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	_, _, err = load.Options{}.Folder(t.Context(), fstest.MapFS{"a.pdf": {}})
	check.True(t, err != nil && strings.Contains(err.Error(), ".pdf") && strings.Contains(err.Error(), ".md"), "a folder without texts: %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = load.Options{}.Folder(ctx, fstest.MapFS{"a.md": {}})
	check.Is(t, err, context.Canceled, "a cancelled load")
}

// Documents are read one after the other.
func TestDocuments(t *testing.T) {
	var got []string
	o := load.Options{Skipped: func(list []error) { got = append(got, fmt.Sprint(list)) }}
	for d, err := range o.Documents(t.Context(), opened{fstest.MapFS{"a.md": {Data: []byte("first")}, "b.md": {Data: []byte("last")}, "c.zip": {}, "d.zip": {}}, &got}) {
		check.OK(t, err)
		got = append(got, d.Text)
	}
	check.Equal(t, got, []string{"a.md", "first", "b.md", "last", "[load: 2 files: unsupported kind of file (.zip)]"}, "the order")
}

// opened lists the files that are opened.
type opened struct {
	fstest.MapFS
	names *[]string
}

func (o opened) Open(name string) (fs.File, error) {
	if name != "." {
		*o.names = append(*o.names, name)
	}
	return o.MapFS.Open(name)
}

func FuzzHTML(f *testing.F) {
	f.Add(page)
	for _, s := range []string{"", "<", "<table><td>a<table><tr><th>b", "<pre>```", "<li><li></ul></ul>x", "<title>a", "&#0;&amp;amp;", "<nav>x", "\xff<p>\x00",
		"<td>a</td>", "<table><thead><tr></thead><th colspan=99999999>x", "<dd>x<dt>y", "<div hidden>a</p></div>b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		file := load.HTML("a.html", s)
		body := file.Document.Text
		checkBlocks(t, body, file.Blocks())
		last := 0
		for i := range len(body) + 1 {
			p := file.Source(text.Span{Start: i, End: len(body)})
			check.Must(t, p.Start >= last && p.End <= len(s) && p.Start <= p.End && file.Line(i) >= 1,
				"offset %d of %q leads to %v, after %d", i, body, p, last)
			last = p.Start
		}
	})
}

func TestHostileHTML(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("<div>", 1<<17), strings.Repeat("<table><tr><td>", 1<<15), strings.Repeat("<ul><li>a", 1<<15),
		"<table>" + strings.Repeat("<tr><td>1<td>2", 1<<15), strings.Repeat("<table><tr><td>a</table>", 1<<14), strings.Repeat("<", 1<<20),
		"<p " + strings.Repeat("a=b ", 1<<18), strings.Repeat("&", 1<<20), "<table><tr>" + strings.Repeat("<td>x", 1<<16),
	} {
		f := load.HTML("x.html", s)
		check.True(t, len(f.Document.Text) <= 4*len(s), "%.20q: %d bytes of %d", s, len(f.Document.Text), len(s))
	}
}

func TestFields(t *testing.T) {
	front := func(lines string) string { return "---\n" + lines + "\n---\n# Title\n\nText.\n" }
	of := func(more graphrag.Fields) graphrag.Fields {
		f := graphrag.Fields{"folder": "notes/a", "kind": "md"}
		for k, v := range more {
			f[k] = v
		}
		return f
	}
	for lines, want := range map[string]graphrag.Fields{
		"":                                   of(nil),
		"team: ops\nyear: 2024\ndraft: true": of(graphrag.Fields{"team": "ops", "year": 2024., "draft": true}),
		"date: 2024-05-01\nat: 2024-05-01T10:00:00+02:00":                                                               of(graphrag.Fields{"date": time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC), "at": time.Date(2024, 5, 1, 8, 0, 0, 0, time.UTC)}),
		"tags: [a, \"b c\", ]\nkeys:\n  - x\n  - 'y'\nlast: z":                                                          of(graphrag.Fields{"tags": []string{"a", "b c"}, "keys": []string{"x", "y"}, "last": "z"}),
		"quoted: \"2024\"\nfolder: elsewhere\nkind: pdf\nmodified: 2001-01-01\nurl: https://a.b/c":                      of(graphrag.Fields{"quoted": "2024", "url": "https://a.b/c"}),
		"nested: {a: b, deep: {c: 1}}\nlong: >\n  text\n  of two\n# comment: x\nn: 1e999\nnan: NaN\nnone: null\nempty:": of(graphrag.Fields{"nested.a": "b", "nested.deep.c": 1., "long": "text of two", "n": "1e999", "nan": "NaN"}),
		"status: draft # until May\n\"a key\": x\nbig: 0x10\nyes: True\nname: \"caf\\u00e9\"":                           of(graphrag.Fields{"status": "draft", "a key": "x", "big": 16., "yes": true, "name": "café"}),
		"tags:\n" + strings.Repeat("- t\n", 200) + "status: draft":                                                      of(graphrag.Fields{"tags": slices.Repeat([]string{"t"}, 200), "status": "draft"}),
	} {
		f := load.Markdown("notes/a/b.MD", front(lines))
		check.Equal(t, f.Document.Fields, want, "%q", lines)
		data, err := f.MarshalBinary()
		var back load.File
		check.True(t, err == nil && back.UnmarshalBinary(data) == nil && cmp.Equal(back.Document, f.Document),
			"%q: fields came back as %v, error %v", lines, back.Document.Fields, err)
	}
	page := `<html><head><title>T</title><meta charset=utf-8><meta name="author" content=" Ada "><meta property="article:published_time" content="2024-05-01">` +
		`<meta name=keywords content="owl, mouse"><meta name=viewport content="width=1"></head><body><meta name="evil" content="x"><p>Text.</p></body></html>`
	want := graphrag.Fields{"folder": ".", "kind": "html", "author": "Ada", "article:published_time": time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC), "keywords": []string{"owl", "mouse"}}
	check.Equal(t, load.HTML("a.html", page).Document.Fields, want, "(-want +got)")
}

// Front matter that is not completely read is reported; a text that only begins with a rule is a text.
func TestFrontMatterThatIsNone(t *testing.T) {
	for _, row := range append(check.Rows(t, "testdata/frontmatterthatisnone.txt"),
		[]string{"---\nstatus: draft\nbomb: " + strings.Repeat("x", 1<<20) + "\n---\nT.", "front matter of more than 65536 bytes"},
		[]string{"---\nstatus: " + strings.Repeat("x", 40_000) + "\n---\nText.", ""},
	) {
		text, want := row[0], row[1]
		f := load.Markdown("a.md", text)
		got := ""
		if f.Problem != nil {
			got = f.Problem.Error()
		}
		check.True(t, (want != "" || got == "") && strings.Contains(got, want) && f.Document.Text == text,
			"%.60q: %q, want %q", text, got, want)
	}
}

// Front matter and heads of pages come from outside: their fields are limited.
func TestHostileFields(t *testing.T) {
	var many, metas strings.Builder
	for i := range 60 {
		fmt.Fprintf(&many, "k%d: %s\n", i, strings.Repeat("x", 10))
	}
	for i := range 5000 {
		fmt.Fprintf(&metas, "<meta name=m%d content=x>", i)
	}
	for name, text := range map[string]string{
		"many.md":   "---\n" + many.String() + "---\nText.",
		"long.md":   "---\nteam: ops\nbomb: " + strings.Repeat("x", 1<<20) + "\n---\nText.",
		"list.md":   "---\nbomb: [" + strings.Repeat("a,", 1<<19) + "]\n---\nText.",
		"many.html": "<html><head>" + metas.String() + "</head><body>Text.",
	} {
		f, err := load.Options{}.Read(name, []byte(text))
		check.OK(t, err)
		err = f.Document.Fields.Check()
		check.True(t, err == nil && f.Document.Fields["folder"] == ".", "%s: %d fields, error %v", name, len(f.Document.Fields), err)
	}
}

// An invalid time remains a text: no condition on times, before or after, is met by it.
func TestTimesThatAreNone(t *testing.T) {
	after := graphrag.Between("day", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	before := graphrag.Between("day", nil, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))
	for _, day := range []string{"2024-02-30", "2023-02-29", "2024-13-01", "0000-00-00", "10000-01-01", "2024-05-01T24:30:00Z", "2024-05-01 9", "2024-5-1", "-2024-05-01"} {
		fields := map[string]graphrag.Fields{"front matter": load.Markdown("a.md", "---\nday: "+day+"\n---\nText.\n").Document.Fields}
		for name, data := range map[string]string{"a.csv": "day,text\n" + day + ",Text.\n", "a.jsonl": `{"day": "` + day + `", "text": "Text."}`} {
			docs, err := rowsOf(name, data, 1<<20)
			check.Must(t, err == nil && len(docs) == 1, "%s of %s: %d rows, %v", name, day, len(docs), err)
			fields[name] = docs[0].Fields
		}
		for where, f := range fields {
			if f["day"] != day || after.Compile()(f) || before.Compile()(f) || !graphrag.Equal("day", day).Compile()(f) {
				t.Errorf("%s: %s is %T %v, within times: %t, %t", where, day, f["day"], f["day"], after.Compile()(f), before.Compile()(f))
			}
		}
		c, err := graphrag.ParseCondition("day >= " + day)
		check.True(t, err != nil, "day >= %s is read as %s", day, c)
		var f graphrag.Fields
		check.True(t, json.Unmarshal([]byte(`{"day": {"time": "`+day+`"}}`), &f) != nil, "%s is the time %v in JSON", day, f)
	}
}

func ExampleOptions_Folder() {
	folder := fstest.MapFS{
		"lights.html": {Data: []byte("<title>Lights</title>\n<table><tr><th>Light<th>Meaning\n<tr><td>red<td>no internet</table>")},
		"scan.pdf":    {Data: []byte("%PDF")},
	}
	files, skipped, err := load.Options{}.Folder(context.Background(), folder)
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		fmt.Printf("%s\n%s", f.Document.Title, f.Document.Text)
		for _, b := range f.Blocks() {
			if b.Kind == load.Row {
				header := f.Blocks()[b.Lead]
				fmt.Printf("line %d: %s is %s, %s is %s\n", f.Line(b.Start), header.Cell(0), b.Cell(0), header.Cell(1), b.Cell(1))
			}
		}
	}
	fmt.Println(skipped[0])
	// Output:
	// Lights
	// | Light | Meaning |
	// |---|---|
	// | red | no internet |
	// line 3: Light is red, Meaning is no internet
	// load: 1 file: unsupported kind of file (.pdf): read it with the Reader of package load/pdf
}

// A piece that begins in the middle of a table is read with its lead, the header.
func ExampleLead() {
	page := "# Moons\n\n| Moon | Planet |\n|---|---|\n| Titan | Saturn |\n| Triton | Neptune |\n"
	cut := len(page) - len("Triton | Neptune |\n")
	lead := load.Lead(page, cut)
	for _, b := range load.Blocks(lead + page[cut:]) {
		fmt.Println(b.Kind == load.Row, b.Text)
	}
	// Output:
	// false Moons
	// false Moon | Planet
	// true Triton | Neptune
}

func ExampleBlock_Span() {
	page := "- Ada\n  Lovelace\n- Grace Hopper\n"
	b := load.Blocks(page)[0]
	p := b.Span(text.Span{Start: 0, End: len(b.Text)})
	fmt.Printf("%q is %q\n", load.Plain(b.Text), page[p.Start:p.End])
	// Output:
	// "Ada Lovelace" is "Ada\n  Lovelace"
}
