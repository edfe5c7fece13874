// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/check"
)

func read(t *testing.T, name, data string) *load.File {
	t.Helper()
	return check.Of(load.Options{}.Read(name, []byte(data))).OK(t)
}

// Files and the texts that a reader of them sees.
func TestFormats(t *testing.T) {
	for _, row := range table(t, "formats.txt") {
		check.Equal(t, read(t, row[0], row[1]).Document.Text, row[2], "%s %.60q", row[0], row[1])
	}
}

// Each word of each format is mapped to the line of the source that has it.
func TestLines(t *testing.T) {
	for name, data := range map[string]string{
		"a.csv":   "name,pays\nadults,twelve\nstudents,seven\nlast,row\n",
		"a.jsonl": "{\"id\":\"alpha\"}\n\n{\"id\":\"beta\"}\n",
		"a.json":  "{\n \"one\": \"alpha\",\n \"two\": [\n  \"beta\"\n ]\n}\n",
		"a.py":    "import os\n\n# adds\ndef alpha(x):\n    return beta\n\nclass Gamma:\n    pass\n",
	} {
		f := read(t, name, data)
		for i, line := range strings.Split(data, "\n") {
			for _, word := range strings.FieldsFunc(line, func(r rune) bool { return !('a' <= r && r <= 'z') }) {
				at := strings.LastIndex(f.Document.Text, word)
				if len(word) < 4 || at < 0 || strings.Count(data, word) > 1 {
					continue
				}
				if f.Line(at) != i+1 || f.Place(at) != fmt.Sprint(i+1) {
					t.Errorf("%s: %q is in line %d, want %d", name, word, f.Line(at), i+1)
				}
			}
		}
	}
}

// A long table repeats its header, so that every row is read with it.
func TestLongTable(t *testing.T) {
	var data strings.Builder
	data.WriteString("light,meaning\n")
	for i := range 8000 {
		fmt.Fprintf(&data, "light %d,meaning %d of many\n", i, i)
	}
	f := read(t, "a.csv", data.String())
	at := strings.Index(f.Document.Text, "| light 7000 ")
	check.Equal(t, f.Line(at+3), 7002, "light 7000 is in line")
	blocks := load.Blocks(load.Lead(f.Document.Text, at) + f.Document.Text[at:at+40])
	last := blocks[len(blocks)-1]
	check.True(t, last.Kind == load.Row && blocks[last.Lead].Cell(1) == "meaning", "row %+v", last)
	check.Equal(t, read(t, "b.csv", strings.Repeat("column,", 200)+"last\n"+strings.Repeat(",", 200)+"end\n").Document.Text, "- last: end\n", "a wide table")
}

func TestEncodings(t *testing.T) {
	for name, tt := range map[string]struct{ data, want string }{
		"utf8.txt":   {"\ufeffnaïve", "naïve"},
		"utf16.txt":  {"\xff\xfen\x00a\x00\xef\x00", "naï"},
		"utf16b.txt": {"\xfe\xff\x00n\x00a\x00\xef", "naï"},
		"a.html":     {"<meta charset=gb2312><p>\xd6\xa3\xba\xcd", "郑和\n"},
	} {
		check.Equal(t, read(t, name, tt.data).Document.Text, tt.want, "%s", name)
	}
	long := map[encoding.Encoding]string{
		charmap.KOI8R: "Маяк построили в 1871 году.", charmap.Windows1251: "Маяк построили в 1871 году.", charmap.CodePage866: "Его первым смотрителем была Мара Финч.", charmap.Windows1252: "Straße zum Café",
		japanese.ShiftJIS: "青葉町の人口は三千人である。", japanese.ISO2022JP: "青葉町の人口は三千人である。", simplifiedchinese.GBK: "灯塔建于一八七一年，共有三名看守人。",
		unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM): "The lighthouse was built.", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM): "Маяк построили.",
		utf32.UTF32(utf32.LittleEndian, utf32.UseBOM): "The light", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM): "The light",
	}
	for e, want := range long {
		data := check.Of(e.NewEncoder().String(want)).OK(t)
		f := read(t, "a.txt", data)
		check.True(t, f.Document.Text == want && (f.Problem != nil) == !strings.Contains(fmt.Sprint(e), "UTF"), "%v: %q, %v", e, f.Document.Text, f.Problem)
	}
	f := read(t, "a.txt", "Zoë Müller, Renée, Ørsted, Łódź, Žižek, Čapek\xff")
	check.True(t, strings.HasPrefix(f.Document.Text, "Zoë Müller") && f.Problem != nil, "a damaged text: %q, %v", f.Document.Text, f.Problem)
	for _, data := range []string{"\xd6\xa3\xba\xcd\xcf\xc2", "a\x00\xefb", "\x81\xef", "f\x9fr die sch\x9anen H\x8auser"} {
		f, err := load.Options{}.Read("a.txt", []byte(data))
		check.Fails(t, err, "convert it to UTF-8", "%q: %+v", data, f)
	}
}

// A format of the caller, a format that panics, and one that is disabled.
func TestOptions(t *testing.T) {
	o := load.Options{Formats: map[string]load.Format{
		".pdf": func(name string, _ []byte) (*load.File, error) {
			return load.Paged(name, "A scan", []string{"one", "", "three"}), nil
		},
		".bad": func(string, []byte) (*load.File, error) { panic("no") },
		".log": nil,
	}, MaxFiles: 3}
	f, err := o.Read("a.pdf", nil)
	check.True(t, err == nil && f.Document.Title == "A scan" && f.Place(0) == "p1" &&
		f.Place(strings.Index(f.Document.Text, "three")) == "p3", "%+v, %v", f, err)
	_, err = o.Read("x.bad", nil)
	check.Fails(t, err, "x.bad", "a panic")
	check.Is(t, check.Err(o.Read("x.log", nil)), load.ErrFormat, "left out")
	files, skipped, err := o.Folder(t.Context(), fstest.MapFS{"a.md": {Data: []byte("x")}, "b.md": {}, "c.bad": {}, "d.md": {}, "e.md": {},
		"circle": {Mode: fs.ModeSymlink, Data: []byte(".")}})
	if err != nil || len(files) != 2 || fmt.Sprint(skipped) != "[load: b.md is read, but there is no text in it load: c.bad: the parser failed: no load: the folder has more than 3 files: those from d.md on are left out load: 1 symbolic links are not followed]" {
		t.Errorf("%d files, %v, %v", len(files), skipped, err)
	}
}

// endless is a folder with a file that never ends.
type endless struct{ fstest.MapFS }

type growing struct{ fs.File }

func (growing) Read(p []byte) (int, error) { return len(p), nil }

func (e endless) Open(name string) (fs.File, error) {
	f, err := e.MapFS.Open(name)
	if name == "a.log" {
		return growing{f}, err
	}
	return f, err
}

func TestGrowingFile(t *testing.T) {
	files, skipped, err := load.Options{MaxFile: 1 << 20}.Folder(t.Context(), endless{fstest.MapFS{"a.log": {}, "b.md": {Data: []byte("x")}}})
	check.True(t, err == nil && len(files) == 1 && len(skipped) == 1 &&
		strings.Contains(skipped[0].Error(), "larger than 1 MiB"), "%v, %v, %v", files, skipped, err)
}

func TestHostileFormats(t *testing.T) {
	start := time.Now()
	for name, data := range map[string]string{
		"a.json":  strings.Repeat("[", 1<<15),
		"b.json":  "[" + strings.Repeat(`{"a":1},`, 1<<14) + "1]",
		"a.jsonl": strings.Repeat("{\n", 1<<14),
		"a.csv":   strings.Repeat("\"", 1<<15),
		"b.csv":   strings.Repeat(",", 1<<15) + "\n" + strings.Repeat("x,", 1<<14),
		"c.csv":   strings.Repeat("a\n", 1<<15),
		"d.csv":   strings.Repeat("h", 1<<15) + ",b\n" + strings.Repeat("1,2\n", 1<<10),
		"e.csv":   strings.Repeat(strings.Repeat("h", 300)+",", 1<<8) + "b\n" + strings.Repeat(strings.Repeat("1,", 1<<8)+"2\n", 1<<7),
		"f.csv":   strings.Repeat("\"x\n", 1<<13),
		"g.csv":   strings.Repeat("a"+strings.Repeat(",", 999)+"\n", 1<<6),
		"c.json":  "[{\"" + strings.Repeat("a", 1<<14) + "\":[" + strings.Repeat("{\"b\":1},", 1<<9) + "1]}]",
		"b.jsonl": strings.Repeat("{\""+strings.Repeat("k", 1<<11)+"\":[1,2,3,4,5,6,7,8,9]}\n", 1<<5),
		"a.html":  strings.Repeat("<tr><td rowspan=65535 colspan=1000>x", 1<<10),
		"a.txt":   "\xff\xfe" + strings.Repeat("\x00\xd8", 1<<14),
		"a.py":    strings.Repeat("def ", 1<<15) + strings.Repeat("\n# x", 1<<15),
	} {
		f := read(t, name, data)
		check.True(t, len(f.Document.Text) <= 16*len(data), "%s: %d bytes of %d", name, len(f.Document.Text), len(data))
	}
	t.Log(time.Since(start))
}

// A file with too many parts is read as text.
func TestTooMany(t *testing.T) {
	check.Long(t)
	for name, data := range map[string]string{
		"a.jsonl": strings.Repeat("1\n", 1<<20+1),
		"a.json":  "[1" + strings.Repeat(",1", 1<<20) + "]",
		"a.csv":   strings.Repeat(",", 1<<16+1),
		"a.py":    strings.Repeat("def\n", 1<<20+1),
	} {
		check.Equal(t, read(t, name, data).Document.Text, data, "%s is taken apart", name)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []struct{ ext, data string }{
		{".csv", "a,b\n\"1\n2\",x|y\n"}, {".jsonl", "{\"a\":\"b\"}\n{\"c\":[1,{}]}\n"}, {".json", `{"a":[{"b":"c"},{"b":"d"}]}`},
		{".py", "# x\ndef f():\n  pass\n"}, {".txt", "\xff\xfea\x00"},
	} {
		f.Add(seed.ext, []byte(seed.data))
	}
	byLine := strings.Fields(".csv .tsv .json .jsonl .py .html .md")
	f.Fuzz(func(t *testing.T, ext string, data []byte) {
		file, err := load.Options{}.Read("a"+ext, data)
		if err != nil {
			return
		}
		checkBlocks(t, file.Document.Text, file.Blocks())
		for i := range len(file.Document.Text) + 1 {
			if line := file.Line(i); line < 1 || line > 1+bytes.Count(data, []byte("\n")) && slices.Contains(byLine, ext) || file.Place(i) == "" {
				t.Fatalf("offset %d is in line %d", i, line)
			}
		}
	})
}

// A row is a document with its columns as fields.
func TestRows(t *testing.T) {
	may := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, data string
		want       []graphrag.Document
	}{
		{"t.csv", "\ufeffSubject;text;opened;team;price;007\nPager;It beeps at night.;2024-05-01;ops;12.5;007\n;;;it;;\n", []graphrag.Document{
			{ID: "t.csv/1", Source: "t.csv/1", Title: "Pager", Text: "opened: 2024-05-01\nteam: ops\nprice: 12.5\n007: 007\n\nIt beeps at night.\n",
				Fields: graphrag.Fields{"Subject": "Pager", "opened": may, "team": "ops", "price": 12.5, "007": 7.}},
			{ID: "t.csv/2", Source: "t.csv/2", Text: "team: it\n", Fields: graphrag.Fields{"team": "it"}},
		}},
		{"t.jsonl", `{"_id": "x", "name": "Pager", "body": "It beeps.", "opened": "2024-05-01", "open": true, "tags": ["a", 1, "b"], "of": {"k": 1}, "none": null, "n": 3}` + "\n\n" + `{"id": 7}`, []graphrag.Document{
			{ID: "x", Source: "t.jsonl/1", Title: "Pager", Text: "n: 3\nof: {\"k\":1}\nopen: true\nopened: 2024-05-01\ntags: [\"a\",1,\"b\"]\n\nIt beeps.\n",
				Fields: graphrag.Fields{"_id": "x", "name": "Pager", "opened": may, "open": true, "tags": []string{"a", "b"}, "n": 3., "of.k": 1.}},
			{ID: "7", Source: "t.jsonl/2", Title: "7", Text: "id: 7\n", Fields: graphrag.Fields{"id": 7.}},
		}},
		{"more.csv", "Statement\n\nid,a,a\n9007199254740993,x,y,z\n", []graphrag.Document{{ID: "9007199254740993", Source: "more.csv/1", Title: "9007199254740993",
			Text: "id: 9007199254740993\na: x\na 3: y\ncolumn 4: z\n", Fields: graphrag.Fields{"id": "9007199254740993", "a": "x", "a 3": "y", "column 4": "z"}}}},
		{"big.jsonl", `{"id":1790000000000000001}` + "\n" + `{"id":1790000000000000002}`, []graphrag.Document{
			{ID: "1790000000000000001", Source: "big.jsonl/1", Title: "1790000000000000001", Text: "id: 1790000000000000001\n", Fields: graphrag.Fields{"id": "1790000000000000001"}},
			{ID: "1790000000000000002", Source: "big.jsonl/2", Title: "1790000000000000002", Text: "id: 1790000000000000002\n", Fields: graphrag.Fields{"id": "1790000000000000002"}}}},
		{"empty.csv", "a,b\n", nil},
	} {
		got, err := rowsOf(tt.name, tt.data, 1<<20)
		diff := cmp.Diff(tt.want, got)
		check.True(t, diff == "" && err == nil, "%s (-want +got):\n%s%v", tt.name, diff, err)
	}
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%d;\"Ré\"\"sumé %s\";%d,5\r\n", i, strings.Repeat("é;\n", i%40), i)
	}
	lines := strings.ReplaceAll(b.String(), "\"", "")
	for name, data := range map[string]string{"quoted.csv": "id;text;n\r\n" + b.String() + "x;\"open;1\n" + lines, "a.jsonl": strings.Repeat(`{"text": "Résumé"}`+"\n", 400)} {
		want := check.Of(rowsOf(name, data, 1<<20)).OK(t)
		for _, size := range []int{800, 1111, 3000} {
			check.Equal(t, check.Of(rowsOf(name, data, size)).OK(t), want, "%s in pieces of %d", name, size)
		}
		utf16 := check.Of(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(data)).OK(t)
		check.Equal(t, check.Of(rowsOf(name, utf16, 1111)).OK(t), want, "%s in UTF-16", name)
	}
}

// rowsOf returns the rows of a file that is read in pieces.
func rowsOf(name, data string, size int) (docs []graphrag.Document, err error) {
	defer load.SetPieceSize(load.SetPieceSize(size))
	for d, err := range load.Rows(name, strings.NewReader(data), nil) {
		if err != nil {
			return docs, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// Rows tell once of a guessed encoding, and of bytes that are not of the encoding.
func TestRowsProblem(t *testing.T) {
	ascii := "id,name\n" + strings.Repeat("1,Ada\n", 1<<18)
	for name, tt := range map[string]struct{ data, want string }{
		"plain.csv":   {"id,name\n1,Zoë\n", ""},
		"western.csv": {"id,name\n1,Zo\xeb\n2,Ren\xe9e\n", "western.csv is read as windows-1252"},
		"damaged.csv": {"id,name\n1,Zoë Müller-Žižek\n2,b\xffd and Žižek Šimůnková ďáblice\n", "damaged.csv is read as UTF-8, of which some bytes are damaged"},
		"late.csv":    {ascii + "2,Zo\xeb\n3,Zo\xeb\n", "late.csv is read as text of which some bytes are damaged"},
		"late.jsonl":  {strings.Repeat("{\"name\": \"Ada\"}\n", 1<<17) + "{\"name\": \"Zo\xeb\"}\n", "late.jsonl is read as text"},
	} {
		var told []string
		for _, err := range load.Rows(name, strings.NewReader(tt.data), func(err error) { told = append(told, err.Error()) }) {
			check.OK(t, err)
		}
		check.True(t, len(told) == min(len(tt.want), 1) && strings.Contains(strings.Join(told, ""), tt.want), "%s: %q", name, told)
	}
}

// Invalid records are errors with their place; values that are too long or too many are no fields.
func TestRowsHostile(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"t.csv", "", "no header"},
		{"t.csv", strings.Repeat("a,", 70000) + "\n", "more than"},
		{"t.csv", strings.Repeat("a", 10000) + "\n" + strings.Repeat("x\n", 10000), "shorten the names"},
		{"t.jsonl", "{}\n[1]\n", "line 2"},
		{"t.jsonl", `{"a": 1} {"b": 2}`, "line 1"},
		{"t.jsonl", strings.Repeat(`{"a":`, 20000), "line 1"},
	} {
		check.Fails(t, check.Err(rowsOf(tt.name, tt.data, 1<<20)), tt.want, "%.40q", tt.data)
	}
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, `"k%d": 1, `, i)
	}
	docs, err := rowsOf("t.jsonl", `{`+many.String()+`"a": "`+strings.Repeat("x", 2000)+`"}`, 64)
	check.True(t, err == nil && len(docs) == 1 && len(docs[0].Fields) == graphrag.MaxFields &&
		docs[0].Fields["a"] == nil && docs[0].Fields.Check() == nil, "%d documents, %v", len(docs), err)
}

// checkKept checks that a file from the cache equals the read one, with its places, and that a half-written
// cache file is not used.
func checkKept(t *testing.T, f *load.File) {
	t.Helper()
	data := check.Of(f.MarshalBinary()).OK(t)
	var again load.File
	check.OK(t, again.UnmarshalBinary(data))
	for at := range f.Document.Text {
		if again.Place(at) != f.Place(at) || !reflect.DeepEqual(again.Document, f.Document) {
			t.Fatalf("offset %d: %s, want %s", at, again.Place(at), f.Place(at))
		}
	}
	check.True(t, again.UnmarshalBinary(data[:len(data)/2]) != nil, "half of a file was read")
}

// A converted text has the given places, no markup but its own, and a limited size; parts that are left out of
// many files are reported once for each kind.
func TestWriter(t *testing.T) {
	w := &load.Writer{}
	w.Heading(2, "1. A *b*", "top")
	w.Item(2, "a)", "# c", "item")
	w.Table(load.Line{Cells: slices.Repeat([]string{"x"}, 200), Place: "row"}, nil)
	w.Markdown("```\nopen", func(int) string { return "code" })
	f := check.Of(w.File("a.x", "", graphrag.Document{Title: "T"})).OK(t)
	want := "## 1. A \\*b\\*\n\n    a) \\# c\n\n" + strings.Repeat("- x\n", 200) + "\n```\nopen\n```\n"
	check.Equal(t, f.Document.Text, want)
	check.Equal(t, []string{f.Document.Title, f.Place(5), f.Place(20), f.Place(40), f.Place(len(want) - 4)}, []string{"T", "top", "item", "row", "code"})
	checkKept(t, f)
	w = (&load.Writer{})
	check.True(t, w.Room(4<<20) != false && !w.Room(1) && w.Err() != nil, "4 million cells and one")
	told := load.Together([]error{load.Partial{Name: "a.x", Without: "charts"}, errors.New("b"), load.Partial{Name: "c.x", Without: "charts"}, load.Partial{Name: "d.y", Without: "charts"}})
	check.Equal(t, fmt.Sprint(told), "[load: a.x and 1 more of its kind are read without charts b load: d.y is read without charts]")
}
