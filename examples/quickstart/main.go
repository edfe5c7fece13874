// SPDX-License-Identifier: Apache-2.0

// Command quickstart answers questions over a folder of text, Markdown and
// HTML files, with quoted evidence.
//
//	go run ./examples/quickstart -docs FOLDER -q "question"
//
// Without flags it answers a few questions over a small corpus shipped with
// it. Answers are extracted sentences, unless -model names a language model
// (its server comes from OPENAI_BASE_URL and OPENAI_API_KEY, or OLLAMA_HOST).
package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/signal"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/langchain"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

//go:embed corpus
var corpus embed.FS

// examples are asked of the shipped corpus.
var examples = []string{
	"Who lit the first tower on the Eddystone Rocks, and when?",
	"Why are there two high tides a day?",
	"When did SOS become the international distress signal?",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(cli.Fail(os.Stderr, "quickstart", run(ctx, os.Args[1:], os.Stdout, os.Stderr)))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := cli.NewFlags("quickstart")
	docs := flags.String("docs", "", "`FOLDER` of .txt, .md and .html files (default: a small shipped corpus)")
	question := flags.String("q", "", "the `QUESTION` (default with the shipped corpus: a few examples)")
	model := flags.String("model", "", "`NAME` of a language model that answers (default: none, sentences are extracted)")
	cache := flags.String("cache", "", "`FILE` of the model's replies, shared by runs and programs (default: wildgraph/replies.journal in the user's cache folder)")
	k := flags.Int("k", 5, "chunks that are read for an answer")
	if err := cli.Parse(flags, args, stderr); err != nil {
		return err
	}
	questions := []string{*question}
	switch {
	case flags.NArg() > 0:
		return cli.Usagef("unexpected argument %q; put the question in quotes", flags.Arg(0))
	case *k < 1:
		return cli.Usagef("-k %d is less than 1", *k)
	case strings.TrimSpace(*question) == "" && *docs != "":
		return cli.Usagef("-docs needs -q \"question\"")
	case strings.TrimSpace(*question) == "":
		questions = examples
	}
	folder, err := open(*docs)
	if err != nil {
		return err
	}
	files, skipped, err := load.Folder(ctx, folder)
	if err != nil {
		return fmt.Errorf("-docs %s: %w", *docs, err)
	}
	for _, err := range skipped {
		fmt.Fprintln(stderr, "skipped:", text.OneLine(err.Error()))
	}
	parts, closeCache, err := newKit(*model, *cache)
	if err != nil {
		return err
	}
	defer closeCache()
	system, err := newSystem(parts)
	if err != nil {
		return err
	}
	defer system.Close()
	stats, err := system.Index(ctx, documents(files))
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Indexed %d files in %d chunks.\n", stats.Documents, stats.Chunks)
	for _, q := range questions {
		a, err := system.Answer(ctx, graphrag.Question{Text: q, K: *k})
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\nQ: %s\nA: %s\n", text.OneLine(q), text.OneLine(a.Text))
		for _, line := range sources(files, a) {
			fmt.Fprintln(stdout, line)
		}
	}
	return nil
}

// newSystem is BM25 over passages of a few paragraphs.
func newSystem(parts kit.Kit) (*kit.System, error) {
	return bm25.New(parts, bm25.Options{Common: kit.Common{Cut: kit.Cut{Size: 300, Overlap: 50, KeepLinks: true}}})
}

func open(docs string) (fs.FS, error) {
	if docs == "" {
		return fs.Sub(corpus, "corpus")
	}
	if info, err := os.Stat(docs); err != nil {
		return nil, cli.Usagef("-docs: %w", err)
	} else if !info.IsDir() {
		return nil, cli.Usagef("-docs %s is not a folder", docs)
	}
	return os.DirFS(docs), nil
}

// newKit makes the parts, and what is to be called when they are done. A model's
// replies are kept: nothing is paid for twice.
func newKit(model, cache string) (kit.Kit, func(), error) {
	if model == "" {
		k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
		return k, func() {}, err
	}
	provider, err := langchain.ProviderFromEnv(transport.Options{Logger: cli.NewLogger(os.Stderr)})
	if err != nil {
		return kit.Kit{}, nil, cli.Usagef("-model: %w", err)
	}
	if cache == "" {
		if cache, err = paid.UserFile(); err != nil {
			return kit.Kit{}, nil, err
		}
	}
	client, err := paid.Open(paid.Options{Provider: provider, File: cache})
	if err != nil {
		return kit.Kit{}, nil, fmt.Errorf("-cache: %w", err)
	}
	closeCache := func() { _ = client.Close() } // every reply was synced as it came
	m, err := client.Model(model)
	if err == nil {
		var k kit.Kit
		if k, err = kit.ByModel(kit.ModelOptions{Model: m}); err == nil {
			return k, closeCache, nil
		}
	}
	closeCache()
	return kit.Kit{}, nil, err
}

func documents(files []*load.File) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for _, f := range files {
			if !yield(f.Document, nil) {
				return
			}
		}
	}
}

// sources renders the citations of an answer: file, line and quote.
func sources(files []*load.File, a graphrag.Answer) []string {
	byID := make(map[string]*load.File)
	for _, f := range files {
		byID[f.Document.ID] = f
	}
	var out []string
	for _, c := range a.Citations {
		if c.Of != "" {
			continue
		}
		chunk := a.Evidence[c.Evidence].Chunk
		start, end := c.SourceStart, c.SourceEnd
		if end == 0 {
			start, end = chunk.Start, chunk.End
		}
		f := byID[chunk.Doc]
		line := fmt.Sprintf("   %s:%d  “%s”", text.OneLine(chunk.Doc), f.Line(start), quote(f.Document.Text[start:end]))
		if len(out) == 0 || out[len(out)-1] != line {
			out = append(out, line)
		}
	}
	return out
}

// quote is a text in one line of bounded length.
func quote(s string) string {
	r := []rune(strings.Join(strings.Fields(text.OneLine(s)), " "))
	if len(r) > 160 {
		return string(r[:159]) + "…"
	}
	return string(r)
}
