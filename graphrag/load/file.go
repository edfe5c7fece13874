// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
)

// File is a document with a mapping to the file that it was read from.
type File struct {
	// Document has the text, unchanged or converted to Markdown.
	Document graphrag.Document
	// Problem says which parts of the file were not read; nil if none is known. Conditions do not see fields
	// that were not read.
	Problem error

	in layout
}

// layout maps offsets of the text to places in its file.
type layout struct {
	Mapping text.Mapping
	Lines   []int    // offsets of the lines of the file, or of its pages or paragraphs
	Size    int      // size of the file in bytes
	Unit    string   // text before the number that Place returns
	Places  []string // names of the lines, if they have no numbers
}

// Blocks returns the structure of the text (see the function [Blocks]).
func (f *File) Blocks() []Block { return Blocks(f.Document.Text) }

// Source maps a span of the document's text to the file.
func (f *File) Source(p text.Span) text.Span {
	p = f.in.Mapping.Span(p)
	start := min(p.Start, f.in.Size)
	return text.Span{Start: start, End: min(max(start, p.End), f.in.Size)}
}

// Line maps an offset of the document's text to a line of the file, from 1.
func (f *File) Line(offset int) int {
	return max(1, sort.SearchInts(f.in.Lines, f.in.Mapping.Source(offset)+1))
}

// Place returns the place of an offset of the text in the file for display: the line ("12"), the page of a PDF ("p3"),
// the paragraph of a text or a message ("¶7"), the row of a sheet ("Prices!7"), the slide ("slide 3"), the cell of a
// notebook ("cell 3"), or the paragraph under a heading of a book ("The Whale ¶7").
func (f *File) Place(offset int) string {
	n := f.Line(offset)
	if n <= len(f.in.Places) {
		return f.in.Places[n-1]
	}
	return f.in.Unit + strconv.Itoa(n)
}

// Paged returns a file that consists of pages without lines, such as a PDF. Line counts pages, and
// [File.Source] returns spans of the text.
func Paged(name, title string, pages []string) *File {
	f := &File{in: layout{Unit: "p"}}
	var text strings.Builder
	for _, page := range pages {
		f.in.Lines = append(f.in.Lines, text.Len())
		if page = strings.TrimSpace(page); page != "" {
			text.WriteString(page + "\n\n")
		}
	}
	f.Document.Title = oneLine(title)
	f.Document.Text = strings.TrimSuffix(text.String(), "\n")
	f.finish(name, f.Document.Text)
	return f
}

// finish sets the fields that are common to all formats.
func (f *File) finish(name, source string) {
	f.Document.ID, f.Document.Source, f.in.Size = name, name, len(source)
	if f.in.Lines == nil {
		f.in.Lines = []int{0}
		for at, line := range eachLine(source) {
			if strings.HasSuffix(line, "\n") {
				f.in.Lines = append(f.in.Lines, at+len(line))
			}
		}
	}
	if f.Document.Title == "" {
		f.Document.Title = titleOf(f.Document.Text, name)
	}
	var problem error
	if f.Document.Fields, problem = fieldsOf(name, f.Document.Text, f.Document.Fields); problem != nil {
		f.Problem = fmt.Errorf("load: %s is read, but not all of its fields: %w", name, problem)
	}
}

// Markdown reads a Markdown or text file without struck text and comments. Its title is the one in the front
// matter, or the first line if that is a heading or a short line before an empty one, or the name of the file.
func Markdown(name, source string) *File {
	f := &File{}
	marks := cuts
	if !strings.HasPrefix(path.Ext(name), ".m") {
		marks = cuts[:len(cuts)-1]
	}
	f.Document.Text, f.in.Mapping = unstruck(source, marks)
	f.finish(name, source)
	return f
}

// maxTitle is the longest line, in bytes, that can be a title.
const maxTitle = 120

func titleOf(s, name string) string {
	s = strings.TrimPrefix(s, "\ufeff")
	front := frontOf(s)
	if title, ok := front.fields["title"].(string); ok && title != "" {
		return Plain(title)
	}
	line, rest, _ := strings.Cut(strings.TrimLeft(s[front.end:], " \t\r\n"), "\n")
	line = strings.TrimSpace(line)
	next, _, _ := strings.Cut(rest, "\n")
	alone := strings.Trim(next, "=- \t\r") == "" && !isRow(line) && !isItem(line) && !strings.HasPrefix(line, "```")
	t := ""
	if len(line) <= 32*maxTitle { // long enough for markup and link addresses
		t = Plain(strings.Trim(line, "# "))
	}
	if t != "" && len(t) <= maxTitle && (headingLevel(line) > 0 || alone && !strings.ContainsAny(t[len(t)-1:], ".!?:;|")) {
		return t
	}
	return strings.TrimSuffix(path.Base(name), path.Ext(name))
}

// Root returns a folder that symbolic links do not lead out of, or a file as a folder with this file alone.
func Root(name string) (fs.FS, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return singleFile{os.DirFS(filepath.Dir(name)), fs.FileInfoToDirEntry(info)}, nil
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

// singleFile is a folder that shows one of its files only.
type singleFile struct {
	fs.FS
	file fs.DirEntry
}

func (a singleFile) Open(name string) (fs.File, error) {
	if name != "." && name != a.file.Name() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return a.FS.Open(name)
}

func (a singleFile) ReadDir(string) ([]fs.DirEntry, error) { return []fs.DirEntry{a.file}, nil }

// Documents yields the files of a folder that the package can read, in the order of their paths, for a
// [graphrag.System] to index. Options.Skipped gets the problems of other files. A folder without any
// file to read is an error.
func Documents(ctx context.Context, fsys fs.FS) iter.Seq2[graphrag.Document, error] {
	return Options{}.Documents(ctx, fsys)
}

// Documents is [Documents] with options. It reads a file when the one before it was used, and calls Skipped.
func (o Options) Documents(ctx context.Context, fsys fs.FS) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		some, skipped := false, []error(nil)
		for f, err := range o.parsed(ctx, fsys) {
			if err != nil {
				skipped = append(skipped, err)
			} else if some = true; !yield(f.Document, nil) {
				return
			}
		}
		if skipped = together(skipped); some && len(skipped) > 0 && o.Skipped != nil {
			o.Skipped(skipped)
		}
		if err := o.ended(ctx, some, skipped); err != nil {
			yield(graphrag.Document{}, err)
		}
	}
}

// Folder reads the files of a folder and its subfolders, in the order of their names: those with a known
// extension, and those without one that look like text. It ignores names that begin with a dot, and does not
// follow symbolic links. In skipped it reports files that cannot be read, files of unknown kinds once for each
// extension, and the [File.Problem] of files that were read. It fails if nothing could be read, or with the
// error of ctx.
func (o Options) Folder(ctx context.Context, fsys fs.FS) (files []*File, skipped []error, err error) {
	for f, err := range o.parsed(ctx, fsys) {
		if err != nil {
			skipped = append(skipped, err)
		} else {
			files = append(files, f)
		}
	}
	skipped = together(skipped)
	if err = o.ended(ctx, len(files) > 0, skipped); err != nil {
		return nil, skipped, err
	}
	return files, skipped, nil
}

// parsed yields the files of a folder, and the reasons for skipped files and the problems of others as errors.
func (o Options) parsed(ctx context.Context, fsys fs.FS) iter.Seq2[*File, error] {
	return func(yield func(*File, error) bool) {
		for raw, err := range o.Files(ctx, fsys) {
			var f *File
			if err == nil {
				f, err = o.Read(raw.Name, raw.Data)
			}
			if !yield(f, err) || err == nil && f.Problem != nil && !yield(nil, f.Problem) {
				return
			}
		}
	}
}

// ended returns the error of a folder that was read to its end.
func (o Options) ended(ctx context.Context, some bool, skipped []error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if !some {
		return o.Nothing(skipped)
	}
	return nil
}

// Nothing returns the error for a folder without any readable file, which lists the most frequent kinds that
// can be read.
func (o Options) Nothing(skipped []error) error {
	all := o.Extensions()
	some := slices.DeleteFunc(slices.Clone(all), func(ext string) bool {
		return !strings.Contains(".csv .docx .html .json .md .pdf .pptx .txt .xlsx ", ext+" ")
	})
	return errors.Join(errors.Join(skipped...), fmt.Errorf("load: the folder has no file that can be read (readable are %s and %d more kinds)", strings.Join(some, " "), len(all)-len(some)))
}

// Raw is a file that was read and not parsed yet.
type Raw struct {
	Name string
	Data []byte
}

// Files yields the files that [Options.Folder] parses. An error says why files are skipped, and does not end
// the sequence; when ctx ends, the sequence ends without an error.
func (o Options) Files(ctx context.Context, fsys fs.FS) iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		files, links, others, stopped := 0, 0, make(map[string]int), false
		most := cmp.Or(o.MaxFiles, MaxFiles)
		_, named := fsys.(singleFile) // a single file is read even if its name begins with a dot
		tell := func(raw Raw, err error) { stopped = stopped || !yield(raw, err) }
		_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error { // errors are yielded as skipped files
			ext := strings.ToLower(path.Ext(name))
			switch stopped = stopped || ctx.Err() != nil; {
			case stopped:
				return fs.SkipAll
			case err != nil:
				tell(Raw{}, err)
			case strings.HasPrefix(d.Name(), ".") && name != "." && !named:
				if d.IsDir() {
					return fs.SkipDir
				}
			case d.IsDir():
			case d.Type()&fs.ModeSymlink != 0:
				links++
			case !d.Type().IsRegular() || ext != "" && o.format(ext) == nil:
				others[cmp.Or(ext, "no extension")]++
			case files == most:
				tell(Raw{}, fmt.Errorf("load: the folder has more than %d files: those from %s on are left out", most, name))
				return fs.SkipAll
			default:
				data, err := o.open(fsys, name)
				if err == nil && ext == "" && sniff(data) == nil {
					others["no extension"]++
					break
				}
				files++
				tell(Raw{name, data}, err)
			}
			return nil
		})
		for _, ext := range slices.Sorted(maps.Keys(others)) {
			tell(Raw{}, otherKind(display.Counted(others[ext], "file"), ext))
		}
		if links > 0 {
			tell(Raw{}, fmt.Errorf("load: %d symbolic links are not followed", links))
		}
	}
}

// open reads a file up to the limit of its size.
func (o Options) open(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, cmp.Or(o.MaxFile, MaxFile)+1))
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	return data, o.tooLarge(name, data)
}

// tooLarge returns the error of a file that is larger than the limit.
func (o Options) tooLarge(name string, data []byte) error {
	if limit := cmp.Or(o.MaxFile, MaxFile); int64(len(data)) > limit {
		return fmt.Errorf("load: %s: the file is larger than %d MiB", name, limit>>20)
	}
	return nil
}

// Format reads one kind of file. name becomes the ID of the document, data is the whole file. A panic becomes
// an error of the file.
type Format func(name string, data []byte) (*File, error)

// Options of reading. The zero value reads all formats of the package.
type Options struct {
	// Formats adds to or replaces the formats of the package, by extension in lower case
	// (".pdf"); nil disables an extension.
	Formats map[string]Format
	// MaxFile limits the size of a file in bytes, MaxFiles the number of files of a folder; 0
	// means the constants MaxFile and MaxFiles.
	MaxFile  int64
	MaxFiles int
	// Skipped, if set, is called after the last of [Options.Documents] if [Options.Folder] would report problems.
	Skipped func([]error)
}

// The defaults of [Options].
const (
	MaxFile  = 32 << 20
	MaxFiles = 100_000
)

// ErrFormat is wrapped by errors about files of an unsupported kind.
var ErrFormat = errors.New("unsupported kind of file")

// remedies says, for unsupported extensions, how such files can be read.
var remedies = []struct{ of, remedy string }{
	{".rst .rest .adoc .asciidoc .org ", ": convert it to Markdown or HTML, by pandoc or asciidoctor"},
	{".docx .docm .xlsx .xlsm .pptx .pptm .ppsx .odt .epub .eml .ipynb ", ": read it with the Formats of package load/office"},
	{".pdf ", ": read it with the Reader of package load/pdf"},
	{".doc .xls .ppt .rtf .msg .ods .odp .mobi .pages .numbers .key .xlsb ", ": save it as DOCX, XLSX, PPTX, ODT, EML or PDF"},
}

// otherKind returns the error for files of an unsupported extension, with the remedy if one is known.
func otherKind(files, ext string) error {
	remedy := ""
	for _, r := range remedies {
		if strings.Contains(r.of, ext+" ") {
			remedy = r.remedy
		}
	}
	return fmt.Errorf("load: %s: %w (%s)%s", files, ErrFormat, ext, remedy)
}

// builtin returns the formats of the package, by extension.
var builtin = sync.OnceValue(func() map[string]Format {
	formats := make(map[string]Format)
	for _, f := range []struct {
		read func(name, source string) *File
		of   string
	}{
		{Markdown, ".txt .text .log .md .markdown .mdx"},
		{HTML, ".html .htm .xhtml"},
		{tableFile, ".csv .tsv"},
		{jsonFile, ".json .jsonl .ndjson"},
		{codeFile, codeExtensions},
	} {
		for ext := range strings.FieldsSeq(f.of) {
			formats[ext] = ofText(f.read)
		}
	}
	return formats
})

// format returns the format of an extension, nil if there is none.
func (o Options) format(ext string) Format {
	if f, ok := o.Formats[ext]; ok {
		return f
	}
	return builtin()[ext]
}

// Extensions returns the supported extensions.
func (o Options) Extensions() []string {
	all := maps.Clone(builtin())
	maps.Copy(all, o.Formats)
	maps.DeleteFunc(all, func(_ string, f Format) bool { return f == nil })
	return slices.Sorted(maps.Keys(all))
}

// ofText makes a format of a function that reads text: the file is first decoded to UTF-8.
func ofText(read func(name, source string) *File) Format {
	return func(name string, data []byte) (*File, error) {
		source, guess, err := decoded(data)
		if err != nil {
			return nil, fmt.Errorf("load: %s: %w", name, err)
		}
		f := read(name, source)
		if guess != "" && f.Problem == nil {
			f.Problem = readAs(name, guess)
		}
		return f, nil
	}
}

// Read reads one file, as the format of its extension, or, without an extension, of its content. The ID and the
// Source of the document are name.
func (o Options) Read(name string, data []byte) (f *File, err error) {
	ext := strings.ToLower(path.Ext(name))
	read := o.format(ext)
	if ext == "" {
		read = sniff(data)
	}
	if read == nil {
		return nil, otherKind(name, cmp.Or(ext, "no extension, no text"))
	}
	if err := o.tooLarge(name, data); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("load: %s: the parser failed: %v", name, r)
		}
	}()
	if f, err = read(name, data); err == nil && f.Problem == nil && strings.TrimSpace(f.Document.Text) == "" {
		f.Problem = fmt.Errorf("load: %s is read, but there is no text in it", name)
	}
	return f, err
}

// sniffed is the number of bytes that decide the kind of a file without an extension.
const sniffed = 512

// sniff returns the format of a file without an extension: HTML or text; nil for binary data.
func sniff(data []byte) Format {
	head := strings.ToLower(strings.TrimLeft(string(data[:min(len(data), sniffed)]), "\ufeff \t\r\n"))
	switch {
	case strings.ContainsRune(head, 0) && wideEncoding(data) == nil:
		return nil
	case strings.HasPrefix(head, "<!doctype html"), strings.HasPrefix(head, "<html"):
		return ofText(HTML)
	}
	return ofText(Markdown)
}

// Partial is the [File.Problem] of a file that was read without parts that the package never reads. In the list
// of [Options.Folder] it also speaks for More files of the same kind.
type Partial struct {
	Name, Without string
	More          int
}

func (e Partial) Error() string {
	if e.More > 0 {
		return fmt.Sprintf("load: %s and %d more of its kind are read without %s", e.Name, e.More, e.Without)
	}
	return "load: " + e.Name + " is read without " + e.Without
}

// together merges the Partial errors that name the same parts of files of one extension.
func together(skipped []error) (out []error) {
	at := make(map[Partial]int) // index in out by kind
	for _, err := range skipped {
		if p, ok := err.(Partial); ok {
			kind := Partial{Name: path.Ext(p.Name), Without: p.Without}
			if i, again := at[kind]; again {
				first := out[i].(Partial)
				first.More++
				out[i] = first
				continue
			}
			at[kind] = len(out)
		}
		out = append(out, err)
	}
	return out
}
