// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/view"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// corpus is a corpus without questions, given with -graph NAME=PATH: it is
// indexed, and its graph described beside those of the domains.
type corpus struct{ name, path string }

func parseCorpus(v string) (corpus, error) {
	name, path, err := parseNamed(v, "PATH")
	return corpus{name, path}, err
}

// addGraphs appends the corpora to a data set, as domains without questions.
func addGraphs(set *benchmark.Dataset, graphs []corpus) error {
	for _, c := range graphs {
		if slices.ContainsFunc(set.Domains, func(d benchmark.Domain) bool { return d.Name == c.name }) {
			return cli.Usagef("-graph %s: a domain has this name", c.name)
		}
		d, skipped, err := c.domain()
		if err != nil {
			return fmt.Errorf("-graph %s: %w", c.name, err)
		}
		set.Domains = append(set.Domains, d)
		if n := len(skipped); n > 0 {
			set.Notes = append(set.Notes, fmt.Sprintf("%s: left out, not being UTF-8 (%d): %s", c.name, n, strings.Join(skipped[:min(n, 5)], ", ")))
		}
	}
	return nil
}

// domain reads the corpus once, to check it and to know it again. Files that are
// not UTF-8 are left out, and named.
func (c corpus) domain() (d benchmark.Domain, skipped []string, err error) {
	sum, n := sha256.New(), 0
	for d, err := range c.documents(func(name string) { skipped = append(skipped, name) }) {
		if err != nil {
			return benchmark.Domain{}, nil, err
		}
		fmt.Fprintf(sum, "%q %q %d\n%s\n", d.ID, d.Title, len(d.Text), d.Text)
		n++
	}
	if n == 0 {
		return benchmark.Domain{}, nil, fmt.Errorf("%s holds no document: want a folder of .txt and .md files in UTF-8, or JSON objects with a \"text\" or \"context\"", c.path)
	}
	documents := func() iter.Seq2[graphrag.Document, error] { return c.documents(func(string) {}) }
	return benchmark.Domain{Name: c.name, Documents: documents, Fingerprint: hex.EncodeToString(sum.Sum(nil)[:16])}, skipped, nil
}

// documents streams a folder of text files, or the objects of a JSON file.
func (c corpus) documents(skipped func(name string)) iter.Seq2[graphrag.Document, error] {
	info, err := os.Stat(c.path)
	switch {
	case err != nil:
		return func(yield func(graphrag.Document, error) bool) { yield(graphrag.Document{}, err) }
	case info.IsDir():
		return folderDocuments(os.DirFS(c.path), skipped)
	}
	return c.jsonDocuments
}

// folderDocuments are the text files of a folder, by name.
func folderDocuments(fsys fs.FS, skipped func(name string)) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		errStop := errors.New("stop")
		err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
			ext := strings.ToLower(filepath.Ext(name))
			if err != nil || !entry.Type().IsRegular() || ext != ".txt" && ext != ".md" {
				return err
			}
			page, err := readText(fsys, name)
			if err != nil {
				return err
			}
			if !utf8.ValidString(page) {
				skipped(name)
				return nil
			}
			if !yield(graphrag.Document{ID: name, Text: page}, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(graphrag.Document{}, err)
		}
	}
}

// draw writes pages of the graphs of the corpora into a folder, and the names of the pages
// to w.
func draw(ctx context.Context, graphs []corpus, folder string, w io.Writer) func(system, domain string, built benchmark.System) error {
	return func(system, domain string, built benchmark.System) error {
		g, ok := built.(benchmark.Grapher)
		if !ok || g.Graph() == nil || !slices.ContainsFunc(graphs, func(c corpus) bool { return c.name == domain }) {
			return nil
		}
		o := view.Options{Title: domain + " · " + system}
		if texts, ok := built.(interface {
			Chunks(doc string) []graphrag.Chunk
		}); ok {
			o.Chunks = texts.Chunks
		}
		v, err := view.New(ctx, g.Graph(), o)
		if err != nil {
			return err
		}
		dir := filepath.Join(folder, "graphs")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		name := filepath.Join(dir, domain+"-"+system)
		if err := errors.Join(journal.WriteFile(name+".html", v.WriteHTML), journal.WriteFile(name+".svg", v.WriteSVG)); err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "Graph: %s.html\n", name)
		return err
	}
}

// undescribed names the corpora of which no system has shown a graph.
func undescribed(r *report.Report, graphs []corpus) []string {
	var names []string
	for _, c := range graphs {
		if !slices.ContainsFunc(r.Systems, func(s report.System) bool {
			return slices.ContainsFunc(s.Domains, func(d report.Domain) bool { return d.Domain == c.name && d.Index.Entities > 0 })
		}) {
			names = append(names, c.name)
		}
	}
	return names
}

const byteOrderMark = "\ufeff"

func readText(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, wildgraph.MaxPage+1))
	if err == nil && len(data) > wildgraph.MaxPage {
		err = fmt.Errorf("%s is larger than %d bytes", name, wildgraph.MaxPage)
	}
	return string(bytes.TrimPrefix(data, []byte(byteOrderMark))), err
}

// jsonDocuments are the objects of a file.
func (c corpus) jsonDocuments(yield func(graphrag.Document, error) bool) {
	f, err := os.Open(c.path)
	if err != nil {
		yield(graphrag.Document{}, err)
		return
	}
	defer f.Close() // only read
	objects(f, c.path)(yield)
}

// object is one of a corpus: MuSiQue's has "title" and "text", GraphRAG-Bench's
// "corpus_name" and "context".
type object struct {
	Title   string  `json:"title"`
	Name    string  `json:"corpus_name"`
	Text    *string `json:"text"`
	Context *string `json:"context"`
}

// objects are those of a JSON array, or of JSON lines. An error ends them.
func objects(r io.Reader, name string) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		n := 0
		for l, err := range jsonl.ReadValues[object](r, jsonl.Options{Name: name, MaxLine: wildgraph.MaxPage}) {
			n++
			o := l.Value
			body := cmp.Or(o.Text, o.Context)
			if err == nil && body == nil {
				err = &jsonl.Error{File: name, Line: l.Number, Err: errors.New("neither \"text\" nor \"context\"")}
			}
			if err != nil {
				yield(graphrag.Document{}, err)
				return
			}
			if !yield(graphrag.Document{ID: fmt.Sprintf("%07d", n), Title: text.Head(cmp.Or(o.Title, o.Name), wildgraph.MaxTitle), Text: *body}, nil) {
				return
			}
		}
	}
}
