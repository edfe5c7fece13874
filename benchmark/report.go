// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// ReportVersion is the version of the report's form.
const ReportVersion = 1

// OfflineKit is the name of the kit whose judged figures are lexical.
const OfflineKit = "offline"

// All is the key of the figures over all question types.
const All graphrag.QuestionType = "all"

// Report is the result of a run. It is a pure function of the records.
// Fractions are in 0..1; a figure that is not defined is absent.
type Report struct {
	Version int            `json:"version"`
	Kit     string         `json:"kit"`
	Config  Config         `json:"config"`
	Systems []SystemReport `json:"systems"`
	// Pairs compares every two systems by the headline figures.
	Pairs []PairReport `json:"pairs,omitempty"`
	// EqualContext compares every system that does more than rank chunks with
	// every flat one by the evidence for multi-fact questions, at equal context
	// tokens.
	EqualContext []ContextPair `json:"equal_context,omitempty"`
	// Published are figures of a publication; they take part in nothing.
	Published *Published `json:"published,omitempty"`
}

// SystemReport is one system's row.
type SystemReport struct {
	System string `json:"system"`
	// NotApplicable says why the system was not run.
	NotApplicable string         `json:"not_applicable,omitempty"`
	Domains       []DomainReport `json:"domains"`
	Overall       Overall        `json:"overall"`
	// Time of one question from asking to answering, in milliseconds.
	QueryMsP50 *float64 `json:"query_ms_p50,omitempty"`
	QueryMsP99 *float64 `json:"query_ms_p99,omitempty"`
	// PeakRSSMB is the largest resident memory while the system ran, in MiB.
	PeakRSSMB *float64 `json:"peak_rss_mb,omitempty"`
	// AnswerUsage and JudgeUsage are the model calls for all questions.
	AnswerUsage graphrag.Usage `json:"answer_usage"`
	JudgeUsage  graphrag.Usage `json:"judge_usage"`
	// Cost relates the usages to the size of the work.
	Cost *CostReport `json:"cost,omitempty"`
	// Sweep are the summary questions at other top-k, in ascending order of k.
	Sweep []SweepPoint `json:"sweep,omitempty"`
}

// DomainReport is one system on one domain.
type DomainReport struct {
	Domain string      `json:"domain"`
	Index  IndexReport `json:"index"`
	Types  Types       `json:"types"`
}

// IndexReport describes an index and what it cost.
type IndexReport struct {
	graphrag.IndexStats
	Seconds *float64 `json:"seconds,omitempty"`
	// Bytes is the size of the documents.
	Bytes int64 `json:"bytes,omitempty"`
	// Degrees and Edges are there for systems that show their graph.
	Degrees Degrees `json:"degrees,omitempty"`
	Edges   int64   `json:"edges,omitempty"`
}

// Types are the figures per question type, and over all under [All].
type Types map[graphrag.QuestionType]TypeReport

// TypeReport holds the means over the questions of one type.
type TypeReport struct {
	// N is the number of questions, K the chunks in the prompt (0 and absent
	// for [All]).
	N int `json:"n"`
	K int `json:"k,omitempty"`
	Evidence
	ContextTokens *float64 `json:"context_tokens,omitempty"`
	// Intervals are 95 % confidence intervals of the figures above, by their
	// keys: Student's t over source pages, since questions about one page are
	// not independent.
	Intervals map[string]Interval `json:"intervals,omitempty"`
	// Judged are the figures of a judge that is a model, Lexical those of the
	// offline kit's; one of them is nil.
	*Judged
	Lexical *Judged `json:"lexical,omitempty"`
}

// Verdicts returns the judged figures, whichever judge they are from; nil
// without.
func (t TypeReport) Verdicts() *Judged {
	if t.Judged != nil {
		return t.Judged
	}
	return t.Lexical
}

// Judged are means over the scored questions.
type Judged struct {
	// Accuracy is the share of fact questions answered correctly.
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Recall and Precision are the means of equations 2 and 3 of
	// WildGraphBench over the summary questions. F1MeanOfQuestions is the
	// mean of the questions' F1 (Tables 3 and 6–17), F1OfMeans the harmonic
	// mean of the two means (Table 2); the two do not compare.
	Recall            *float64 `json:"recall,omitempty"`
	Precision         *float64 `json:"precision,omitempty"`
	F1MeanOfQuestions *float64 `json:"f1_mean_of_questions,omitempty"`
	F1OfMeans         *float64 `json:"f1_of_means,omitempty"`
	// The micro figures count statements, not questions.
	MicroRecall    *float64 `json:"micro_recall,omitempty"`
	MicroPrecision *float64 `json:"micro_precision,omitempty"`
	MicroF1        *float64 `json:"micro_f1,omitempty"`
	// Intervals are as in [TypeReport].
	Intervals map[string]Interval `json:"intervals,omitempty"`
	// Unscored is the share of questions without a score, Reasons their
	// number by cause, Bounds the figures with all of them at 0 and at 1.
	Unscored float64             `json:"unscored"`
	Reasons  map[string]int      `json:"unscored_reasons,omitempty"`
	Bounds   map[string]Interval `json:"bounds,omitempty"`
	// Refusals tells answers from refusals. A refusal is wrong when the
	// prompt held a page of every unit of the gold.
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
	// AvgAccuracy is the accuracy over single-fact and multi-fact questions
	// together (Table 2).
	AvgAccuracy *float64 `json:"avg_accuracy,omitempty"`
}

// Verdicts returns the headline figure, whichever judge it is from.
func (o Overall) Verdicts() *OverallJudged {
	if o.OverallJudged != nil {
		return o.OverallJudged
	}
	return o.Lexical
}
