// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

// ModelOptions are the options of [ByModel].
type ModelOptions struct {
	// Model answers. It is required.
	Model llm.Model
	// Mode is Open if empty.
	Mode Mode
}

// ByModel returns a reader that asks a language model. Passages, facts and reports
// are numbered, and what the model cites becomes citations; in open mode it marks
// what it knows by itself, and that becomes one as well. The marks are taken out of
// the answer. The instruction depends on the form of the question.
//
// Without evidence, Open asks the model for what it knows, and Reject refuses
// without a call. Errors are those of the model, wrapped.
func ByModel(o ModelOptions) (Reader, error) {
	checks := opt.Checks{Of: "reader"}
	o.Mode.check(&checks)
	checks.Want(o.Model != nil, "Model", "missing", "a model")
	if err := checks.Err(); err != nil {
		return nil, err
	}
	o.Mode = cmp.Or(o.Mode, Open)
	return &byModel{o}, nil
}

type byModel struct{ o ModelOptions }

// Name implements [Reader].
func (r *byModel) Name() string {
	return "model/" + string(r.o.Mode) + "/" + r.o.Model.Name()
}

// Read implements [Reader].
func (r *byModel) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	return r.answer(ctx, q, evidence, derived, nil)
}

// Stream implements [Streamer]. A mark of a citation is held back until it is
// whole.
func (r *byModel) Stream(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error] {
	return func(yield func(graphrag.Answer, error) bool) {
		var raw, shown string
		enough := errors.New("the reader of the stream has enough")
		a, err := r.answer(ctx, q, evidence, derived, func(piece string) error {
			raw += piece
			settled := raw
			if open := strings.LastIndexByte(raw, '['); open > strings.LastIndexByte(raw, ']') {
				settled = raw[:open]
			}
			text, _ := cite(settled, materialOf(evidence, derived, r.o.Mode))
			if len(text) > len(shown) && strings.HasPrefix(text, shown) {
				shown = text
				if !yield(graphrag.Answer{Text: text}, nil) {
					return enough
				}
			}
			return nil
		})
		if !errors.Is(err, enough) {
			yield(a, err)
		}
	}
}

// answer asks the model; piece is called with parts of the reply, if it is not nil.
func (r *byModel) answer(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived, piece func(string) error) (graphrag.Answer, error) {
	if err := ctx.Err(); err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
	}
	if len(evidence) == 0 && len(derived) == 0 && r.o.Mode == Reject {
		return refuse(nil, nil), nil
	}
	req, err := request(q, evidence, derived, r.o.Mode)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: prompt for %q: %w", q.Text, err)
	}
	reply, err := llm.Stream(ctx, r.o.Model, req, piece)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
	}
	answer := graphrag.Answer{Text: strings.TrimSpace(reply.Text), Evidence: evidence, Derived: derived, Usage: reply.Usage}
	if of := materialOf(evidence, derived, r.o.Mode); of.any() {
		answer.Text, answer.Citations = cite(reply.Text, of)
	}
	if answer.Refused = r.refuses(answer); answer.Refused {
		answer.Citations = nil
	}
	return answer, nil
}

// refuses tells whether a reply declines to answer. In open mode one that says so of
// the evidence and goes on from memory does not.
func (r *byModel) refuses(a graphrag.Answer) bool {
	goesOn := r.o.Mode == Open && (len(text.Sentences(a.Text)) > 1 ||
		slices.ContainsFunc(a.Citations, func(c graphrag.Citation) bool { return c.Of == graphrag.OfMemory }))
	return IsRefusal(a.Text) && !goesOn
}
