// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

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
	reply, err := s.reply(r, f, &wire)
	if err != nil {
		return nil, llm.Usage{}, err
	}
	message := map[string]any{"role": "assistant", "content": reply.Text}
	if reply.Reasoning != "" {
		message["thinking"] = reply.Reasoning
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

// streamed turns the body of a chat into a stream, if the request asks for one: the reasoning, the text word
// by word, and the finish reason and usage.
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
		line, _ := json.Marshal(v) // of strings and numbers
		out.WriteString(prefix)
		out.Write(line)
		out.WriteString(end)
	}
	var whole map[string]any
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber() // figures are sent unchanged
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

// words yields the words of a message with the blanks after them.
func words(message map[string]any) iter.Seq[string] {
	text, _ := message["content"].(string)
	return strings.SplitAfterSeq(text, " ")
}
