// SPDX-License-Identifier: Apache-2.0

package langchain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/tmc/langchaingo/llms/ollama"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// Ollama is a chat model of an Ollama server. It reports every fault of c at
// once.
func Ollama(c Config) (llm.Model, error) {
	k, err := c.check("ollama", ollamaDefaultURL)
	if err != nil {
		return nil, err
	}
	// WithServerURL ends the process on a bad URL; this one was checked.
	client, err := ollama.New(ollama.WithModel(k.Model), ollama.WithServerURL(k.url.String()), ollama.WithHTTPClient(k.client))
	if err != nil {
		return nil, fmt.Errorf("langchain: ollama: %w", err)
	}
	settings := maps.Clone(k.Extra)
	if k.ContextTokens > 0 {
		if settings == nil {
			settings = map[string]any{}
		}
		settings["num_ctx"] = k.ContextTokens
	}
	w := &wire{
		edit: func(req llm.Request, body map[string]json.RawMessage) error { return k.editOllama(req, body) },
		read: k.scrubbed(readOllama),
	}
	return from(client, FromOptions{Name: k.name("ollama", settings), CountTokens: k.CountTokens}, w), nil
}

// editOllama sends exactly the options that are set, a schema as the format,
// and asks for one JSON object: in a stream a lost end looks like an answer.
// Fields of Extra go to the top level, those of its "options" to the options.
func (c *checked) editOllama(req llm.Request, body map[string]json.RawMessage) error {
	o := optionsSet(req, "num_predict")
	if c.ContextTokens > 0 {
		o["num_ctx"] = c.ContextTokens
	}
	fields := maps.Clone(c.Extra)
	if fields == nil {
		fields = map[string]any{}
	}
	if more, ok := fields["options"].(map[string]any); ok {
		maps.Copy(o, more)
	}
	fields["options"], fields["stream"] = o, false
	delete(body, "format")
	switch {
	case len(req.Schema) > 0:
		fields["format"] = req.Schema
	case req.JSON:
		fields["format"] = "json"
	}
	return set(body, fields)
}

// readOllama reads one reply, in one object or in NDJSON pieces.
func readOllama(body []byte) (llm.Reply, error) {
	var text, thinking bytes.Buffer
	reply := llm.Reply{Usage: llm.Usage{Calls: 1, Estimated: true}}
	for dec := json.NewDecoder(bytes.NewReader(body)); ; {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return reply, &llm.Error{Kind: llm.ErrTransient, Err: errors.New("the reply ends without its last piece")}
		}
		if err != nil {
			return reply, fmt.Errorf("read the chat: %w", err)
		}
		if e := transport.ErrorInBody(raw); e != nil {
			return reply, e
		}
		var piece struct {
			Model   string `json:"model"`
			Message struct {
				Content  string `json:"content"`
				Thinking string `json:"thinking"`
			} `json:"message"`
			Done       bool      `json:"done"`
			DoneReason string    `json:"done_reason"`
			Prompt     llm.Count `json:"prompt_eval_count"`
			Eval       llm.Count `json:"eval_count"`
		}
		if err := json.Unmarshal(raw, &piece); err != nil {
			return reply, fmt.Errorf("read the chat: %w", err)
		}
		text.WriteString(piece.Message.Content)
		thinking.WriteString(piece.Message.Thinking)
		if !piece.Done {
			continue
		}
		reply.Model, reply.Reasoning = piece.Model, thinking.String()
		reply.Usage = llm.UsageOf(piece.Prompt, piece.Eval)
		return finish(reply, text.String(), piece.DoneReason)
	}
}
