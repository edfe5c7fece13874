// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
)

// ModelOptions are the options of [ByModel].
type ModelOptions struct {
	// Model answers. It is required.
	Model llm.Model
	// Mode is Open if empty.
	Mode Mode
}

// ByModel returns a reader that asks a language model. Passages are numbered,
// and the numbers the model cites become citations; the marks themselves are
// taken out of the answer. The instruction depends on the form of the
// question.
//
// Without evidence, Open asks the model for what it knows, and Reject refuses
// without a call. Errors are those of the model, wrapped.
func ByModel(o ModelOptions) (Reader, error) {
	errs := []error{o.Mode.check()}
	if o.Model == nil {
		errs = append(errs, errors.New("reader: Model is missing"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	o.Mode = o.Mode.orDefault()
	return &byModel{o}, nil
}

type byModel struct{ o ModelOptions }

// Name implements [Reader].
func (r *byModel) Name() string {
	return "model/" + string(r.o.Mode) + "/" + r.o.Model.Name()
}

// Read implements [Reader].
func (r *byModel) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
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
	reply, err := r.o.Model.Generate(ctx, req)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: answer %q: %w", q.Text, err)
	}
	answer := graphrag.Answer{Text: strings.TrimSpace(reply.Text), Evidence: evidence, Derived: derived, Usage: reply.Usage}
	if len(evidence) > 0 {
		answer.Text, answer.Citations = cite(reply.Text, len(evidence))
	}
	if answer.Refused = IsRefusal(answer.Text); answer.Refused {
		answer.Citations = nil
	}
	return answer, nil
}
