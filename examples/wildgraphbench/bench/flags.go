// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/judge"
)

// settings are the parsed flags.
type settings struct {
	setup.Settings
	data               string
	questions, docs    string // the user's own questions and documents
	domains            []string
	scores             []score
	minima             []minimum
	partial, indexOnly bool
	worksheet, junit   string
	entailModel        string
	verbose            bool

	k, kSummary   int // 0 means the number of the data set
	sweep         []int
	repeat        int
	judgeProfiles []string
	grounded      bool
}

// parseFlags reads the command line and returns all errors that do not depend on the data. systems are the
// valid names.
func parseFlags(args []string, getenv func(string) string, stderr io.Writer, systems []string) (settings, error) {
	var s settings
	fs := cli.NewFlags("wildgraphbench")
	s.Declare(fs, stderr, "Runs question-answering systems over a data set and writes a report folder. Without flags:\n"+
		"every system on the small sample shipped with the program, offline. `wildgraphbench compare OUT1 OUT2`\n"+
		"compares finished runs, `wildgraphbench anonyrag -out DIR` makes a data set with hidden names.",
		append(s.flags(), s.Flags(getenv, defaultOut)...))
	if err := cli.Parse(fs, args, stderr); err != nil {
		return s, err
	}
	if fs.NArg() > 0 {
		return s, cli.Usagef("unexpected argument %q", fs.Arg(0))
	}
	if s.data == "" && s.questions == "" {
		s.Graph = sampleGraph
	}
	problems := s.Complete(fs, systems)
	if s.Out == "" {
		s.Out = filepath.Join(defaultOut, s.Folder(cmp.Or(s.data, strings.TrimSuffix(s.questions, filepath.Ext(s.questions))), s.Model, map[string]any{"k": s.k, "k_summary": s.kSummary}))
	}
	return s, s.validate(systems, problems)
}

// flags returns the flags of this program alone.
func (s *settings) flags() []cli.Flag {
	var named []string
	for _, l := range layouts {
		named = append(named, l.Domains...)
	}
	return []cli.Flag{
		{Name: "data", Group: setup.GroupRun, Value: &s.data, Key: cli.OtherKey, Usage: "`DIR` of a data set: WildGraphBench, HotpotQA, 2Wiki, MuSiQue, GraphRAG-Bench, AnonyRAG, or BEIR's layout; multi-hop data sets may be in subfolders (default: the shipped sample)"},
		{Name: "questions", Group: setup.GroupRun, Value: &s.questions, Key: cli.OtherKey, Usage: "`FILE` of questions of your own, a JSON object a line, see docs/own-data.md; with -docs"},
		{Name: "docs", Group: setup.GroupRun, Value: &s.docs, Key: cli.OtherKey, Usage: "`FOLDER` of the documents, or one document, that -questions are about"},
		{Name: "domains", Group: setup.GroupRun, Value: cli.Names(&s.domains), Key: cli.NoKey, Usage: "comma-separated `LIST` of domains, or of multi-hop data sets: " + strings.Join(named, ", ") + " (default: all present)"},
		{Name: "score", Group: setup.GroupRun, Value: repeated(&s.scores, parseScore), Key: cli.OtherKey, Usage: "judge the predictions in `NAME=FILE` as one more row (repeatable)"},
		{Name: "partial", Group: setup.GroupRun, Value: &s.partial, Key: cli.NoKey, Named: true, Usage: "accept files of -score that answer only some of the questions: the row gives their number, and is not compared"},
		{Name: "worksheet", Group: setup.GroupRun, Value: &s.worksheet, Key: cli.NoKey, Usage: "write the questions, with the passages that each system read, into `FOLDER`, as JSONL and as a page, for people to answer; -score human=FILE judges their answers"},
		{Name: "index-only", Group: setup.GroupRun, Value: &s.indexOnly, Key: cli.NoKey, Usage: "only index, and describe the graphs; ask no question"},
		{Name: "k", Group: setup.GroupRead, Value: &s.k, Key: cli.OtherKey, Named: true, Check: s.positive(&s.k), Usage: "`N` chunks in the prompt of a question (default: 5, in multi-hop data sets 20)"},
		{Name: "k-summary", Group: setup.GroupRead, Value: &s.kSummary, Key: cli.OtherKey, Named: true, Check: s.positive(&s.kSummary), Usage: "`N` chunks in the prompt of a summary question (default: 10)"},
		{Name: "sweep", Group: setup.GroupRead, Value: func(v string) (err error) {
			s.sweep, err = parseSweep(v)
			return err
		}, Key: cli.OtherKey, Usage: "ask summary questions, and all questions of multi-hop data sets, again with every number of chunks in `RANGE`, e.g. 2..12 or 10,20; a finished run can be continued with it"},
		{Name: "repeat", Group: setup.GroupRead, Value: &s.repeat, Key: cli.OtherKey, Default: 1, Named: true, Check: cli.AtLeast(&s.repeat, 1), Usage: "ask each question `N` times, each time with another seed of the model or of the index: the report says how many verdicts stay the same, how much figures change, and for which systems they do not"},
		{Name: "judge-profile", Group: setup.GroupModels, Value: cli.Names(&s.judgeProfiles), Key: cli.NoKey, Usage: "comma-separated `LIST` of judges: paper and joint are two procedures of a model, lexical compares words, liverag has the scales of the LiveRAG challenge; each further judge judges the same answers again and reports into a folder of its name (default: paper for the domains of WildGraphBench, to compare with published rows; joint for other pages; shortanswer for multi-hop data sets)"},
		{Name: "entail-model", Group: setup.GroupModels, Value: &s.entailModel, Key: cli.NoKey, Usage: "`NAME` of a model by which answers are judged, by whether they entail the gold statements: hf:ORG/NAME@REVISION or file:DIR, a BertForSequenceClassification with the labels entailment, neutral and contradiction"},
		{Name: "grounded", Group: setup.GroupModels, Value: &s.grounded, Key: cli.NoKey, Named: true, Usage: "also judge whether the evidence supports all of an answer: one more call for each answer, with the evidence"},
		{Name: "v", Group: setup.GroupOutput, Value: &s.verbose, Key: cli.NoKey, Usage: "print all tables of the report below the ranking"},
		{Name: "min", Group: setup.GroupOutput, Value: repeated(&s.minima, parseMinimum), Key: cli.NoKey, Usage: "exit with status 1 if a system's figure `KEY=VALUE`, a share from 0 to 1 such as accuracy=0.5, is lower over all questions (repeatable)"},
		{Name: "junit", Group: setup.GroupOutput, Value: &s.junit, Key: cli.NoKey, Usage: "write the verdict on each question into `FILE` as JUnit XML, a suite for each system: a question fails if its answer is wrong or has no gold statement, or if a figure is below -min"},
	}
}

// positive checks that a number is at least 1 if its flag was given.
func (s *settings) positive(v *int) func(string) error {
	return func(name string) error {
		if !s.Given(name) {
			return nil
		}
		return cli.AtLeast(v, 1)(name)
	}
}

// repeated reads a flag that can be given several times, each time with another name.
func repeated[T any](to *[]T, parse func(string) (T, error)) func(string) error {
	given := make(map[string]bool)
	return func(v string) error {
		key, _, _ := strings.Cut(v, "=")
		one, err := parse(v)
		if err == nil && given[key] {
			err = fmt.Errorf("%q is given twice", key)
		}
		given[key] = true
		*to = append(*to, one)
		return err
	}
}

// defaultOut is the folder of report folders if -out is not given.
const defaultOut = "wildgraphbench-out"

// The cost of all systems with a model on the sample, as -dry-run estimates it. A test compares the two.
const (
	sampleCalls  = 5_000
	sampleTokens = 14_000_000
)

// whole reports whether the run has all systems on the whole sample, offline.
func (s settings) whole() bool {
	return s.data == "" && s.questions == "" && !s.Paid() && s.Limit == 0 && len(s.Systems) == 0
}

// topK returns the number of chunks in a prompt by type of questions, for the types that flags set.
func (s settings) topK(set *benchmark.Dataset) map[string]int {
	out := make(map[string]int)
	for _, t := range set.Types {
		k := s.k
		if t.Statements {
			k = s.kSummary
		}
		if k > 0 && !t.Search {
			out[t.Key] = k
		}
	}
	return out
}

// descriptive returns settings that a report shows, and that determine no answer.
func (s settings) descriptive(d *benchmark.Dataset, profile string) map[string]any {
	c := map[string]any{"topk_qa": 0, "judge_profile": profile, "grounded": s.grounded}
	for _, t := range d.Types {
		key := "topk_qa"
		if t.Statements {
			key = "topk_summary"
		}
		if !t.Search {
			c[key] = cmp.Or(s.topK(d)[t.Key], t.K)
		}
	}
	for key, name := range map[string]string{"judge_model": s.JudgeModel, "entail_model": s.entailModel} {
		if name != "" {
			c[key] = name
		}
	}
	return c
}

// validate checks the flags of this program; systems are the valid names, problems the faults found before.
func (s *settings) validate(systems []string, problems []error) error {
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	all, byModel := profiles(), false
	for _, profile := range s.judgeProfiles {
		if err := cli.OneOf(&profile, slices.Sorted(maps.Keys(all))...)("judge-profile"); err != nil {
			problems = append(problems, err)
		}
		if byModel = byModel || all[profile].NeedsModel; all[profile].NeedsEntailer && s.entailModel == "" {
			bad("-judge-profile %s needs -entail-model", profile)
		}
	}
	if len(s.sweep) > 0 && s.BudgetContext > 0 {
		bad("-sweep has no meaning with -budget-context: the budget replaces top-k")
	}
	if byModel && s.JudgeModel == "" {
		bad("-judge-profile needs -judge-model: only a model has profiles")
	}
	problems = slices.Concat(problems, s.IsFolder("data", s.data), s.IsFolder("junit", filepath.Dir(s.junit)))
	switch {
	case s.docs != "" && s.questions == "" || s.questions != "" && s.docs == "" && !slices.Contains(s.Systems, "none"):
		bad("-questions FILE and -docs FOLDER go together; with -systems none no documents are needed")
	case s.questions != "" && s.data != "":
		bad("-questions with -data: give one data set")
	}
	for _, sc := range s.scores {
		if info, err := os.Stat(sc.file); err != nil {
			bad("-score %s: %v", sc.name, err)
		} else if !info.Mode().IsRegular() {
			bad("-score %s: %s is not a file", sc.name, sc.file)
		}
		if slices.Contains(systems, sc.name) {
			bad("-score %s: the name is taken by a built-in system", sc.name)
		}
	}
	if len(s.scores) == 0 && slices.Contains(s.Systems, "none") {
		bad("-systems none needs rows from elsewhere: -score NAME=FILE")
	}
	if len(problems) > 0 {
		return cli.Usage(errors.Join(problems...))
	}
	return nil
}

// profiles returns the judges of all layouts, by the names of their profiles.
func profiles() map[string]judge.Procedure {
	out := make(map[string]judge.Procedure)
	for _, l := range layouts {
		for _, j := range l.Judges {
			out[j.Profile] = j
		}
	}
	return out
}

// parseSweep reads -sweep: ranges such as 2..12 and numbers, separated by commas.
func parseSweep(v string) ([]int, error) {
	const maxTopK = 1000 // a thousand chunks fill any prompt
	var out []int
	for part := range strings.SplitSeq(v, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "..")
		if !isRange {
			last = first
		}
		low, err := strconv.Atoi(first)
		high, err2 := strconv.Atoi(last)
		if errors.Join(err, err2) != nil {
			return nil, errors.New("want a range such as 2..12, or numbers separated by commas")
		}
		if low < 1 || high < low || high > maxTopK {
			return nil, fmt.Errorf("want numbers from 1 to %d in ascending order", maxTopK)
		}
		for k := low; k <= high; k++ {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
