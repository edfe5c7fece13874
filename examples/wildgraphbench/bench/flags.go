// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"errors"
	"flag"
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
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/judge"
)

// settings has the parsed flags.
type settings struct {
	setup.Settings
	data               string
	questions, docs    string // the user's own data
	domains            []string
	scores             []score
	minima             []minimum
	partial, indexOnly bool
	worksheet, junit   string
	entailModel        string
	verbose            bool

	k, kSummary   int // 0 is the number of the data set
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
	fs.Usage = func() {
		setup.Help(stderr, fs, "Runs question-answering systems over a data set and writes a report folder. Without flags:\n"+
			"every system on the small sample shipped with the program, offline. `wildgraphbench compare OUT1 OUT2`\n"+
			"compares finished runs, `wildgraphbench anonyrag -out DIR` makes a data set with hidden names.",
			cli.Group{Title: "What to run", Flags: []string{"data", "questions", "docs", "domains", "score", "partial", "worksheet", "index-only"}},
			cli.Group{Title: "What they read", Flags: []string{"k", "k-summary", "sweep", "repeat"}},
			cli.Group{Title: "Models", Flags: []string{"judge-profile", "entail-model", "grounded"}},
			cli.Group{Title: "Output", Flags: []string{"v", "min", "junit"}})
	}
	fs.StringVar(&s.data, "data", "", "`DIR` of a data set: WildGraphBench, HotpotQA, 2Wiki, MuSiQue, GraphRAG-Bench, AnonyRAG, or BEIR's layout; multi-hop sets may stand in folders in it (default: the shipped sample)")
	fs.StringVar(&s.questions, "questions", "", "`FILE` of questions of your own, a JSON object a line, see docs/own-data.md; with -docs")
	fs.StringVar(&s.docs, "docs", "", "`FOLDER` of the documents, or one document, that -questions are about")
	var named []string
	for _, l := range layouts {
		named = append(named, l.Domains...)
	}
	setup.List(fs, &s.domains, "domains", "comma-separated `LIST` of domains, or of multi-hop data sets: "+strings.Join(named, ", ")+" (default: all present)")
	repeated(fs, &s.scores, "score", "judge the predictions in `NAME=FILE` as one more row (repeatable)", parseScore)
	fs.StringVar(&s.worksheet, "worksheet", "", "write the questions with what each system read into `FOLDER`, as JSONL and as a page, for people to answer; -score human=FILE takes the answers back")
	fs.BoolVar(&s.partial, "partial", false, "let -score take files that answer some of the questions: such a row says how many, and is not compared")
	fs.BoolVar(&s.indexOnly, "index-only", false, "ask nothing: index, and describe the graphs")
	repeated(fs, &s.minima, "min", "exit with status 1 if a system's figure `KEY=VALUE`, a share from 0 to 1 such as accuracy=0.5, is lower over all questions (repeatable)", parseMinimum)
	fs.StringVar(&s.junit, "junit", "", "write the verdict on each question into `FILE` as JUnit XML, a suite for each system: a wrong answer, one that states nothing of the gold, and a question below -min fail")
	fs.BoolVar(&s.verbose, "v", false, "print all tables of the report below who is ahead")
	fs.IntVar(&s.k, "k", 0, "`N` chunks in the prompt of a question (default: 5, in multi-hop data sets 20)")
	fs.IntVar(&s.kSummary, "k-summary", 0, "`N` chunks in the prompt of a summary question (default: 10)")
	fs.IntVar(&s.repeat, "repeat", 1, "ask each question `N` times, each time with another seed, of the model or of the index: the report says how many verdicts stay, how far figures move, and where no seed changes anything")
	fs.Func("sweep", "ask also with every number of chunks in `RANGE`, e.g. 2..12 or 10,20: summary questions, and all of multi-hop data sets; a finished run goes on from there", func(v string) (err error) {
		s.sweep, err = parseSweep(v)
		return err
	})
	s.Flags(fs, getenv, defaultOut)
	fs.StringVar(&s.Model, "model", getenv("WILDGRAPH_MODEL"), "`NAME` of the answering model (default: $WILDGRAPH_MODEL)")
	fs.StringVar(&s.Mode, "mode", string(reader.Open), "open (may use own knowledge) reject (must refuse without evidence) or cited (and where nothing is cited)")
	setup.List(fs, &s.judgeProfiles, "judge-profile", "comma-separated `LIST` of joint and paper, how a model judges, lexical, by words, and liverag, the challenge's scales; each further one judges the same answers again, into a folder of its name (default: paper over the domains of WildGraphBench, beside whose published rows the figures stand; joint over other pages; multi-hop data sets have their own, shortanswer)")
	fs.StringVar(&s.entailModel, "entail-model", "", "`NAME` of a model by which answers are judged, by whether they entail the gold statements: hf:ORG/NAME@REVISION or file:DIR, a BertForSequenceClassification with the labels entailment, neutral and contradiction")
	fs.BoolVar(&s.grounded, "grounded", false, "also judge whether the evidence supports all of an answer: one more call an answer, with the evidence")
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

// repeated declares a flag that can be given several times, each time with another name.
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

// defaultOut is the folder of report folders without -out.
const defaultOut = "wildgraphbench-out"

// The cost of all systems with a model on the sample, by -dry-run; a test compares them.
const (
	sampleCalls  = 5_000
	sampleTokens = 14_000_000
)

// whole reports whether the run has no flags that select: all systems on the sample, offline.
func (s settings) whole() bool {
	return s.data == "" && s.questions == "" && !s.Paid() && s.Limit == 0 && len(s.Systems) == 0
}

// topK returns the chunks in a prompt by type of question, for types that flags set.
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

// descriptive returns further settings for readers of the report.
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

// validate checks the flags of this program; systems are the valid names, problems the errors so far.
func (s *settings) validate(systems []string, problems []error) error {
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	needs := make(map[judge.Need]bool)
	for _, profile := range s.judgeProfiles {
		all := profiles()
		problems = append(problems, setup.OneOf("judge-profile", profile, slices.Sorted(maps.Keys(all))...)...)
		needs[all[profile]] = true
	}
	if needs[judge.NeedsEntailer] && s.entailModel == "" {
		bad("-judge-profile entailment needs -entail-model")
	}
	for flag, k := range map[string]int{"k": s.k, "k-summary": s.kSummary} {
		if s.Given(flag) {
			problems = append(problems, setup.AtLeast(flag, k, 1)...)
		}
	}
	problems = append(problems, setup.AtLeast("repeat", s.repeat, 1)...)
	if len(s.sweep) > 0 && s.BudgetContext > 0 {
		bad("-sweep has no meaning with -budget-context: the budget replaces top-k")
	}
	if needs[judge.NeedsModel] && s.JudgeModel == "" {
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

// profiles returns the need of each profile of the layouts' judges.
func profiles() map[string]judge.Need {
	out := make(map[string]judge.Need)
	for _, l := range layouts {
		for _, j := range l.Judges {
			out[j.Profile] = j.Need
		}
	}
	return out
}

// parseSweep reads -sweep: ranges such as 2..12 and numbers, separated by commas.
func parseSweep(v string) ([]int, error) {
	const maxTopK = 1000 // that number of chunks fills any prompt
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
