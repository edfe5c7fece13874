// SPDX-License-Identifier: Apache-2.0

// Command judgecheck measures how far a judge agrees with people: it reads
// question-answer pairs that people have labelled, has the judge label them
// too, and prints agreement, Cohen's kappa, the confusion matrix and intervals.
//
//	go run ./examples/judgecheck [-in FILE] [-model NAME]
//	go run ./examples/judgecheck -data DIR
//	go run ./examples/judgecheck -pairwise A.jsonl,B.jsonl -model NAME
//
// With -data the pairs are answers to questions of a checkout of WildGraphBench
// that the program makes again, by four frozen systems, and knows by their hashes;
// -half chooses those on which rules were developed, or the others. With -pairwise a
// model says which of two systems' answers are the better ones.
//
// A line of the file is a JSON object with the keys question, reference,
// answer and label (0 or 1), and optionally label2, a second person's label:
// with it the agreement of the two people is printed as the ceiling. Without
// -in a small labelled sample is used, without -model the lexical judge, which
// needs no network. The exit code is 0 if all went well, 1 if -min-kappa is
// missed or the judge fails, 2 for bad flags and bad lines, 3 if more pairs than
// -max-unscored are left without a verdict or the program was stopped.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/joint"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/judge/pairwise"
	"github.com/wildgraph/wildgraph/judge/paper"
	"github.com/wildgraph/wildgraph/judge/upstream"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/langchain"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

//go:embed sample.jsonl
var sample string

// The kinds of failure that have an exit code of their own.
var (
	errMissed = errors.New("missed")
	// errUnscored stands above errMissed: a kappa over some of the pairs
	// decides nothing.
	errUnscored = errors.New("incomplete")
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	os.Exit(exitCode(err, os.Stderr))
}

// exitCode prints the error and returns the exit status.
func exitCode(err error, stderr io.Writer) int {
	code := cli.Fail(stderr, "judgecheck", err)
	if code == cli.Failed && (errors.Is(err, errUnscored) || errors.Is(err, context.Canceled)) {
		return 3
	}
	return code
}

// settings are the flags.
type settings struct {
	in, model, profile, cache string
	data, half                string
	pairwise                  []string // two files
	cases                     []pairwise.Case
	alone                     int // questions of one of the files
	minKappa                  float64
	maxUnscored               int
	show                      bool
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := cli.NewFlags("judgecheck")
	flags.StringVar(&s.in, "in", "", "`FILE` of labelled pairs, one JSON object per line (default: a shipped sample)")
	flags.StringVar(&s.model, "model", "", "`NAME` of a language model that judges; its server comes from OPENAI_BASE_URL and OPENAI_API_KEY, or OLLAMA_HOST (default: none, the lexical judge)")
	flags.StringVar(&s.cache, "cache", "", "`FILE` of the model's replies, shared by runs and programs (default: wildgraph/replies.journal in the user's cache folder)")
	flags.StringVar(&s.profile, "profile", joint.Profile, "joint, paper or upstream; how a model judges")
	flags.StringVar(&s.data, "data", "", "`DIR` of a WildGraphBench checkout: judge labelled answers to its questions")
	flags.StringVar(&s.half, "half", "", "with -data: development or heldout (default: both)")
	flags.Func("pairwise", "two `FILES` of predictions, with a comma between them, as a report folder has them: which answers does the model prefer?", func(v string) error {
		if s.pairwise = strings.Split(v, ","); len(s.pairwise) != 2 {
			return errors.New("want two files, with a comma between them")
		}
		return nil
	})
	flags.Float64Var(&s.minKappa, "min-kappa", -1, "fail below this kappa")
	flags.IntVar(&s.maxUnscored, "max-unscored", 0, "fail with more pairs than this that the judge left unscored")
	flags.BoolVar(&s.show, "show", false, "show the pairs on which judge and label differ")
	if err := cli.Parse(flags, args, stderr); err != nil {
		return s, err
	}
	var problems []string
	if flags.NArg() > 0 {
		problems = append(problems, fmt.Sprintf("unexpected argument %q", flags.Arg(0)))
	}
	if !slices.Contains([]string{joint.Profile, paper.Profile, upstream.Profile}, s.profile) {
		problems = append(problems, fmt.Sprintf("-profile %q is none of joint, paper, upstream", s.profile))
	}
	if s.in != "" && s.data != "" {
		problems = append(problems, "-in and -data are two sets of pairs: choose one")
	}
	if !slices.Contains([]string{"", "development", "heldout"}, s.half) || s.half != "" && s.data == "" {
		problems = append(problems, fmt.Sprintf("-half %q: want development or heldout, and -data", s.half))
	}
	if s.profile != joint.Profile && s.model == "" {
		problems = append(problems, "-profile needs -model")
	}
	if s.pairwise != nil && (s.model == "" || s.in != "" || s.data != "") {
		problems = append(problems, "-pairwise needs -model, and neither -in nor -data: only a model can say which answer is better")
	}
	if s.maxUnscored < 0 {
		problems = append(problems, fmt.Sprintf("-max-unscored %d is negative", s.maxUnscored))
	}
	if len(problems) > 0 {
		return s, cli.Usagef("%s", strings.Join(problems, "; "))
	}
	var err error
	if s.pairwise != nil {
		s.cases, s.alone, err = common([2]string(s.pairwise))
	}
	return s, cli.Usage(err)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if s.pairwise != nil {
		m, closeCache, err := openModel(s)
		if err != nil {
			return err
		}
		defer closeCache()
		return compareFiles(ctx, stdout, m, s)
	}
	if s.data != "" {
		j, closeCache, err := newJudge(s)
		if err != nil {
			return err
		}
		defer closeCache()
		return checkLabels(ctx, stdout, j, os.DirFS(s.data), s)
	}
	name, in := "the shipped sample", io.Reader(strings.NewReader(sample))
	if s.in != "" {
		f, err := os.Open(s.in)
		if err != nil {
			return cli.Usage(err)
		}
		defer func() { _ = f.Close() }() // only read
		name, in = s.in, f
	}
	pairs, err := readPairs(name, in)
	if err != nil {
		return cli.Usage(err)
	}
	j, closeCache, err := newJudge(s)
	if err != nil {
		return err
	}
	defer closeCache()
	verdicts, usage, err := judgeAll(ctx, j, pairs)
	if err != nil {
		return err
	}
	r, err := newReport(j.Name(), name, pairs, verdicts)
	if err != nil {
		return err
	}
	r.usage = usage
	r.print(stdout)
	if s.show {
		r.printWrong(stdout)
	}
	return r.check(s)
}

// newJudge makes the judge, and what is to be called when it is done.
func newJudge(s settings) (judge.Judge, func(), error) {
	if s.model == "" {
		j, err := lexical.New(judge.Options{})
		return j, func() {}, err
	}
	m, closeCache, err := openModel(s)
	if err != nil {
		return nil, nil, err
	}
	var j judge.Judge
	switch s.profile {
	case upstream.Profile:
		j, err = upstream.New(m, upstream.Options{})
	case paper.Profile:
		j, err = paper.New(m, paper.Options{})
	default:
		j, err = joint.New(m, joint.Options{})
	}
	if err != nil {
		closeCache()
		return nil, nil, fmt.Errorf("-model %s: %w", s.model, err)
	}
	return j, closeCache, nil
}

// openModel connects to the model. Its replies are kept: nothing is paid for twice.
func openModel(s settings) (llm.Model, func(), error) {
	provider, err := langchain.ProviderFromEnv(transport.Options{Logger: cli.NewLogger(os.Stderr)})
	if err != nil {
		return nil, nil, fmt.Errorf("-model %s: %w", s.model, err)
	}
	if s.cache == "" {
		if s.cache, err = paid.UserFile(); err != nil {
			return nil, nil, err
		}
	}
	client, err := paid.Open(paid.Options{Provider: provider, File: s.cache})
	if err != nil {
		return nil, nil, fmt.Errorf("-cache: %w", err)
	}
	m, err := client.Model(s.model)
	if err != nil {
		_ = client.Close()
		return nil, nil, fmt.Errorf("-model %s: %w", s.model, err)
	}
	return m, func() { _ = client.Close() }, nil // every reply was synced as it came
}

// judgeAll labels the pairs in order.
func judgeAll(ctx context.Context, j judge.Judge, pairs []pair) ([]judge.Verdict, llm.Usage, error) {
	out := make([]judge.Verdict, len(pairs))
	var usage llm.Usage
	for i, p := range pairs {
		f, err := j.Fact(ctx, judge.Case{Question: p.Question, Reference: p.Reference, Answer: p.Answer})
		if err != nil {
			return nil, usage, fmt.Errorf("line %d: %w", p.line, err)
		}
		out[i] = f.Verdict
		usage = usage.Add(f.Usage)
	}
	return out, usage, nil
}
