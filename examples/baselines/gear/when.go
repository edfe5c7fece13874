// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
)

// simple reports whether the graph is skipped for a question.
type simple func(ctx context.Context, question string) (bool, error)

// when uses the retriever flat for simple questions, whole for others.
func when(is simple, flat, whole graphrag.Retriever) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		skip, err := is(ctx, q.Text)
		if err != nil {
			return graphrag.Found{}, err
		}
		if skip {
			return flat.Retrieve(ctx, q)
		}
		return whole.Retrieve(ctx, q)
	})
}

// Words that begin English questions, words that join two facts, and words that add no fact before a
// copula: "Who is the mayor of Oslo?" needs one fact, "Where was the mayor of Oslo born?" two.
var (
	openers = strings.Fields("who whom whose what what's who's which when where how why is are was were did does do has have")
	joints  = strings.Fields("of that who whom whose which where than both same between")
	naming  = strings.Fields("who what which")
	copulas = strings.Fields("is was are were")
)

// simpleByForm counts the facts that a question needs. A question without an English opener is not simple.
func simpleByForm(_ context.Context, question string) (bool, error) {
	words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(question), "’", "'"), func(r rune) bool {
		return r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(words) < 2 || !slices.Contains(openers, words[0]) {
		return false, nil
	}
	n := 1
	if words[0] == "what's" || words[0] == "who's" || slices.Contains(naming, words[0]) && slices.Contains(copulas, words[1]) {
		n = 0
	}
	for _, w := range words[1:] {
		if slices.Contains(joints, w) || strings.HasSuffix(w, "'s") || strings.HasSuffix(w, "s'") {
			n++
		}
	}
	return n < 2, nil
}

// simpleByModel asks a model. A reply that cannot be used leaves the graph in.
func simpleByModel(m llm.Model) simple {
	return func(ctx context.Context, question string) (bool, error) {
		req, err := prompts.Request(ctx, StageClassify, "classify", nil, llm.Data{Label: "question", Text: question})
		if err != nil {
			return false, err
		}
		reply, _, err := llm.Decode[struct{ Simple bool }](ctx, m, req)
		if llm.OfOneReply(err) {
			return false, nil
		}
		return reply.Simple, err
	}
}
