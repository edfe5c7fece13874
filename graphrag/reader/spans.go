// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// SpanFinder finds the words of each passage that answer a question; a score above 0 says
// that they do. [local.Spans] is one.
type SpanFinder interface {
	Name() string
	Find(ctx context.Context, question string, passages []string) ([]local.Span, error)
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
