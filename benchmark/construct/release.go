// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/article"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Topic is a finished domain of a benchmark: an article, its sources and pages, its gold
// and its questions.
type Topic struct {
	Domain string
	// Title of the article and its text.
	Title, Text string
	Sources     []article.Reference
	Pages       []Page
	Gold        []Gold // sections with triples
	Questions   []Question
}

// Names of folders: what a file system takes everywhere and no path can be made of.
func folder(name string) string { return strings.TrimSpace(wildgraph.Slug(name)) }

// Write writes a topic into dir in the layout of the release, which wildgraph.Load
// reads. Every file appears whole or not at all; the questions, without which there is
// no domain, come last.
func (t Topic) Write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("construct: %w", err)
	}
	defer root.Close()
	domain, topic := strings.ReplaceAll(strings.ToLower(folder(t.Domain)), " ", "_"), folder(t.Title)
	corpus := filepath.Join("corpus", domain, topic)
	w := writer{root: root}
	for _, dir := range []string{corpus, filepath.Join(corpus, "reference_pages"), filepath.Join("extracted_data", domain, topic), filepath.Join("statements", domain, topic), filepath.Join("QA", domain)} {
		w.clear(dir, func(name string) bool { m, _ := filepath.Match(journal.TempPattern, name); return m })
	}
	w.file(filepath.Join(corpus, topic+".txt"), func(b *bytes.Buffer) { b.WriteString(t.Text) })
	w.file(filepath.Join(corpus, "references.jsonl"), lines(t.Sources))
	keep := make(map[string]bool)
	for _, p := range t.Pages {
		name := PageFile(p.Title)
		keep[name] = true
		w.file(filepath.Join(corpus, "reference_pages", name), func(b *bytes.Buffer) { b.WriteString(p.String()) })
	}
	w.clear(filepath.Join(corpus, "reference_pages"), func(name string) bool { return !keep[name] })
	w.file(filepath.Join("extracted_data", domain, topic, "valid_triples.jsonl"), lines(t.Gold))
	w.file(filepath.Join("statements", domain, topic, "statements.jsonl"), lines(statements(t.Gold)))
	w.file(filepath.Join("QA", domain, "questions.jsonl"), lines(t.Questions))
	if w.err != nil {
		return fmt.Errorf("construct: topic %s: %w", t.Title, w.err)
	}
	return nil
}

// releasedStatements is a line of statements.jsonl.
type releasedStatements struct {
	Path    []string         `json:"section_path"`
	Triples []releasedTriple `json:"triples"`
}

type releasedTriple struct {
	Statement string   `json:"statement"`
	URLs      []string `json:"ref_urls"`
	Count     int      `json:"ref_count"`
}

func statements(golds []Gold) []releasedStatements {
	out := make([]releasedStatements, len(golds))
	for i, g := range golds {
		out[i].Path = g.Path
		for _, t := range g.Triples {
			out[i].Triples = append(out[i].Triples, releasedTriple{t.Statement, t.URLs, t.Count})
		}
	}
	return out
}

func lines[T any](values []T) func(*bytes.Buffer) {
	return func(b *bytes.Buffer) {
		enc := text.JSON(b)
		for _, v := range values {
			enc.Encode(v) // strings and ints into memory
		}
	}
}

// writer writes files below a root until one fails.
type writer struct {
	root *os.Root
	err  error
}

func (w *writer) file(name string, fill func(*bytes.Buffer)) {
	if w.err != nil {
		return
	}
	var b bytes.Buffer
	fill(&b)
	if old, err := w.root.ReadFile(name); err == nil && bytes.Equal(old, b.Bytes()) {
		return
	}
	if w.err = w.root.MkdirAll(filepath.Dir(name), 0o777); w.err == nil {
		w.err = journal.WriteFile(filepath.Join(w.root.Name(), name), func(f io.Writer) error {
			_, err := f.Write(b.Bytes())
			return err
		})
	}
}

// clear removes files: pages of an earlier build that this one does not have, and what a
// killed one left half written.
func (w *writer) clear(dir string, drop func(name string) bool) {
	if w.err != nil {
		return
	}
	entries, err := os.ReadDir(filepath.Join(w.root.Name(), dir))
	if err != nil && !os.IsNotExist(err) {
		w.err = err
	}
	for _, e := range entries {
		if w.err == nil && drop(e.Name()) {
			w.err = w.root.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
