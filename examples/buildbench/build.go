// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/benchmark/construct"
	"github.com/wildgraph/wildgraph/benchmark/fetch"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// web fetches articles, with their links, and the pages that they cite.
type web struct {
	articles, pages *fetch.Fetcher
	files           *cli.Files
}

func newWeb(s settings) (web, error) {
	o := fetch.Options{Agent: s.agent, Pause: s.pause, NoRobots: s.noRobots, Allow: func(to netip.AddrPort) error {
		if slices.ContainsFunc(s.trusted, func(p netip.Prefix) bool { return p.Contains(to.Addr().Unmap()) }) {
			return nil
		}
		if err := fetch.Public(to); err != nil {
			return fmt.Errorf("%w; for a server of one's own -trust %s/%d", err, to.Addr().Unmap(), to.Addr().Unmap().BitLen())
		}
		return nil
	}}
	var err error
	if s.reader != "" {
		if o.Reader, err = fetch.NewReader(s.reader, s.readerKey); err != nil {
			return web{}, cli.Usage(err)
		}
	}
	w := web{files: cli.NewFiles()}
	o.Text = w.files.Read
	if w.pages, err = fetch.New(o); err != nil {
		return w, cli.Usage(err)
	}
	o.Text = func(name string, body []byte) (*load.File, error) {
		if !strings.HasSuffix(name, ".html") {
			return load.Markdown(name, string(body)), nil
		}
		md, err := construct.FromHTML(string(body), "https://en.wikipedia.org")
		return load.Markdown(name, md), err
	}
	w.articles, err = fetch.New(o)
	return w, err
}

type builder struct {
	settings
	web    web
	pages  *construct.Pages
	parts  construct.Parts
	client *paid.Client // nil without a model
	stderr io.Writer
}

func (b *builder) all(ctx context.Context, stdout io.Writer) error {
	names, err := articles(b.articles)
	if err != nil {
		return err
	}
	if names, err = b.most(ctx, names); err != nil {
		return err
	}
	var stats []construct.Stats
	for _, name := range names {
		made, err := b.topic(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		stats = append(stats, made)
	}
	return b.table(stdout, stats)
}

// The extensions of articles; wikitext has the extensions of the wiki's own markup.
var (
	readable = append([]string{".md", ".txt", ".html", ".htm"}, wikitext...)
	wikitext = []string{".wiki", ".wikitext", ".mediawiki"}
)

// most returns the articles with the most references, up to -articles.
func (b *builder) most(ctx context.Context, names []string) ([]string, error) {
	if b.mostArticles == 0 || len(names) <= b.mostArticles {
		return names, nil
	}
	references := make(map[string]int)
	for _, name := range names {
		a, _, err := b.parsed(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		references[name] = len(construct.Sources(a.References()))
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(references[y], references[x]) })
	return names[:b.mostArticles], nil
}

// articles returns the URLs and files, with the files of folders.
func articles(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		if isURL(name) {
			out = append(out, name)
			continue
		}
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && slices.Contains(readable, strings.ToLower(filepath.Ext(path))) {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, cli.Usagef("-article: %w", err)
		}
	}
	if len(out) == 0 {
		return nil, cli.Usagef("-article %s: no file %s", strings.Join(names, ", "), strings.Join(readable, " "))
	}
	return out, nil
}

func isURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// article reads an article: a file again each time, a URL once.
func (b *builder) article(ctx context.Context, name string) (string, error) {
	if !isURL(name) {
		source, err := os.ReadFile(name)
		if ext := strings.ToLower(filepath.Ext(name)); err == nil && (ext == ".html" || ext == ".htm") {
			return construct.FromHTML(string(source), "https://en.wikipedia.org")
		}
		return string(source), err
	}
	kept := filepath.Join(b.out, "build", wildgraph.Slug(name)+".md")
	if source, err := os.ReadFile(kept); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return string(source), err
	}
	page, err := b.web.articles.Page(ctx, name)
	if err != nil {
		return "", err
	}
	return page.Text, journal.WriteFile(kept, func(w io.Writer) error {
		_, err := io.WriteString(w, page.Text)
		return err
	})
}

// parsed reads an article, as sections and as Markdown.
func (b *builder) parsed(ctx context.Context, name string) (a *construct.Article, source string, err error) {
	if source, err = b.article(ctx, name); err != nil {
		return nil, "", err
	}
	title := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	if slices.Contains(wikitext, strings.ToLower(filepath.Ext(name))) {
		source = construct.Wikitext(source, title)
	}
	return construct.Parse(source, title, construct.Options{}), source, nil
}

// topic builds one article.
func (b *builder) topic(ctx context.Context, name string) (construct.Stats, error) {
	none := construct.Stats{}
	a, source, err := b.parsed(ctx, name)
	if err != nil {
		return none, err
	}
	refs := construct.Sources(a.References())
	b.say("%s: %d sections, %d references", a.Title, len(a.Sections()), len(refs))
	collected, err := b.collect(ctx, name, a.Title, refs)
	if err != nil {
		return none, err
	}
	if b.client != nil {
		b.parts.Progress = b.progress(a.Title)
	}
	made, err := construct.Make(ctx, a.Title, a, source, refs, collected, b.parts, b.Numbers)
	if err != nil {
		return none, err
	}
	if err := made.Write(b.out); err != nil {
		return none, err
	}
	report, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return none, err
	}
	return made.Stats, journal.WriteFile(filepath.Join(b.out, "build", wildgraph.Slug(a.Title)+".json"), func(w io.Writer) error {
		_, err := w.Write(append(report, '\n'))
		return err
	})
}

// collect reads the sources of an article, from its folder or from the web.
func (b *builder) collect(ctx context.Context, name, title string, refs []construct.Reference) ([]construct.Collected, error) {
	var out []construct.Collected
	var remote []construct.Reference
	for _, r := range refs {
		if path, ok := strings.CutPrefix(r.URL, "file:"); ok {
			c, err := b.local(name, path)
			if c.URL = r.URL; err != nil {
				c.Kind, c.Reason = fetch.Missing, display.OneLine(err.Error())
			}
			out = append(out, c)
		} else {
			remote = append(remote, r)
		}
	}
	done, had := 0, 0
	step := max(1, len(remote)/10)
	collected, err := b.pages.Collect(ctx, b.web.pages, remote, func(c construct.Collected) {
		if done++; c.Reason == "" {
			had++
		}
		if done%step == 0 || done == len(remote) {
			b.say("%s: %d of %d pages asked for, %d had", title, done, len(remote), had)
		}
	})
	return append(out, collected...), err
}

// local reads a source that is a file in the folder of an article or in its subfolders.
func (b *builder) local(name, path string) (c construct.Collected, err error) {
	if isURL(name) {
		return c, errors.New("only an article that is a file can cite a file")
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return c, err
	}
	defer root.Close() // only read
	if path, err = url.PathUnescape(path); err != nil {
		return c, err
	}
	f, err := journal.OpenFile(root.FS(), path)
	if err != nil {
		return c, err
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, load.MaxFile))
	if err != nil {
		return c, err
	}
	file, err := b.web.files.Read(path, data)
	if err != nil {
		return c, err
	}
	c.Title, c.Text = file.Document.Title, strings.TrimSpace(file.Document.Text)
	if c.Text == "" {
		c.Reason = "empty"
	}
	return c, nil
}

// progress prints the progress of the stages of a model, a line for each tenth, with the estimated time
// left and the cost.
func (b *builder) progress(title string) func(stage string, done, total int) {
	var began time.Time
	return func(stage string, done, total int) {
		switch {
		case done == 0:
			began = time.Now()
		case done%max(1, total/10) == 0 || done == total:
			left := time.Duration(float64(time.Since(began)) / float64(done) * float64(total-done))
			account := b.client.Account()
			open := account.Total.Unknown
			account.Total.Unknown = 0 // most of them are running
			b.say("%s: %s, %d of %d (%s left). So far %s %d attempts are running, or their cost is not known.", title, stage, done, total, left.Round(time.Second), cli.Bill(account), open)
		}
	}
}

func (b *builder) say(format string, args ...any) {
	fmt.Fprintln(b.stderr, display.OneLine(fmt.Sprintf(format, args...)))
}

// table writes the report for people.
func (b *builder) table(w io.Writer, stats []construct.Stats) error {
	t := page.Table{Title: "Built", Heading: "Article", Groups: []page.Group{
		{Columns: []string{"Sources", "Pages", "Tokens", "Sections", "Triples"}},
		{Heading: "Questions", Columns: []string{"Single", "Multi", "Summary", "Overlap"}},
	}}
	for _, s := range stats {
		row := page.Row{Name: s.Article}
		for _, n := range []int{s.Sources, s.Pages, s.Tokens, s.Sections, s.Triples, s.SingleFact, s.MultiFact, s.Summary, s.Overlap} {
			row.Cells = append(row.Cells, page.Cell{Text: display.Digits(n)})
		}
		t.Rows = append(t.Rows, row)
	}
	if b.model == "" {
		t.Notes = append(t.Notes, "Offline: statements are unchanged sentences, questions have gaps; -model makes better ones.")
	}
	if err := report.WriteText(w, t); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nRun it:   go run ./examples/wildgraphbench -data %s\nDropped:  %s says what, and why\n", b.out, filepath.Join(b.out, "build", "*.json"))
	return err
}
