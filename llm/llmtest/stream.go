// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

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
