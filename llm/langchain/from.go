// SPDX-License-Identifier: Apache-2.0

package langchain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// FromOptions tune [From].
type FromOptions struct {
	// Name identifies the model in reports and cache keys, for instance "anthropic:claude-x". Two models with
	// one name would answer for each other from a cache, so it is required.
	Name string
}

type model struct {
	m    llms.Model
	name string
}

// From makes an [llm.Model] from a langchaingo model.
//
// A cancelled context takes precedence over the model's result. The text comes from the first choice with
// content, without reasoning. A reply that was cut, filtered or is empty becomes an error; so does an empty
// reply without usage, which is how some clients hide errors. Usage is read under the names of OpenAI,
// Anthropic and Google; a model without usage gets an estimate, marked as such.
//
// From cannot see HTTP: give the model's client a [transport.Transport] for retries and typed errors. A
// schema becomes langchaingo's JSON mode: the prompt must describe it. Tools are offered; after a refusal the
// request is sent once more without them.
func From(m llms.Model, o FromOptions) (llm.Model, error) {
	var errs []error
	if m == nil {
		errs = append(errs, errors.New("langchain: From: the model is nil"))
	}
	if o.Name == "" {
		errs = append(errs, errors.New("langchain: From: FromOptions.Name is empty: caches and reports need it"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &model{m: m, name: o.Name}, nil
}

func (m *model) Name() string { return m.name }

func (m *model) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if ctx.Err() != nil {
		return llm.Reply{}, llm.Canceled(ctx, llm.BilledNo)
	}
	if len(req.Messages) == 0 {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo,
			Err: fmt.Errorf("%s: the request has no messages", m.name)}
	}
	resp, err := m.m.GenerateContent(ctx, messages(req), options(req)...)
	if bad := (*llms.Error)(nil); len(req.Tools) > 0 && errors.As(err, &bad) && (bad.Code == llms.ErrCodeInvalidRequest || bad.Code == llms.ErrCodeNotImplemented) {
		req.Tools = nil // the server has no tools: the messages describe them
		resp, err = m.m.GenerateContent(ctx, messages(req), options(req)...)
	}
	switch {
	case ctx.Err() != nil:
		return llm.Reply{}, llm.Canceled(ctx, llm.BilledUnknown)
	case err != nil:
		return llm.Reply{}, convertError(m.name, err)
	}
	return m.convert(ctx, req, resp)
}

// convert turns a response into a reply or an error.
func (m *model) convert(ctx context.Context, req llm.Request, resp *llms.ContentResponse) (llm.Reply, error) {
	var choices []*llms.ContentChoice
	if resp != nil {
		choices = slices.DeleteFunc(slices.Clone(resp.Choices), func(c *llms.ContentChoice) bool { return c == nil })
	}
	used, known := usageOf(choices)
	used.Calls = 1
	reply := llm.Reply{Usage: used}
	raw, stop := "", ""
	for _, c := range choices {
		reply.Reasoning = strings.TrimPrefix(reply.Reasoning+"\n"+c.ReasoningContent, "\n")
		if raw == "" {
			raw, stop = c.Content, c.StopReason
		}
		if calls := toolCalls(c); len(req.Tools) > 0 && calls != "" {
			raw, stop = calls, llm.FinishStop
			break
		}
	}
	if !known {
		for _, msg := range req.Messages {
			reply.Usage.PromptTokens += llm.EstimateTokens(msg.Text)
		}
		reply.Usage.CompletionTokens, reply.Usage.Estimated = llm.EstimateTokens(raw), true
	}
	reply, err := llm.Finish(reply, raw, stop)
	if errors.Is(err, llm.ErrEmpty) && !known {
		// Nothing at all: an error the client swallowed, not a paid call.
		return llm.Reply{}, err
	}
	metering.RecordUsage(ctx, reply.Usage)
	if failed := (*llm.Error)(nil); errors.As(err, &failed) {
		failed.Usage = reply.Usage
		return llm.Reply{}, failed
	}
	return reply, nil
}

// roles maps roles to langchaingo's; the others are human.
var roles = map[string]llms.ChatMessageType{llm.System: llms.ChatMessageTypeSystem, llm.Assistant: llms.ChatMessageTypeAI}

// messages converts the messages of a request.
func messages(req llm.Request) []llms.MessageContent {
	out := make([]llms.MessageContent, len(req.Messages))
	for i, m := range req.Messages {
		out[i] = llms.TextParts(cmp.Or(roles[m.Role], llms.ChatMessageTypeHuman), m.Text)
	}
	return out
}

func options(req llm.Request) []llms.CallOption {
	var o []llms.CallOption
	if req.MaxTokens > 0 {
		o = append(o, llms.WithMaxTokens(req.MaxTokens))
	}
	if req.Temperature != nil {
		o = append(o, llms.WithTemperature(*req.Temperature))
	}
	if req.TopP != nil {
		o = append(o, llms.WithTopP(*req.TopP))
	}
	if req.Seed != nil {
		o = append(o, llms.WithSeed(int(*req.Seed)))
	}
	if len(req.Stop) > 0 {
		o = append(o, llms.WithStopWords(append([]string(nil), req.Stop...)))
	}
	switch {
	case len(req.Tools) > 0:
		var tools []llms.Tool
		for _, t := range req.Tools {
			tools = append(tools, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Parameters}})
		}
		o = append(o, llms.WithTools(tools))
	case req.JSON || len(req.Schema) > 0:
		o = append(o, llms.WithJSONMode())
	}
	return o
}

// toolCalls returns the native calls of a choice as the text described at [llm.Request].Tools, "" without
// any.
func toolCalls(c *llms.ContentChoice) string {
	var calls []map[string]any
	for _, call := range c.ToolCalls {
		if call.FunctionCall == nil {
			continue
		}
		one := make(map[string]any)
		if err := json.Unmarshal([]byte(call.FunctionCall.Arguments), &one); err != nil || one == nil {
			one = map[string]any{"arguments": call.FunctionCall.Arguments} // the tool reports their form
		}
		one["tool"] = call.FunctionCall.Name
		calls = append(calls, one)
	}
	if calls == nil {
		return ""
	}
	text, _ := json.Marshal(map[string]any{"thought": c.Content, "calls": calls}) // they were read from JSON
	return string(text)
}

// codes maps langchaingo's error codes.
var codes = map[llms.ErrorCode]llm.Error{
	llms.ErrCodeAuthentication:   {Kind: llm.ErrAuth, Billed: llm.BilledNo},
	llms.ErrCodeQuotaExceeded:    {Kind: llm.ErrQuotaExhausted, Billed: llm.BilledNo},
	llms.ErrCodeContentFilter:    {Kind: llm.ErrFiltered},
	llms.ErrCodeTokenLimit:       {Kind: llm.ErrContextLength, Billed: llm.BilledNo},
	llms.ErrCodeRateLimit:        {Kind: llm.ErrRateLimited, Billed: llm.BilledNo},
	llms.ErrCodeInvalidRequest:   {Kind: llm.ErrBadRequest, Billed: llm.BilledNo},
	llms.ErrCodeResourceNotFound: {Kind: llm.ErrBadRequest, Billed: llm.BilledNo},
	llms.ErrCodeTimeout:          {Kind: llm.ErrTimeout},
}

// convertError makes an [llm.Error] from a model's error. It trusts types only: langchaingo's own mapping
// parses numbers in free text.
func convertError(name string, err error) error {
	var own *llm.Error
	if errors.As(err, &own) {
		return own
	}
	out := llm.Error{Kind: llm.ErrTransient}
	if theirs := (*llms.Error)(nil); errors.As(err, &theirs) && codes[theirs.Code].Kind != "" {
		out = codes[theirs.Code]
	}
	out.Err = fmt.Errorf("%s: %w", name, err)
	return &out
}

// usageNames are the keys of GenerationInfo under which langchaingo's
// providers report: OpenAI and Ollama, Anthropic, Google and Bedrock.
var usageNames = []struct{ prompt, completion string }{
	{"PromptTokens", "CompletionTokens"},
	{"InputTokens", "OutputTokens"},
	{"input_tokens", "output_tokens"},
}

// usageOf returns the token counts of the first choice that has them: every choice repeats the figures of the
// request.
func usageOf(choices []*llms.ContentChoice) (llm.Usage, bool) {
	for _, c := range choices {
		for _, n := range usageNames {
			prompt, ok1 := count(c.GenerationInfo[n.prompt])
			completion, ok2 := count(c.GenerationInfo[n.completion])
			if (ok1 || ok2) && prompt+completion > 0 {
				return llm.Usage{PromptTokens: prompt, CompletionTokens: completion}, true
			}
		}
	}
	return llm.Usage{}, false
}

// count reads a token count of any number type.
func count(v any) (int, bool) {
	var n metering.Count
	raw, err := json.Marshal(v)
	if err != nil || v == nil || n.UnmarshalJSON(raw) != nil || n < 0 {
		return 0, false
	}
	return int(n), true
}
