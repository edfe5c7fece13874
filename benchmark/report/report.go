// SPDX-License-Identifier: Apache-2.0

package report

import (
	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// Version is the version of the report's form.
const Version = 1

// Report is the result of a run. Fractions are in 0..1; a figure that is not
// defined is absent.
type Report struct {
	Version int            `json:"version"`
	Kit     string         `json:"kit"`
	Config  map[string]any `json:"config"`
	Systems []System       `json:"systems"`
	// Pairs compares, by the headline figures, the best system with every other, and
	// every system with the baselines.
	Pairs []Pair `json:"pairs,omitempty"`
	// Data says what was odd in the data set and how it was taken.
	Data []string `json:"data_notes,omitempty"`
	// Published are figures of a publication; they take part in nothing.
	Published *benchmark.Published `json:"published,omitempty"`

	types []benchmark.Type // of questions, in the order of tables
	label label
}

// System is one system's row.
type System struct {
	System string `json:"system"`
	// Also are other names of the same system.
	Also []string `json:"also,omitempty"`
	// NotApplicable says why the system was not run.
	NotApplicable string `json:"not_applicable,omitempty"`
	// NotCompared says what of the system failed so often, or so badly, that its
	// figures are not to be set beside those of others: it takes part in no
	// comparison.
	NotCompared []string `json:"not_compared,omitempty"`
	// Stages count, over all domains, the pieces of work that can fail without
	// ending the run: the steps of indexing, then "answer" and "judge".
	Stages  []graphrag.Stage `json:"stages,omitempty"`
	Domains []Domain         `json:"domains"`
	Overall Overall          `json:"overall"`
	// Time of one question from asking to answering, in milliseconds.
	QueryMsP50 *float64 `json:"query_ms_p50,omitempty"`
	QueryMsP99 *float64 `json:"query_ms_p99,omitempty"`
	// PeakRSSMB is the largest resident memory while the system ran, in MiB, with what
	// the systems that worked off the same domain before it had left behind.
	PeakRSSMB *float64 `json:"peak_rss_mb,omitempty"`
	// AnswerUsage and JudgeUsage are the model calls for all questions.
	AnswerUsage graphrag.Usage `json:"answer_usage"`
	JudgeUsage  graphrag.Usage `json:"judge_usage"`
	// Cost relates the usages to the size of the work.
	Cost *Cost `json:"cost,omitempty"`
	// Sweep are the questions that are swept, at other top-k in ascending order.
	Sweep []SweepPoint `json:"sweep,omitempty"`

	foreign    bool // what the answers cost is not known
	provenance bool // see the function
	partial    bool // it was not asked all questions
	baseline   bool
}

// Domain is one system on one domain.
type Domain struct {
	Domain string `json:"domain"`
	Index  Index  `json:"index"`
	Types  Types  `json:"types"`
}

// Index describes an index and what it cost.
type Index struct {
	graphrag.IndexStats
	Seconds *float64 `json:"seconds,omitempty"`
	// ByStage is what models were asked for the index, by the stage of the request.
	ByStage map[string]graphrag.Usage `json:"usage_by_stage,omitempty"`
	// Bytes is the size of the documents.
	Bytes int64 `json:"bytes,omitempty"`
	// Degrees and Edges are there for systems that show their graph.
	Degrees record.Degrees `json:"degrees,omitempty"`
	Edges   int64          `json:"edges,omitempty"`
}

// Types are the figures by the type of the questions, and over all of them under
// [benchmark.All].
type Types map[string]Type

// Type holds the means over the questions of one type.
type Type struct {
	// N is the number of questions, K the chunks in the prompt (0 and absent
	// for all types together).
	N int `json:"n"`
	K int `json:"k,omitempty"`
	benchmark.Evidence
	ContextTokens *float64 `json:"context_tokens,omitempty"`
	// Intervals are 95 % confidence intervals of the figures above, by their
	// keys: Student's t over source pages, since questions about one page are
	// not independent. Below [MinQuestions] there is none.
	Intervals map[string]Interval `json:"intervals,omitempty"`
	// Judged are the figures of a judge that is a model, Lexical those of the
	// offline kit's; one of them is nil.
	*Judged
	Lexical *Judged `json:"lexical,omitempty"`
}

// Verdicts returns the judged figures, whichever judge they are from; nil
// without.
func (t Type) Verdicts() *Judged {
	if t.Judged != nil {
		return t.Judged
	}
	return t.Lexical
}

// Judged are means over the scored questions.
type Judged struct {
	// Accuracy is the share of fact questions answered correctly.
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Recall and Precision are the means of equations 2 and 3 of WildGraphBench
	// over the questions judged by statements. F1MeanOfQuestions is the
	// mean of the questions' F1 (Tables 3 and 6–17), F1OfMeans the harmonic
	// mean of the two means (Table 2); the two do not compare.
	Recall            *float64 `json:"recall,omitempty"`
	Precision         *float64 `json:"precision,omitempty"`
	F1MeanOfQuestions *float64 `json:"f1_mean_of_questions,omitempty"`
	F1OfMeans         *float64 `json:"f1_of_means,omitempty"`
	// PrecisionCeiling is what precision comes to when every gold statement is met by
	// one predicted one and nothing else is; Grounded the share of answers, of any
	// type, whose every claim the evidence supports.
	PrecisionCeiling *float64 `json:"precision_ceiling,omitempty"`
	Grounded         *float64 `json:"grounded,omitempty"`
	// Scores are further figures, by the names of [judge.FactJudgment].
	Scores map[string]float64 `json:"scores,omitempty"`
	// The micro figures count statements, not questions.
	MicroRecall    *float64 `json:"micro_recall,omitempty"`
	MicroPrecision *float64 `json:"micro_precision,omitempty"`
	MicroF1        *float64 `json:"micro_f1,omitempty"`
	// Intervals are as in [Type].
	Intervals map[string]Interval `json:"intervals,omitempty"`
	// Unscored is the share of questions without a score, Reasons their
	// number by cause, Bounds the figures with all of them at 0 and at 1.
	Unscored float64             `json:"unscored"`
	Reasons  map[string]int      `json:"unscored_reasons,omitempty"`
	Bounds   map[string]Interval `json:"bounds,omitempty"`
	// Refusals tells answers from refusals, see [benchmark.Refusals].
	Refusals judge.Refusals `json:"refusals"`
	// Protocol counts what was odd in the judge's replies.
	Protocol judge.Protocol `json:"protocol,omitzero"`
}

// Overall are the figures over all domains, weighted by questions.
type Overall struct {
	Types Types `json:"types"`
	*OverallJudged
	Lexical *OverallJudged `json:"lexical,omitempty"`
}

// OverallJudged holds the headline figure.
type OverallJudged struct {
	// AvgAccuracy is the accuracy over all questions that are right or wrong
	// (Table 2).
	AvgAccuracy *float64 `json:"avg_accuracy,omitempty"`
}

// Verdicts returns the headline figure, whichever judge it is from.
func (o Overall) Verdicts() *OverallJudged {
	if o.OverallJudged != nil {
		return o.OverallJudged
	}
	return o.Lexical
}

// Interval is a 95 % confidence interval, low then high.
type Interval [2]float64

// Pair compares two systems on the questions for which both have the figure.
type Pair struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Figure string `json:"figure"`
	// Best tells that B has the highest mean of all systems, Baseline that one of
	// the two is a baseline.
	Best     bool `json:"best,omitempty"`
	Baseline bool `json:"baseline,omitempty"`
	// Lexical tells that the figure is a lexical judge's.
	Lexical bool `json:"lexical,omitempty"`
	N       int  `json:"n"`
	// Difference is the mean of B minus the mean of A, Low to High its 95 %
	// interval by the paired bootstrap over source pages.
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	// Detectable is the least difference that so many questions show.
	Detectable *float64 `json:"detectable,omitempty"`
	// P is the p-value of the permutation test, PHolm the same corrected for
	// all pairs and figures of the report. Below [MinQuestions] there is neither
	// interval nor test.
	P     *float64 `json:"p,omitempty"`
	PHolm *float64 `json:"p_holm,omitempty"`
}

// SweepPoint holds the questions of all domains at one top-k (WildGraphBench,
// Figure 5). At the top-k of the run it repeats the run's own figures.
type SweepPoint struct {
	Type
	AnswerUsage graphrag.Usage `json:"answer_usage"`
	JudgeUsage  graphrag.Usage `json:"judge_usage"`
}

// Cost is what a system costs by the size of its work.
type Cost struct {
	// IndexPerMB is for a million bytes of documents.
	IndexPerMB *UnitCost `json:"index_per_mb,omitempty"`
	// AnswerPerQuestion and JudgePerQuestion are for a question of any type.
	AnswerPerQuestion *UnitCost `json:"answer_per_question,omitempty"`
	JudgePerQuestion  *UnitCost `json:"judge_per_question,omitempty"`
}

// UnitCost is what models were asked for one unit of work: mean calls and
// tokens.
type UnitCost struct {
	Calls            float64 `json:"llm_calls"`
	PromptTokens     float64 `json:"prompt_tokens"`
	CompletionTokens float64 `json:"completion_tokens"`
	EmbeddedTokens   float64 `json:"embedded_tokens"`
}
