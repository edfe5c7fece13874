// SPDX-License-Identifier: Apache-2.0

package reader_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/reader"
)

// yearFinder finds the question's last word; the later passage has the larger score.
type yearFinder struct{}

func (yearFinder) Name() string { return "years" }

func (yearFinder) Find(_ context.Context, question string, passages []string) ([]local.Span, error) {
	if question == "" {
		return nil, errors.New("no question")
	}
	word := question[strings.LastIndexByte(question, ' ')+1:]
	out := make([]local.Span, len(passages))
	for i, p := range passages {
		if at := strings.Index(p, word); at >= 0 {
			out[i] = local.Span{Start: at, End: at + len(word), Score: float64(i) + .5}
		} else {
			out[i].Score = -1
		}
	}
	return out, nil
}

func TestBySpans(t *testing.T) {
	evidence := []graphrag.Hit{
		{Chunk: graphrag.Chunk{Doc: "a", Text: "Built in 1892.", Start: 10, End: 24}},
		{Chunk: graphrag.Chunk{Doc: "b", Text: "A ship. It sailed in 1893, north. It came back.", Start: 100, End: 147}},
		{Chunk: graphrag.Chunk{Doc: "c", Text: "In 1893.", Start: 5, End: 90}}, // cleaned
	}
	derived := []graphrag.Derived{{Kind: "fact", Text: "x"}}
	other := reader.Func(func(context.Context, graphrag.Question, []graphrag.Hit, []graphrag.Derived) (graphrag.Answer, error) {
		return graphrag.Answer{Text: "by rules"}, nil
	})
	r := reader.BySpans(yearFinder{}, other)
	if r.Name() != "spans/years+function" {
		t.Errorf("name %s", r.Name())
	}
	for _, tt := range []struct {
		q        graphrag.Question
		evidence []graphrag.Hit
		text     string
		cited    graphrag.Citation
	}{
		{graphrag.Question{Text: "When? 1892", Form: graphrag.Short}, evidence, "1892", graphrag.Citation{End: 4, SourceStart: 19, SourceEnd: 23}},
		{graphrag.Question{Text: "When? 1893"}, evidence[:2], "It sailed in 1893, north.", graphrag.Citation{End: 25, Evidence: 1, SourceStart: 108, SourceEnd: 133}},
		{graphrag.Question{Text: "When? 1893", Form: graphrag.Short}, evidence, "1893", graphrag.Citation{End: 4, Evidence: 2, SourceStart: 5, SourceEnd: 90}},
		{graphrag.Question{Text: "When? 1893", Form: graphrag.List}, evidence, "by rules", graphrag.Citation{}},
		{graphrag.Question{Text: "When? 1900"}, evidence, reader.Refusal, graphrag.Citation{}},
		{graphrag.Question{Text: "When? 1900"}, nil, reader.Refusal, graphrag.Citation{}},
	} {
		a, err := r.Read(t.Context(), tt.q, tt.evidence, derived)
		if err != nil || a.Text != tt.text || a.Refused != (tt.text == reader.Refusal) {
			t.Errorf("%q: %q, refused %v, error %v", tt.q.Text, a.Text, a.Refused, err)
		}
		if tt.cited != (graphrag.Citation{}) && (len(a.Citations) != 1 || a.Citations[0] != tt.cited || a.Confidence <= .5 || a.Confidence >= 1) {
			t.Errorf("%q: citations %+v, want %+v; confidence %v", tt.q.Text, a.Citations, tt.cited, a.Confidence)
		}
	}
	if _, err := r.Read(t.Context(), graphrag.Question{}, evidence, nil); err == nil || !strings.Contains(err.Error(), "reader: no question") {
		t.Errorf("error %v", err)
	}
}
