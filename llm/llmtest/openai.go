// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// chatFields are the fields of a chat request that OpenAI's and Ollama's formats share.
type chatFields struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content replies.Content `json:"content"`
	} `json:"messages"`
}

// samplingFields have equal names in both formats, but are in different objects.
type samplingFields struct {
	Temperature *float64      `json:"temperature"`
	TopP        *float64      `json:"top_p"`
	Seed        *int64        `json:"seed"`
	Stop        journal.Texts `json:"stop"`
}

// request converts the fields to a request, except the format of the reply.
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
	reply, message, err := s.reply(r, f, &wire, "reasoning_content")
	if err != nil {
		return nil, llm.Usage{}, err
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

// chatRequest is a chat request in OpenAI's or Ollama's format.
type chatRequest interface{ request() (llm.Request, error) }

// reply reads a request into wire. It returns the reply of the fault, or else of the handler, and the message
// of the reply, with the reasoning under the name that the format has for it.
func (s *Server) reply(r Received, f Fault, wire chatRequest, reasoning string) (llm.Reply, map[string]any, error) {
	var reply llm.Reply
	if err := json.Unmarshal(r.Body, wire); err != nil {
		return reply, nil, err
	}
	req, err := wire.request()
	if err != nil {
		return reply, nil, err
	}
	if f.Reply != nil {
		reply = complete(req, *f.Reply)
	} else {
		answer := s.o.Handler
		if f.Answer != nil {
			answer = f.Answer
		}
		reply = complete(req, answer(req))
		if n := req.MaxTokens; n > 0 && reply.Usage.CompletionTokens > n {
			reply.Usage.CompletionTokens, reply.Finish = n, llm.FinishLength
			reply.Text = strings.ToValidUTF8(reply.Text[:min(len(reply.Text), 4*n)], "")
		}
	}
	message := map[string]any{"role": "assistant", "content": reply.Text}
	if reply.Reasoning != "" {
		message[reasoning] = reply.Reasoning
	}
	return reply, message, nil
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

// vectors embeds the texts of a request; OpenAI's and Ollama's requests have the same fields.
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

// usage returns the usage that the fault sends: the correct one, or Fault.Usage in place of each number.
func (f Fault) usage(right map[string]any) any {
	if f.Usage == nil {
		return right
	}
	for name := range right {
		right[name] = f.Usage
	}
	return right
}

type ollamaChatRequest struct {
	chatFields
	Format  json.RawMessage `json:"format"`
	Options struct {
		samplingFields
		NumPredict int `json:"num_predict"`
	} `json:"options"`
}

func (r ollamaChatRequest) request() (llm.Request, error) {
	req, err := r.chatFields.request(r.Options.samplingFields, r.Options.NumPredict)
	if err != nil {
		return req, err
	}
	var format string
	switch {
	case len(r.Format) == 0 || string(r.Format) == "null":
	case json.Unmarshal(r.Format, &format) == nil:
		req.JSON = format == "json"
		if format != "" && !req.JSON {
			return req, errors.New(`invalid format: expected "json" or a JSON schema`)
		}
	default:
		req.Schema = r.Format
	}
	return req, nil
}

func (s *Server) ollamaChat(r Received, f Fault) (map[string]any, llm.Usage, error) {
	var wire ollamaChatRequest
	reply, message, err := s.reply(r, f, &wire, "thinking")
	if err != nil {
		return nil, llm.Usage{}, err
	}
	last := map[string]any{
		"model": wire.Model, "created_at": "2025-01-01T00:00:00Z",
		"message": message, "done": true, "done_reason": string(reply.Finish),
	}
	if !f.NoUsage {
		last["prompt_eval_count"], last["eval_count"] = reply.Usage.PromptTokens, reply.Usage.CompletionTokens
	}
	if f.EmptyChoices {
		message["content"] = ""
	}
	return last, reply.Usage, nil
}

func (s *Server) ollamaEmbed(r Received, f Fault) (map[string]any, llm.Usage, error) {
	model, vectors, usage, err := s.vectors(r, f)
	if err != nil {
		return nil, usage, err
	}
	out := map[string]any{"model": model, "embeddings": vectors}
	if !f.NoUsage {
		out["prompt_eval_count"] = usage.EmbeddedTokens
	}
	return out, usage, nil
}

// streamed turns the reply to a chat into a stream, if the request asks for one: first the reasoning, then the
// text word by word, last the finish reason and the usage.
func streamed(r Received, body []byte) []byte {
	var asked struct {
		Stream  bool
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if json.Unmarshal(r.Body, &asked) != nil || !asked.Stream {
		return body
	}
	var out bytes.Buffer
	write := func(prefix string, v any, end string) {
		line, _ := json.Marshal(v) // cannot fail for strings and numbers
		out.WriteString(prefix)
		out.Write(line)
		out.WriteString(end)
	}
	var whole map[string]any
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber() // so that numbers are sent unchanged
	if in.Decode(&whole) != nil {
		return body
	}
	if strings.HasPrefix(r.Path, "/api/") {
		message, _ := whole["message"].(map[string]any)
		write("", map[string]any{"message": map[string]any{"thinking": message["thinking"]}, "done": false}, "\n")
		for word := range words(message) {
			write("", map[string]any{"message": map[string]any{"content": word}, "done": false}, "\n")
		}
		delete(message, "content")
		delete(message, "thinking")
		write("", whole, "\n")
		return out.Bytes()
	}
	choices, _ := whole["choices"].([]any)
	if len(choices) == 0 {
		return body
	}
	choice, _ := choices[0].(map[string]any)
	message, _ := choice["message"].(map[string]any)
	event := func(delta map[string]any, finish any) {
		write("data: ", map[string]any{"model": whole["model"], "system_fingerprint": whole["system_fingerprint"],
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}, "\n\n")
	}
	event(map[string]any{"reasoning_content": message["reasoning_content"]}, nil)
	for word := range words(message) {
		event(map[string]any{"content": word}, nil)
	}
	delete(message, "content")
	delete(message, "reasoning_content")
	event(message, choice["finish_reason"])
	if used := whole["usage"]; asked.Options.Usage && used != nil {
		write("data: ", map[string]any{"choices": []any{}, "model": whole["model"], "usage": used}, "\n\n")
	}
	out.WriteString("data: [DONE]\n\n")
	return out.Bytes()
}

// words yields the words of a message, each with the space after it.
func words(message map[string]any) iter.Seq[string] {
	text, _ := message["content"].(string)
	return strings.SplitAfterSeq(text, " ")
}
