// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/benchmark/fetch"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Sources prepares references for fetching: one for each URL, without fragments, and with titles that give
// different file names. If titles are equal up to case, or after cutting, the later ones get a number.
func Sources(refs []Reference) []Reference {
	var out []Reference
	urls, files := make(map[string]bool), make(map[string]bool)
	for _, r := range refs {
		r.URL, _, _ = strings.Cut(r.URL, "#")
		if r.URL == "" || urls[r.URL] {
			continue
		}
		urls[r.URL] = true
		for n, title := 2, r.Title; files[fileKey(r.Title)]; n++ {
			r.Title = withNumber(title, n)
		}
		files[fileKey(r.Title)] = true
		out = append(out, r)
	}
	return out
}

func fileKey(title string) string { return strings.ToLower(PageFile(title)) }

// PageFile returns the file name of the page with a title.
func PageFile(title string) string { return wildgraph.Slug(title) + ".txt" }

// withNumber appends a number to a title so that the file name, which is cut, contains it as well.
func withNumber(title string, n int) string {
	for cut := title; ; cut = cut[:len(cut)-1] {
		numbered := fmt.Sprintf("%s %d", strings.TrimSpace(strings.ToValidUTF8(cut, "")), n)
		if slug := wildgraph.Slug(numbered); cut == "" || strings.HasSuffix(slug, fmt.Sprintf(" %d", n)) || slug == fmt.Sprint(n) {
			return numbered
		}
	}
}

// Page is the text of a source.
type Page struct {
	Title, URL string
	Text       string
}

// excuses are phrases of the pages that servers send in place of a page (from WildGraphBench's construction
// tools, fetch_reference_pages).
var excuses = []string{"404 not found", "page not found", "access denied", "permission denied", "bad link", "something went wrong", "403 forbidden", "enable javascript", "verify you are human"}

const (
	fewLines   = 13
	shortLine  = 50   // words in a line
	excuseSize = 4096 // bytes of a text; longer texts may quote one of the phrases
)

// Poor returns the reason why a text is unusable as a source, or "": it is empty, an error page of the server,
// or a few short lines. It is a heuristic; a [Checker] judges the contents.
func Poor(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return "empty"
	}
	if len(text) <= excuseSize {
		lower := strings.ToLower(text)
		for _, e := range excuses {
			if strings.Contains(lower, e) {
				return fmt.Sprintf("it says %q", e)
			}
		}
	}
	lines := 0
	for line := range strings.Lines(text) {
		words := len(strings.Fields(line))
		if words > 0 {
			lines++
		}
		if words >= shortLine || lines >= fewLines {
			return ""
		}
	}
	return fmt.Sprintf("%d short lines; a page has %d, or one of %d words", lines, fewLines, shortLine)
}

// Topic is a domain of a benchmark: an article, its sources and their pages, the gold and the questions.
type Topic struct {
	Domain string
	// Title of the article and its text.
	Title, Text string
	Sources     []Reference
	Pages       []Page
	Gold        []Gold // sections with at least one triple
	Questions   []Question
}

// folder returns the name as a folder name that every file system accepts and that contains no path.
func folder(name string) string { return strings.TrimSpace(wildgraph.Slug(name)) }

// Write writes a topic into dir in the layout of the release, which wildgraph.Load reads. A file is written
// completely or not at all. The questions are written last: a domain without them does not exist.
func (t Topic) Write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("construct: opening the folder of the benchmark: %w", err)
	}
	defer root.Close()
	domain, topic := strings.ReplaceAll(strings.ToLower(folder(t.Domain)), " ", "_"), folder(t.Title)
	corpus := filepath.Join("corpus", domain, topic)
	w := writer{root: root}
	for _, dir := range []string{corpus, filepath.Join(corpus, "reference_pages"), filepath.Join("extracted_data", domain, topic), filepath.Join("statements", domain, topic), filepath.Join("QA", domain)} {
		w.clear(dir, func(name string) bool { m, _ := filepath.Match(journal.TempPattern, name); return m })
	}
	w.file(filepath.Join(corpus, topic+".txt"), func(b *bytes.Buffer) { b.WriteString(t.Text) })
	w.file(filepath.Join(corpus, "references.jsonl"), jsonLines(t.Sources))
	keep := make(map[string]bool)
	for _, p := range t.Pages {
		name := PageFile(p.Title)
		keep[name] = true
		w.file(filepath.Join(corpus, "reference_pages", name), func(b *bytes.Buffer) { fmt.Fprintf(b, "# %s\n\n%s\n", p.Title, strings.TrimSpace(p.Text)) })
	}
	w.clear(filepath.Join(corpus, "reference_pages"), func(name string) bool { return !keep[name] })
	w.file(filepath.Join("extracted_data", domain, topic, "valid_triples.jsonl"), jsonLines(t.Gold))
	w.file(filepath.Join("statements", domain, topic, "statements.jsonl"), jsonLines(statements(t.Gold)))
	w.file(filepath.Join("QA", domain, "questions.jsonl"), jsonLines(t.Questions))
	if w.err != nil {
		return fmt.Errorf("construct: writing the topic %s: %w", t.Title, w.err)
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

func jsonLines[T any](values []T) func(*bytes.Buffer) {
	return func(b *bytes.Buffer) {
		enc := display.JSON(b)
		for _, v := range values {
			enc.Encode(v) // encoding strings and integers into memory cannot fail
		}
	}
}

// writer writes files below a root folder until a write fails.
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

// clear removes files for which drop is true: pages of an earlier build, and partial files of a killed one.
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

// Getter fetches pages; *fetch.Fetcher is one.
type Getter interface {
	Page(ctx context.Context, url string) (fetch.Page, error)
}

// Collected is the text of a source, or the reason why the source has no text.
type Collected struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"` // title that the page gives itself
	Text  string `json:"text,omitempty"`
	// From is the URL from which the text was read: the URL of the source or of its archive.
	From   string     `json:"from,omitempty"`
	Kind   fetch.Kind `json:"kind,omitempty"`
	Reason string     `json:"reason,omitempty"`
}

// Pages stores collected pages in a journal, so that no page is fetched twice. Temporary failures are retried
// after the journal is opened again.
type Pages struct {
	j    *journal.Journal
	mu   sync.Mutex
	have map[string]Collected
}

const (
	pagesSchema = "wildgraph-pages/1"
	kindPage    = 1
)

// OpenPages opens or creates the journal of pages at a path.
func OpenPages(path string) (*Pages, error) {
	j, err := journal.Open(path, journal.Header{Schema: pagesSchema}, journal.Options{})
	if err != nil {
		return nil, fmt.Errorf("construct: opening the journal of pages: %w", err)
	}
	p := &Pages{j: j, have: make(map[string]Collected)}
	for r, err := range j.Records() {
		var c Collected
		if err == nil && r.Kind == kindPage {
			err = json.Unmarshal(r.Payload, &c)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("construct: reading the journal of pages: %w", err), j.Close())
		}
		if p.have[c.URL] = c; c.Kind == fetch.Unavailable {
			delete(p.have, c.URL)
		}
	}
	return p, nil
}

// Close closes the journal.
func (p *Pages) Close() error { return p.j.Close() }

// Collect fetches the pages of sources, from many hosts concurrently, and returns them in the order of the
// sources. If a source cannot be fetched, or is Poor, its archive is tried. done, if not nil, is called with
// each page, never concurrently.
func (p *Pages) Collect(ctx context.Context, get Getter, sources []Reference, done func(Collected)) ([]Collected, error) {
	out := make([]Collected, len(sources))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxInWork)
	for i, r := range sources {
		g.Go(func() error {
			c, err := p.collect(ctx, get, r)
			if err != nil {
				return fmt.Errorf("construct: collecting pages: %w", err)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			out[i] = c
			if done != nil {
				done(c)
			}
			return nil
		})
	}
	return out, g.Wait()
}

// maxInWork is the largest number of pages that are requested or wait for their hosts.
const maxInWork = 512

func (p *Pages) collect(ctx context.Context, get Getter, r Reference) (Collected, error) {
	p.mu.Lock()
	c, known := p.have[r.URL]
	p.mu.Unlock()
	if known {
		return c, nil
	}
	c = try(ctx, get, r.URL, r.URL)
	if c.Reason != "" && r.Archive != "" && r.Archive != r.URL {
		if a := try(ctx, get, r.URL, r.Archive); a.Reason == "" {
			c = a
		} else {
			c.Reason += "; the archive: " + a.Reason
		}
	}
	if err := ctx.Err(); err != nil {
		return c, err
	}
	record, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	if err := p.j.Append(kindPage, record); err != nil {
		return c, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.have[r.URL] = c
	return c, nil
}

func try(ctx context.Context, get Getter, url, from string) Collected {
	page, err := get.Page(ctx, from)
	var e *fetch.Error
	switch {
	case errors.As(err, &e):
		return Collected{URL: url, Kind: e.Kind, Reason: e.Err.Error()}
	case err != nil:
		return Collected{URL: url, Kind: fetch.Unavailable, Reason: err.Error()}
	}
	if reason := Poor(page.Text); reason != "" {
		return Collected{URL: url, Kind: fetch.NoText, Reason: reason}
	}
	return Collected{URL: url, Title: page.Title, Text: page.Text, From: cmp.Or(page.Final, from)}
}
