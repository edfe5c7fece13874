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
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/wildgraph/wildgraph/benchmark/construct"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/load/parquet"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// settings has the parsed flags.
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
	fs.Usage = func() { usage(stderr, fs) }
	fs.Func("article", "`URL, FILE or FOLDER` of an article, or of several (Markdown, HTML, or the wiki's markup in .wiki); each makes a domain (repeatable)", func(v string) error {
		s.articles = append(s.articles, v)
		return nil
	})
	fs.IntVar(&s.mostArticles, "articles", 0, "at most `N` articles, those with the most references (0 = all)")
	fs.StringVar(&s.parquet, "parquet", "", "`FOLDER` of tables in Parquet, in place of -article: they are written as JSON lines, which wildgraphbench reads")
	fs.StringVar(&s.out, "out", "", "`DIR` of the benchmark; a build goes on from what is there")
	fs.StringVar(&s.agent, "agent", "wildgraph-buildbench/1.0 (+https://github.com/wildgraph/wildgraph)", "what servers are told of who asks; name an address where you can be reached")
	fs.StringVar(&s.reader, "reader", "", "`URL` of a service that reads pages, such as https://r.jina.ai, with its key in $JINA_API_KEY (default: pages are read here)")
	fs.Func("trust", "`PREFIX` of addresses beyond the public ones that may be asked, at any port, such as 10.1.0.0/16 (repeatable)", func(v string) error {
		p, err := netip.ParsePrefix(v)
		s.trusted = append(s.trusted, p)
		return err
	})
	fs.BoolVar(&s.noRobots, "no-robots", false, "do not read robots.txt, for servers of one's own")
	fs.DurationVar(&s.pause, "pause", time.Second, "least `TIME` between two requests to a host")
	fs.StringVar(&s.model, "model", getenv("WILDGRAPH_MODEL"), "`NAME` of the model that states, asks and checks (default: $WILDGRAPH_MODEL, else rules)")
	fs.StringVar(&s.cache, "cache", "", "`FILE` of models' replies, shared by programs (default: wildgraph/replies.journal in the user's cache folder)")
	fs.IntVar(&s.budgetTokens, "budget-tokens", 0, "stop before model calls exceed `N` tokens (0 = no limit)")
	prices := fs.String("prices", "", "`FILE` of dated prices per million tokens, see docs/offline.md")
	s.temperature = new(float64)
	fs.Func("temperature", cli.TemperatureUsage, cli.Temperature(&s.temperature))
	fs.IntVar(&s.Single, "single", 0, "at most `N` questions of one source an article (0 = all)")
	fs.IntVar(&s.Multi, "multi", 0, "at most `N` questions of several sources an article (0 = all)")
	fs.IntVar(&s.Summary, "summary", 0, "at most `N` summaries an article (0 = all)")
	fs.BoolVar(&s.Apart, "apart", false, "no question of one fact that is a gold statement of a summary")
	fs.IntVar(&s.Concurrency, "concurrency", 8, "model calls in flight")
	fs.Uint64Var(&s.Seed, "seed", 1, "seed of which drafts are tried first, sent with every model call")
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
		problems = append(problems, errors.New("a number is negative, or -concurrency or -pause 0"))
	}
	if s.cache == "" && s.model != "" {
		if s.cache, err = paid.UserFile(); err != nil {
			problems = append(problems, err)
		}
	}
	return s, cli.Usage(errors.Join(problems...))
}

// usage writes the help.
func usage(w io.Writer, fs *flag.FlagSet) {
	cli.Help(w, fs, "Makes a benchmark of articles that cite the web, or files beside them (file:NAME), for wildgraphbench -data.",
		cli.Group{Title: "What to build", Flags: []string{"article", "articles", "parquet", "out", "single", "multi", "summary", "apart", "seed"}},
		cli.Group{Title: "Pages", Flags: []string{"agent", "pause", "trust", "no-robots", "reader"}},
		cli.Group{Title: "Model and money", Flags: []string{"model", "temperature", "concurrency", "budget-tokens", "prices", "cache"}})
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

// parts returns the steps by the model, with its client, or by rules.
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
	defer f.Close() // only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return journal.WriteFile(to, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		return errors.Join(parquet.JSONLines(b, f, info.Size()), b.Flush())
	})
}
