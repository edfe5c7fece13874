// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/wildgraph/wildgraph/llm"
)

type openaiChatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	Seed                *int64          `json:"seed"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Stop                json.RawMessage `json:"stop"`
	Stream              bool            `json:"stream"`
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
	if r.Model == "" || len(r.Messages) == 0 {
		return req, errors.New("you must provide a model and messages")
	}
	for _, m := range r.Messages {
		text, err := contentText(m.Content)
		if err != nil {
			return req, err
		}
		req.Messages = append(req.Messages, llm.Message{Role: m.Role, Text: text})
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

func (s *Server) openaiChat(r Received, f Fault, h http.Header) ([]byte, llm.Usage, error) {
	var wire openaiChatRequest
	if err := json.Unmarshal(r.Body, &wire); err != nil {
		return nil, llm.Usage{}, err
	}
	req, err := wire.request()
	if err != nil {
		return nil, llm.Usage{}, err
	}
	reply := s.reply(req, f)
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
		out["usage"] = openaiUsage(reply.Usage)
	}
	if wire.Stream {
		h.Set("Content-Type", "text/event-stream")
		return sse(out, message, string(reply.Finish)), reply.Usage, nil
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

// sse is the reply as a stream of one piece.
func sse(out, message map[string]any, finish string) []byte {
	var b bytes.Buffer
	event := func(choices any) {
		chunk := map[string]any{"id": out["id"], "object": "chat.completion.chunk", "model": out["model"],
			"choices": choices}
		if len(choices.([]any)) == 0 {
			chunk["usage"] = out["usage"]
		}
		data, _ := json.Marshal(chunk)
		fmt.Fprintf(&b, "data: %s\n\n", data)
	}
	event([]any{map[string]any{"index": 0, "delta": message}})
	event([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}})
	event([]any{})
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

// reply asks the fault or the handler.
func (s *Server) reply(req llm.Request, f Fault) llm.Reply {
	if f.Reply != nil {
		return complete(req, *f.Reply)
	}
	return complete(req, s.o.Handler(req))
}

func (s *Server) openaiEmbeddings(r Received, f Fault, _ http.Header) ([]byte, llm.Usage, error) {
	var wire struct {
		Model      string          `json:"model"`
		Input      json.RawMessage `json:"input"`
		Dimensions int             `json:"dimensions"`
	}
	if err := json.Unmarshal(r.Body, &wire); err != nil {
		return nil, llm.Usage{}, err
	}
	vectors, usage, err := s.vectors(wire.Model, wire.Input, wire.Dimensions)
	if err != nil {
		return nil, usage, err
	}
	data := make([]any, len(vectors))
	for i, v := range vectors {
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": v}
	}
	if f.Shuffle {
		slices.Reverse(data)
	}
	out := map[string]any{"object": "list", "model": wire.Model, "data": data}
	if !f.NoUsage {
		out["usage"] = map[string]any{"prompt_tokens": usage.EmbeddedTokens, "total_tokens": usage.EmbeddedTokens}
	}
	body, err := json.Marshal(out)
	return body, usage, err
}

// vectors embeds a text or a list of texts.
func (s *Server) vectors(model string, input json.RawMessage, dimensions int) ([][]float32, llm.Usage, error) {
	var texts []string
	var one string
	if json.Unmarshal(input, &one) == nil {
		texts = []string{one}
	} else if err := json.Unmarshal(input, &texts); err != nil || len(texts) == 0 {
		return nil, llm.Usage{}, errors.New("'input' must be a string or a list of strings")
	}
	if model == "" {
		return nil, llm.Usage{}, errors.New("you must provide a model")
	}
	var u llm.Usage
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = s.o.Embed(t)
		if dimensions > 0 && dimensions < len(out[i]) {
			out[i] = out[i][:dimensions]
		}
		u.EmbeddedTokens += llm.EstimateTokens(t)
	}
	return out, u, nil
}
