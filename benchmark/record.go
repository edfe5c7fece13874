// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// IndexRecord tells of one built index: one system on one domain.
type IndexRecord struct {
	System  string              `json:"system"`
	Domain  string              `json:"domain"`
	Stats   graphrag.IndexStats `json:"stats"`
	Seconds float64             `json:"seconds"`
	// Bytes is the size of the documents that were read.
	Bytes int64 `json:"bytes,omitempty"`
	// Degrees and Edges describe the graph, if the system shows one.
	Degrees Degrees `json:"degrees,omitempty"`
	Edges   int64   `json:"edges,omitempty"`
}

// AnswerRecord is one answered question.
type AnswerRecord struct {
	System   string                `json:"system"`
	Domain   string                `json:"domain"`
	ID       string                `json:"id"`
	Type     graphrag.QuestionType `json:"type"`
	Question string                `json:"question"`
	K        int                   `json:"k"`
	// Sweep is K for an answer of the sweep over top-k, 0 for one of the run.
	Sweep   int    `json:"sweep,omitempty"`
	Answer  string `json:"answer"`
	Refused bool   `json:"refused,omitempty"`
	// Error says why there is no answer: a failure that belongs to this
	// question alone. Other failures end the run.
	Error string `json:"error,omitempty"`
	// Ranked are the ranked chunks, best first; Evidence the IDs of the
	// chunks whose text was in the final prompt.
	Ranked   []RankedChunk `json:"ranked,omitempty"`
	Evidence []string      `json:"evidence,omitempty"`
	// Shown is the evidence text, kept when the judge is shown it.
	Shown []string `json:"shown,omitempty"`
	// Metrics compares ranked chunks and evidence with the gold.
	Metrics Evidence `json:"metrics"`
	// ContextTokens is the length of evidence and derived text in the prompt.
	ContextTokens int `json:"context_tokens"`
	// DerivedTokens is the part of it that is no source text, Met where in the
	// source text each gold unit is first met: see [AnswerRecord.EvidenceAt].
	DerivedTokens int            `json:"derived_tokens,omitempty"`
	Met           []TokenSpan    `json:"met,omitempty"`
	Usage         graphrag.Usage `json:"usage"`
	Millis        float64        `json:"ms"`
}

// RankedChunk is one place in a ranked list.
type RankedChunk struct {
	Chunk string  `json:"chunk"`
	Doc   string  `json:"doc"`
	Score float64 `json:"score"`
}

// JudgmentRecord is one judged answer: the judgement of a fact or of a
// summary, never both.
type JudgmentRecord struct {
	System  string                 `json:"system"`
	Domain  string                 `json:"domain"`
	ID      string                 `json:"id"`
	Sweep   int                    `json:"sweep,omitempty"`
	Judge   string                 `json:"judge"`
	Fact    *judge.FactJudgment    `json:"fact,omitempty"`
	Summary *judge.SummaryJudgment `json:"summary,omitempty"`
}

// CellRecord closes the work of one system on one domain.
type CellRecord struct {
	System    string  `json:"system"`
	Domain    string  `json:"domain"`
	PeakRSSMB float64 `json:"peak_rss_mb,omitempty"`
}

// cell names one system on one domain.
type cell struct{ system, domain string }

// place names one question put to one system: with the top-k of the run, sweep
// 0, or with another.
type place struct {
	system, domain, id string
	sweep              int
}
