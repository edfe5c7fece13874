// SPDX-License-Identifier: Apache-2.0

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
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	api "github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Stores opens the stores that -store can name. The zero value opens folders.
type Stores struct {
	// Open opens the store that -store names, read-only if reading is set.
	Open func(ctx context.Context, place string, reading bool) (store.Store, error)
	// Flags, if set, declares further flags of the program.
	Flags func(*flag.FlagSet)
	// Share, if set, takes a part in writing the replies of an index, together with other processes. ended is
	// true for a worker, a process without documents, which ends then.
	Share func(ctx context.Context, x *index.Index, worker bool, log io.Writer) (ended bool, err error)
}

// Main runs ask with the command line of the process, and ends the process.
func Main(stores Stores) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Fail(os.Stderr, "ask", run(ctx, os.Args[1:], os.Getenv, streams{os.Stdin, os.Stdout, os.Stderr}, stores)))
}

// streams are the standard streams of a process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run runs the program with these arguments, environment and streams.
func run(ctx context.Context, args []string, getenv func(string) string, std streams, stores Stores) (err error) {
	const patience = 3 * time.Second // time after which the reason for waiting is printed
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
		defer done.Wait() // waits before the session is closed
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

// writeTrace writes the recorded spans to a file.
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

// progress prints the number of files read so far, every second.
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
				return nil, fmt.Errorf("line %d is not an object with a \"question\": %w", n, cmp.Or(err, errors.New("the key is missing")))
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

// batch answers a file of questions concurrently, and writes the replies, or their errors, in order.
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
	failed, next := 0, 0 // next is the index of the first reply that is not written yet
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
		return fmt.Errorf("%d of %d questions failed: see the errors in their lines", failed, len(questions))
	}
	return nil
}

// settings are the parsed flags.
type settings struct {
	setup.Settings
	docs, index, question, questions string
	store                            string
	stores                           Stores
	system                           all.System
	k                                int
	json, verbose, mcp, incomplete   bool
	watch, encodeAll                 bool
	serve                            string
	where                            *graphrag.Condition
	tokenFile, trace                 string
	tokens                           map[string]api.Token
}

// parse reads the command line and returns all errors.
func parse(args []string, getenv func(string) string, stderr io.Writer, more func(*flag.FlagSet)) (settings, error) {
	s := settings{stores: Stores{Flags: more}}
	fs := cli.NewFlags("ask")
	system := new(string)
	s.Declare(fs, stderr, about, s.flags(system, s.Flags(getenv, "")), toAsk, how, setup.GroupOutput, setup.GroupModels)
	if more != nil {
		more(fs)
	}
	if err := cli.Parse(fs, args, stderr); err != nil {
		return s, err
	}
	problems := s.Complete(fs, all.Names())
	if s.ShowPrompts {
		return s, cli.Usage(errors.Join(problems...))
	}
	problems = append(problems, s.readQuestion(fs)...)
	if info, err := os.Stat(s.index); err == nil && !info.IsDir() {
		problems = append(problems, fmt.Errorf("-index %s is a file: choose a folder (it is created if missing)", s.index))
	}
	return s, cli.Usage(errors.Join(append(problems, s.check(*system)...)...))
}

// Titles of groups of flags in the help that only this program has.
const (
	toAsk = "What to ask"
	how   = "How"
)

const about = "Answers questions over a folder of files, with the lines that say so.\n\n" +
	"  ask -docs FOLDER \"question\"    one question\n" +
	"  ask -docs FOLDER               a dialogue\n" +
	"  ask -docs FOLDER -serve :8080  a page in the browser\n" +
	"  ask -docs FOLDER -mcp          a server for the Model Context Protocol"

// flags returns the flags of this program. It changes defaults and texts of those that it shares with others.
func (s *settings) flags(system *string, shared []cli.Flag) []cli.Flag {
	table := []cli.Flag{
		{Name: "docs", Group: toAsk, Value: &s.docs, Key: cli.NoKey, Usage: "the `FOLDER` of files, or one file"},
		{Name: "store", Group: toAsk, Value: &s.store, Key: cli.NoKey, Usage: "`FOLDER` of a store: with -docs, a folder or a file of rows (JSONL, CSV), the documents are indexed in it; without -docs, questions are answered from it. Corpora larger than memory need -system bm25, or naiverag with -embed-model; for other systems the store keeps only documents and paid replies"},
		{Name: "where", Group: toAsk, Value: func(v string) error {
			s.where = new(graphrag.Condition)
			return s.where.UnmarshalText([]byte(v))
		}, Key: cli.NoKey, Usage: "`CONDITION` that limits questions to some files, such as 'folder = \"notes\" and year >= 2024'; the fields are folder, kind, and the fields of front matter"},
		{Name: "questions", Group: toAsk, Value: &s.questions, Key: cli.NoKey, Usage: "`FILE` of questions, one a line or JSONL with \"question\" and perhaps \"id\"; \"-\" is the standard input; the answers are JSONL"},
		{Name: "serve", Group: toAsk, Value: &s.serve, Key: cli.NoKey, Usage: "serve a web page for questions at this `ADDR` of this machine, such as :8080"},
		{Name: "tokens", Group: toAsk, Value: &s.tokenFile, Key: cli.NoKey, Usage: "with -serve: `FILE` of the tokens with which other machines may ask, {\"TOKEN\": {\"scope\": \"team = \\\"ops\\\"\"}}; serves an API in OpenAI's form for chat programs, and no page"},
		{Name: "mcp", Group: toAsk, Value: &s.mcp, Key: cli.NoKey, Usage: "serve a program by the Model Context Protocol, on the standard input and output"},
		{Name: "watch", Group: toAsk, Value: &s.watch, Key: cli.NoKey, Usage: "look for changed files every two seconds, not only when a question is asked, so that the index is up to date by then; prints the changes"},
		{Name: "system", Group: how, Value: system, Key: cli.NoKey, Default: wild.Name, Usage: "`NAME` of the system that searches: " + all.Shown(all.Names())},
		{Name: "k", Group: how, Value: &s.k, Key: cli.NoKey, Check: cli.AtLeast(&s.k, 0), Usage: "the number of passages that are read for an answer (default: 5, or with -model 2,000 tokens if that is more; twice as much for an overview)"},
		{Name: "index", Group: how, Value: &s.index, Key: cli.NoKey, Usage: "`DIR` of the index (default: a folder of the user's cache, named for -docs and -system)"},
		{Name: "incomplete", Group: how, Value: &s.incomplete, Key: cli.NoKey, Usage: "answer even if the model failed at more than half of the passages when the index was made"},
		{Name: "json", Group: setup.GroupOutput, Value: &s.json, Key: cli.NoKey, Usage: "write the answer as JSON"},
		{Name: "v", Group: setup.GroupOutput, Value: &s.verbose, Key: cli.NoKey, Usage: "write the passages that were found as well, with their scores"},
		{Name: "trace", Group: setup.GroupOutput, Value: &s.trace, Key: cli.NoKey, Usage: "write the time and cost of each step of indexing and answering to this `FILE`: spans as OTLP in JSON, which Jaeger opens; with -serve the page shows them"},
		{Name: "encode-all", Group: setup.GroupModels, Value: &s.encodeAll, Key: cli.NoKey, Usage: "with -embed-model and -system wild: encode all passages when the index is made, and compare a question with all (without it: encode the passages of the pages that are best by words, when a question needs them)"},
	}
	table = append(table, cli.In(how, shared, "mode", "set", "kg", "schema", "seed")...)
	table = append(table, cli.In(setup.GroupModels, shared, "model", "embed-model", "embed-int8", "rerank-model", "name-model", "span-model",
		"kit", "index-kit", "answer-kit", "prompt", "show-prompts", "reply-tokens", "temperature", "concurrency", "prices", "cache")...)
	for i := range table {
		switch f := &table[i]; f.Name {
		case "mode":
			f.Default, f.Usage = reader.Reject, "reject, cited (refuse also what no passage is cited for) or open: what to do when the folder does not hold the answer"
		case "model":
			f.Usage = "`NAME` of a language model that answers, and builds graphs where -system has one (default: none, sentences are quoted)"
		}
	}
	return table
}

// readQuestion reads the question after the flags.
func (s *settings) readQuestion(fs *flag.FlagSet) []error {
	var problems []error
	for _, word := range fs.Args() {
		if strings.HasPrefix(word, "-") && len(word) > 1 {
			problems = append(problems, fmt.Errorf("%s follows the question: flags come first", word))
		}
	}
	s.question = strings.Join(fs.Args(), " ")
	if strings.TrimSpace(s.question) == "" && fs.NArg() > 0 {
		problems = append(problems, errors.New("the question is empty: leave it out for a dialogue"))
	}
	return problems
}

// check returns the errors of the flags of this program.
func (s *settings) check(system string) (problems []error) {
	const among = "40" // pages whose 70 passages of 180 tokens are encoded in two seconds on two cores
	var ok bool
	if s.system, ok = all.Find(strings.ToLower(system)); !ok {
		meant := ""
		if near := cli.Nearest(system, all.Names()); near != "" {
			meant = fmt.Sprintf("; did you mean %s?", near)
		}
		problems = append(problems, fmt.Errorf("-system: there is no system %q%s", system, meant))
	} else if s.system.NoDocuments {
		problems = append(problems, fmt.Errorf("-system %s reads no documents", s.system.Name))
	} else if s.system.NeedsModel && !s.ByModel() {
		problems = append(problems, fmt.Errorf("-system %s needs -model NAME: a model decides what it reads", s.system.Name))
	} else {
		if s.system.Name == wild.Name && s.EmbedModel != "" && !s.encodeAll {
			s.system, _ = s.system.With("pages.among", among) // an option of -set can replace it
		}
		s.system, problems = s.Changed(s.system)
		if lacks := s.system.Lacks(); lacks != "" && len(problems) == 0 {
			problems = append(problems, fmt.Errorf("-system %s %s", s.system.Name, lacks))
		}
	}
	if s.docs == "" && s.store != "" {
		// the store is indexed already
	} else if s.docs == "" {
		problems = append(problems, errors.New("name a folder of files, or a file: -docs FOLDER"))
	} else if _, err := os.Stat(s.docs); err != nil {
		problems = append(problems, fmt.Errorf("-docs: %w", err))
	}
	ways := 0
	for _, way := range []bool{s.question != "", s.questions != "", s.serve != "", s.mcp} {
		if way {
			ways++
		}
	}
	if ways > 1 {
		problems = append(problems, errors.New("give only one of a question, -questions, -serve and -mcp"))
	}
	if s.store != "" && (s.questions != "" || s.mcp || s.watch || s.docs == "" && s.question == "" && s.serve == "" && s.stores.Flags == nil) { // further flags may start a worker without documents
		problems = append(problems, errors.New("-store can be used with a question or -serve, or with -docs alone"))
	}
	if s.trace != "" && s.serve != "" {
		problems = append(problems, errors.New("-trace cannot be used with -serve: the page shows the time of each answer"))
	}
	if s.tokenFile != "" {
		if s.serve == "" {
			problems = append(problems, errors.New("-tokens needs -serve"))
		}
		f, err := os.Open(s.tokenFile)
		if err == nil {
			s.tokens, err = api.ReadTokens(f)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("-tokens: %w", err))
		}
	} else if s.serve != "" {
		if _, err := api.Address(s.serve); err != nil {
			problems = append(problems, fmt.Errorf("-serve: %w", err))
		}
	}
	return problems
}
