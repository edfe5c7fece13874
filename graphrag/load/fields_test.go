// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

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

// Front matter that is not read whole is told; a text that only begins with a rule is a text.
func TestFrontMatterThatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"---\nstatus: draft\nabout: this is long\nand goes on\n---\nText.":      "front matter that is no YAML is read as text",
		"---\nstatus: draft\nstatus: final\n---\nText.":                         `the key "status" of the front matter stands there twice`,
		"---\nstatus: draft\nwho:\n- name: a\n---\nText.":                       `the key "who" of the front matter is a list of what is no text`,
		"---\na: &x 1\nb: *x\n---\nText.":                                       `the key "b" of the front matter refers to another value`,
		"---\nstatus: draft\nbomb: " + strings.Repeat("x", 1<<20) + "\n---\nT.": "front matter of more than 65536 bytes",
		"---\nstatus: " + strings.Repeat("x", 40_000) + "\n---\nText.":          "",
		"---\nThe owl hunts: by ear.\n\nText of a paragraph.\n---\nMore.":       "",
		"---\n\nText.\n":                   "",
		"---\n- a: list\n---\nText.":       "",
		"Text.\n---\nstatus: draft\n---\n": "",
	} {
		f := load.Markdown("a.md", text)
		got := ""
		if f.Problem != nil {
			got = f.Problem.Error()
		}
		check.True(t, (want != "" || got == "") && strings.Contains(got, want) && f.Document.Text == text,
			"%.60q: %q, want %q", text, got, want)
	}
}

// Front matter and heads of pages are what others wrote: their fields are bounded.
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

// A time that is none stays the text that it is: no condition on times takes it for one, before or after.
func TestTimesThatAreNone(t *testing.T) {
	after := graphrag.Between("day", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	before := graphrag.Between("day", nil, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))
	for _, day := range []string{"2024-02-30", "2023-02-29", "2024-13-01", "0000-00-00", "10000-01-01", "2024-05-01T24:30:00Z", "2024-05-01 9", "2024-5-1", "-2024-05-01"} {
		fields := map[string]graphrag.Fields{"front matter": load.Markdown("a.md", "---\nday: "+day+"\n---\nText.\n").Document.Fields}
		for name, data := range map[string]string{"a.csv": "day,text\n" + day + ",Text.\n", "a.jsonl": `{"day": "` + day + `", "text": "Text."}`} {
			docs, err := load.Rows(name, []byte(data))
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

func ExampleFolder() {
	folder := fstest.MapFS{
		"lights.html": {Data: []byte("<title>Lights</title>\n<table><tr><th>Light<th>Meaning\n<tr><td>red<td>no internet</table>")},
		"scan.pdf":    {Data: []byte("%PDF")},
	}
	files, skipped, err := load.Folder(context.Background(), folder)
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
	// load: 1 file: another kind of file (.pdf): read it with the Reader of package load/pdf
}

// A piece that begins in the middle of a table is read with its lead.
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
