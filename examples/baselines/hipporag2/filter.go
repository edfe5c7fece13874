// SPDX-License-Identifier: Apache-2.0

package hipporag2

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts/filter.txt
var filterRules string

// StageFilter names the calls of the filter in accounts.
const StageFilter = "filter facts"

// filter is the recognition memory of the paper (section 3.3): a model says
// which of the facts found help with the question.
type filter struct{ model llm.Model }

type chosen struct {
	Facts *[][]string `json:"fact"`
}

// Check implements llm.Checker.
func (c chosen) Check() error {
	if c.Facts == nil {
		return errors.New(`the key "fact" is missing`)
	}
	return nil
}

// choose returns the facts that the model names, in its order, each once. A
// model that fails at this question leaves the facts as they are.
func (f *filter) choose(ctx context.Context, g *kg.Graph, question string, facts []scored) ([]scored, error) {
	list := make([][]string, len(facts))
	for i, x := range facts {
		t := g.Triple(x.relation)
		list[i] = []string{t.Head, t.Relation, t.Tail}
	}
	data, err := json.Marshal(map[string]any{"fact": list})
	if err != nil {
		return nil, err
	}
	fence := llm.NewFence(question, string(data))
	req := llm.Request{Stage: StageFilter, JSON: true, Messages: []llm.Message{
		{Role: llm.System, Text: strings.ReplaceAll(filterRules, "NONCE", fence.Nonce())},
		{Role: llm.User, Text: fence.Wrap("question", question) + "\n" + fence.Wrap("facts", string(data))},
	}}
	reply, _, err := llm.Decode[chosen](ctx, f.model, req)
	for _, kind := range []llm.Kind{llm.ErrInvalidOutput, llm.ErrTruncated, llm.ErrEmpty, llm.ErrFiltered, llm.ErrRefused, llm.ErrContextLength} {
		if errors.Is(err, kind) {
			return facts, nil
		}
	}
	if err != nil {
		return nil, err
	}
	var out []scored
	used := make([]bool, len(facts))
	for _, named := range *reply.Facts {
		for i := range list {
			if !used[i] && same(named, list[i]) {
				used[i] = true
				out = append(out, facts[i])
				break
			}
		}
	}
	return out, nil
}

// same tells whether the model wrote this fact; a fact that it made up is none
// of them.
func same(named, fact []string) bool {
	if len(named) != 3 {
		return false
	}
	for i := range fact {
		if kg.FoldUnicode.Key(named[i]) != kg.FoldUnicode.Key(fact[i]) {
			return false
		}
	}
	return true
}
