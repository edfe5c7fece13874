// SPDX-License-Identifier: Apache-2.0

package langchain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"

	"github.com/tmc/langchaingo/llms/openai"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// OpenAI is a chat model behind OpenAI's API or a compatible one: vLLM,
// llama.cpp, LM Studio, a gateway. It reports every fault of c at once.
func OpenAI(c Config) (llm.Model, error) {
	k, err := c.check("openai", openAIURL)
	if err != nil {
		return nil, err
	}
	// langchaingo reads OPENAI_* from the environment for whatever is not
	// given, and refuses an empty token; keyed sets the real one.
	client, err := openai.New(
		openai.WithToken("-"), openai.WithModel(k.Model), openai.WithBaseURL(k.url.String()),
		openai.WithOrganization(""), openai.WithHTTPClient(k.client),
	)
	if err != nil {
		return nil, fmt.Errorf("langchain: openai: %w", err)
	}
	w := &wire{
		edit: func(req llm.Request, body map[string]json.RawMessage) error { return k.editOpenAI(req, body) },
		read: k.scrubbed(readOpenAI),
	}
	return from(client, FromOptions{Name: k.name("openai", k.Extra), CountTokens: k.CountTokens}, w), nil
}

// set writes fields into a body.
func set(body map[string]json.RawMessage, fields map[string]any) error {
	for name, v := range fields {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		body[name] = b
	}
	return nil
}

// optionsSet are the options of a request that are set, by the names of both
// servers; limit is what a server calls the limit of the reply.
func optionsSet(req llm.Request, limit string) map[string]any {
	o := map[string]any{}
	if req.Temperature != nil {
		o["temperature"] = req.Temperature
	}
	if req.TopP != nil {
		o["top_p"] = req.TopP
	}
	if req.Seed != nil {
		o["seed"] = req.Seed
	}
	if req.MaxTokens > 0 {
		o[limit] = req.MaxTokens
	}
	if len(req.Stop) > 0 {
		o["stop"] = req.Stop
	}
	return o
}

// editOpenAI sends exactly the options that are set: langchaingo adds a
// temperature and drops top_p and a seed of 0.
func (c *checked) editOpenAI(req llm.Request, body map[string]json.RawMessage) error {
	for _, name := range []string{"temperature", "top_p", "seed", "max_tokens", "max_completion_tokens", "stop", "response_format", "stream"} {
		delete(body, name)
	}
	limit := "max_completion_tokens"
	if c.LegacyMaxTokens {
		limit = "max_tokens"
	}
	fields := optionsSet(req, limit)
	switch {
	case len(req.Schema) > 0:
		fields["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": schemaName(req.SchemaName), "strict": strict(req.Schema), "schema": req.Schema,
		}}
	case req.JSON:
		fields["response_format"] = map[string]any{"type": "json_object"}
	}
	maps.Copy(fields, c.Extra)
	return set(body, fields)
}

var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// schemaName is what OpenAI accepts as a name: 1 to 64 letters, digits, _, -.
func schemaName(name string) string {
	name = notInName.ReplaceAllString(name, "_")
	if name == "" {
		return "reply"
	}
	return name[:min(len(name), 64)]
}

// strict reports whether a schema fits OpenAI's strict mode: every object is
// closed and requires all its properties. Others are refused there.
func strict(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && strictValue(v)
}

func strictValue(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if !strictValue(x) {
				return false
			}
		}
	case map[string]any:
		if properties, ok := v["properties"].(map[string]any); ok || v["type"] == "object" {
			required, _ := v["required"].([]any)
			if v["additionalProperties"] != false || len(required) != len(properties) {
				return false
			}
		}
		for _, x := range v {
			if !strictValue(x) {
				return false
			}
		}
	}
	return true
}

// readOpenAI reads a chat completion.
func readOpenAI(body []byte) (llm.Reply, error) {
	if e := transport.ErrorInBody(body); e != nil {
		return llm.Reply{}, e
	}
	var r struct {
		Model       string `json:"model"`
		Fingerprint string `json:"system_fingerprint"`
		Choices     []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content          json.RawMessage `json:"content"`
				ReasoningContent string          `json:"reasoning_content"`
				Reasoning        string          `json:"reasoning"`
				Refusal          string          `json:"refusal"`
			} `json:"message"`
		} `json:"choices"`
		Usage figures `json:"usage"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return llm.Reply{}, fmt.Errorf("read the chat completion: %w", err)
	}
	reply := llm.Reply{Model: r.Model, Fingerprint: r.Fingerprint, Usage: llm.UsageOf(r.Usage.Prompt, r.Usage.Completion)}
	if len(r.Choices) == 0 {
		return finish(reply, "", "")
	}
	c := r.Choices[0]
	text := contentText(c.Message.Content)
	if text == "" && c.Message.Refusal != "" {
		return finish(reply, c.Message.Refusal, "refusal")
	}
	reply.Reasoning = cmp.Or(c.Message.ReasoningContent, c.Message.Reasoning)
	return finish(reply, text, c.FinishReason)
}

// contentText reads a message's content: a string, null, or text parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			text += p.Text
		}
	}
	return text
}
