// SPDX-License-Identifier: Apache-2.0

// Command maker has tools for work on the library. Using the library needs none of them.
//
//	maker audit -data DIR -out FILE      # triples and passages that gear aligns, for people to label
//	maker audited FILE                   # the share of misaligned ones
//	maker journal verify|repair FILE …   # the files of runs and replies
//
// Each lists its flags with -help. The tests measure the agreement of the lexical judge with labels,
// and retrieval over an artificial corpus of any size (-scale).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
)

// tool is one subcommand.
type tool struct {
	name, about string
	run         func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

var tools = []tool{
	{"audit", "sample triples and the passages that gear aligns them with", runAudit},
	{"audited", "how many of the labelled alignments are wrong", runAudited},
	{"journal", "verify and repair the files of runs and replies", runJournal},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if errors.Is(err, errTorn) {
		os.Exit(exitTorn)
	}
	os.Exit(cli.Fail(os.Stderr, "maker", err))
}

// run is the program without its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		for _, t := range tools {
			if t.name == args[0] {
				return t.run(ctx, args[1:], stdout, stderr)
			}
		}
		if !slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
			return cli.Usagef("there is no %q; see -help", args[0])
		}
	}
	fmt.Fprintln(stdout, "Usage: maker TOOL [flags]")
	for _, t := range tools {
		fmt.Fprintf(stdout, "  %-10s %s\n", t.name, t.about)
	}
	return nil
}
