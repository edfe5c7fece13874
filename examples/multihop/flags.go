// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/judge/liverag"
	"github.com/wildgraph/wildgraph/judge/shortanswer"
)

// settings are the parsed flags. Those of the models and modes are lists: every model
// runs in every mode.
type settings struct {
	lab.Settings
	data     string
	sets     []string
	topK     []int
	models   []string
	modes    []string
	graph    bool
	ablation bool

	experiment, triples string
	steps, shares       []int
	audit, audited      string
	judge               string
}

// defaultOut holds the report folders that -out does not name.
const defaultOut = "multihop-out"

// maxSteps is more than any question needs.
const maxSteps = 20

// maxTopK is the largest top-k; as many chunks fill any prompt.
const maxTopK = 1000

// parse reads the command line. Every problem it can see without looking at the data is
// reported at once. systems are the names there are.
func parse(args []string, getenv func(string) string, stderr io.Writer, systems []string) (settings, error) {
	s := settings{topK: []int{20, 10}}
	fs := cli.NewFlags("multihop")
	fs.Usage = func() {
		lab.Help(stderr, fs, "Runs question-answering systems over HotpotQA, 2Wiki, MuSiQue and GraphRAG-Bench and\n"+
			"writes a report folder. Without flags: every system on a small sample, offline.",
			cli.Group{Title: "What to run", Flags: []string{"data", "dataset", "graph", "ablation", "experiment", "steps", "share", "triples", "audit", "audited"}},
			cli.Group{Title: "What they read", Flags: []string{"topk"}},
			cli.Group{Title: "Models", Flags: []string{"judge"}})
	}
	fs.StringVar(&s.data, "data", "", "`DIR` that holds the data sets, in it or in folders in it (default: the shipped sample)")
	lab.List(fs, &s.sets, "dataset", "comma-separated `LIST` of data sets: "+strings.Join(append(multihop.Sets(), anonyName), ", ")+" (default: all present)")
	numbers := func(to *[]int, low, high int) func(string) error {
		return func(v string) (err error) {
			*to, err = parseNumbers(v, low, high)
			return err
		}
	}
	fs.Func("topk", "comma-separated `LIST` of top-k, each with a table: chunks in a prompt (default 20,10)", numbers(&s.topK, 1, maxTopK))
	lab.List(fs, &s.models, "model", "comma-separated `LIST` of answering models, each with columns of its own (default: $WILDGRAPH_MODEL)")
	lab.List(fs, &s.modes, "mode", "comma-separated `LIST` of open (may use own knowledge) and reject (must refuse without evidence), each with a column (default: open)")
	fs.BoolVar(&s.graph, "graph", false, "ask nothing: index every data set, UltraDomain too, and print the statistics of the graphs (default of -systems: lightrag)")
	fs.BoolVar(&s.ablation, "ablation", false, "also run Youtu-GraphRAG without communities and without a schema")
	fs.StringVar(&s.experiment, "experiment", "", "compare variants of GeAR: `NAME` is one of "+strings.Join(experimentNames(), ", ")+", see docs/multihop.md")
	fs.Func("steps", "comma-separated `LIST` of numbers of steps for -experiment steps, which it implies (default 1,2)", numbers(&s.steps, 1, maxSteps))
	fs.Func("share", "comma-separated `LIST` of percents of a graph for -experiment share, which it implies (default 5,20,50)", numbers(&s.shares, 1, 99))
	fs.StringVar(&s.triples, "triples", "", "`FILE` of triples for -experiment and -audit: HippoRAG's extraction (.json), or a graph from elsewhere (.tsv, .jsonl)")
	fs.StringVar(&s.judge, "judge", shortanswer.Profile, "`NAME` of the judge: "+shortanswer.Profile+", or "+liverag.Profile+" for correctness from -1 to 2 and faithfulness from -1 to 1")
	fs.StringVar(&s.audit, "audit", "", "write a sample of linked triples with the passages they were aligned with to `FILE`, for people to label")
	fs.StringVar(&s.audited, "audited", "", "print what the labels in `FILE` come to, and do nothing else")
	s.Flags(fs, getenv, defaultOut)
	if err := cli.Parse(fs, args, stderr); err != nil {
		return s, err
	}
	if fs.NArg() > 0 {
		return s, cli.Usagef("unexpected argument %q", fs.Arg(0))
	}
	if len(s.models) == 0 {
		s.models = []string{getenv("WILDGRAPH_MODEL")}
	}
	if len(s.modes) == 0 {
		s.modes = []string{string(reader.Open)}
	}
	s.Model, s.Mode = s.models[0], s.modes[0]
	problems := s.Complete(fs, systems)
	if !s.Paid() {
		s.models = []string{""}
	}
	for _, mode := range s.modes[1:] {
		problems = append(problems, lab.OneOf("mode", mode, string(reader.Open), string(reader.Reject))...)
	}
	for _, name := range s.sets {
		problems = append(problems, lab.OneOf("dataset", name, append(multihop.Sets(), anonyName)...)...)
	}
	problems = append(problems, s.Folders(map[string]string{"data": s.data})...)
	if s.graph && s.ablation {
		problems = append(problems, errors.New("-graph asks nothing, -ablation asks more: give one of them"))
	}
	problems = append(problems, lab.OneOf("judge", s.judge, shortanswer.Profile, liverag.Profile)...)
	problems = append(problems, s.checkExperiment()...)
	if s.graph && len(s.Systems) == 0 {
		s.Systems = []string{"lightrag"}
	}
	if len(problems) > 0 {
		return s, cli.Usage(errors.Join(problems...))
	}
	if s.Out == "" {
		s.Out = filepath.Join(defaultOut, s.Folder(s.data, strings.Join(s.models, "+"), map[string]any{
			"topk": s.topK, "mode": "", "model": s.models, // of all trials
			"experiment": s.experiment, "steps": s.steps, "share": s.shares, "judge": s.judge,
		}))
	}
	return s, nil
}

// checkExperiment finds what does not go with an experiment.
func (s *settings) checkExperiment() (problems []error) {
	for _, x := range []struct {
		flag  string
		given bool
	}{{"steps", len(s.steps) > 0}, {"share", len(s.shares) > 0}} {
		if x.given && s.experiment != "" && s.experiment != x.flag {
			problems = append(problems, fmt.Errorf("-%s is for -experiment %s, not %s: leave one out", x.flag, x.flag, s.experiment))
		} else if x.given {
			s.experiment = x.flag
		}
	}
	own := ""
	for _, flag := range []string{"experiment", "audit", "audited"} {
		if !s.Given(flag) && !(flag == "experiment" && s.experiment != "") {
			continue
		}
		for _, other := range []string{own, "systems", "graph", "ablation", "dry-run"} {
			if other != "" && s.Given(other) {
				problems = append(problems, fmt.Errorf("-%s has systems of its own: leave -%s out", flag, other))
			}
		}
		own = flag
	}
	if s.triples != "" && s.experiment == "" && s.audit == "" {
		problems = append(problems, errors.New("-triples is for -experiment and -audit: give one"))
	}
	if s.experiment == "" {
		return problems
	}
	problems = append(problems, lab.OneOf("experiment", s.experiment, experimentNames()...)...)
	if !s.Given("topk") {
		s.topK = s.topK[:1] // one ranking is measured
	}
	return problems
}

// parseNumbers reads numbers within limits, each once, separated by commas.
func parseNumbers(v string, low, high int) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(v, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || k < low || k > high {
			return nil, fmt.Errorf("%q: want numbers from %d to %d separated by commas", v, low, high)
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out, nil
}

// trial are the settings of one model in one mode, with the name of its folder.
type trial struct {
	settings
	folder string
}

// trials are all that is run, the models in their order, each in all modes.
func (s settings) trials() []trial {
	var out []trial
	for _, model := range s.models {
		for _, mode := range s.modes {
			t := trial{s, mode}
			t.Model, t.Mode = model, mode
			if len(s.models) > 1 {
				t.folder = strings.Map(func(r rune) rune {
					if strings.ContainsRune(`/\:`, r) {
						return '_'
					}
					return r
				}, model) + "-" + mode
			}
			out = append(out, t)
		}
	}
	return out
}
