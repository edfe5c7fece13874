// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// File is a document and what is known of the file it came from.
type File struct {
	// Document has the text: that of the file as it is, or, of HTML, as Markdown.
	Document graphrag.Document

	anchors anchors // from the text to the file; empty if they are the same
	lines   []int   // where the lines of the file begin, or its pages or paragraphs
	size    int     // of the file
	unit    string  // what is counted, see Place
}

// Blocks are the structure of the text, see [Blocks].
func (f *File) Blocks() []Block { return Blocks(f.Document.Text) }

// Source is where a piece of the document's text stands in the file.
func (f *File) Source(p text.Span) text.Span {
	start := f.anchors.source(p.Start)
	end := start
	if p.End > p.Start {
		end = f.anchors.source(p.End-1) + 1
	}
	return text.Span{Start: min(start, f.size), End: min(max(start, end), f.size)}
}

// Line is the line of the file, from 1, in which an offset of the document's text
// stands.
func (f *File) Line(offset int) int {
	return max(1, sort.SearchInts(f.lines, f.anchors.source(offset)+1))
}

// Place tells people where in the file an offset of the text stands: its line ("12"),
// the page of a PDF ("p3"), the paragraph of a word processor's file ("¶7").
func (f *File) Place(offset int) string { return f.unit + strconv.Itoa(f.Line(offset)) }

// Paged makes a file of pages that were read from a format without lines, such as PDF.
// Line counts its pages, and [File.Source] is in its text.
func Paged(name, title string, pages []string) *File {
	f := &File{unit: "p"}
	var text strings.Builder
	for _, page := range pages {
		f.lines = append(f.lines, text.Len())
		if page = strings.TrimSpace(page); page != "" {
			text.WriteString(page + "\n\n")
		}
	}
	f.Document.Title = strings.Join(strings.Fields(title), " ")
	f.Document.Text = strings.TrimSuffix(text.String(), "\n")
	f.finish(name, f.Document.Text)
	return f
}

// finish fills in what all formats have.
func (f *File) finish(name, source string) {
	f.Document.ID, f.Document.Source, f.size = name, name, len(source)
	if f.lines == nil {
		f.lines = lineStarts(source)
	}
	if f.Document.Title == "" {
		f.Document.Title = titleOf(f.Document.Text, name)
	}
}

// Markdown reads a Markdown file, as it is. Its title is that of the front matter,
// else a heading or a short line by itself that it begins with, else the name of the file.
func Markdown(name, source string) *File {
	f := &File{Document: graphrag.Document{Text: source}}
	f.finish(name, source)
	return f
}

// Text reads a text file, as it is.
func Text(name, source string) *File { return Markdown(name, source) }

// maxTitle is the longest line, in bytes, that is taken for a title.
const maxTitle = 120

func titleOf(s, name string) string {
	s = strings.TrimPrefix(s, "\ufeff")
	if fenceEnd(s) > 0 {
		if title := meta(frontMatter(s), "title"); title != "" {
			return Plain(title)
		}
		s = s[fenceEnd(s):]
	}
	s = strings.TrimLeft(s, " \t\r\n")
	end := lineEnd(s, 0)
	line := strings.TrimSpace(s[:end])
	alone := end == len(s) || strings.TrimSpace(s[end:lineEnd(s, end)]) == "" || strings.Trim(strings.TrimSpace(s[end:lineEnd(s, end)]), "=-") == ""
	if t := Plain(strings.Trim(line, "# ")); t != "" && len(t) <= maxTitle &&
		(headingLevel(line) > 0 || alone && !strings.ContainsAny(t[len(t)-1:], ".!?:;|") && !isRow(line) && !isItem(line) && !strings.HasPrefix(line, "```")) {
		return t
	}
	return strings.TrimSuffix(path.Base(name), path.Ext(name))
}

// anchors lead from offsets in a text to offsets in the file it was made of. Each
// says that from text on, what is written stands at file.
type anchors struct{ text, file []int }

func (a *anchors) add(text, file int) {
	n := len(a.text)
	if n > 0 && a.text[n-1] == text {
		a.file[n-1] = file
		return
	}
	if n > 0 && text-a.text[n-1] == file-a.file[n-1] {
		return // as far from the last one here as there
	}
	a.text, a.file = append(a.text, text), append(a.file, file)
}

func (a anchors) source(offset int) int {
	if len(a.text) == 0 {
		return offset
	}
	i := sort.SearchInts(a.text, offset+1) - 1
	if i < 0 {
		return a.file[0]
	}
	at := a.file[i] + offset - a.text[i]
	if i+1 < len(a.file) && a.file[i+1] >= a.file[i] {
		at = min(at, a.file[i+1])
	}
	return at
}

// Folder reads the files of a folder and those below it that have a known extension,
// or none and look like text, in the order of their names; names that begin with a dot
// are passed over, and symbolic links are not followed. What cannot be read is left out
// and reported in skipped, files of other kinds once for each extension. It fails if
// nothing could be read, and with the error of ctx.
func Folder(ctx context.Context, fsys fs.FS) (files []*File, skipped []error, err error) {
	return Options{}.Folder(ctx, fsys)
}

// Documents are the files of a folder that the package can read, in the order of their
// paths, for a [graphrag.System] to index. Files that it cannot read are left out;
// [Folder] reports them. A folder without any file to read is an error.
func Documents(ctx context.Context, fsys fs.FS) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		files, _, err := Folder(ctx, fsys)
		if err != nil {
			yield(graphrag.Document{}, err)
			return
		}
		for _, f := range files {
			if !yield(f.Document, nil) {
				return
			}
		}
	}
}

// Folder is [Folder] with options.
func (o Options) Folder(ctx context.Context, fsys fs.FS) (files []*File, skipped []error, err error) {
	skipped, err = o.Walk(ctx, fsys, func(name string, data []byte) error {
		f, err := o.Read(name, data)
		if err == nil {
			files = append(files, f)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = o.Nothing(skipped)
	}
	if err != nil {
		return nil, skipped, err
	}
	return files, skipped, nil
}

// Nothing is the error about a folder of which nothing could be read.
func (o Options) Nothing(skipped []error) error {
	return errors.Join(append(slices.Clone(skipped), fmt.Errorf("load: no file that can be read (%s)", strings.Join(o.Extensions(), " ")))...)
}

// Walk calls read with the content of each file that [Options.Folder] would read, as it
// is at one moment. An error of read is a file that is skipped.
func (o Options) Walk(ctx context.Context, fsys fs.FS, read func(name string, data []byte) error) (skipped []error, err error) {
	w := &walk{limit: cmp.Or(o.MaxFile, MaxFile), others: make(map[string]int)}
	formats, most := make(map[string]bool), cmp.Or(o.MaxFiles, MaxFiles)
	for _, ext := range o.Extensions() {
		formats[ext] = true
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		ext := ""
		if d != nil {
			ext = strings.ToLower(path.Ext(name))
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.skipped = append(w.skipped, err)
		case strings.HasPrefix(d.Name(), ".") && name != ".":
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
		case d.Type()&fs.ModeSymlink != 0:
			w.links++
		case !d.Type().IsRegular() || ext != "" && !formats[ext]:
			w.others[cmp.Or(ext, "no extension")]++
		case w.files == most:
			w.skipped = append(w.skipped, fmt.Errorf("load: more than %d files: those from %s on are left out", most, name))
			return fs.SkipAll
		default:
			w.file(fsys, name, ext, read)
		}
		return nil
	})
	if err != nil {
		return w.skipped, fmt.Errorf("load: %w", err)
	}
	for _, ext := range slices.Sorted(maps.Keys(w.others)) {
		w.skipped = append(w.skipped, fmt.Errorf("load: %d files: %w (%s)", w.others[ext], ErrFormat, ext))
	}
	if w.links > 0 {
		w.skipped = append(w.skipped, fmt.Errorf("load: %d symbolic links are not followed", w.links))
	}
	return w.skipped, nil
}

// walk is a way through a folder.
type walk struct {
	limit        int64
	files, links int
	others       map[string]int
	skipped      []error
}

// file reads one; what grows is read as far as it was, or to the limit.
func (w *walk) file(fsys fs.FS, name, ext string, read func(string, []byte) error) {
	data, err := readFile(fsys, name, w.limit)
	if err == nil && ext == "" && sniff(data) == nil {
		w.others["no extension"]++
		return
	}
	w.files++
	if err == nil {
		err = read(name, data)
	}
	if err != nil {
		w.skipped = append(w.skipped, err)
	}
}

func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("load: %s: larger than %d MiB", name, limit>>20)
	}
	return data, nil
}

// Format reads one kind of files. Name is what the document is called, data all of
// the file. A panic in it is an error of that file.
type Format func(name string, data []byte) (*File, error)

// Options say what is read. The zero value reads what the package can.
type Options struct {
	// Formats are read beside those of the package, or in their place, by extension in
	// lower case (".pdf"); nil leaves an extension out.
	Formats map[string]Format
	// MaxFile is the largest file in bytes, MaxFiles how many are read of a folder; 0
	// means MaxFile and MaxFiles.
	MaxFile  int64
	MaxFiles int
}

// The defaults of [Options].
const (
	MaxFile  = 32 << 20
	MaxFiles = 100_000
)

// ErrFormat is wrapped by the error about a file of a kind that is not read.
var ErrFormat = errors.New("another kind of file")

// builtin are the formats of the package, by extension.
var builtin = sync.OnceValue(func() map[string]Format {
	formats := map[string]Format{".docx": wordFile}
	for _, f := range []struct {
		read func(name, source string) *File
		of   string
	}{
		{Markdown, ".txt .text .log .md .markdown .mdx"},
		{HTML, ".html .htm .xhtml"},
		{tableFile, ".csv .tsv"},
		{jsonFile, ".json .jsonl .ndjson"},
		{markupFile(reStructured), ".rst .rest"},
		{markupFile(asciiDoc), ".adoc .asciidoc"},
		{markupFile(orgMode), ".org"},
		{codeFile, codeExtensions},
	} {
		for ext := range strings.FieldsSeq(f.of) {
			formats[ext] = ofText(f.read)
		}
	}
	return formats
})

// format is how a file of an extension is read, nil if it is not.
func (o Options) format(ext string) Format {
	if f, ok := o.Formats[ext]; ok {
		return f
	}
	return builtin()[ext]
}

// Extensions lists what is read.
func (o Options) Extensions() []string {
	all := maps.Clone(builtin())
	maps.Copy(all, o.Formats)
	maps.DeleteFunc(all, func(_ string, f Format) bool { return f == nil })
	return slices.Sorted(maps.Keys(all))
}

// ofText is a format of text in any of the encodings of decode.
func ofText(read func(name, source string) *File) Format {
	return func(name string, data []byte) (*File, error) {
		source, err := decode(data)
		if err != nil {
			return nil, fmt.Errorf("load: %s: %w", name, err)
		}
		return read(name, source), nil
	}
}

// Read reads one file: by its extension, and, if it has none, by what it looks like.
// The document's ID and Source are the name.
func Read(name string, data []byte) (*File, error) { return Options{}.Read(name, data) }

// Read is [Read] with options.
func (o Options) Read(name string, data []byte) (f *File, err error) {
	ext := strings.ToLower(path.Ext(name))
	read := o.format(ext)
	if ext == "" {
		read = sniff(data)
	}
	if read == nil {
		return nil, fmt.Errorf("load: %s: %w (%s)", name, ErrFormat, cmp.Or(ext, "no extension, no text"))
	}
	if limit := cmp.Or(o.MaxFile, MaxFile); int64(len(data)) > limit {
		return nil, fmt.Errorf("load: %s: larger than %d MiB", name, limit>>20)
	}
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("load: %s: the parser failed: %v", name, r)
		}
	}()
	return read(name, data)
}

// sniffed is how many bytes tell what a file without an extension is.
const sniffed = 512

// sniff tells HTML from text; nil for what has NUL bytes.
func sniff(data []byte) Format {
	head := strings.ToLower(strings.TrimLeft(string(data[:min(len(data), sniffed)]), "\ufeff \t\r\n"))
	switch {
	case strings.ContainsRune(head, 0):
		return nil
	case strings.HasPrefix(head, "<!doctype html"), strings.HasPrefix(head, "<html"):
		return ofText(HTML)
	}
	return ofText(Text)
}

var errEncoding = errors.New("not UTF-8 text, and no byte order mark or charset says what it is: convert it to UTF-8")

// decode makes UTF-8 of a text: what a byte order mark says it is, UTF-8 if it is valid,
// what a page declares in its first KB, and else Windows-1252, of which Latin-1 is a
// part, if it looks like that.
func decode(data []byte) (string, error) {
	from := encoding.Encoding(nil)
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case utf8.Valid(data):
		return string(bytes.TrimPrefix(data, []byte("\ufeff"))), nil
	default:
		from = declared(data)
		if from == nil && isWestern(data) {
			from = charmap.Windows1252
		}
	}
	if from == nil {
		return "", errEncoding
	}
	out, err := from.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("not the text that it says it is: %w", err)
	}
	return string(out), nil
}

var charset = regexp.MustCompile(`(?i)(?:charset|encoding|coding)\s*[=:]\s*["']?([a-z0-9_.:-]{2,40})`)

// declared is the encoding that a page, an XML file or a comment names; nil without, and
// if it is a name for UTF-8, which the bytes are not.
func declared(data []byte) encoding.Encoding {
	m := charset.FindSubmatch(data[:min(len(data), 1024)])
	if m == nil {
		return nil
	}
	e, err := htmlindex.Get(string(m[1]))
	if err != nil || e == unicode.UTF8 {
		return nil
	}
	return e
}

// isWestern tells whether bytes can be Windows-1252: no control characters, and letters
// beyond ASCII one or two at a time, as other scripts do not write.
func isWestern(data []byte) bool {
	run := 0
	for _, c := range data {
		switch {
		case c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f',
			c == 0x81, c == 0x8d, c == 0x8f, c == 0x90, c == 0x9d:
			return false
		case c < utf8.RuneSelf:
			run = 0
		default:
			if run++; run > 2 {
				return false
			}
		}
	}
	return true
}
