// SPDX-License-Identifier: Apache-2.0

package langchain

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// stub is a langchaingo model made of a function.
type stub func() (*llms.ContentResponse, error)

func (s stub) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	return s()
}

func (s stub) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

func TestFromConformance(t *testing.T) {
	m := check.Of(From(stub(func() (*llms.ContentResponse, error) {
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "hello"}}}, nil
	}), FromOptions{Name: "stub"})).OK(t)
	llmtest.TestModel(t, m)
}

func TestFromGuards(t *testing.T) {
	one := func(c llms.ContentChoice) *llms.ContentResponse {
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{&c}}
	}
	info := map[string]any{"PromptTokens": 3, "CompletionTokens": 4}
	for _, tc := range []struct {
		name string
		resp *llms.ContentResponse
		err  error
		text string
		want llm.Kind
	}{
		{"plain", one(llms.ContentChoice{Content: "x", GenerationInfo: info}), nil, "x", ""},
		{"thinking block first", &llms.ContentResponse{Choices: []*llms.ContentChoice{
			{ReasoningContent: "hm"}, nil, {Content: "answer", StopReason: "end_turn"}}}, nil, "answer", ""},
		{"think stripped", one(llms.ContentChoice{Content: "<think>a</think>b"}), nil, "b", ""},
		{"swallowed error", one(llms.ContentChoice{}), nil, "", llm.ErrEmpty},
		{"nil response", nil, nil, "", llm.ErrEmpty},
		{"no choices", &llms.ContentResponse{}, nil, "", llm.ErrEmpty},
		{"max_tokens", one(llms.ContentChoice{Content: "x", StopReason: "max_tokens"}), nil, "", llm.ErrTruncated},
		{"MAX_TOKENS", one(llms.ContentChoice{Content: "x", StopReason: "MAX_TOKENS"}), nil, "", llm.ErrTruncated},
		{"safety", one(llms.ContentChoice{Content: "x", StopReason: "SAFETY"}), nil, "", llm.ErrFiltered},
		{"refusal", one(llms.ContentChoice{Content: "x", StopReason: "refusal"}), nil, "", llm.ErrRefused},
		{"typed", nil, llms.NewError(llms.ErrCodeAuthentication, "p", "m"), "", llm.ErrAuth},
		{"untyped", nil, errors.New("429 in some text"), "", llm.ErrTransient},
	} {
		m, err := From(stub(func() (*llms.ContentResponse, error) { return tc.resp, tc.err }), FromOptions{Name: "stub"})
		check.OK(t, err)
		reply, err := m.Generate(t.Context(), llm.Prompt("q"))
		check.True(t, (tc.want != "" || err == nil && reply.Text == tc.text) &&
			(tc.want == "" || errors.Is(err, tc.want)), "%s: reply %+v, error %v", tc.name, reply, err)
	}
	_, err := From(nil, FromOptions{})
	check.True(t, err != nil && strings.Count(err.Error(), "\n") == 1, "From(nil) without a name: %v", err)
	// A cancelled context takes precedence over the model's result.
	ctx, cancel := context.WithCancel(t.Context())
	m := check.Of(From(stub(func() (*llms.ContentResponse, error) {
		cancel()
		return one(llms.ContentChoice{Content: "half an ans"}), nil
	}), FromOptions{Name: "stub"})).OK(t)
	check.Is(t, check.Err(m.Generate(ctx, llm.Prompt("q"))), context.Canceled, "cancelled")
}

func TestUsageOf(t *testing.T) {
	for _, tc := range []struct {
		info  map[string]any
		p, c  int
		known bool
	}{
		{map[string]any{"PromptTokens": 3, "CompletionTokens": 4}, 3, 4, true},
		{map[string]any{"InputTokens": int64(3), "OutputTokens": float64(4)}, 3, 4, true},
		{map[string]any{"input_tokens": int32(3), "output_tokens": json.Number("4")}, 3, 4, true},
		{map[string]any{"PromptTokens": 0, "CompletionTokens": 0, "input_tokens": int32(3)}, 3, 0, true},
		{map[string]any{"PromptTokens": 0, "CompletionTokens": 0}, 0, 0, false},
		{map[string]any{"PromptTokens": "three", "CompletionTokens": -1}, 0, 0, false},
		{map[string]any{"PromptTokens": math.Inf(1), "CompletionTokens": math.NaN()}, 0, 0, false},
		{nil, 0, 0, false},
	} {
		resp := &llms.ContentResponse{Choices: []*llms.ContentChoice{{GenerationInfo: tc.info}, {GenerationInfo: tc.info}}}
		u, known := usageOf(resp.Choices)
		check.True(t, u.PromptTokens == tc.p && u.CompletionTokens == tc.c && known == tc.known, "%v: %+v %v", tc.info, u, known)
	}
	_, known := usageOf(nil)
	check.True(t, !known, "nil has usage")
}
