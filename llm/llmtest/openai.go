// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// chatFields are the fields of a chat request that both formats share.
type chatFields struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content replies.Content `json:"content"`
	} `json:"messages"`
}

// samplingFields have equal names in both formats, at different places.
type samplingFields struct {
	Temperature *float64      `json:"temperature"`
	TopP        *float64      `json:"top_p"`
	Seed        *int64        `json:"seed"`
	Stop        journal.Texts `json:"stop"`
}

// request converts the body, except for the format of the reply.
func (c chatFields) request(s samplingFields, maxTokens int) (llm.Request, error) {
	req := llm.Request{Temperature: s.Temperature, TopP: s.TopP, Seed: s.Seed, Stop: s.Stop, MaxTokens: maxTokens}
	if c.Model == "" || len(c.Messages) == 0 {
		return req, errors.New("you must provide a model and messages")
	}
	for _, m := range c.Messages {
		req.Messages = append(req.Messages, llm.Message{Role: m.Role, Text: string(m.Content)})
	}
	return req, nil
}

type openaiChatRequest struct {
	chatFields
	samplingFields
	MaxTokens           int `json:"max_tokens"`
	MaxCompletionTokens int `json:"max_completion_tokens"`
	ResponseFormat      struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (r openaiChatRequest) request() (llm.Request, error) {
	req, err := r.chatFields.request(r.samplingFields, max(r.MaxTokens, r.MaxCompletionTokens))
	if err != nil {
		return req, err
	}
	switch f := r.ResponseFormat; f.Type {
	case "json_object":
		req.JSON = true
	case "json_schema":
		if len(f.JSONSchema.Schema) == 0 || f.JSONSchema.Name == "" {
			return req, errors.New("response_format.json_schema needs a name and a schema")
		}
		req.Schema, req.SchemaName = f.JSONSchema.Schema, f.JSONSchema.Name
	case "", "text":
	default:
		return req, fmt.Errorf("unknown response_format %q", f.Type)
	}
	return req, nil
}

func (s *Server) openaiChat(r Received, f Fault) (map[string]any, llm.Usage, error) {
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
	if u := reply.Usage; !f.NoUsage {
		out["usage"] = f.usage(map[string]any{
			"prompt_tokens": u.PromptTokens, "completion_tokens": u.CompletionTokens, "total_tokens": u.PromptTokens + u.CompletionTokens,
		})
	}
	return out, reply.Usage, nil
}

// reply reads a request into wire and returns the reply of the fault or of the handler.
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

// limited cuts a reply at the token limit of its request.
func limited(req llm.Request, reply llm.Reply) llm.Reply {
	if n := req.MaxTokens; n > 0 && reply.Usage.CompletionTokens > n {
		reply.Usage.CompletionTokens, reply.Finish = n, llm.FinishLength
		reply.Text = strings.ToValidUTF8(reply.Text[:min(len(reply.Text), 4*n)], "")
	}
	return reply
}

func (s *Server) openaiEmbeddings(r Received, f Fault) (map[string]any, llm.Usage, error) {
	model, data, usage, err := s.vectors(r, f)
	if err != nil {
		return nil, usage, err
	}
	for i, v := range data {
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": v}
	}
	if f.Shuffle {
		slices.Reverse(data)
	}
	out := map[string]any{"object": "list", "model": model, "data": data}
	if !f.NoUsage {
		out["usage"] = f.usage(map[string]any{"prompt_tokens": usage.EmbeddedTokens, "total_tokens": usage.EmbeddedTokens})
	}
	return out, usage, nil
}

// vectors embeds a text or a list of texts; both formats send them alike.
func (s *Server) vectors(r Received, f Fault) (model string, out []any, u llm.Usage, err error) {
	var wire struct {
		Model      string        `json:"model"`
		Input      journal.Texts `json:"input"`
		Dimensions int           `json:"dimensions"`
	}
	switch err = json.Unmarshal(r.Body, &wire); {
	case err != nil:
		return "", nil, u, err
	case len(wire.Input) == 0:
		return "", nil, u, errors.New("'input' must be a string or a list of strings")
	case wire.Model == "":
		return "", nil, u, errors.New("you must provide a model")
	}
	for _, t := range wire.Input {
		v := s.o.Embed(t)
		if wire.Dimensions > 0 && wire.Dimensions < len(v) {
			v = v[:wire.Dimensions]
		}
		if f.Vector != nil {
			out = append(out, f.Vector(v))
		} else {
			out = append(out, v)
		}
		u.EmbeddedTokens += llm.EstimateTokens(t)
	}
	return wire.Model, out, u, nil
}

// usage returns the fault's usage, or the correct one.
func (f Fault) usage(right map[string]any) any {
	if f.Usage == nil {
		return right
	}
	for name := range right {
		right[name] = f.Usage
	}
	return right
}
