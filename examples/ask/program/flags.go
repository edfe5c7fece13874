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

// shared lists the flags that the program shares with programs for benchmarks.
var shared = []string{"embed-model", "embed-int8", "rerank-model", "name-model", "span-model", "kit", "index-kit", "answer-kit", "cache", "prices", "reply-tokens", "temperature", "concurrency", "seed", "set", "kg", "schema", "prompt", "show-prompts"}

// parse reads the command line and returns all errors.
func parse(args []string, getenv func(string) string, stderr io.Writer, more func(*flag.FlagSet)) (settings, error) {
	s := settings{stores: Stores{Flags: more}}
	fs := cli.NewFlags("ask")
	fs.Usage = func() { usage(stderr, fs) }
	fs.StringVar(&s.docs, "docs", "", "the `FOLDER` of files, or one file")
	fs.StringVar(&s.store, "store", "", "`FOLDER` of a store: with -docs, a folder or rows of JSONL or CSV, it is indexed there; without, it answers what was indexed. For corpora larger than memory -system is bm25, or naiverag with -embed-model; of others documents and paid replies are kept there")
	fs.Func("where", "`CONDITION` that limits questions to some files, such as 'folder = \"notes\" and year >= 2024'; the fields are those of front matter, folder and kind", func(v string) error {
		s.where = new(graphrag.Condition)
		return s.where.UnmarshalText([]byte(v))
	})
	fs.StringVar(&s.questions, "questions", "", "`FILE` of questions, one a line or JSONL with \"question\" and perhaps \"id\"; \"-\" is the standard input; the answers are JSONL")
	fs.StringVar(&s.serve, "serve", "", "answer on a page at this `ADDR` of this machine, such as :8080")
	fs.StringVar(&s.tokenFile, "tokens", "", "with -serve: the `FILE` of those who may ask from elsewhere, {\"TOKEN\": {\"scope\": \"team = \\\"ops\\\"\"}}; without the page, for chat programs in OpenAI's form")
	fs.BoolVar(&s.mcp, "mcp", false, "answer to a program by the Model Context Protocol, on the standard input and output")
	fs.BoolVar(&s.watch, "watch", false, "look at the files every two seconds, not at questions alone, so that a new index is ready before it is asked; says what changed")
	system := fs.String("system", wild.Name, "`NAME` of the system that searches: "+all.Shown(all.Names()))
	fs.StringVar(&s.Mode, "mode", string(reader.Reject), "reject, cited (refuse also what no passage is cited for) or open: what to do when the folder does not hold the answer")
	fs.IntVar(&s.k, "k", 0, "the number of passages that are read for an answer (default: 5, or with -model 2,000 tokens if that is more; twice as much for an overview)")
	fs.BoolVar(&s.incomplete, "incomplete", false, "answer also if the model failed at more than half of the passages when the index was made")
	fs.StringVar(&s.index, "index", "", "`DIR` of the index (default: a folder of the user's cache, named for -docs and -system)")
	fs.BoolVar(&s.encodeAll, "encode-all", false, "compare a question with all passages by -embed-model, encoded when the index is made; else with those of the pages that are best by words, encoded when they are first asked for (-system wild)")
	fs.BoolVar(&s.json, "json", false, "write the answer as JSON")
	fs.BoolVar(&s.verbose, "v", false, "write the passages that were found as well, with their scores")
	fs.StringVar(&s.trace, "trace", "", "write where time and money of the index and the answers went to this `FILE`: spans as OTLP in JSON, which Jaeger opens; with -serve the page shows them")
	fs.StringVar(&s.Model, "model", getenv("WILDGRAPH_MODEL"), "`NAME` of a language model that answers, and builds graphs where -system has one (default: none, sentences are quoted)")
	everything := cli.NewFlags("ask")
	s.Flags(everything, getenv, "")
	for _, name := range shared {
		f := everything.Lookup(name)
		fs.Var(f.Value, f.Name, f.Usage)
	}
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

// usage writes the help.
func usage(w io.Writer, fs *flag.FlagSet) {
	cli.Help(w, fs, "Answers questions over a folder of files, with the lines that say so.\n\n"+
		"  ask -docs FOLDER \"question\"    one question\n"+
		"  ask -docs FOLDER               a dialogue\n"+
		"  ask -docs FOLDER -serve :8080  a page in the browser\n"+
		"  ask -docs FOLDER -mcp          a server for the Model Context Protocol",
		cli.Group{Title: "What to ask", Flags: []string{"docs", "store", "where", "questions", "serve", "tokens", "mcp", "watch"}},
		cli.Group{Title: "How", Flags: []string{"system", "set", "kg", "schema", "mode", "k", "index", "incomplete", "seed"}},
		cli.Group{Title: "Output", Flags: []string{"json", "v", "trace"}},
		cli.Group{Title: "Models", Flags: []string{"model", "embed-model", "encode-all", "embed-int8", "rerank-model", "name-model", "span-model", "kit", "index-kit", "answer-kit", "prompt", "show-prompts", "reply-tokens", "temperature", "concurrency", "prices", "cache"}})
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
	problems = append(problems, setup.AtLeast("k", s.k, 0)...)
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
