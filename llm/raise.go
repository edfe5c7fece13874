// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"errors"
)

// RaiseLimit asks once more with a limit of maxTokens when a reply was cut at
// a smaller one. What was cut is never sent back: that makes prompts grow
// without bound. The usage in the reply, or in the error, is that of both
// calls. Put it above [Cached], which then keeps both outcomes.
func RaiseLimit(m Model, maxTokens int) Model { return raised{m, maxTokens} }

type raised struct {
	Model
	most int
}

func (r raised) Generate(ctx context.Context, req Request) (Reply, error) {
	reply, err := r.Model.Generate(ctx, req)
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrTruncated || req.MaxTokens <= 0 || req.MaxTokens >= r.most {
		return reply, err
	}
	req.MaxTokens = r.most
	reply, err = r.Model.Generate(ctx, req)
	reply.Usage = reply.Usage.Add(e.Usage)
	return reply, addUsage(err, e.Usage)
}
