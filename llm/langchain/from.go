// SPDX-License-Identifier: Apache-2.0

package langchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// FromOptions tune [From].
type FromOptions struct {
	// Name identifies the model in reports and cache keys, for instance
	// "anthropic:claude-x". Two models with one name would answer for each
	// other from a cache, so it is required.
	Name string
	// CountTokens estimates the usage of replies that come without; nil
	// means [llm.EstimateTokens]. Such usages are marked as estimated.
	CountTokens func(string) int
}

// wire is what a provider built here does below langchaingo.
type wire struct {
	// edit writes the request's fields into the body.
	edit func(req llm.Request, body map[string]json.RawMessage) error
	// read reads the reply from the body.
	read func(body []byte) (llm.Reply, error)
}

type model struct {
	m     llms.Model
	name  string
	count func(string) int
	wire  *wire // nil for a model from elsewhere
}

// From makes an [llm.Model] of a langchaingo model.
//
// A cancelled context wins over whatever the model returned. The text is that
// of the first choice with content, without reasoning blocks. A reply that
// was cut, filtered or is empty becomes an error; so does an empty reply
// without usage, which is how some clients swallow errors. Usage is read
// under the names of OpenAI, Anthropic and Google; a model that reports none
// gets an estimate, marked as such.
//
// From cannot see HTTP: give the model's client an [transport.Transport] for
// retries and typed errors. A schema reaches only models built here; other
// models get langchaingo's JSON mode and must be told the schema in the
// prompt.
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
	return from(m, o, nil), nil
}

func from(m llms.Model, o FromOptions, w *wire) *model {
	count := o.CountTokens
	if count == nil {
		count = llm.EstimateTokens
	}
	return &model{m: m, name: o.Name, count: count, wire: w}
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
	if m.wire != nil {
		return m.overWire(ctx, req)
	}
	resp, err := m.m.GenerateContent(ctx, messages(req), options(req)...)
	switch {
	case ctx.Err() != nil:
		return llm.Reply{}, llm.Canceled(ctx, llm.BilledUnknown)
	case err != nil:
		return llm.Reply{}, foreign(m.name, err)
	}
	return m.judge(ctx, req, resp)
}

// overWire lets langchaingo make the request and takes the reply from the
// transport, whatever langchaingo makes of it.
func (m *model) overWire(ctx context.Context, req llm.Request) (llm.Reply, error) {
	var reply llm.Reply
	done := false
	var call *transport.Call
	call = &transport.Call{
		Edit: func(body map[string]json.RawMessage) error { return m.wire.edit(req, body) },
		Read: func(body []byte) (llm.Usage, error) {
			var err error
			reply, err = m.wire.read(body)
			call.Served = strings.TrimSpace(reply.Model + " " + reply.Fingerprint)
			if reply.Usage.Estimated {
				reply.Usage.PromptTokens, reply.Usage.CompletionTokens = m.estimate(req, reply)
			}
			done = err == nil
			return reply.Usage, err
		},
	}
	_, err := m.m.GenerateContent(transport.WithCall(ctx, call), messages(req), options(req)...)
	switch {
	case done: // complete and paid for, even if the context has ended since
		return reply, nil // with what it took itself: the attempts before it are on the bill
	case call.Err != nil:
		return llm.Reply{}, call.Err
	case ctx.Err() != nil:
		return llm.Reply{}, llm.Canceled(ctx, llm.BilledNo)
	case err == nil:
		err = errors.New("no request was made")
	}
	return llm.Reply{}, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("%s: %w", m.name, err)}
}

func (m *model) estimate(req llm.Request, reply llm.Reply) (prompt, completion int) {
	for _, msg := range req.Messages {
		prompt += m.count(msg.Text)
	}
	return prompt, m.count(reply.Text) + m.count(reply.Reasoning)
}

// judge makes a reply of a foreign model's response, or the error it is.
func (m *model) judge(ctx context.Context, req llm.Request, resp *llms.ContentResponse) (llm.Reply, error) {
	used, known := usageOf(resp)
	used.Calls = 1
	reply := llm.Reply{Usage: used}
	raw, stop := "", ""
	if resp != nil {
		for _, c := range resp.Choices {
			if c == nil {
				continue
			}
			reply.Reasoning = join(reply.Reasoning, c.ReasoningContent)
			if raw == "" {
				raw, stop = c.Content, c.StopReason
			}
		}
	}
	if !known {
		reply.Usage.PromptTokens, reply.Usage.CompletionTokens = m.estimate(req, llm.Reply{Text: raw})
		reply.Usage.Estimated = true
	}
	reply, err := finish(reply, raw, stop)
	switch {
	case errors.Is(err, llm.ErrEmpty) && !known:
		// Nothing at all: an error the client swallowed, not a paid call.
		return llm.Reply{}, err
	case err != nil:
		var e *llm.Error
		if errors.As(err, &e) {
			e.Usage = reply.Usage
		}
	}
	llm.RecordUsage(ctx, reply.Usage)
	if err != nil {
		return llm.Reply{}, err
	}
	return reply, nil
}

// finish splits the reasoning off and maps the stop reason to success or
// error. The words are those of OpenAI, Anthropic, Google, Bedrock, Mistral
// and Ollama.
func finish(reply llm.Reply, raw, stop string) (llm.Reply, error) {
	text, thinking, open := llm.SplitThinking(raw)
	reply.Text, reply.Reasoning = text, join(reply.Reasoning, thinking)
	fail := func(kind llm.Kind, f string, billed llm.Billed, format string, args ...any) (llm.Reply, error) {
		reply.Finish = f
		return reply, &llm.Error{Kind: kind, Billed: billed, Err: fmt.Errorf(format, args...)}
	}
	switch strings.ToLower(stop) {
	case "length", "max_tokens", "max_output_tokens", "finishreasonmaxtokens", "model_length", "model_context_window_exceeded":
		return fail(llm.ErrTruncated, llm.FinishLength, llm.BilledYes, "stop reason %q after %d bytes", stop, len(raw))
	case "content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content", "spii",
		"finishreasonsafety", "finishreasonrecitation", "guardrail_intervened":
		return fail(llm.ErrFiltered, llm.FinishFilter, llm.BilledYes, "stop reason %q", stop)
	case "refusal":
		return fail(llm.ErrRefused, llm.FinishFilter, llm.BilledYes, "stop reason %q", stop)
	}
	if open {
		return fail(llm.ErrTruncated, llm.FinishLength, llm.BilledYes, "the reasoning block is not closed")
	}
	if strings.TrimSpace(text) == "" {
		billed := llm.BilledYes
		if reply.Usage.PromptTokens+reply.Usage.CompletionTokens == 0 || reply.Usage.Estimated {
			billed = llm.BilledUnknown
		}
		return fail(llm.ErrEmpty, "", billed, "no text in the reply")
	}
	reply.Finish = llm.FinishStop
	return reply, nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// messages are the request's messages in langchaingo's words.
func messages(req llm.Request) []llms.MessageContent {
	out := make([]llms.MessageContent, len(req.Messages))
	for i, m := range req.Messages {
		role := llms.ChatMessageTypeHuman
		switch m.Role {
		case llm.System:
			role = llms.ChatMessageTypeSystem
		case llm.Assistant:
			role = llms.ChatMessageTypeAI
		}
		out[i] = llms.TextParts(role, m.Text)
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
	if req.JSON || len(req.Schema) > 0 {
		o = append(o, llms.WithJSONMode())
	}
	return o
}

// foreign makes an [llm.Error] of whatever a model returned. Only types are
// trusted: langchaingo's own mapping reads numbers out of free text.
func foreign(name string, err error) error {
	var own *llm.Error
	if errors.As(err, &own) {
		return own
	}
	kind, billed := llm.ErrTransient, llm.BilledUnknown
	var theirs *llms.Error
	if errors.As(err, &theirs) {
		switch theirs.Code {
		case llms.ErrCodeAuthentication:
			kind, billed = llm.ErrAuth, llm.BilledNo
		case llms.ErrCodeQuotaExceeded:
			kind, billed = llm.ErrQuotaExhausted, llm.BilledNo
		case llms.ErrCodeContentFilter:
			kind = llm.ErrFiltered
		case llms.ErrCodeTokenLimit:
			kind, billed = llm.ErrContextLength, llm.BilledNo
		case llms.ErrCodeRateLimit:
			kind, billed = llm.ErrRateLimited, llm.BilledNo
		case llms.ErrCodeInvalidRequest, llms.ErrCodeResourceNotFound:
			kind, billed = llm.ErrBadRequest, llm.BilledNo
		case llms.ErrCodeTimeout:
			kind = llm.ErrTimeout
		}
	}
	return &llm.Error{Kind: kind, Billed: billed, Err: fmt.Errorf("%s: %w", name, err)}
}
