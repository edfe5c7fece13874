// SPDX-License-Identifier: Apache-2.0

package langchain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/fake"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/langchain"
)

func words(s string) int { return len(strings.Fields(s)) }

func toolsOver(t *testing.T) agent.ToolOptions {
	t.Helper()
	var chunks []graphrag.Chunk
	for i, text := range []string{"The Fram was built by Colin Archer.", "Colin Archer was born in Larvik."} {
		doc := fmt.Sprintf("%c.md", 'a'+i)
		chunks = append(chunks, graphrag.Chunk{ID: doc + "#0", Doc: doc, Text: text, End: len(text)})
	}
	r := check.Of(retrieve.NewSparse(t.Context(), chunks, bm25.Options{})).OK(t)
	return agent.ToolOptions{Retriever: r, Pages: find.New(chunks), Count: words}
}

// calling is a langchaingo model that calls tools natively, or by JSON if it has no tools; one kind refuses
// requests with tools.
type calling struct {
	native, refuses bool
	turn            int
	offered         []int
}

func (c *calling) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

func (c *calling) GenerateContent(_ context.Context, _ []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, f := range options {
		f(&o)
	}
	c.offered = append(c.offered, len(o.Tools))
	if c.refuses && len(o.Tools) > 0 {
		return nil, llms.NewError(llms.ErrCodeInvalidRequest, "server", "tools are not supported")
	}
	c.turn++
	calls := []struct{ name, arguments string }{
		{"search", `{"query": "Who built the Fram?"}`}, {"find", `{"pattern": "born in"}`}, {"answer", `{"answer": "Larvik", "ids": [1, 2]}`},
	}
	do := calls[(c.turn-1)%len(calls)]
	info := map[string]any{"PromptTokens": 3, "CompletionTokens": 4}
	if c.native && len(o.Tools) > 0 {
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{StopReason: "tool_calls", GenerationInfo: info,
			ToolCalls: []llms.ToolCall{{ID: "1", Type: "function", FunctionCall: &llms.FunctionCall{Name: do.name, Arguments: do.arguments}}}}}}, nil
	}
	text := `{"thought": "", "calls": [{"tool": "` + do.name + `", ` + do.arguments[1:] + `]}`
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text, StopReason: "stop", GenerationInfo: info}}}, nil
}

// Native calls and JSON give the same steps, also with a server that first accepts tools and then does not, or
// refuses them.
func TestNativeCalls(t *testing.T) {
	var want []graphrag.Step
	for _, m := range []*calling{{native: true}, {}, {native: true, refuses: true}} {
		model := check.Of(langchain.From(m, langchain.FromOptions{Name: "m"})).OK(t)
		next := check.Of(agent.NextByModel(model)).OK(t)
		s := check.Of(agent.Search(next, agent.SearchOptions{ToolOptions: toolsOver(t)})).OK(t)
		f, err := s.Retrieve(t.Context(), graphrag.Question{Text: "Where was the builder of the Fram born?", K: 1, Depth: 2})
		check.Must(t, err == nil && len(f.Evidence) == 2, "%+v, %v", f, err)
		if want == nil {
			want = f.Steps
		}
		diff := cmp.Diff(want, f.Steps)
		check.True(t, diff == "" && m.offered[0] == 4, "%+v\n%s", m, diff)
	}
}

// langchaingo's tools take JSON or plain words, report faults, and check citations.
func TestTools(t *testing.T) {
	ours := check.Of(agent.NewTools(graphrag.Question{K: 1}, toolsOver(t))).OK(t)
	out := make(map[string]func(string) string)
	var names []string
	for _, tool := range langchain.Tools(ours) {
		names = append(names, tool.Name())
		check.Contains(t, tool.Description(), "JSON object")
		out[tool.Name()] = func(input string) string {
			return check.Of(tool.Call(t.Context(), input)).OK(t)
		}
	}
	check.Equal(t, names, []string{"search", "read", "find", "answer"})
	for _, tt := range []struct{ tool, input, want string }{
		{"search", `{"query": "Fram"}`, "built by Colin Archer"}, {"find", "born in", "Larvik"}, {"find", "x*", "matches every line"},
		{"read", "../a.md", "there is no page"}, {"read", `{"source": "b.md"}`, "see [2]"}, {"search", `{"query": `, "no JSON object"},
		{"answer", `{"answer": "Larvik", "ids": [1, 7]}`, `"cited":1,"unread":[7]`},
	} {
		said := out[tt.tool](tt.input)
		check.Contains(t, strings.ReplaceAll(said, " ", ""), strings.ReplaceAll(tt.want, " ", ""), "%s %s: %s", tt.tool, tt.input, said)
	}
	check.True(t, json.Valid([]byte(out["answer"](`{"answer": "x"}`))), "the end is no JSON")
}

// shelf is a vector store that returns all its documents.
type shelf []schema.Document

func (shelf) AddDocuments(context.Context, []schema.Document, ...vectorstores.Option) ([]string, error) {
	return nil, errors.ErrUnsupported
}

func (s shelf) SimilaritySearch(_ context.Context, query string, _ int, _ ...vectorstores.Option) ([]schema.Document, error) {
	if query == "" {
		return nil, errors.ErrUnsupported
	}
	return s, nil
}

// A vector store of langchaingo is a retriever of ours, and that is a retriever of langchaingo.
func TestThereAndBack(t *testing.T) {
	ours := langchain.Dense(shelf{
		{PageContent: "woooo", Score: .9, Metadata: map[string]any{"id": "owl", "source": "owls.md", "title": "Owls", "year": 1958}},
		{PageContent: "woooo", Score: .8, Metadata: map[string]any{"id": "owl"}},
		{PageContent: "foxfox", Score: .7, Metadata: map[string]any{"source": "foxes.md"}},
		{PageContent: "foxfox", Score: .6},
		{PageContent: "one too many"},
	})
	found, err := ours.Retrieve(t.Context(), graphrag.Question{Text: "ow", K: 3})
	check.Must(t, err == nil && len(found.Ranked) == 3 && found.Ranked[2].Chunk.ID != found.Ranked[1].Chunk.ID, "%+v, %v", found, err)
	if h := found.Ranked[0]; !reflect.DeepEqual(h.Chunk, graphrag.Chunk{ID: "owl", Doc: "owls.md", Title: "Owls", Text: "woooo", End: 5}) || h.Source != "dense" || h.Score < .89 {
		t.Errorf("%+v", h)
	}
	theirs, err := langchain.Retriever(ours, 1).GetRelevantDocuments(t.Context(), "ow")
	check.True(t, err == nil && len(theirs) == 1 && theirs[0].PageContent == "woooo" && theirs[0].Metadata["id"] == "owl", "%+v, %v", theirs, err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(ours.Retrieve(cancelled, graphrag.Question{Text: "ow", K: 2})), context.Canceled, "cancelled")
	check.Is(t, check.Err(ours.Retrieve(t.Context(), graphrag.Question{K: 2})), errors.ErrUnsupported, "a store that fails")
}

// Any langchaingo model can be used; this one is part of langchaingo.
func ExampleFrom() {
	model, err := langchain.From(fake.NewFakeLLM([]string{"forty-two"}), langchain.FromOptions{Name: "fake"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Generate(context.Background(), llm.Prompt("What is six times seven?"))
	fmt.Println(reply.Text, reply.Usage.Estimated, err)
	// Output: forty-two true <nil>
}
