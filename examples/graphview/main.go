// SPDX-License-Identifier: Apache-2.0

// Command graphview draws a knowledge graph as one self-contained page.
//
//	go run ./examples/graphview PATH                  # writes graph.html
//	go run ./examples/graphview -out graph.svg PATH     # a picture
//	go run ./examples/graphview -q "question" PATH    # the part that led to the answer
//
// PATH is a document or a folder of them, from which rules extract names and facts; the output folder
// of Microsoft's GraphRAG or the working folder of LightRAG; or a file .json… with the JSON of a
// kg.Extraction on each line. No model is called.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/foreign"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/view"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm/journal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(cli.Fail(os.Stderr, "graphview", run(ctx, os.Args[1:], os.Stdout, os.Stderr)))
}

// about is the text of the help above the flags.
const about = `
PATH follows the flags: a document or a folder of them, from which rules extract names and facts; the output
folder of Microsoft's GraphRAG or the working folder of LightRAG; or a file with the JSON of a kg.Extraction
on each line. No model is called.`

// run runs the program with these arguments and streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := cli.NewFlags("graphview")
	out := flags.String("out", "graph.html", "the `FILE` to write: .html for a page, .svg for a picture")
	question := flags.String("q", "", "show the part of the graph that led to the answer to a `QUESTION`")
	title := flags.String("title", "", "`TEXT` at the top of the page (default: the name of PATH)")
	most := flags.Int("max-nodes", 0, "at most `N` entities, those with the most neighbours (0 = 20,000, or 120 with -q)")
	flags.Usage = func() { cli.Help(stderr, flags, about) }
	if err := cli.Parse(flags, args, stderr); err != nil {
		return err
	}
	kind := strings.ToLower(filepath.Ext(*out))
	switch {
	case flags.NArg() != 1:
		return cli.Usagef("want one PATH: a folder of documents, of GraphRAG or of LightRAG, or a file of a saved graph")
	case kind != ".html" && kind != ".svg":
		return cli.Usagef("-out %s: want a name that ends in .html or .svg", *out)
	case *most < 0:
		return cli.Usagef("-max-nodes %d: want 0 or more", *most)
	}
	g, system, note, err := read(ctx, flags.Arg(0), stderr)
	if err != nil {
		return err
	}
	o := view.Options{Title: display.OneLine(cmp.Or(*title, filepath.Base(flags.Arg(0)))), Note: note, MaxNodes: *most}
	if system != nil {
		o.Chunks = func(doc string) ([]graphrag.Chunk, bool) {
			chunks, ok, _ := system.Get(ctx, doc) // cannot fail: the index is in memory
			return chunks, ok
		}
	}
	if *question != "" {
		if o.Asked, err = ask(ctx, system, *question); err != nil {
			return err
		}
		fmt.Fprintln(stdout, display.Printable(o.Asked.Answer))
	}
	v, err := view.New(ctx, g, o)
	if err != nil {
		return err
	}
	write := v.WriteHTML
	if kind == ".svg" {
		write = v.WriteSVG
	}
	if err := journal.WriteFile(*out, write); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "Written: %s\n", display.OneLine(*out))
	return err
}

// ask answers a question and returns the answer with its evidence.
func ask(ctx context.Context, system *kit.System, question string) (*view.Asked, error) {
	if system == nil {
		return nil, cli.Usagef("-q: a saved graph has no texts to answer from; name the folder of the documents")
	}
	a, err := system.Answer(ctx, graphrag.Question{Text: question, K: 5})
	if err != nil {
		return nil, err
	}
	return &view.Asked{Question: question, Answer: a.Text, Found: a.Found}, nil
}

// byRules is the note on graphs whose names and facts rules found.
const byRules = "Names and facts are found by rules; a language model finds better ones: ask -serve with -system and -model"

// read reads a graph, and returns its system (nil for a saved graph) and a note on its origin.
func read(ctx context.Context, name string, stderr io.Writer) (*kg.Graph, *kit.System, string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, "", err
	}
	if ext := filepath.Ext(name); !info.IsDir() && (ext == "" || strings.HasPrefix(ext, ".json")) {
		g, err := saved(ctx, name)
		return g, nil, "", err
	}
	docs, err := load.Root(name)
	if err != nil {
		return nil, nil, "", err
	}
	system, note, err := index(ctx, docs, stderr)
	if err != nil {
		return nil, nil, "", err
	}
	return system.Graph(), system, note, nil
}

// saved reads a file of extractions.
func saved(ctx context.Context, name string) (*kg.Graph, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // closing a file that was only read cannot lose data
	base, err := kg.NewBase(kg.Options{})
	if err != nil {
		return nil, err
	}
	for line, err := range journal.ReadLines[kg.Extraction](f, journal.LineOptions{Name: name}) {
		if err == nil {
			err = base.Insert(line.Value)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: want the JSON of a kg.Extraction on each line, or a folder", err)
		}
	}
	return base.Graph(ctx)
}

// index makes a system of a folder: of another program's index, or of documents.
func index(ctx context.Context, fsys fs.FS, stderr io.Writer) (*kit.System, string, error) {
	parts, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		return nil, "", err
	}
	made, err := elsewhere(fsys)
	if err != nil {
		return nil, "", err
	}
	if made == nil {
		system, err := documents(ctx, parts, fsys, stderr)
		return system, byRules, err
	}
	for _, note := range made.Notes {
		fmt.Fprintln(stderr, "Note:", display.OneLine(note))
	}
	system, err := lightrag.New(parts, lightrag.Options{Mode: lightrag.Mix, Extract: made, Cosine: lightrag.NoCosine})
	if err == nil {
		_, err = system.Index(ctx, made.Documents())
	}
	return system, "", err
}

// elsewhere reads the index that another program made, nil if the folder has none.
func elsewhere(fsys fs.FS) (*foreign.Index, error) {
	for name, open := range map[string]func(fs.FS) (*foreign.Index, error){
		"kv_store_text_chunks.json": foreign.ReadLightRAG, "text_units.parquet": foreign.ReadGraphRAG, "create_final_text_units.parquet": foreign.ReadGraphRAG,
	} {
		if _, err := fs.Stat(fsys, name); err == nil {
			return open(fsys)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, nil
}

// documents indexes a folder of documents by rules.
func documents(ctx context.Context, parts kit.Kit, fsys fs.FS, stderr io.Writer) (*kit.System, error) {
	reader := cli.NewFiles()
	defer reader.Close() // only stops the parser of PDF
	files, skipped, err := reader.Folder(ctx, fsys)
	for _, s := range skipped {
		fmt.Fprintln(stderr, "Note:", display.OneLine(s.Error()))
	}
	if err != nil {
		return nil, err
	}
	system, err := hipporag2.New(parts, hipporag2.Options{})
	if err != nil {
		return nil, err
	}
	_, err = system.Index(ctx, func(yield func(graphrag.Document, error) bool) {
		for _, f := range files {
			if !yield(f.Document, nil) {
				return
			}
		}
	})
	return system, err
}
