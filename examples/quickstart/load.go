// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
)

// maxFile is the largest file that is read.
const maxFile = 32 << 20

// library is a folder of documents that knows the lines of its files.
type library struct {
	docs    []graphrag.Document
	lines   map[string]lineTable // document ID → where its text stands
	skipped []error
}

// load reads the text, Markdown and HTML files below a folder. Files that
// cannot be read as text, and those of other kinds, are left out and reported in
// skipped.
func load(fsys fs.FS) (*library, error) {
	lib := &library{lines: make(map[string]lineTable)}
	others := make(map[string]int)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			lib.skipped = append(lib.skipped, err)
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") && name != "." {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		kind := strings.ToLower(path.Ext(name))
		if !d.Type().IsRegular() || !slices.Contains([]string{".txt", ".text", ".md", ".markdown", ".html", ".htm"}, kind) {
			if !d.IsDir() {
				others[cmp.Or(kind, "no extension")]++
			}
			return nil
		}
		if err := lib.add(fsys, name, kind); err != nil {
			lib.skipped = append(lib.skipped, fmt.Errorf("%s: %w", name, err))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, kind := range slices.Sorted(maps.Keys(others)) {
		lib.skipped = append(lib.skipped, fmt.Errorf("%d files of another kind (%s)", others[kind], kind))
	}
	if len(lib.docs) == 0 {
		return nil, errors.Join(append(lib.skipped, errors.New("no text, Markdown or HTML file here"))...)
	}
	return lib, nil
}

func (l *library) add(fsys fs.FS, name, kind string) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	text := string(data)
	if !utf8.ValidString(text) {
		return errors.New("not UTF-8 text")
	}
	doc := graphrag.Document{ID: name, Title: title(text, name), Text: text, Source: name}
	lines := sourceLines(text)
	if kind == ".html" || kind == ".htm" {
		doc.Title, doc.Text, lines = readHTML(text)
		if doc.Title == "" {
			doc.Title = title("", name)
		}
	}
	l.docs = append(l.docs, doc)
	l.lines[name] = lines
	return nil
}

// title is the first Markdown heading or short first line, else the file name.
func title(text, name string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(text, "\ufeff \t\r\n"), "\n")
	first = strings.TrimSpace(strings.TrimLeft(first, "# "))
	if first != "" && len(first) <= 120 {
		return first
	}
	return strings.TrimSuffix(path.Base(name), path.Ext(name))
}

// lineTable maps offsets in a document's text to lines of its file: entry i
// says that from offset[i] on, the text is from line[i].
type lineTable struct {
	offset []int
	line   []int
}

func (t *lineTable) add(offset, line int) {
	if n := len(t.line); n > 0 && t.line[n-1] == line {
		return
	}
	t.offset, t.line = append(t.offset, offset), append(t.line, line)
}

// at returns the line of an offset, from 1.
func (t lineTable) at(offset int) int {
	i := sort.SearchInts(t.offset, offset+1) - 1
	if i < 0 {
		return 1
	}
	return t.line[i]
}

// sourceLines is the table of a text that is its own file.
func sourceLines(text string) lineTable {
	var t lineTable
	t.add(0, 1)
	for i, line := 0, 1; i < len(text); i++ {
		if text[i] == '\n' {
			line++
			t.add(i+1, line)
		}
	}
	return t
}
