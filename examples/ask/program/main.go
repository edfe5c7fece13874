// SPDX-License-Identifier: Apache-2.0

// Package program is the command line of ask.
package program

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Stores holds the engines of -store.
type Stores struct {
	// Open opens the store that -store names, read-only if reading is set.
	Open func(ctx context.Context, place string, reading bool) (store.Store, error)
	// Flags declares further flags of the program.
	Flags func(*flag.FlagSet)
	// Share, if set, writes a share of the replies of an index together with other processes. It reports
	// whether the process ends then: a process without documents is a worker.
	Share func(ctx context.Context, x *index.Index, worker bool, log io.Writer) (ended bool, err error)
}

// Main runs ask with the command line of the process, and ends the process. The zero value opens folders.
func Main(stores Stores) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Fail(os.Stderr, "ask", run(ctx, os.Args[1:], os.Getenv, streams{os.Stdin, os.Stdout, os.Stderr}, stores)))
}

// streams has the standard streams of a process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the program without its process.
func run(ctx context.Context, args []string, getenv func(string) string, std streams, stores Stores) (err error) {
	const patience = 3 * time.Second // until the reason for waiting is printed
	s, err := parse(args, getenv, std.err, stores.Flags)
	if err != nil {
		return err
	}
	if s.ShowPrompts {
		s.WritePrompts(std.out)
		return nil
	}
	if s.trace != "" {
		spans := new(trace.Recorder)
		ctx = trace.With(ctx, spans)
		defer func() { err = cmp.Or(writeTrace(s.trace, spans), err) }()
	}
	if s.stores = stores; stores.Open == nil {
		s.stores.Open = openStore
	}
	if s.store != "" {
		return stored(ctx, s, std)
	}
	slow := time.AfterFunc(patience, func() { fmt.Fprintln(std.err, "Indexing … (kept for the next time)") })
	d, err := session.Open(ctx, session.Options{
		Docs: s.docs, Index: s.index, System: s.system, Settings: s.Settings, K: s.k, Where: s.where, Incomplete: s.incomplete,
		Encode: s.question == "" && s.questions == "", Log: cli.NewLogger(std.err), Progress: progress(std.err),
	})
	slow.Stop()
	if err != nil {
		return err
	}
	defer d.Close()
	for _, line := range d.Report(s.verbose) {
		fmt.Fprintln(std.err, display.Printable(line))
	}
	if s.watch {
		watching, end := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() {
			d.Watch(watching, func(c folder.Change) {
				fmt.Fprintf(std.err, "(%d new, %d changed, %d gone)\n", c.Added, c.Changed, c.Deleted)
			})
		})
		defer done.Wait() // before the session is closed
		defer end()
	}
	switch {
	case s.mcp:
		return session.ServeMCP(ctx, d, std.in, std.out)
	case s.serve != "":
		return session.Serve(ctx, d, s.serve, s.tokens, func(address string) {
			what := "Open %s in a browser; Ctrl-C ends it.\n"
			if s.tokens != nil {
				what = "Chat programs ask %sv1; Ctrl-C ends it.\n"
			}
			fmt.Fprintf(std.err, what, address)
		})
	case s.questions != "":
		return batch(ctx, d, s, std)
	case s.question != "":
		return answerOne(ctx, d, s, std.out)
	}
	return dialogue(ctx, d, s, std)
}

// writeTrace writes the spans of the run.
func writeTrace(file string, spans *trace.Recorder) error {
	data, err := json.MarshalIndent(spans, "", " ")
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("-trace: %w", err)
	}
	return nil
}

// answerOne answers one question.
func answerOne(ctx context.Context, d *session.Session, s settings, out io.Writer) error {
	q := session.Query{Question: s.question}
	r, err := session.Reply{}, error(nil)
	if s.json {
		if r, err = d.Ask(ctx, q); err == nil {
			err = writeJSON(out, r, s.verbose)
		}
	} else if r, err = writeAnswer(ctx, d, q, out); err == nil {
		writeSources(out, r, s.verbose)
	}
	if err == nil && r.Refused {
		return cli.ErrNoAnswer
	}
	return err
}

// progress prints the number of files read, every second.
func progress(w io.Writer) func(files int) {
	last := time.Now()
	return func(files int) {
		switch {
		case files <= 1:
			last = time.Now()
		case time.Since(last) > time.Second:
			fmt.Fprintf(w, "Reading … %s files\n", display.Digits(files))
			last = time.Now()
		}
	}
}

// maxQuestion bounds a line of a file of questions or of a dialogue, in bytes.
const maxQuestion = 64 << 10

// fileQuestion is a line of a file of questions.
type fileQuestion struct {
	ID       string `json:"id"`
	Question string `json:"question"`
}

// readQuestions reads questions, one per line, as text or as objects of JSON.
func readQuestions(r io.Reader) (out []fileQuestion, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxQuestion)
	n := 1
	for ; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if !utf8.ValidString(line) {
			return nil, fmt.Errorf("line %d is not UTF-8: save the file as UTF-8", n)
		}
		q := fileQuestion{Question: line}
		if strings.HasPrefix(line, "{") {
			q = fileQuestion{}
			if err := json.Unmarshal([]byte(line), &q); err != nil || strings.TrimSpace(q.Question) == "" {
				return nil, fmt.Errorf("line %d is not an object with a \"question\": %w", n, cmp.Or(err, errors.New("it has none")))
			}
		}
		if q.Question != "" {
			out = append(out, q)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d bytes", n, maxQuestion)
	}
	return out, lines.Err()
}

// batch answers a file of questions concurrently, and writes the replies in order. A reply that failed has
// its error.
func batch(ctx context.Context, d *session.Session, s settings, std streams) error {
	in := std.in
	if s.questions != "-" {
		f, err := os.Open(s.questions)
		if err != nil {
			return cli.Usagef("-questions: %w", err)
		}
		defer f.Close()
		in = f
	}
	questions, err := readQuestions(in)
	if err != nil {
		return fmt.Errorf("-questions %s: %w", s.questions, err)
	}
	failed, next := 0, 0 // next is the first question whose reply is not written
	var mu sync.Mutex
	replies := make([]*session.Reply, len(questions))
	err = kit.Each(ctx, len(questions), func(ctx context.Context, i int) error {
		r, err := d.Ask(ctx, session.Query{Question: questions[i].Question})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		mu.Lock()
		defer mu.Unlock()
		if r.ID = questions[i].ID; err != nil {
			r.Question, r.Error = questions[i].Question, err.Error()
			failed++
		}
		replies[i] = &r
		for ; next < len(replies) && replies[next] != nil; next++ {
			if err := writeJSON(std.out, *replies[next], s.verbose); err != nil {
				return err
			}
			replies[next] = &session.Reply{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d questions failed, as their lines say", failed, len(questions))
	}
	return nil
}
