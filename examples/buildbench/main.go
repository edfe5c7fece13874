// SPDX-License-Identifier: Apache-2.0

// Command buildbench makes your own WildGraphBench: from articles that cite the web, it makes a
// folder of pages, gold statements and questions for wildgraphbench.
//
//	go run ./examples/buildbench -article https://en.wikipedia.org/wiki/Barn_owl -out owls
//	go run ./examples/wildgraphbench -data owls
//
// An article is a URL or a file: Markdown with Wikipedia's citation marks or with footnotes, or
// HTML; it cites pages of the web, or files in its folder as file:NAME. Without -model, rules make
// weaker statements and questions, and the report says so. -parquet writes tables in Parquet, such
// as AnonyRAG's of Hugging Face, as JSON lines. Fetched pages and paid replies are kept: a second
// start with the same flags continues, and makes the same benchmark.
package main

import (
	"bufio"
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
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/benchmark/construct"
	"github.com/wildgraph/wildgraph/benchmark/fetch"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/parquet"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// settings are the parsed flags.
type settings struct {
	articles     []string
	out, parquet string

	agent, reader, readerKey string
	trusted                  []netip.Prefix
	noRobots                 bool
	mostArticles             int
	pause                    time.Duration

	model, cache string
	budgetTokens int
	temperature  *float64
	prices       *paid.Prices
	construct.Numbers
}

func parse(args []string, getenv func(string) string, stderr io.Writer) (settings, error) {
	var s settings
	fs := cli.NewFlags("buildbench")
	fs.Usage = func() {
		cli.Help(stderr, fs, "Makes a benchmark of articles that cite the web, or files beside them (file:NAME), for wildgraphbench -data.",
			cli.Group{Title: "What to build", Flags: []string{"article", "articles", "parquet", "out", "single", "multi", "summary", "apart", "seed"}},
			cli.Group{Title: "Pages", Flags: []string{"agent", "pause", "trust", "no-robots", "reader"}},
			cli.Group{Title: "Model and money", Flags: []string{"model", "temperature", "concurrency", "budget-tokens", "prices", "cache"}})
	}
	fs.Func("article", "`URL, FILE or FOLDER` of an article, or of several (Markdown, HTML, or the wiki's markup in .wiki); each makes a domain (repeatable)", func(v string) error {
		s.articles = append(s.articles, v)
		return nil
	})
	fs.IntVar(&s.mostArticles, "articles", 0, "at most `N` articles, those with the most references (0 = all)")
	fs.StringVar(&s.parquet, "parquet", "", "`FOLDER` of tables in Parquet, in place of -article: they are written as JSON lines, which wildgraphbench reads")
	fs.StringVar(&s.out, "out", "", "`DIR` of the benchmark; a build continues from the files in it")
	fs.StringVar(&s.agent, "agent", "wildgraph-buildbench/1.0 (+https://github.com/wildgraph/wildgraph)", "the User-Agent that servers get; name an address where you can be reached")
	fs.StringVar(&s.reader, "reader", "", "`URL` of a service that reads pages, such as https://r.jina.ai, with its key in $JINA_API_KEY (default: this program reads them)")
	fs.Func("trust", "`PREFIX` of addresses beyond the public ones that may be asked, at any port, such as 10.1.0.0/16 (repeatable)", func(v string) error {
		p, err := netip.ParsePrefix(v)
		s.trusted = append(s.trusted, p)
		return err
	})
	fs.BoolVar(&s.noRobots, "no-robots", false, "do not read robots.txt, for your own servers")
	fs.DurationVar(&s.pause, "pause", time.Second, "least `TIME` between two requests to a host")
	fs.StringVar(&s.model, "model", getenv("WILDGRAPH_MODEL"), "`NAME` of the model that writes statements and questions and checks them (default: $WILDGRAPH_MODEL, else rules)")
	fs.StringVar(&s.cache, "cache", "", "`FILE` of models' replies, shared by programs (default: wildgraph/replies.journal in the user's cache folder)")
	fs.IntVar(&s.budgetTokens, "budget-tokens", 0, "stop before model calls exceed `N` tokens (0 = no limit)")
	prices := fs.String("prices", "", "`FILE` of dated prices per million tokens, see docs/offline.md")
	s.temperature = new(float64)
	fs.Func("temperature", cli.TemperatureUsage, cli.Temperature(&s.temperature))
	fs.IntVar(&s.Single, "single", 0, "at most `N` questions of one source per article (0 = all)")
	fs.IntVar(&s.Multi, "multi", 0, "at most `N` questions of several sources per article (0 = all)")
	fs.IntVar(&s.Summary, "summary", 0, "at most `N` summary questions per article (0 = all)")
	fs.BoolVar(&s.Apart, "apart", false, "omit questions of one fact if the fact is a gold statement of a summary")
	fs.IntVar(&s.Concurrency, "concurrency", 8, "largest number of concurrent model calls")
	fs.Uint64Var(&s.Seed, "seed", 1, "seed of the order in which drafts are tried, also sent with every model call")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return s, err
	}
	s.readerKey = getenv("JINA_API_KEY")
	var problems []error
	var err error
	if s.prices, err = cli.Prices(*prices); err != nil {
		problems = append(problems, err)
	}
	if fs.NArg() > 0 {
		problems = append(problems, fmt.Errorf("unexpected argument %q", fs.Arg(0)))
	}
	if len(s.articles) == 0 && s.parquet == "" || s.out == "" {
		problems = append(problems, errors.New("-article and -out are missing: name an article and the folder of the benchmark"))
	} else if len(s.articles) > 0 && s.parquet != "" {
		problems = append(problems, errors.New("-article and -parquet are two ways to a benchmark: leave one out"))
	}
	if min(s.Single, s.Multi, s.Summary, s.budgetTokens) < 0 || s.Concurrency < 1 || s.pause <= 0 {
		problems = append(problems, errors.New("numbers must not be negative, and -concurrency and -pause not 0"))
	}
	if s.cache == "" && s.model != "" {
		if s.cache, err = paid.UserFile(); err != nil {
			problems = append(problems, err)
		}
	}
	return s, cli.Usage(errors.Join(problems...))
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(cli.Fail(os.Stderr, "buildbench", err))
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (err error) {
	s, err := parse(args, getenv, stderr)
	if err != nil {
		return err
	}
	if s.parquet != "" {
		return tables(s.parquet, s.out, stdout)
	}
	if err := os.MkdirAll(filepath.Join(s.out, "build"), 0o777); err != nil {
		return err
	}
	parts, client, err := s.parts(stderr)
	if err != nil {
		return err
	}
	if client != nil {
		defer func() { err = errors.Join(err, cli.Account(client, s.out, stderr), client.Close()) }()
	}
	w, err := newWeb(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.files.Close()) }()
	pages, err := construct.OpenPages(filepath.Join(s.out, "build", "pages.journal"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	b := builder{settings: s, web: w, pages: pages, parts: parts, client: client, stderr: stderr}
	return b.all(ctx, stdout)
}

// parts returns the stages of a build: by the model, together with its client, or by rules.
func (s settings) parts(stderr io.Writer) (construct.Parts, *paid.Client, error) {
	if s.model == "" {
		return construct.Parts{State: construct.Rules{}, Ask: construct.Rules{}, Check: construct.Rules{}}, nil, nil
	}
	client, m, err := cli.OpenModel(s.model, s.Concurrency, paid.Options{
		File: s.cache, Run: s.out, Tokens: s.budgetTokens, Prices: s.prices, Defaults: cli.Settings(s.temperature, s.Seed), Logger: cli.NewLogger(stderr),
	})
	if err != nil {
		return construct.Parts{}, nil, err
	}
	by := construct.NewByModel(m)
	return construct.Parts{State: by, Ask: by, Check: by, Keep: by.Keep}, client, nil
}

// tables writes the Parquet files of a folder and of its subfolders, such as data, as JSON lines with the same
// names for wildgraphbench. That program links no reader of Parquet, which would add a fifth to its build.
func tables(from, to string, stdout io.Writer) error {
	var names []string
	for _, pattern := range []string{"*.parquet", "*/*.parquet"} {
		found, err := fs.Glob(os.DirFS(from), pattern)
		if err != nil {
			return err
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return fmt.Errorf("-parquet: %s and its subfolders have no file NAME.parquet", from)
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, name := range names {
		lines := filepath.Join(to, strings.TrimSuffix(filepath.Base(name), ".parquet")+".jsonl")
		if err := table(filepath.Join(from, name), lines); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintln(stdout, lines)
	}
	return nil
}

func table(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close() // closing a file that was only read cannot lose data
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return journal.WriteFile(to, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		return errors.Join(parquet.JSONLines(b, f, info.Size()), b.Flush())
	})
}

// web fetches articles, with their links, and the pages that the articles cite.
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
			return fmt.Errorf("%w; to permit your own server, add -trust %s/%d", err, to.Addr().Unmap(), to.Addr().Unmap().BitLen())
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

// File name extensions of articles, and among them of wiki markup.
var (
	readable = append([]string{".md", ".txt", ".html", ".htm"}, wikitext...)
	wikitext = []string{".wiki", ".wikitext", ".mediawiki"}
)

// most returns the articles with the most references, at most as many as -articles says.
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

// articles returns the URLs and files of -article. A folder becomes the files in it.
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
		return nil, cli.Usagef("-article %s: there is no file with an extension %s", strings.Join(names, ", "), strings.Join(readable, " "))
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

// parsed reads an article and returns it parsed and as Markdown.
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
	defer root.Close() // closing a folder that was only read cannot lose data
	if path, err = url.PathUnescape(path); err != nil {
		return c, err
	}
	f, err := journal.OpenFile(root.FS(), path)
	if err != nil {
		return c, err
	}
	defer f.Close() // closing a file that was only read cannot lose data
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

// progress prints the progress of each stage that calls a model, a line for each tenth, with the estimated time
// left and the cost so far.
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
			account.Total.Unknown = 0 // most of the unknown calls are still running
			b.say("%s: %s, %d of %d (%s left). So far %s %d attempts are running, or their cost is not known.", title, stage, done, total, left.Round(time.Second), cli.Bill(account), open)
		}
	}
}

func (b *builder) say(format string, args ...any) {
	fmt.Fprintln(b.stderr, display.OneLine(fmt.Sprintf(format, args...)))
}

// table writes the figures of all articles as a table for people.
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
