// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
)

// sampleGraph opens the small graph of the sample.
func sampleGraph() (*triples.Index, error) {
	f, err := sample.Open("sample/graph.tsv")
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return triples.New(context.Background(), triples.TSV("sample/graph.tsv", f).All(), triples.Options{})
}

// runKG builds a folder of a graph for -kg. The graph can be larger than memory.
func runKG(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := cli.NewFlags("wildgraphbench kg")
	fs.Usage = func() {
		cli.Help(stderr, fs, "wildgraphbench kg -out FOLDER PATH builds a folder of a graph, for -kg FOLDER. PATH is a file .tsv, .jsonl or\n"+
			".nt (perhaps with .gz), or a folder with Wikidata5M's three files.", cli.Group{Title: "Flags", Flags: []string{"out"}})
	}
	out := fs.String("out", "", "the `FOLDER` to build")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return err
	}
	if *out == "" || fs.NArg() != 1 {
		return cli.Usagef("want: wildgraphbench kg -out FOLDER PATH")
	}
	var bad triples.Bad
	printed := time.Now()
	progress := func(done int) {
		if time.Since(printed) > 5*time.Second {
			printed = time.Now()
			fmt.Fprintf(stderr, "%s triples\n", text.Digits(done))
		}
	}
	if err := triples.Build(ctx, *out, triples.Files(fs.Arg(0), &bad), triples.Options{Progress: progress}); err != nil {
		return err
	}
	ix, err := triples.Open(*out, nil)
	if err != nil {
		return err
	}
	defer ix.Close() // only read
	for _, err := range bad.First {
		fmt.Fprintln(stderr, "skipped:", err)
	}
	fmt.Fprintf(stdout, "%s triples of %s entities and values, %s lines skipped: -kg %s\n", text.Digits(ix.Len()), text.Digits(ix.Entities()), text.Digits(bad.Lines), llm.Printable(*out))
	return nil
}
