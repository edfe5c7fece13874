// SPDX-License-Identifier: Apache-2.0

// Command extraction shows what the extraction without a model finds on the
// pages of WildGraphBench, and how right it is.
//
//	go run ./examples/extraction -data DIR -domains A,B -sample 200 -seed 1
//
// draws entities and triples of each domain and writes them as JSON Lines for
// a person to judge: every different entity and every different triple of a
// domain is as likely as any other, however often it occurs.
//
//	go run ./examples/extraction -data DIR -stats
//
// prints the statistics of the graph of each domain (WildGraphBench, Table 4):
// its nodes are all entities, its edges the triples.
//
//	go run ./examples/extraction -data DIR -domains A,B -verdicts FILE
//
// prints the precision by the verdicts in the file, with Wilson's interval. Verdicts
// on what is not found any more are left out; where they are more than one in
// twenty, the sample is too old and the exit code is 1. It is 2 for bad flags.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(cli.Fail(os.Stderr, "extraction", run(ctx, os.Args[1:], os.Stdout, os.Stderr)))
}

// settings are the flags.
type settings struct {
	data, verdicts string
	domains        []string
	sample         int
	seed           uint64
	stats          bool
	workers        int
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := cli.NewFlags("extraction")
	flags.StringVar(&s.data, "data", "", "`DIR` of a WildGraphBench checkout")
	domains := flags.String("domains", "", "comma-separated `LIST` of domains (default: all present)")
	flags.IntVar(&s.sample, "sample", 0, "draw `N` entities and N triples of each domain")
	flags.Uint64Var(&s.seed, "seed", 1, "seed of the sample")
	flags.BoolVar(&s.stats, "stats", false, "print the statistics of the graphs")
	flags.StringVar(&s.verdicts, "verdicts", "", "`FILE` of verdicts on the sample")
	flags.IntVar(&s.workers, "workers", 0, "chunks read at a time (default: one for each processor)")
	if err := cli.Parse(flags, args, stderr); err != nil {
		return s, err
	}
	var problems []string
	if s.data == "" {
		problems = append(problems, "-data is missing: the folder of a WildGraphBench checkout")
	}
	if flags.NArg() > 0 {
		problems = append(problems, fmt.Sprintf("unexpected argument %q", flags.Arg(0)))
	}
	if s.sample < 0 {
		problems = append(problems, fmt.Sprintf("-sample %d is negative", s.sample))
	}
	if s.sample == 0 && !s.stats && s.verdicts == "" {
		problems = append(problems, "nothing to do: give -sample N, -stats or -verdicts FILE")
	}
	if s.verdicts != "" && (s.sample != 0 || s.stats) {
		problems = append(problems, "-verdicts goes with neither -sample nor -stats")
	}
	for domain := range strings.SplitSeq(*domains, ",") {
		if domain = strings.TrimSpace(domain); domain != "" {
			s.domains = append(s.domains, domain)
		}
	}
	if len(problems) > 0 {
		return s, cli.Usagef("%s", strings.Join(problems, "; "))
	}
	return s, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	set, _, err := wildgraph.Load(os.DirFS(s.data), wildgraph.Options{Domains: s.domains})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	var sample []item
	found := map[item]bool{}
	for i, d := range set.Domains {
		corpus, err := read(ctx, d, s.workers)
		if err != nil {
			return fmt.Errorf("domain %s: %w", d.Name, err)
		}
		if s.stats {
			if err := corpus.printStats(out, i == 0); err != nil {
				return err
			}
		}
		sample = append(sample, corpus.draw(s.sample, s.seed)...)
		if s.verdicts != "" {
			corpus.add(found)
		}
	}
	if s.verdicts != "" {
		f, err := os.Open(s.verdicts)
		if err != nil {
			return cli.Usage(err)
		}
		defer func() { _ = f.Close() }() // only read
		if err := score(out, found, f, s.verdicts); err != nil {
			return err
		}
		return out.Flush()
	}
	lines := text.JSON(out)
	for _, it := range sample {
		if err := lines.Encode(it); err != nil {
			return err
		}
	}
	return out.Flush()
}
