// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/llm"
)

// AspectsByModel asks a model, once for an overview, which parts of the subject to
// search for. It sees the question and the titles of the pages found for it. Aspects
// without a word, and those that say the same as another or as the question, are left
// out; no more than [retrieve.MaxAspects] are kept. A reply that cannot be used, and a
// refusal, name none. Any other error is an error.
func AspectsByModel(m llm.Model) (retrieve.Plan, error) {
	if m == nil {
		return nil, errors.New("agent: the model that names aspects is missing")
	}
	values := map[string]any{"Most": retrieve.MaxAspects}
	return func(ctx context.Context, question string, titles []string) ([]string, error) {
		clipped := make([]string, len(titles))
		for i, t := range titles {
			clipped[i] = clip(strings.Join(strings.Fields(t), " "))
		}
		req, err := prompts.Request(StageAspects, "aspects", values,
			llm.Data{Label: "question", Text: question}, llm.Data{Label: "titles", Text: strings.Join(clipped, "\n")})
		if err != nil {
			return nil, err
		}
		req.JSON = true
		reply, _, err := llm.Decode[named](ctx, m, req)
		if llm.OfOneReply(err) {
			return nil, nil
		}
		return reply.aspects(question), err
	}, nil
}

// named is what a model writes.
type named struct {
	Aspects *words `json:"aspects"`
}

// Check implements what llm.Decode asks of replies.
func (n named) Check() error {
	if n.Aspects == nil {
		return errors.New(`the key "aspects" is missing`)
	}
	return nil
}

// aspects are those that say something beside the question and each other, as the
// sub-queries of a [Plan].
func (n named) aspects(question string) []string {
	if n.Aspects == nil {
		return nil
	}
	var proposed []SubQuery
	for _, a := range *n.Aspects {
		if fold(a) != "" && fold(a) != fold(question) {
			proposed = append(proposed, SubQuery{Text: a})
		}
	}
	if len(proposed) == 0 {
		return nil
	}
	var out []string
	subs, _ := Plan(question, proposed, nil, retrieve.MaxAspects)
	for _, s := range subs {
		out = append(out, s.Text)
	}
	return out
}
