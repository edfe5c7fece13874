// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
)

// streamed is the body of a chat as a stream, if the request asks for one: its text comes word by
// word, and what ends a reply last.
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
	if strings.HasPrefix(r.Path, "/api/") {
		var last map[string]any
		if json.Unmarshal(body, &last) != nil {
			return body
		}
		message, _ := last["message"].(map[string]any)
		for _, word := range words(message) {
			write("", map[string]any{"message": map[string]any{"content": word}, "done": false}, "\n")
		}
		message["content"] = ""
		write("", last, "\n")
		return out.Bytes()
	}
	var whole struct {
		Choices []struct {
			Message map[string]any `json:"message"`
			Finish  string         `json:"finish_reason"`
		} `json:"choices"`
		Model       string          `json:"model"`
		Fingerprint string          `json:"system_fingerprint"`
		Usage       json.RawMessage `json:"usage"`
	}
	if json.Unmarshal(body, &whole) != nil || len(whole.Choices) == 0 {
		return body
	}
	event := func(delta map[string]any, finish any) {
		write("data: ", map[string]any{"model": whole.Model, "system_fingerprint": whole.Fingerprint,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}, "\n\n")
	}
	message := whole.Choices[0].Message
	for _, word := range words(message) {
		event(map[string]any{"content": word}, nil)
	}
	rest := maps.Clone(message)
	delete(rest, "content")
	event(rest, whole.Choices[0].Finish)
	if asked.Options.Usage && len(whole.Usage) > 0 {
		write("data: ", map[string]any{"choices": []any{}, "model": whole.Model, "usage": whole.Usage}, "\n\n")
	}
	out.WriteString("data: [DONE]\n\n")
	return out.Bytes()
}

// words are the words of a message with the blanks behind them.
func words(message map[string]any) []string {
	text, _ := message["content"].(string)
	return strings.SplitAfter(text, " ")
}
