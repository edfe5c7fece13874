// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Reader answers a question from evidence.
//
// evidence is the ranked chunks, best first; derived is text made from sources, such as facts of a graph or
// summaries. Both may be empty. Answer.Evidence and Answer.Derived are the texts that were read, and the
// citations index them; Ranked is set by the caller. Read neither keeps nor changes its arguments, is safe
// for concurrent use, and returns the error of ctx when ctx is cancelled.
type Reader interface {
	// Name describes the reader in reports: kind, mode, model.
	Name() string
	Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error)
}

// Func makes a [Reader] of a function. Its name is "function".
type Func func(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error)

// Name is "function".
func (Func) Name() string { return "function" }

// Read calls f.
func (f Func) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	return f(ctx, q, evidence, derived)
}

// Mode is how a reader answers when the evidence does not contain the answer. The empty Mode means Open.
type Mode string

// The modes.
const (
	Open   Mode = "open"   // answer all the same
	Reject Mode = "reject" // say Refusal
	Cited  Mode = "cited"  // Reject, and refuse an answer that cites nothing it was shown
)

func (m Mode) check(checks *opt.Checks) {
	checks.Want(m == "" || m == Open || m.Rejects(), "Mode", strconv.Quote(string(m)), fmt.Sprintf("%q, %q or %q", Open, Reject, Cited))
}

// Rejects reports whether the mode refuses without evidence.
func (m Mode) Rejects() bool { return m == Reject || m == Cited }

// Refusal is the text of an answer that declines.
const Refusal = "The evidence does not contain the answer."

// refuse returns the refusal of a reader that found no answer in the evidence.
func refuse(evidence []graphrag.Hit, derived []graphrag.Derived) graphrag.Answer {
	return graphrag.Answer{Text: Refusal, Refused: true, Found: graphrag.Found{Evidence: evidence, Derived: derived}}
}

// SpanFinder finds the words of each passage that answer a question; a score above 0 says
// that they do. local.Spans of graphrag/embed is one.
type SpanFinder interface {
	Name() string
	Find(ctx context.Context, question string, passages []string) ([]text.Match, error)
}

// BySpans returns a reader that answers with the words that find finds in the evidence, in
// the form Short, and else with the sentence around them. It refuses if no passage has a
// span with a score above 0. Its confidence is the probability that find gives the words
// against there being no answer. Lists and overviews are read by otherwise.
func BySpans(find SpanFinder, otherwise Reader) Reader { return spans{find, otherwise} }

type spans struct {
	find      SpanFinder
	otherwise Reader
}

// Name implements [Reader].
func (s spans) Name() string { return "spans/" + s.find.Name() + "+" + s.otherwise.Name() }

// Read implements [Reader].
func (s spans) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	if q.Form == graphrag.List || q.Form == graphrag.Overview {
		return s.otherwise.Read(ctx, q, evidence, derived)
	}
	passages := make([]string, len(evidence))
	for i, h := range evidence {
		passages[i] = h.Chunk.Text
	}
	found, err := s.find.Find(ctx, q.Text, passages)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: %w", err)
	}
	best := -1
	for i, f := range found {
		if f.Score > 0 && (best < 0 || f.Score > found[best].Score) {
			best = i
		}
	}
	if best < 0 {
		return refuse(evidence, nil), nil
	}
	c, span := evidence[best].Chunk, found[best]
	start, end := span.Start, span.End
	if q.Form != graphrag.Short {
		for _, sentence := range text.Sentences(c.Text) {
			if sentence.Start <= span.Start && span.Start < sentence.End {
				start, end = sentence.Start, max(sentence.End, span.End)
			}
		}
	}
	a := graphrag.Answer{Text: c.Text[start:end], Confidence: 1 / (1 + math.Exp(-span.Score)), Found: graphrag.Found{Evidence: evidence}}
	cited := graphrag.Citation{End: len(a.Text), Evidence: best, SourceStart: c.Start, SourceEnd: c.End}
	if isSourceSpan(c) {
		cited.SourceStart, cited.SourceEnd = c.Start+start, c.Start+end
	}
	a.Citations = []graphrag.Citation{cited}
	return a, nil
}
