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
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/signal"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
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

var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "quickstart:", err)
	if errors.Is(err, errUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(stderr)
	docs := flags.String("docs", "", "`FOLDER` of .txt, .md and .html files (default: a small shipped corpus)")
	question := flags.String("q", "", "the `QUESTION` (default with the shipped corpus: a few examples)")
	model := flags.String("model", "", "`NAME` of a language model that answers (default: none, sentences are extracted)")
	cache := flags.String("cache", "", "`FILE` of the model's replies, shared by runs and programs (default: wildgraph/replies.journal in the user's cache folder)")
	k := flags.Int("k", 5, "chunks that are read for an answer")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	questions := []string{*question}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%w: unexpected argument %q; put the question in quotes", errUsage, flags.Arg(0))
	case *k < 1:
		return fmt.Errorf("%w: -k %d is less than 1", errUsage, *k)
	case strings.TrimSpace(*question) == "" && *docs != "":
		return fmt.Errorf("%w: -docs needs -q \"question\"", errUsage)
	case strings.TrimSpace(*question) == "":
		questions = examples
	}
	lib, err := open(*docs)
	if err != nil {
		return err
	}
	for _, err := range lib.skipped {
		fmt.Fprintln(stderr, "skipped:", err)
	}
	parts, closeCache, err := newKit(*model, *cache)
	if err != nil {
		return err
	}
	defer closeCache()
	system, err := bm25.New(parts, bm25.Options{Common: kit.Common{Cut: kit.Cut{Size: 300, Overlap: 50, KeepLinks: true}}})
	if err != nil {
		return err
	}
	defer system.Close()
	stats, err := system.Index(ctx, lib.documents())
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Indexed %d files in %d chunks.\n", stats.Documents, stats.Chunks)
	for _, q := range questions {
		a, err := system.Answer(ctx, graphrag.Question{Text: q, K: *k})
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\nQ: %s\nA: %s\n", printable(q), printable(a.Text))
		for _, line := range lib.sources(a) {
			fmt.Fprintln(stdout, line)
		}
	}
	return nil
}

func open(docs string) (*library, error) {
	if docs == "" {
		sub, err := fs.Sub(corpus, "corpus")
		if err != nil {
			return nil, err
		}
		return load(sub)
	}
	if info, err := os.Stat(docs); err != nil {
		return nil, fmt.Errorf("%w: -docs: %w", errUsage, err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%w: -docs %s is not a folder", errUsage, docs)
	}
	lib, err := load(os.DirFS(docs))
	if err != nil {
		return nil, fmt.Errorf("-docs %s: %w", docs, err)
	}
	return lib, nil
}

// newKit makes the parts, and what is to be called when they are done. A model's
// replies are kept: nothing is paid for twice.
func newKit(model, cache string) (kit.Kit, func(), error) {
	if model == "" {
		k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
		return k, func() {}, err
	}
	provider, err := langchain.ProviderFromEnv(transport.Options{})
	if err != nil {
		return kit.Kit{}, nil, fmt.Errorf("%w: -model: %w", errUsage, err)
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

func (l *library) documents() iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for _, d := range l.docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// sources renders the citations of an answer: file, line and quote.
func (l *library) sources(a graphrag.Answer) []string {
	text := make(map[string]string)
	for _, d := range l.docs {
		text[d.ID] = d.Text
	}
	var out []string
	for _, c := range a.Citations {
		chunk := a.Evidence[c.Evidence].Chunk
		start, end := c.SourceStart, c.SourceEnd
		if end == 0 {
			start, end = chunk.Start, chunk.End
		}
		line := fmt.Sprintf("   %s:%d  “%s”", printable(chunk.Doc), l.lines[chunk.Doc].at(start), quote(text[chunk.Doc][start:end]))
		if len(out) == 0 || out[len(out)-1] != line {
			out = append(out, line)
		}
	}
	return out
}

// quote is a text in one line of bounded length.
func quote(s string) string {
	r := []rune(strings.Join(strings.Fields(printable(s)), " "))
	if len(r) > 160 {
		return string(r[:159]) + "…"
	}
	return string(r)
}

// printable removes control characters, so that no file can steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
