// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// Version is the version of report.json, JudgmentsName the file that has a [Judgment] on each line.
const (
	Version       = 2
	JudgmentsName = "judgments.jsonl"
)

// Report is the result of a run. Fractions are in 0..1; an undefined figure is absent.
type Report struct {
	Version int            `json:"version"`
	Kit     string         `json:"kit"`
	Config  map[string]any `json:"config"`
	Systems []System       `json:"systems"`
	// Pairs compares, for each headline figure, the best system with every other, and every system with the
	// baselines. Each of the two is a family with its own correction.
	Pairs []Pair `json:"pairs,omitempty"`
	// Payoff is the number of questions from which a graph pays; nil if it cannot be computed.
	Payoff *Payoff `json:"payoff,omitempty"`
	// Data lists irregularities of the data set and how they were handled.
	Data []string `json:"data_notes,omitempty"`
	// Published are figures of a publication. They are not compared with figures of the run.
	Published *benchmark.Published `json:"published,omitempty"`

	currency string
	set      *benchmark.Dataset
	types    []benchmark.Type // types of questions, in the order of tables
	label    label
	schemas  []string // a sentence on each schema that an extraction used
}

// System is the row of a system.
type System struct {
	System string `json:"system"`
	// Also are other names of the system.
	Also []string `json:"also,omitempty"`
	// NotApplicable says why the system was not run.
	NotApplicable string `json:"not_applicable,omitempty"`
	// NotCompared gives the reasons why the system is not compared: failures that are too frequent or too
	// severe.
	NotCompared []string `json:"not_compared,omitempty"`
	// Stages count, over all domains, the pieces of work that can fail without ending the run: steps of
	// indexing, then "answer" and "judge".
	Stages  []graphrag.Stage `json:"stages,omitempty"`
	Domains []Domain         `json:"domains"`
	Overall Overall          `json:"overall"`
	// QueryMsP50 and QueryMsP99 are quantiles of the time from question to answer, in milliseconds.
	QueryMsP50 *float64 `json:"query_ms_p50,omitempty"`
	QueryMsP99 *float64 `json:"query_ms_p99,omitempty"`
	// PeakRSSMB is the largest resident memory while the system ran, in MiB, including uncollected garbage of
	// earlier systems on the same domain.
	PeakRSSMB *float64 `json:"peak_rss_mb,omitempty"`
	// AnswerUsage and JudgeUsage are the usage of models for answering and for judging all questions.
	AnswerUsage graphrag.Usage `json:"answer_usage"`
	JudgeUsage  graphrag.Usage `json:"judge_usage"`
	// Uncited is the number of answers that cite none of their evidence.
	Uncited int `json:"uncited,omitempty"`
	// Same is the share of repeated questions that got the same verdict each time.
	Same *float64 `json:"same_verdict,omitempty"`
	// BySeed has, for each headline figure, the smallest and the largest mean of a repetition.
	BySeed map[string]Interval `json:"by_seed,omitempty"`
	// Spending is nil if nothing was answered, or if another program answered and did not report its usage.
	Spending *Spending `json:"spending,omitempty"`
	// Sweep are the figures at each top-k of the sweep, in ascending order.
	Sweep []SweepPoint `json:"sweep,omitempty"`

	unscored   map[string]int // verdicts by reason, "" with a score
	times      int            // number of times that each question was asked
	varies     bool           // an answer or a ranking differs between repetitions
	foreign    bool           // another program answered: costs are unknown
	provenance bool           // see the function of this name
	partial    bool           // some questions were not asked
}

// Domain is one system on one domain.
type Domain struct {
	Domain string `json:"domain"`
	Index  Index  `json:"index"`
	Types  Types  `json:"types"`
}

// Index describes an index and the cost of building it.
type Index struct {
	graphrag.IndexStats
	Seconds *float64 `json:"seconds,omitempty"`
	// ByStage is the model usage of indexing, by the stage of the request.
	ByStage map[string]graphrag.Usage `json:"usage_by_stage,omitempty"`
	// Steps are the seconds during which each step of indexing, or the calls of each stage, were running.
	Steps map[string]float64 `json:"seconds_by_stage,omitempty"`
	// Bytes is the size of the indexed documents.
	Bytes int64 `json:"bytes,omitempty"`
	// Tokens is the length of the documents in tokens, for systems that show their graph.
	Tokens int64 `json:"tokens,omitempty"`
	// Edges is the number of edges of the graph, for systems that show their graph.
	Edges int64 `json:"edges,omitempty"`
}

// Types are the figures by type of questions, and over all types under [benchmark.All].
type Types map[string]Type

// Type holds the means of figures over the questions of one type.
type Type struct {
	// N is the number of questions, K the number of chunks in the prompt; K is absent for all types together.
	N int `json:"n"`
	K int `json:"k,omitempty"`
	benchmark.Evidence
	ContextTokens *float64 `json:"context_tokens,omitempty"`
	// Intervals are 95 % confidence intervals of the figures above, by their keys: Student's t over source
	// pages, since questions about a page are not independent. With fewer than [MinQuestions] questions there
	// are none.
	Intervals map[string]Interval `json:"intervals,omitempty"`
	// Judged holds the figures of a judge that understands the answers. Lexical holds the figures of a judge
	// that only compares words.
	*Judged
	Lexical *Judged `json:"lexical,omitempty"`
}

// Verdicts returns Judged, or else Lexical; nil if there is neither.
func (t Type) Verdicts() *Judged {
	if t.Judged != nil {
		return t.Judged
	}
	return t.Lexical
}

// Judged holds means over the questions that have a score.
type Judged struct {
	// Accuracy is the share of fact questions answered correctly.
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Recall and Precision are the means of equations 2 and 3 of WildGraphBench over the questions judged by
	// statements. F1MeanOfQuestions is the mean of the questions' F1 (Tables 3 and 6–17), F1OfMeans the
	// harmonic mean of Recall and Precision (Table 2). The two F1 cannot be compared.
	Recall            *float64 `json:"recall,omitempty"`
	Precision         *float64 `json:"precision,omitempty"`
	F1MeanOfQuestions *float64 `json:"f1_mean_of_questions,omitempty"`
	F1OfMeans         *float64 `json:"f1_of_means,omitempty"`
	// PrecisionCeiling is the precision of an answer that meets every gold statement with one statement and
	// says nothing else; Grounded is the share of answers, of any type, whose every claim the evidence
	// supports.
	PrecisionCeiling *float64 `json:"precision_ceiling,omitempty"`
	Grounded         *float64 `json:"grounded,omitempty"`
	// Scores are further figures, by the names of [judge.FactJudgment].
	Scores map[string]float64 `json:"scores,omitempty"`
	// Intervals are 95 % confidence intervals as in [Type].
	Intervals map[string]Interval `json:"intervals,omitempty"`
	// Unscored is the share of questions without a score, Reasons the number of them by cause. Bounds are the
	// values of each figure if all of them scored 0, and if all scored 1.
	Unscored float64             `json:"unscored"`
	Reasons  map[string]int      `json:"unscored_reasons,omitempty"`
	Bounds   map[string]Interval `json:"bounds,omitempty"`
	// Refusals counts answers and refusals, see [benchmark.Result.CountRefusal].
	Refusals stats.Refusals `json:"refusals"`
	// Protocol counts irregularities in the judge's replies.
	Protocol judge.Protocol `json:"protocol,omitzero"`
}

// Overall are the figures over all domains, each domain weighted by its number of questions.
type Overall struct {
	Types Types `json:"types"`
	*OverallJudged
	Lexical *OverallJudged `json:"lexical,omitempty"`
}

// OverallJudged holds the headline figure.
type OverallJudged struct {
	// AvgAccuracy is the accuracy over all questions that are right or wrong (Table 2).
	AvgAccuracy *float64 `json:"avg_accuracy,omitempty"`
}

// Interval has the lower and the upper bound of a 95 % confidence interval.
type Interval [2]float64

// text writes the bounds in percent, with a separator between them.
func (i Interval) text(to string) string { return fmt.Sprintf("%.1f%s%.1f", 100*i[0], to, 100*i[1]) }

// SweepPoint holds the figures over all domains at one top-k (WildGraphBench, Figure 5). At the top-k of the
// run itself they equal the figures of the run.
type SweepPoint struct {
	Type
	// Domains are the figures of each domain.
	Domains     map[string]Type `json:"domains,omitempty"`
	AnswerUsage graphrag.Usage  `json:"answer_usage"`
	JudgeUsage  graphrag.Usage  `json:"judge_usage"`
}

// New computes the report of a run.
func New(run *benchmark.Run) (*Report, error) {
	r := &Report{
		Version: Version, Kit: run.Kit, Config: run.Config,
		Published: run.Dataset.Published.Beside(run.Dataset), set: run.Dataset, types: run.Dataset.Types, label: labelOf(run), currency: run.Currency,
		Data: run.Dataset.Notes,
	}
	var compared []benchmark.SystemRun
	for _, s := range run.Systems {
		system := newSystem(run, s)
		r.Systems = append(r.Systems, system)
		for i, d := range s.Domains {
			if growth := grown(s.Name, run.Dataset.Domains[i].Name, d.Index.Stats.Schema); growth != "" {
				r.schemas = append(r.schemas, growth)
			}
		}
		if system.compared() {
			compared = append(compared, s)
		}
	}
	var err error
	r.Pairs, err = pairs(compared)
	r.Payoff = r.payoff(run)
	return r, err
}

func newSystem(run *benchmark.Run, of benchmark.SystemRun) System {
	out := System{System: of.Name, Also: of.Also, NotApplicable: of.NotApplicable}
	timed := !run.NoTimings && of.NotApplicable == "" && !of.Foreign
	overall := newTally(run, of)
	var millis []float64
	var peak float64
	for i, d := range of.Domains {
		t := newTally(run, of)
		for _, r := range d.Results {
			t.add(r)
			overall.add(r)
			millis = append(millis, r.Answer.Millis)
			out.AnswerUsage = out.AnswerUsage.Add(r.Answer.Usage)
			out.JudgeUsage = out.JudgeUsage.Add(r.Judgment.Usage())
			if r.Answer.Uncited() {
				out.Uncited++
			}
		}
		index := Index{IndexStats: d.Index.Stats, ByStage: d.Index.Usage, Bytes: d.Index.Bytes, Tokens: d.Index.Tokens, Edges: d.Index.Edges}
		index.Schema = nil // the schema has its own file
		if timed {
			index.Seconds, index.Steps = ref(round(d.Index.Seconds, 3)), d.Index.Steps
		}
		out.Domains = append(out.Domains, Domain{run.Dataset.Domains[i].Name, index, t.report()})
		peak = max(peak, d.PeakRSSMB)
	}
	out.Overall = overall.overall()
	out.repeats(of)
	out.health(run, of)
	out.foreign, out.provenance = of.Foreign, provenance(of)
	out.Sweep = sweep(run, of)
	if out.Spending = spending(run, of); of.Foreign && out.AnswerUsage.Calls == 0 {
		out.Spending = nil
	}
	if timed && len(millis) > 0 {
		slices.Sort(millis)
		out.QueryMsP50, out.QueryMsP99 = ref(quantile(millis, 0.50)), ref(quantile(millis, 0.99))
		if peak > 0 {
			out.PeakRSSMB = ref(round(peak, 1))
		}
	}
	return out
}

// repeats computes the figures that compare repetitions, if questions were repeated.
func (s *System) repeats(of benchmark.SystemRun) {
	for _, d := range of.Domains {
		for _, r := range d.Results {
			s.times = max(s.times, r.Item.Repeat+1)
		}
	}
	if s.times < 2 {
		return
	}
	first, changed := make(map[string][2]string), make(map[string]bool)
	times := make(map[string][]sample) // a sample of each headline figure for each repetition
	for _, f := range allFigures {
		if f.compared {
			times[f.key] = make([]sample, s.times)
		}
	}
	for _, d := range of.Domains {
		for _, r := range d.Results {
			scores := ""
			for _, v := range r.Judgment.Verdicts() {
				scores += fmt.Sprint(v.State, v.Value, " ")
			}
			now := [2]string{scores, fmt.Sprint(r.Answer.Text, r.Answer.Error, r.Answer.Ranked)}
			id := r.Domain + "\x00" + strings.TrimSuffix(r.Item.Question.ID, record.RepeatSuffix(r.Item.Repeat))
			was, ok := first[id]
			if !ok {
				first[id], was = now, now
			}
			if was[0] != now[0] {
				changed[id] = true
			}
			s.varies = s.varies || was[1] != now[1]
			for key, samples := range times {
				f, _ := figureOf(key)
				samples[r.Item.Repeat].add(f.of(r), r)
			}
		}
	}
	s.Same, s.BySeed = ref(1-float64(len(changed))/float64(len(first))), make(map[string]Interval)
	for key, samples := range times {
		var means []float64
		for _, one := range samples {
			if m := one.mean(); m != nil {
				means = append(means, *m)
			}
		}
		if len(means) > 0 {
			s.BySeed[key] = Interval{slices.Min(means), slices.Max(means)}
		}
	}
}

// seeds says how a figure changes with the seed, and for which systems it does not; "" without repeated
// questions.
func (r *Report) seeds(f figure) string {
	var vary, constant []string
	times := 0
	for _, s := range r.Systems {
		i, ok := s.BySeed[f.key]
		switch {
		case s.times < 2 || s.foreign:
			continue
		case !s.varies:
			constant = append(constant, s.System)
		case ok:
			vary = append(vary, fmt.Sprintf("%s %s", s.System, i.text(" to ")))
		}
		times = s.times
	}
	if times == 0 {
		return ""
	}
	said := ""
	if len(vary) > 0 {
		said = fmt.Sprintf("%s over %s, from the least to the most: %s. ", f.words(r.label), display.Counted(times, "seed"), strings.Join(vary, ", "))
	}
	if len(constant) > 0 {
		said += fmt.Sprintf("Another seed changes no answer and no ranking of %s: asked again, they tell no more.", strings.Join(constant, ", "))
	}
	return strings.TrimSpace(said)
}

// sweep computes the figures of a system at each top-k, over the questions that the sweep repeats.
func sweep(run *benchmark.Run, of benchmark.SystemRun) []SweepPoint {
	var out []SweepPoint
	for _, s := range of.Sweep {
		t, byDomain := newTally(run, of), make(map[string]*tally)
		point := SweepPoint{Domains: make(map[string]Type)}
		for _, r := range s.Results {
			t.add(r)
			if byDomain[r.Domain] == nil {
				byDomain[r.Domain] = newTally(run, of)
			}
			byDomain[r.Domain].add(r)
			point.AnswerUsage = point.AnswerUsage.Add(r.Answer.Usage)
			point.JudgeUsage = point.JudgeUsage.Add(r.Judgment.Usage())
		}
		for name, t := range byDomain {
			point.Domains[name] = t.report()[benchmark.All]
		}
		if point.Type = t.report()[benchmark.All]; point.N > 0 {
			point.K = s.K
			out = append(out, point)
		}
	}
	return out
}
