// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
)

func ask(t *testing.T, args ...string) (string, string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	err := run(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), err
}

func TestShippedCorpus(t *testing.T) {
	out, _, err := ask(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Henry Winstanley lit the first tower there in 1698",
		"lighthouses.md:14",
		"two bulges", "tides.txt:3",
		"in 1908", "signals.html:11",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("notes/owl.md", "# Owls\n\nSome text.\n\nThe barn owl hears\na mouse under the snow.\n")
	write("latin1.txt", "na\xefve")
	write(".git/config.txt", "not read")
	write("picture.png", "not text")
	out, errs, err := ask(t, "-docs", dir, "-q", "What does the barn owl hear?")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "notes/owl.md:5") || !strings.Contains(out, "“The barn owl hears a mouse under the snow.”") {
		t.Errorf("output:\n%s", out)
	}
	if !strings.Contains(errs, "skipped: latin1.txt: not UTF-8") || !strings.Contains(errs, "Indexed 1 files") {
		t.Errorf("messages: %s", errs)
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f.txt")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-docs", dir}, "-docs needs -q"},
		{[]string{"-docs", filepath.Join(dir, "none"), "-q", "x"}, "-docs"},
		{[]string{"-docs", file, "-q", "x"}, "not a folder"},
		{[]string{"-k", "0"}, "-k 0"},
		{[]string{"what", "is", "it"}, `unexpected argument "what"`},
		{[]string{"-nonsense"}, "nonsense"},
	} {
		_, errs, err := ask(t, tt.args...)
		if !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), tt.want) || strings.HasPrefix(err.Error(), "usage") || errs != "" {
			t.Errorf("%v: %v, want %q once; %s", tt.args, err, tt.want, errs)
		}
	}
	if _, _, err := ask(t, "-docs", t.TempDir(), "-q", "x"); err == nil || errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "no text, Markdown or HTML") {
		t.Errorf("empty folder: %v", err)
	}
}

func TestReadHTML(t *testing.T) {
	const page = "<html><head><title>A &amp; B</title><style>p{}</style></head>\n<body><nav>Home</nav>\n" +
		"<p>One <b>bold</b>,\ntwo.</p><script>var x = '<p>no</p>'</script><p>Three&nbsp;four</p></body>"
	title, text, lines := readHTML(page)
	if title != "A & B" {
		t.Errorf("title %q", title)
	}
	if want := "One bold, two.\n\nThree four\n\n"; text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	for part, want := range map[string]int{"One": 3, "two": 4, "Three": 4} {
		if got := lines.at(strings.Index(text, part)); got != want {
			t.Errorf("%q is on line %d, want %d", part, got, want)
		}
	}
}

// A folder is read in one order, whatever it holds.
func TestLoadOrder(t *testing.T) {
	fsys := fstest.MapFS{
		"b.md": {Data: []byte("b")}, "a/z.txt": {Data: []byte("z")}, "c.HTM": {Data: []byte("<p>c</p>")},
		"x.pdf": {}, "y.pdf": {}, "Makefile": {}, ".hidden": {},
	}
	lib, err := load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range lib.docs {
		names = append(names, d.ID)
	}
	if diff := cmp.Diff([]string{"a/z.txt", "b.md", "c.HTM"}, names); diff != "" {
		t.Error(diff)
	}
	var skipped []string
	for _, err := range lib.skipped {
		skipped = append(skipped, err.Error())
	}
	if diff := cmp.Diff([]string{"2 files of another kind (.pdf)", "1 files of another kind (no extension)"}, skipped); diff != "" {
		t.Errorf("what is left out is not said: %s", diff)
	}
}

func FuzzReadHTML(f *testing.F) {
	f.Add("<p>a</p><script>")
	f.Add("<title>x<p>\xff&#0;")
	f.Add(strings.Repeat("<div>", 100))
	f.Fuzz(func(t *testing.T, page string) {
		_, text, lines := readHTML(page)
		if max := 1 + strings.Count(page, "\n"); lines.at(len(text)) > max {
			t.Errorf("line %d of %d", lines.at(len(text)), max)
		}
	})
}
