// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

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
