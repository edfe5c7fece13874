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
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// tool is a subcommand.
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
		os.Exit(3) // the file ends in an unfinished write
	}
	os.Exit(cli.Fail(os.Stderr, "maker", err))
}

// run runs the program with these arguments and streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		for _, t := range tools {
			if t.name == args[0] {
				return t.run(ctx, args[1:], stdout, stderr)
			}
		}
		if !slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
			return cli.Usagef("there is no tool %q; see -help", args[0])
		}
	}
	fmt.Fprintln(stdout, "Usage: maker TOOL [flags]")
	for _, t := range tools {
		fmt.Fprintf(stdout, "  %-10s %s\n", t.name, t.about)
	}
	return nil
}

var (
	errDamaged = errors.New("damaged: `repair FILE NEW` copies the intact records")
	errTorn    = errors.New("unfinished")
)

// runJournal checks a file of replies or records, or copies its intact records to another file. The exit
// status is 0 for an intact file, 1 for a file that is damaged or cannot be read, and 3 for a file that
// ends in an unfinished write, which the next program to open it cuts off.
func runJournal(_ context.Context, args []string, w, _ io.Writer) error {
	switch {
	case len(args) == 2 && args[0] == "verify":
		return verify(args[1], w)
	case len(args) == 3 && args[0] == "repair":
		r, err := journal.Repair(args[1], args[2])
		if err == nil {
			describe(w, args[1], r)
			_, err = fmt.Fprintf(w, "%s holds the %s whole records; put it in the place of the other file.\n", display.Printable(args[2]), display.Digits(r.Records))
		}
		return err
	}
	return cli.Usagef("use it as: journal verify FILE, or: journal repair FILE NEW")
}

func verify(path string, w io.Writer) error {
	r, err := journal.Verify(path)
	if err != nil {
		return err
	}
	describe(w, path, r)
	switch {
	case r.Torn:
		if err := excerpt(w, path, r.Bad); err != nil {
			return err
		}
		return errTorn
	case r.Bad > 0:
		return fmt.Errorf("%s is %w", path, errDamaged)
	}
	return nil
}

// describe prints which parts of a file are intact and which are bad.
func describe(w io.Writer, path string, r journal.Repaired) {
	fmt.Fprintf(w, "%s: %s whole records of %s.\n", display.Printable(path), display.Digits(r.Records), display.Printable(r.Header.Schema))
	if r.Bad > 0 {
		fmt.Fprintf(w, "The first bad record begins at byte %s.\n", display.Digits(int(r.Bad)))
	}
	for _, s := range r.Lost {
		fmt.Fprintf(w, "Lost: records %d to %d.\n", s.First, s.Last)
	}
	if r.BadTail > 0 {
		fmt.Fprintf(w, "No record is whole in the last %s bytes.\n", display.Digits(int(r.BadTail)))
	}
	if r.Torn {
		fmt.Fprintln(w, "That is an unfinished write, which was not acknowledged: the next program to open the file cuts it off and repeats the call.")
	}
}

// excerpt prints the first 2,000 bytes of an unfinished write.
func excerpt(w io.Writer, path string, at int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, 2000)
	n, err := f.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = fmt.Fprintf(w, "It begins: %s\n", display.Printable(fmt.Sprintf("%q", b[:n])))
	return err
}
