// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// Record is a [Settings], [Index], [Answer], [Judgment] or [Closing].
type Record interface {
	kind() uint8
	key() any // what it is found by; a later one takes the place of an earlier one
}

// Settings tell what a digest in a [Cell] stands for.
type Settings struct {
	Digest string         `json:"digest"`
	Values map[string]any `json:"values"`
}

// NewSettings computes the digest of settings: a function of the values alone.
func NewSettings(values map[string]any) (Settings, error) {
	text, err := json.Marshal(values) // sorted by key
	if err != nil {
		return Settings{}, fmt.Errorf("record: settings: %w", err)
	}
	return Settings{Digest: Digest(string(text)), Values: values}, nil
}

// Digest names texts by a hash of them.
func Digest(texts ...string) string {
	sum := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(sum, "%d\x00%s", len(t), t)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Cell names the index of one system over one domain, with what decides it.
type Cell struct {
	System string `json:"system"`
	Domain string `json:"domain"`
	// Corpus is the fingerprint of the documents, Settings the digest of what
	// the system was built with.
	Corpus   string `json:"corpus,omitempty"`
	Settings string `json:"settings,omitempty"`
}

// Key names one question put to one system: everything that decides the answer.
type Key struct {
	Cell
	ID       string        `json:"id"`
	Question string        `json:"question"`
	Form     graphrag.Form `json:"form,omitempty"`
	// K, Tokens and Depth are those of the question, see [graphrag.Question].
	K      int `json:"k"`
	Tokens int `json:"tokens,omitempty"`
	Depth  int `json:"depth"`
}

// Index tells of one built index.
type Index struct {
	Cell
	Stats   graphrag.IndexStats `json:"stats"`
	Seconds float64             `json:"seconds"`
	// Usage is what models were asked for the index by the stage of the request,
	// such as "community report".
	Usage map[string]graphrag.Usage `json:"usage_by_stage,omitempty"`
	// Steps are the seconds in which a step of indexing, or a call of a stage, was under way.
	Steps map[string]float64 `json:"seconds_by_stage,omitempty"`
	// Bytes is the size of the documents that were read.
	Bytes int64 `json:"bytes,omitempty"`
	// Tokens is their length in tokens, of systems that show their graph.
	Tokens int64 `json:"tokens,omitempty"`
	// Build counts the indexes that were built anew because the one before had
	// failed: answers are those of their build alone.
	Build int `json:"build,omitempty"`
	// Error says why there is no index, Detail where that was found.
	Error  string `json:"error,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Graph is true if the system shows its graph, even an empty one; Edges are counted
	// in it.
	Graph bool  `json:"graph,omitempty"`
	Edges int64 `json:"edges,omitempty"`
}

// Answer is one answered question.
type Answer struct {
	Key
	Text    string `json:"answer"`
	Refused bool   `json:"refused,omitempty"`
	// Error says why there is no answer: a failure that belongs to this
	// question alone. Other failures end the run.
	// Detail says where it was found, for those who mend it.
	Error  string `json:"error,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Build is that of the index, see [Index].
	Build int `json:"build,omitempty"`
	// Foreign is true if the answer was made elsewhere: neither the texts of its
	// prompt nor their lengths are known.
	Foreign bool `json:"foreign,omitempty"`
	// Uncounted is true if the tokens of the prompt were not counted.
	Uncounted bool `json:"uncounted,omitempty"`
	// Searched is true if the question was searched for and not answered.
	Searched bool `json:"searched,omitempty"`
	// Ranked are the ranked chunks, best first; nil of systems that rank none.
	Ranked []Ranked `json:"ranked"`
	// Evidence is the source text in the final prompt, Derived what else was in it; Sources are the
	// passages behind the derived texts that the answer cites.
	Evidence []Evidence `json:"evidence,omitempty"`
	Derived  []Derived  `json:"derived,omitempty"`
	Sources  []Evidence `json:"sources,omitempty"`
	// Citations point into Text, and at Evidence and Derived.
	Citations []graphrag.Citation `json:"citations,omitempty"`
	// Steps are what the search did.
	Steps []graphrag.Step `json:"steps,omitempty"`
	// Found is the share of the gold statements that the evidence contains, see
	// benchmark.Words.Found; Gold is the digest of these statements.
	Found  *float64       `json:"found,omitempty"`
	Gold   string         `json:"gold,omitempty"`
	Usage  graphrag.Usage `json:"usage"`
	Millis float64        `json:"ms"`
}

// Ranked is one place in a ranked list.
type Ranked struct {
	Chunk string  `json:"chunk"`
	Doc   string  `json:"doc"`
	Score float64 `json:"score"`
}

// Evidence is one chunk in a prompt.
type Evidence struct {
	Chunk  string `json:"chunk"`
	Doc    string `json:"doc"`
	Tokens int    `json:"tokens,omitempty"`
	// Text is kept for judges that are shown it.
	Text string `json:"text,omitempty"`
	// Excerpt is a part of the text, for people, and Quotes the bytes of it that the
	// answer quotes; of most pieces there is none.
	Excerpt string   `json:"excerpt,omitempty"`
	Quotes  [][2]int `json:"quotes,omitempty"`
}

// Derived is text in a prompt that is no source text: a fact, a summary.
type Derived struct {
	// Docs are the documents behind it.
	Docs    []string `json:"docs,omitempty"`
	Tokens  int      `json:"tokens,omitempty"`
	Text    string   `json:"text,omitempty"`
	Excerpt string   `json:"excerpt,omitempty"`
}

// NewAnswer records an answer. count measures the prompt; nil leaves it
// uncounted. The texts of the prompt are kept if they will be shown to a judge.
func NewAnswer(k Key, a graphrag.Answer, count func(string) int, shown bool) Answer {
	out := Answer{Key: k, Text: a.Text, Refused: a.Refused, Steps: a.Steps, Usage: a.Usage, Uncounted: count == nil}
	if a.Ranked != nil {
		out.Ranked = make([]Ranked, len(a.Ranked))
	}
	for i, h := range a.Ranked {
		out.Ranked[i] = Ranked{h.Chunk.ID, h.Chunk.Doc, h.Score}
	}
	measure := func(text string) (int, string) {
		tokens := 0
		if count != nil {
			tokens = count(text)
		}
		if !shown {
			text = ""
		}
		return tokens, text
	}
	out.Derived = slices.Grow(out.Derived, len(a.Derived))
	pieces := func(hits []graphrag.Hit) []Evidence {
		list := slices.Grow([]Evidence(nil), len(hits))
		for _, h := range hits {
			tokens, text := measure(h.Chunk.Text)
			list = append(list, Evidence{Chunk: h.Chunk.ID, Doc: h.Chunk.Doc, Tokens: tokens, Text: text})
		}
		return list
	}
	if out.Evidence = pieces(a.Evidence); shown {
		out.Sources = pieces(a.Sources)
	}
	docs := 0
	for _, d := range a.Derived {
		docs += len(d.Docs)
	}
	all := make([]string, 0, docs) // one list in memory, for the log keeps all answers
	for _, d := range a.Derived {
		var e Derived
		if start := len(all); len(d.Docs) > 0 {
			all = append(all, d.Docs...)
			e.Docs = all[start:len(all):len(all)]
		}
		e.Tokens, e.Text = measure(d.Text)
		out.Derived = append(out.Derived, e)
	}
	return out
}

// Uncited reports whether an answer cites nothing of the material that was read for it.
func (a Answer) Uncited() bool {
	return !a.Foreign && !a.Refused && len(a.Citations) == 0 && len(a.Evidence)+len(a.Derived) > 0 && a.Text != ""
}

// ContextTokens is the length of evidence and derived text in the prompt.
func (a Answer) ContextTokens() int {
	n := 0
	for _, e := range a.Evidence {
		n += e.Tokens
	}
	for _, d := range a.Derived {
		n += d.Tokens
	}
	return n
}

// Effort is what finding an answer took: the turns of an agent, 1 of systems that read once,
// the searches, and the tokens that were read in all.
func (a Answer) Effort() (turns, searches, read int) {
	for _, s := range a.Steps {
		read += s.Tokens
		switch s.Kind {
		case "turn":
			turns++
		case "search", "read", "find":
			searches++
		}
	}
	if searches == 0 && a.Ranked != nil && turns == 0 {
		searches = 1
	}
	return max(turns, 1), searches, max(read, a.ContextTokens())
}

// Shown are the passages of the prompt and those behind the derived texts that the answer cites, and false if they were
// not kept. A derived text proves nothing: a system's model may have written it. Of a foreign answer there are none.
func (a Answer) Shown() (texts []string, kept bool) {
	kept = a.Foreign || !slices.ContainsFunc(a.Derived, func(d Derived) bool { return d.Text == "" })
	for _, e := range slices.Concat(a.Evidence, a.Sources) {
		if !a.Foreign && !slices.Contains(texts, e.Text) {
			texts, kept = append(texts, e.Text), kept && e.Text != ""
		}
	}
	return texts, kept
}

// Judgment is one judged answer: the judgment of a fact or of a summary, never
// both.
type Judgment struct {
	Key
	// Judge is the judge's name, Case the digest of what it was shown: the
	// answer, the gold and, of some judges, the evidence.
	Judge   string                 `json:"judge"`
	Case    string                 `json:"case"`
	Detail  string                 `json:"detail,omitempty"` // where a fault of the judge was found
	Fact    *judge.FactJudgment    `json:"fact,omitempty"`
	Summary *judge.SummaryJudgment `json:"summary,omitempty"`
}

// Verdicts are those that make up the judgment.
func (j Judgment) Verdicts() []judge.Verdict {
	switch {
	case j.Fact != nil:
		return []judge.Verdict{j.Fact.Verdict}
	case j.Summary != nil:
		return []judge.Verdict{j.Summary.Recall, j.Summary.Precision}
	}
	return nil
}

// Usage is what judging took.
func (j Judgment) Usage() graphrag.Usage {
	switch {
	case j.Fact != nil:
		return j.Fact.Usage
	case j.Summary != nil:
		return j.Summary.Usage
	}
	return graphrag.Usage{}
}

// Closing ends the work of one system on one domain.
type Closing struct {
	Cell
	PeakRSSMB float64 `json:"peak_rss_mb,omitempty"`
}
