// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/article"
	"github.com/wildgraph/wildgraph/benchmark/construct"
	"github.com/wildgraph/wildgraph/benchmark/fetch"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// web gets articles, with their links, and the pages that they cite.
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
			return load.Text(name, string(body)), nil
		}
		md, err := article.FromHTML(string(body), "https://en.wikipedia.org")
		return load.Text(name, md), err
	}
	w.articles, err = fetch.New(o)
	return w, err
}

type builder struct {
	settings
	web    web
	pages  *construct.Pages
	parts  construct.Parts
	stderr io.Writer
}

func (b *builder) all(ctx context.Context, stdout io.Writer) error {
	names, err := articles(b.articles)
	if err != nil {
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
	b.table(stdout, stats)
	return nil
}

// articles are the URLs and files, with the files of folders.
func articles(names []string) ([]string, error) {
	var out []string
	for _, name := range names {
		if isURL(name) {
			out = append(out, name)
			continue
		}
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && slices.Contains([]string{".md", ".txt", ".html", ".htm"}, strings.ToLower(filepath.Ext(path))) {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, cli.Usagef("-article: %w", err)
		}
	}
	if len(out) == 0 {
		return nil, cli.Usagef("-article %s: no .md, .txt or .html file", strings.Join(names, ", "))
	}
	return out, nil
}

func isURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// article reads an article: a file as it is now, a URL as it was at first.
func (b *builder) article(ctx context.Context, name string) (string, error) {
	if !isURL(name) {
		source, err := os.ReadFile(name)
		if ext := strings.ToLower(filepath.Ext(name)); err == nil && (ext == ".html" || ext == ".htm") {
			return article.FromHTML(string(source), "https://en.wikipedia.org")
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

// topic builds one article, as far as -until.
func (b *builder) topic(ctx context.Context, name string) (construct.Stats, error) {
	none := construct.Stats{}
	source, err := b.article(ctx, name)
	if err != nil {
		return none, err
	}
	a := article.Parse(source, strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), article.Options{})
	refs := construct.Sources(a.References())
	b.say("%s: %d sections, %d references", a.Title, len(a.Sections()), len(refs))
	if b.until == untilReferences {
		return construct.Stats{Domain: a.Title, Article: a.Title, Sources: len(refs)}, nil
	}
	collected, err := b.collect(ctx, a.Title, refs)
	if err != nil {
		return none, err
	}
	if b.until == untilPages {
		b.parts.State = nothing{}
	}
	if b.until == untilPages || b.until == untilGold {
		b.Numbers.None = true
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

// nothing states nothing.
type nothing struct{}

func (nothing) State(context.Context, *article.Article, article.Section) ([]construct.Stated, error) {
	return nil, nil
}

func (b *builder) collect(ctx context.Context, title string, refs []article.Reference) ([]construct.Collected, error) {
	done, had := 0, 0
	step := max(1, len(refs)/10)
	return b.pages.Collect(ctx, b.web.pages, refs, func(c construct.Collected) {
		if done++; c.Reason == "" {
			had++
		}
		if done%step == 0 || done == len(refs) {
			b.say("%s: %d of %d pages asked for, %d had", title, done, len(refs), had)
		}
	})
}

func (b *builder) say(format string, args ...any) {
	fmt.Fprintln(b.stderr, text.OneLine(fmt.Sprintf(format, args...)))
}

// table is the report for people.
func (b *builder) table(w io.Writer, stats []construct.Stats) {
	fmt.Fprintf(w, "%-22s%8s%7s%12s%10s%9s%8s%7s%9s%8s\n", "article", "sources", "pages", "tokens", "sections", "triples", "single", "multi", "summary", "overlap")
	for _, s := range stats {
		fmt.Fprintf(w, "%-22.21s%8d%7d%12s%10d%9d%8d%7d%9d%8d\n", text.OneLine(s.Article), s.Sources, s.Pages, cli.Digits(s.Tokens), s.Sections, s.Triples,
			s.SingleFact, s.MultiFact, s.Summary, s.Overlap)
	}
	if b.model == "" && b.until == "" {
		fmt.Fprintln(w, "\nOffline: statements are sentences as they stand, questions have gaps; -model makes better ones.")
	}
	if b.until == "" {
		fmt.Fprintf(w, "\nRun it:   go run ./examples/wildgraphbench -data %s\nDropped:  %s says what, and why\n", b.out, filepath.Join(b.out, "build", "*.json"))
	}
}
