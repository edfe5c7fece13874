// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

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
		if d.Title != title || d.ID != name || d.Text != want && (want != "" || d.Text != data) {
			t.Errorf("%s: %+v", name, d)
		}
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
	want := []string{"a.md", "sub/c.html", "z.txt", "b.md cannot be opened", "load: big.txt: larger than 32 MiB",
		"load: 2 files: another kind of file (.pdf): read it with the Reader of package load/pdf",
		"load: 1 file: another kind of file (.rst): convert it to Markdown or HTML, by pandoc or asciidoctor", "load: 1 file: another kind of file (no extension)"}
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
			if p.Start < last || p.End > len(s) || p.Start > p.End || file.Line(i) < 1 {
				t.Fatalf("offset %d of %q leads to %v, after %d", i, body, p, last)
			}
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
