// SPDX-License-Identifier: Apache-2.0

package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	api "github.com/wildgraph/wildgraph/graphrag/serve"
)

// settings has the parsed flags.
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

// The titles of the help that other programs do not have.
const (
	toAsk = "What to ask"
	how   = "How"
)

const about = "Answers questions over a folder of files, with the lines that say so.\n\n" +
	"  ask -docs FOLDER \"question\"    one question\n" +
	"  ask -docs FOLDER               a dialogue\n" +
	"  ask -docs FOLDER -serve :8080  a page in the browser\n" +
	"  ask -docs FOLDER -mcp          a server for the Model Context Protocol"

// flags returns the flags of the program, some of which it shares with programs for benchmarks.
func (s *settings) flags(system *string, shared []cli.Flag) []cli.Flag {
	table := []cli.Flag{
		{Name: "docs", Group: toAsk, Value: &s.docs, Key: cli.NoKey, Usage: "the `FOLDER` of files, or one file"},
		{Name: "store", Group: toAsk, Value: &s.store, Key: cli.NoKey, Usage: "`FOLDER` of a store: with -docs, a folder or rows of JSONL or CSV, it is indexed there; without, it answers what was indexed. For corpora larger than memory -system is bm25, or naiverag with -embed-model; of others documents and paid replies are kept there"},
		{Name: "where", Group: toAsk, Value: func(v string) error {
			s.where = new(graphrag.Condition)
			return s.where.UnmarshalText([]byte(v))
		}, Key: cli.NoKey, Usage: "`CONDITION` that limits questions to some files, such as 'folder = \"notes\" and year >= 2024'; the fields are those of front matter, folder and kind"},
		{Name: "questions", Group: toAsk, Value: &s.questions, Key: cli.NoKey, Usage: "`FILE` of questions, one a line or JSONL with \"question\" and perhaps \"id\"; \"-\" is the standard input; the answers are JSONL"},
		{Name: "serve", Group: toAsk, Value: &s.serve, Key: cli.NoKey, Usage: "answer on a page at this `ADDR` of this machine, such as :8080"},
		{Name: "tokens", Group: toAsk, Value: &s.tokenFile, Key: cli.NoKey, Usage: "with -serve: the `FILE` of those who may ask from elsewhere, {\"TOKEN\": {\"scope\": \"team = \\\"ops\\\"\"}}; without the page, for chat programs in OpenAI's form"},
		{Name: "mcp", Group: toAsk, Value: &s.mcp, Key: cli.NoKey, Usage: "answer to a program by the Model Context Protocol, on the standard input and output"},
		{Name: "watch", Group: toAsk, Value: &s.watch, Key: cli.NoKey, Usage: "look at the files every two seconds, not at questions alone, so that a new index is ready before it is asked; says what changed"},
		{Name: "system", Group: how, Value: system, Key: cli.NoKey, Default: wild.Name, Usage: "`NAME` of the system that searches: " + all.Shown(all.Names())},
		{Name: "k", Group: how, Value: &s.k, Key: cli.NoKey, Check: cli.AtLeast(&s.k, 0), Usage: "the number of passages that are read for an answer (default: 5, or with -model 2,000 tokens if that is more; twice as much for an overview)"},
		{Name: "index", Group: how, Value: &s.index, Key: cli.NoKey, Usage: "`DIR` of the index (default: a folder of the user's cache, named for -docs and -system)"},
		{Name: "incomplete", Group: how, Value: &s.incomplete, Key: cli.NoKey, Usage: "answer also if the model failed at more than half of the passages when the index was made"},
		{Name: "json", Group: setup.GroupOutput, Value: &s.json, Key: cli.NoKey, Usage: "write the answer as JSON"},
		{Name: "v", Group: setup.GroupOutput, Value: &s.verbose, Key: cli.NoKey, Usage: "write the passages that were found as well, with their scores"},
		{Name: "trace", Group: setup.GroupOutput, Value: &s.trace, Key: cli.NoKey, Usage: "write where time and money of the index and the answers went to this `FILE`: spans as OTLP in JSON, which Jaeger opens; with -serve the page shows them"},
		{Name: "encode-all", Group: setup.GroupModels, Value: &s.encodeAll, Key: cli.NoKey, Usage: "compare a question with all passages by -embed-model, encoded when the index is made; else with those of the pages that are best by words, encoded when they are first asked for (-system wild)"},
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
	const among = "40" // pages whose passages are encoded: about 70 of 180 tokens, in less than two seconds on two cores
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
			s.system, _ = s.system.With("pages.among", among) // -set may change it
		}
		s.system, problems = s.Changed(s.system)
		if lacks := s.system.Lacks(); lacks != "" && len(problems) == 0 {
			problems = append(problems, fmt.Errorf("-system %s %s", s.system.Name, lacks))
		}
	}
	if s.docs == "" && s.store != "" {
		// it is indexed already
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
		problems = append(problems, errors.New("one of a question, -questions, -serve and -mcp"))
	}
	if s.store != "" && (s.questions != "" || s.mcp || s.watch || s.docs == "" && s.question == "" && s.serve == "" && s.stores.Flags == nil) { // further flags may make it a worker
		problems = append(problems, errors.New("-store goes with a question or -serve, or with -docs alone"))
	}
	if s.trace != "" && s.serve != "" {
		problems = append(problems, errors.New("-trace and -serve: the page shows the time of each answer"))
	}
	if s.tokenFile != "" {
		if s.serve == "" {
			problems = append(problems, errors.New("-tokens goes with -serve"))
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
