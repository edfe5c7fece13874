// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/joint"
	"github.com/wildgraph/wildgraph/judge/paper"
	"github.com/wildgraph/wildgraph/judge/upstream"
	"github.com/wildgraph/wildgraph/llm/paid"
)

const (
	kitOffline = kit.NameOffline
	kitModel   = kit.NameModel
)

// settings are the parsed flags.
type settings struct {
	data, check string
	domains     []string
	systems     []string
	listSystems bool
	scores      []score
	graphs      []corpus
	minima      []minimum
	partial     bool
	limit       int

	topKQA, topKSummary     int
	sweepTopK               []int
	chunkSize, chunkOverlap int
	chunksPerPage           int

	kit, indexKit, answerKit      string
	model, embedModel, judgeModel string
	mode                          string
	precisionRef                  string
	judgeProfiles                 []string
	judgeNoParameters, grounded   bool

	out, cache   string
	budgetTokens int
	budgetMoney  float64
	priceList    *paid.Prices
	dryRun       bool
	replyTokens  int
	concurrency  int
	seed         uint64
	noTimings    bool
	maxFailed    float64
	retry        bool
}

// parse reads the command line. Every problem it can see without looking at
// the data is reported at once. systems are the names there are.
func parse(args []string, getenv func(string) string, stderr io.Writer, systems []string) (settings, error) {
	var s settings
	fs := flag.NewFlagSet("wildgraphbench", flag.ContinueOnError)
	fs.Usage = func() {
		fmt.Fprint(stderr, "Usage: wildgraphbench [flags]\n\n"+
			"Runs question-answering systems over WildGraphBench and writes a report folder.\n"+
			"Without flags: every system on the small sample shipped with the program, offline.\n\n")
		fs.PrintDefaults()
	}
	fs.StringVar(&s.data, "data", "", "`DIR` of a WildGraphBench checkout (default: the shipped sample)")
	fs.StringVar(&s.check, "check", "", "print what is odd in the checkout in `DIR`, and run nothing")
	list(fs, &s.domains, "domains", "comma-separated `LIST` of domains (default: all present)")
	list(fs, &s.systems, "systems", "comma-separated `LIST` of systems (default: all)")
	fs.BoolVar(&s.listSystems, "list-systems", false, "print the names of the systems and exit")
	repeated(fs, &s.scores, "score", "judge the predictions in `NAME=FILE` as one more row (repeatable)", parseScore)
	fs.BoolVar(&s.partial, "partial", false, "let -score take files that answer some of the questions: such a row says how many, and is not compared")
	repeated(fs, &s.minima, "min", "exit with status 1 if a system's figure `KEY=VALUE`, a share from 0 to 1 such as accuracy=0.5, is lower over all questions (repeatable)", parseMinimum)
	fs.IntVar(&s.limit, "limit", 0, "at most `N` questions per domain and type (0 = all)")
	fs.IntVar(&s.topKQA, "topk-qa", 5, "chunks in the prompt of a fact question")
	fs.IntVar(&s.topKSummary, "topk-summary", 10, "chunks in the prompt of a summary question")
	fs.Func("sweep-topk", "ask the summary questions also with every top-k of `RANGE`, e.g. 2..12; a finished run goes on from there", func(v string) (err error) {
		s.sweepTopK, err = parseSweep(v)
		return err
	})
	repeated(fs, &s.graphs, "graph", "index the corpus in `NAME=PATH`, a folder of texts or a JSON file, and describe its graph as well (repeatable)", parseCorpus)
	fs.IntVar(&s.chunkSize, "chunk-size", chunk.DefaultSize, "tokens per chunk (cl100k)")
	fs.IntVar(&s.chunkOverlap, "chunk-overlap", chunk.DefaultOverlap, "tokens shared by neighbouring chunks")
	fs.IntVar(&s.chunksPerPage, "chunks-per-page", 0, "at most `N` chunks of one page in a ranking (0 = no limit)")
	fs.StringVar(&s.kit, "kit", "", "offline or model: the parts that index and those that answer (default: model when -model is given, else offline)")
	fs.StringVar(&s.indexKit, "index-kit", "", "offline or model: the parts that index (default: those of -kit)")
	fs.StringVar(&s.answerKit, "answer-kit", "", "offline or model: the parts that answer and judge (default: those of -kit)")
	fs.StringVar(&s.model, "model", getenv("WILDGRAPH_MODEL"), "`NAME` of the answering model (default: $WILDGRAPH_MODEL)")
	fs.StringVar(&s.embedModel, "embed-model", getenv("WILDGRAPH_EMBED_MODEL"), "`NAME` of the embedding model (default: $WILDGRAPH_EMBED_MODEL, else LSA)")
	fs.StringVar(&s.judgeModel, "judge-model", getenv("WILDGRAPH_JUDGE_MODEL"), "`NAME` of the judging model (default: $WILDGRAPH_JUDGE_MODEL, else the answering model)")
	fs.StringVar(&s.mode, "mode", string(reader.Open), "open (may use own knowledge) or reject (must refuse without evidence)")
	list(fs, &s.judgeProfiles, "judge-profile", "comma-separated `LIST` of joint, paper and upstream: how a model judges; each further one judges the same answers again, into a folder of its name (default: joint)")
	fs.BoolVar(&s.grounded, "grounded", false, "also judge whether the evidence supports all of an answer: one more call an answer, with the evidence")
	fs.BoolVar(&s.judgeNoParameters, "judge-no-parameters", false, "with the profile upstream: send no temperature and no limit of its own, for models that refuse them")
	fs.StringVar(&s.precisionRef, "precision-ref", string(judge.RefGold), "gold, section, evidence or none: what the precision of a summary is held against")
	fs.StringVar(&s.out, "out", "", "report folder `DIR`; a run goes on from what is there and adds what is new (default: a folder under ./"+defaultOut+" named for the configuration)")
	fs.StringVar(&s.cache, "cache", "", "`FILE` of models' replies, shared by runs and programs (default: wildgraph/replies.journal in the user's cache folder)")
	fs.IntVar(&s.budgetTokens, "budget-tokens", 0, "stop before model calls exceed `N` tokens (0 = no limit)")
	fs.Float64Var(&s.budgetMoney, "budget-money", 0, "stop before model calls cost more than `AMOUNT`, in the currency of -prices (0 = no limit)")
	prices := fs.String("prices", "", "`FILE` of dated prices per million tokens, see docs/offline.md")
	fs.BoolVar(&s.dryRun, "dry-run", false, "print the expected calls and tokens, and call nothing")
	fs.IntVar(&s.replyTokens, "reply-tokens", paid.DefaultReplyTokens, "most tokens a model's reply may have; raise it for models that think aloud")
	fs.IntVar(&s.concurrency, "concurrency", 0, "questions answered at a time, and the most model calls in flight (0 = number of CPUs, with a model 8)")
	fs.Uint64Var(&s.seed, "seed", 1, "seed of everything random")
	fs.Float64Var(&s.maxFailed, "max-failed", benchmark.DefaultMaxFailed, "largest `SHARE` of failed pieces, from indexing to judging, with which a system is compared")
	fs.BoolVar(&s.retry, "retry", false, "ask again for everything without a score, and build again every index of which a part failed (without it: where the cause may have passed)")
	fs.BoolVar(&s.noTimings, "no-timings", false, "leave clock and memory figures out, so that equal runs give equal bytes")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return s, err
	}
	if fs.NArg() > 0 {
		return s, cli.Usagef("unexpected argument %q", fs.Arg(0))
	}
	given := make(map[string]bool)
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var noOut error
	if given["out"] && s.out == "" {
		noOut = errors.New("-out is empty: name a folder, or leave the flag out")
	}
	for i, name := range s.systems { // in any case
		if at := slices.IndexFunc(systems, func(known string) bool { return strings.EqualFold(known, name) }); at >= 0 {
			s.systems[i] = systems[at]
		}
	}
	err := s.defaults(given)
	return s, s.validate(given, systems, noOut, err, s.readPrices(*prices))
}

// list is a flag of names separated by commas.
func list(fs *flag.FlagSet, to *[]string, name, usage string) {
	fs.Func(name, usage, func(v string) error {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(*to, part) {
				*to = append(*to, part)
			}
		}
		if len(*to) == 0 {
			return errors.New("an empty list")
		}
		return nil
	})
}

// repeated is a flag that may be given several times, each time with another
// name.
func repeated[T any](fs *flag.FlagSet, to *[]T, name, usage string, parse func(string) (T, error)) {
	given := make(map[string]bool)
	fs.Func(name, usage, func(v string) error {
		key, _, _ := strings.Cut(v, "=")
		one, err := parse(v)
		if err == nil && given[key] {
			err = fmt.Errorf("%q is given twice", key)
		}
		given[key] = true
		*to = append(*to, one)
		return err
	})
}

// defaults chooses the kits: the model kit when a model is named, unless the
// offline kit was asked for; then the files.
func (s *settings) defaults(given map[string]bool) (err error) {
	if s.kit == "" {
		s.kit = kitOffline
		if s.model != "" {
			s.kit = kitModel
		}
	}
	if len(s.judgeProfiles) == 0 {
		s.judgeProfiles = []string{joint.Profile}
	}
	s.indexKit, s.answerKit = cmp.Or(s.indexKit, s.kit), cmp.Or(s.answerKit, s.kit)
	// Names from the environment do not matter without a use for them.
	for flag, name := range map[string]struct {
		of   *string
		used bool
	}{"model": {&s.model, s.paid()}, "embed-model": {&s.embedModel, s.indexKit == kitModel}, "judge-model": {&s.judgeModel, s.answerKit == kitModel}} {
		if !name.used && !given[flag] {
			*name.of = ""
		}
	}
	if s.answerKit == kitModel && s.judgeModel == "" {
		s.judgeModel = s.model
	}
	if s.out == "" {
		s.out = filepath.Join(defaultOut, s.folder())
	}
	if s.concurrency == 0 && s.paid() {
		s.concurrency = callsInFlight
	}
	if s.cache == "" && s.paid() {
		s.cache, err = paid.UserFile()
	}
	return err
}

// kitName names the kinds of both parts, as in reports.
func (s settings) kitName() string { return kit.Kit{Index: s.indexKit, Answer: s.answerKit}.Name() }

// paid tells whether models are called.
func (s settings) paid() bool { return s.indexKit == kitModel || s.answerKit == kitModel }

// defaultOut holds the report folders that -out does not name.
const defaultOut = "wildgraphbench-out"

// folder names what decides the answers, and the top-k: a run with more systems,
// questions or judges finds the records there.
func (s settings) folder() string {
	parts := []string{"sample", s.kitName()}
	if dir, err := filepath.Abs(s.data); s.data != "" && err == nil {
		parts[0] = filepath.Base(dir)
	}
	if s.paid() {
		parts[1] = s.model
	}
	values := s.decisive()
	values["kit"], values["topk"] = s.kitName(), s.topK()
	if r, err := record.NewSettings(values); err == nil { // they can be written as JSON
		parts = append(parts, r.Digest[:8])
	}
	return strings.Map(func(r rune) rune {
		if benchmark.ValidName("a" + string(r)) {
			return r
		}
		return '_'
	}, strings.Join(parts, "-"))
}

// topK are the chunks in a prompt by the type of the question.
func (s settings) topK() map[string]int {
	return map[string]int{wildgraph.SingleFact: s.topKQA, wildgraph.MultiFact: s.topKQA, wildgraph.Summary: s.topKSummary}
}

// callsInFlight is how many calls a server bears to begin with, see
// transport.Transport. A question waits for its server, not for a processor.
const callsInFlight = 8

// decisive are the settings that decide the answers.
func (s settings) decisive() map[string]any {
	c := map[string]any{
		"chunk_size": s.chunkSize, "chunk_overlap": s.chunkOverlap, "encoding": tokens.Cl100k().Name(),
		"chunks_per_page": s.chunksPerPage, "mode": s.mode, "seed": s.seed,
	}
	if s.paid() {
		c["model"], c["embed_model"] = s.model, s.embedModel
		if s.replyTokens != paid.DefaultReplyTokens {
			c["reply_tokens"] = s.replyTokens
		}
	}
	return c
}

// descriptive is what else a reader of the report wants to know.
func (s settings) descriptive(profile string) map[string]any {
	c := map[string]any{
		"topk_qa": s.topKQA, "topk_summary": s.topKSummary,
		"judge_profile": profile, "precision_ref": s.precisionRef, "grounded": s.grounded,
	}
	if s.answerKit == kitModel {
		c["judge_model"] = s.judgeModel
	}
	return c
}

// readPrices reads the file of -prices, if there is one.
func (s *settings) readPrices(name string) error {
	if name == "" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("-prices: %w", err)
	}
	defer f.Close()
	if s.priceList, err = paid.ReadPrices(f); err != nil {
		return fmt.Errorf("-prices %s: %w", name, err)
	}
	return nil
}

// validate checks the flags; systems are the names there are, earlier the
// problems already known.
func (s *settings) validate(given map[string]bool, systems []string, earlier ...error) error {
	problems := slices.DeleteFunc(earlier, func(err error) bool { return err == nil })
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	oneOf := func(flag, v string, allowed ...string) {
		if !slices.Contains(allowed, v) {
			bad("-%s %q is none of %s", flag, v, strings.Join(allowed, ", "))
		}
	}
	atLeast := func(flag string, v, least int) {
		if v < least {
			bad("-%s %d is less than %d", flag, v, least)
		}
	}
	oneOf("kit", s.kit, kitOffline, kitModel)
	if given["index-kit"] || given["answer-kit"] {
		oneOf("index-kit", s.indexKit, kitOffline, kitModel)
		oneOf("answer-kit", s.answerKit, kitOffline, kitModel)
	}
	oneOf("mode", s.mode, string(reader.Open), string(reader.Reject))
	for _, profile := range s.judgeProfiles {
		oneOf("judge-profile", profile, joint.Profile, paper.Profile, upstream.Profile)
	}
	oneOf("precision-ref", s.precisionRef, string(judge.RefGold), string(judge.RefSection), string(judge.RefEvidence), string(judge.RefNone))
	atLeast("limit", s.limit, 0)
	atLeast("topk-qa", s.topKQA, 1)
	atLeast("topk-summary", s.topKSummary, 1)
	atLeast("chunk-size", s.chunkSize, 1)
	atLeast("chunk-overlap", s.chunkOverlap, 0)
	atLeast("chunks-per-page", s.chunksPerPage, 0)
	atLeast("budget-tokens", s.budgetTokens, 0)
	atLeast("concurrency", s.concurrency, 0)
	atLeast("reply-tokens", s.replyTokens, 1)
	if s.budgetMoney < 0 || s.budgetMoney != s.budgetMoney {
		bad("-budget-money %v is less than 0", s.budgetMoney)
	}
	if !(s.maxFailed >= 0 && s.maxFailed <= 1) {
		bad("-max-failed %v is not within 0 and 1", s.maxFailed)
	}
	if s.budgetMoney > 0 && s.priceList == nil {
		bad("-budget-money needs -prices FILE: this program knows no prices")
	}
	if s.chunkOverlap >= s.chunkSize && s.chunkSize >= 1 {
		bad("-chunk-overlap %d is not less than -chunk-size %d", s.chunkOverlap, s.chunkSize)
	}
	if s.paid() && s.model == "" {
		bad("-kit model needs -model NAME (or $WILDGRAPH_MODEL)")
	}
	for flag, needs := range map[string]string{"model": "kit", "budget-tokens": "kit", "budget-money": "kit", "embed-model": "index-kit", "judge-model": "answer-kit"} {
		has := map[string]bool{"kit": s.paid(), "index-kit": s.indexKit == kitModel, "answer-kit": s.answerKit == kitModel}
		if given[flag] && !has[needs] {
			bad("-%s needs -%s model", flag, needs)
		}
	}
	if s.grounded && slices.Contains(s.judgeProfiles, upstream.Profile) {
		bad("-grounded is no part of -judge-profile upstream")
	}
	if given["judge-profile"] && s.answerKit == kitOffline {
		bad("-judge-profile needs -answer-kit model: it is the procedure of a model")
	}
	for flag, dir := range map[string]string{"data": s.data, "check": s.check} {
		if info, err := os.Stat(dir); given[flag] && err != nil {
			bad("-%s: %v", flag, err)
		} else if given[flag] && !info.IsDir() {
			bad("-%s %s is not a folder", flag, dir)
		}
	}
	for _, sc := range s.scores {
		if info, err := os.Stat(sc.file); err != nil {
			bad("-score %s: %v", sc.name, err)
		} else if !info.Mode().IsRegular() {
			bad("-score %s: %s is not a file", sc.name, sc.file)
		}
		if slices.Contains(systems, sc.name) {
			bad("-score %s: one of our systems has this name", sc.name)
		}
	}
	for _, name := range s.systems {
		if !slices.Contains(systems, name) {
			meant := ""
			if near := cli.Nearest(name, systems); near != "" {
				meant = fmt.Sprintf(", did you mean %s?", near)
			}
			bad("-systems: unknown system %q%s; there are %s", name, meant, strings.Join(systems, ", "))
		}
	}
	if len(problems) > 0 {
		return cli.Usage(errors.Join(problems...))
	}
	return nil
}
