// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

// chat is what requests of both formats have alike; Content is a string or, in
// OpenAI's, a list of text parts.
type chat struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

func (c chat) messages() ([]llm.Message, error) {
	if c.Model == "" || len(c.Messages) == 0 {
		return nil, errors.New("you must provide a model and messages")
	}
	var out []llm.Message
	for _, m := range c.Messages {
		text, err := contentText(m.Content)
		if err != nil {
			return nil, err
		}
		out = append(out, llm.Message{Role: m.Role, Text: text})
	}
	return out, nil
}

type openaiChatRequest struct {
	chat
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	Seed                *int64          `json:"seed"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Stop                json.RawMessage `json:"stop"`
	ResponseFormat      *struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// request is what the body asks, in the library's words.
func (r openaiChatRequest) request() (llm.Request, error) {
	req := llm.Request{
		Temperature: r.Temperature, TopP: r.TopP, Seed: r.Seed,
		MaxTokens: max(r.MaxTokens, r.MaxCompletionTokens),
	}
	var err error
	if req.Messages, err = r.messages(); err != nil {
		return req, err
	}
	var one string
	if json.Unmarshal(r.Stop, &one) == nil && one != "" {
		req.Stop = []string{one}
	} else {
		_ = json.Unmarshal(r.Stop, &req.Stop)
	}
	if f := r.ResponseFormat; f != nil {
		switch f.Type {
		case "json_object":
			req.JSON = true
		case "json_schema":
			if len(f.JSONSchema.Schema) == 0 || f.JSONSchema.Name == "" {
				return req, errors.New("response_format.json_schema needs a name and a schema")
			}
			req.Schema, req.SchemaName = f.JSONSchema.Schema, f.JSONSchema.Name
		case "text":
		default:
			return req, fmt.Errorf("unknown response_format %q", f.Type)
		}
	}
	return req, nil
}

// contentText reads a message's content: a string or a list of text parts.
func contentText(raw json.RawMessage) (string, error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", errors.New("a message's content must be a string or a list of parts")
	}
	for _, p := range parts {
		text += p.Text
	}
	return text, nil
}

func (s *Server) openaiChat(r Received, f Fault) ([]byte, llm.Usage, error) {
	var wire openaiChatRequest
	reply, err := s.reply(r, f, &wire)
	if err != nil {
		return nil, llm.Usage{}, err
	}
	message := map[string]any{"role": "assistant", "content": reply.Text}
	if reply.Reasoning != "" {
		message["reasoning_content"] = reply.Reasoning
	}
	choices := []any{map[string]any{"index": 0, "message": message, "finish_reason": string(reply.Finish)}}
	if f.EmptyChoices {
		choices = []any{}
	}
	out := map[string]any{
		"id": "chatcmpl-test", "object": "chat.completion", "created": 0,
		"model": wire.Model, "system_fingerprint": "fp_test", "choices": choices,
	}
	if !f.NoUsage {
		out["usage"] = f.usage(openaiUsage(reply.Usage))
	}
	body, err := json.Marshal(out)
	return body, reply.Usage, err
}

func openaiUsage(u llm.Usage) map[string]any {
	return map[string]any{
		"prompt_tokens": u.PromptTokens, "completion_tokens": u.CompletionTokens,
		"total_tokens": u.PromptTokens + u.CompletionTokens,
	}
}

// reply asks the fault or the handler what wire, once read, asks for.
func (s *Server) reply(r Received, f Fault, wire interface{ request() (llm.Request, error) }) (llm.Reply, error) {
	if err := json.Unmarshal(r.Body, wire); err != nil {
		return llm.Reply{}, err
	}
	req, err := wire.request()
	if err != nil {
		return llm.Reply{}, err
	}
	if f.Reply != nil {
		return complete(req, *f.Reply), nil
	}
	answer := s.o.Handler
	if f.Answer != nil {
		answer = f.Answer
	}
	return limited(req, complete(req, answer(req))), nil
}

// limited cuts a reply at the limit of its request, as servers do.
func limited(req llm.Request, reply llm.Reply) llm.Reply {
	if n := req.MaxTokens; n > 0 && reply.Usage.CompletionTokens > n {
		reply.Usage.CompletionTokens, reply.Finish = n, llm.FinishLength
		reply.Text = strings.ToValidUTF8(reply.Text[:min(len(reply.Text), 4*n)], "")
	}
	return reply
}

func (s *Server) openaiEmbeddings(r Received, f Fault) ([]byte, llm.Usage, error) {
	model, vectors, usage, err := s.vectors(r)
	if err != nil {
		return nil, usage, err
	}
	data := make([]any, len(vectors))
	for i, v := range vectors {
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": f.vector(v)}
	}
	if f.Shuffle {
		slices.Reverse(data)
	}
	out := map[string]any{"object": "list", "model": model, "data": data}
	if !f.NoUsage {
		out["usage"] = f.usage(map[string]any{"prompt_tokens": usage.EmbeddedTokens, "total_tokens": usage.EmbeddedTokens})
	}
	body, err := json.Marshal(out)
	return body, usage, err
}

// vectors embeds a text or a list of texts: both formats ask in one shape.
func (s *Server) vectors(r Received) (model string, out [][]float32, u llm.Usage, err error) {
	var wire struct {
		Model      string          `json:"model"`
		Input      json.RawMessage `json:"input"`
		Dimensions int             `json:"dimensions"`
	}
	if err := json.Unmarshal(r.Body, &wire); err != nil {
		return "", nil, u, err
	}
	var texts []string
	var one string
	if json.Unmarshal(wire.Input, &one) == nil {
		texts = []string{one}
	} else if err := json.Unmarshal(wire.Input, &texts); err != nil || len(texts) == 0 {
		return "", nil, u, errors.New("'input' must be a string or a list of strings")
	}
	if wire.Model == "" {
		return "", nil, u, errors.New("you must provide a model")
	}
	for _, t := range texts {
		v := s.o.Embed(t)
		if wire.Dimensions > 0 && wire.Dimensions < len(v) {
			v = v[:wire.Dimensions]
		}
		out = append(out, v)
		u.EmbeddedTokens += llm.EstimateTokens(t)
	}
	return wire.Model, out, u, nil
}

// usage is the figures that are sent in place of the right ones.
func (f Fault) usage(right map[string]any) any {
	if f.Usage == nil {
		return right
	}
	for name := range right {
		right[name] = f.Usage
	}
	return right
}

// vector is what is sent in place of a vector.
func (f Fault) vector(v []float32) any {
	if f.Vector == nil {
		return v
	}
	return f.Vector(v)
}
