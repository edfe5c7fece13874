// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// chat is a chat model over HTTP.
type chat struct {
	*endpoint
	path string
	body func(*endpoint, chatRequest) map[string]any
	read func(body []byte) (llm.Reply, error)
	cuts bool // whether the server may cut a long prompt without an error
}

// OpenAI returns a chat model behind OpenAI's API or a compatible one: vLLM, llama.cpp, LM Studio, a gateway.
// The error lists every fault of c.
func OpenAI(c Config) (llm.Model, error) {
	k, err := c.check("openai", openAIURL)
	if err != nil {
		return nil, err
	}
	return &chat{k.named("openai"), "/chat/completions", openAIBody, readOpenAI, false}, nil
}

// Ollama returns a chat model of an Ollama server. The error lists every fault of c.
func Ollama(c Config) (llm.Model, error) {
	k, err := c.check("ollama", ollamaDefaultURL)
	if err != nil {
		return nil, err
	}
	return &chat{k.named("ollama"), "/api/chat", ollamaBody, readOllama, true}, nil
}

// chatRequest is a request and the form in which it is sent, which changes if a server refuses a setting.
type chatRequest struct {
	llm.Request
	oldLimit bool    // the limit is sent as max_tokens, not max_completion_tokens
	stream   *stream // nil asks for the reply in one piece
	noUsage  bool    // the stream is requested without its usage
}

// Generate implements [llm.Model].
func (m *chat) Generate(ctx context.Context, r llm.Request) (llm.Reply, error) {
	return m.Stream(ctx, r, nil)
}

// Stream implements [llm.Streamer]. If a server refuses a setting, this and later requests to that model are sent
// without the setting. After piece has received a part, the request is not repeated. A model's first reply, and
// every reply of a model that has reasoned before, is passed to piece after the end of its reasoning, or whole.
func (m *chat) Stream(ctx context.Context, r llm.Request, piece func(string) error) (llm.Reply, error) {
	if len(r.Messages) == 0 {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("%s: the request has no messages", m.name)}
	}
	req := chatRequest{Request: r}
	if piece != nil {
		req.stream = &stream{piece: piece, waits: !m.t.plain(m.name, nil), most: r.MaxTokens * bytesPerToken, req: r}
	}
	for _, s := range optionalSettings {
		if s.sent(req) && m.t.refused(m.name, s.name, false) {
			s.drop(&req)
		}
	}
	var dropped []optionalSetting
	for {
		reply, err := m.ask(ctx, req)
		at := slices.IndexFunc(optionalSettings, func(s optionalSetting) bool { return s.sent(req) && s.refusedBy(err) })
		if at >= 0 {
			dropped = append(dropped, optionalSettings[at])
			optionalSettings[at].drop(&req)
			continue
		}
		if err == nil && (reply.Reasoning != "" || !r.JSON && len(r.Schema) == 0) {
			m.t.plain(m.name, &reply)
		}
		if !errors.Is(err, llm.ErrBadRequest) { // the server accepted the request without the dropped settings
			for _, s := range dropped {
				m.t.refused(m.name, s.name, true)
			}
		}
		if s := req.stream; s != nil && err == nil {
			err = s.show(reply.Text)
		} else if piece != nil && err == nil {
			err = piece(reply.Text)
		}
		return reply, err
	}
}

// ask makes one request. After a reply beyond max_completion_tokens, later requests send max_tokens.
func (m *chat) ask(ctx context.Context, req chatRequest) (reply llm.Reply, err error) {
	err = m.post(ctx, m.path, m.body(m.endpoint, req), req.stream, func(body []byte) (llm.Usage, string, error) {
		var err error
		reply, err = m.read(body)
		// Replies are stored and reported, so the API key is removed; a short one is a placeholder.
		if key := m.Key.Reveal(); len(key) >= leastSecret {
			for _, text := range []*string{&reply.Text, &reply.Reasoning, &reply.Model, &reply.Fingerprint} {
				*text = strings.ReplaceAll(*text, key, m.Key.String())
			}
		}
		if e := (*llm.Error)(nil); errors.As(err, &e) {
			e.Partial = reply.Text
		}
		if reply.Usage.Estimated {
			reply.Usage.PromptTokens = llm.Reply{}.UsageFor(req.Request).PromptTokens
			reply.Usage.CompletionTokens = llm.EstimateTokens(reply.Text) + llm.EstimateTokens(reply.Reasoning)
		} else if err == nil && m.cuts {
			err = m.cut(req.Request, reply.Usage.PromptTokens)
		}
		if !m.cuts && req.MaxTokens > 0 && reply.Usage.CompletionTokens > req.MaxTokens {
			m.t.refused(m.name, newLimit, true)
		}
		return reply.Usage, strings.TrimSpace(reply.Model + " " + reply.Fingerprint), err
	})
	if err != nil {
		return llm.Reply{}, err
	}
	return reply, nil // its usage excludes failed attempts, which the bill of ctx has
}

// bytesPerToken is more than the mean bytes per token of usual texts: English has four in cl100k.
const bytesPerToken = 8

// cut returns an error if the server has read less of the prompt than was sent.
func (m *chat) cut(req llm.Request, read int) error {
	sent := 0
	for _, msg := range req.Messages {
		sent += len(msg.Text)
	}
	if read*bytesPerToken >= sent {
		return nil
	}
	return &llm.Error{Kind: llm.ErrContextLength, Billed: llm.BilledYes, Err: fmt.Errorf(
		"%s: the server has read only %d tokens of a prompt of %d bytes: shorten the prompt, or raise ContextTokens", m.name, read, sent)}
}

// optionalSetting is a part of a request that some servers refuse.
type optionalSetting struct {
	name  string
	words *regexp.Regexp // matches the error message of a server that refuses the setting
	sent  func(chatRequest) bool
	drop  func(*chatRequest)
}

// newLimit is OpenAI's present name for the limit of a reply; older servers only know max_tokens.
const newLimit = "max_completion_tokens"

// optionalSettings are in the order in which they are dropped. A dropped schema becomes a request for any JSON
// object; if that is dropped too, only the prompt describes the form.
var optionalSettings = []optionalSetting{
	{"temperature", regexp.MustCompile(`(?i)\btemperature\b`),
		func(r chatRequest) bool { return r.Temperature != nil }, func(r *chatRequest) { r.Temperature = nil }},
	{"seed", regexp.MustCompile(`(?i)\bseed\b`),
		func(r chatRequest) bool { return r.Seed != nil }, func(r *chatRequest) { r.Seed = nil }},
	{"json_schema", regexp.MustCompile(`(?i)format|schema|structured|grammar`),
		func(r chatRequest) bool { return len(r.Schema) > 0 }, func(r *chatRequest) { r.Schema, r.JSON = nil, true }},
	{"json_object", regexp.MustCompile(`(?i)format|json`),
		func(r chatRequest) bool { return r.JSON }, func(r *chatRequest) { r.JSON = false }},
	{newLimit, regexp.MustCompile(newLimit),
		func(r chatRequest) bool { return r.MaxTokens > 0 && !r.oldLimit }, func(r *chatRequest) { r.oldLimit = true }},
	{"stream_options", regexp.MustCompile(`stream_options|include_usage`),
		func(r chatRequest) bool { return r.stream != nil && !r.noUsage }, func(r *chatRequest) { r.noUsage = true }},
	{"stream", regexp.MustCompile(`(?i)\bstream`),
		func(r chatRequest) bool { return r.stream != nil }, func(r *chatRequest) { r.stream = nil }},
}

// refusedBy reports whether a server's error refuses the setting: OpenAI and vLLM send status 400, servers
// built on FastAPI 422.
func (s optionalSetting) refusedBy(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Kind == llm.ErrBadRequest && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity) &&
		s.words.MatchString(e.Body)
}

// chatMessage is a message in both wire formats.
type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func messages(req llm.Request) []chatMessage {
	out := make([]chatMessage, len(req.Messages))
	for i, m := range req.Messages {
		out[i] = chatMessage{cmp.Or(m.Role, llm.User), m.Text}
	}
	return out
}

// optionsSet returns the options that are set, under the names that OpenAI and Ollama share; limit is the name
// of the reply's limit, in which they differ.
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

// openAIBody returns the body of a request to OpenAI, with exactly the options that are set.
func openAIBody(e *endpoint, req chatRequest) map[string]any {
	limit := newLimit
	if req.oldLimit {
		limit = "max_tokens"
	}
	body := optionsSet(req.Request, limit)
	body["model"], body["messages"] = e.Model, messages(req.Request)
	switch {
	case len(req.Schema) > 0:
		name := cmp.Or(notInName.ReplaceAllString(req.SchemaName, "_"), "reply")
		body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": name[:min(len(name), 64)], "strict": strict(req.Schema), "schema": req.Schema,
		}}
	case req.JSON:
		body["response_format"] = map[string]any{"type": "json_object"}
	}
	if req.stream != nil {
		body["stream"] = true
		if !req.noUsage {
			body["stream_options"] = map[string]any{"include_usage": true}
		}
	}
	maps.Copy(body, e.Extra)
	return body
}

// notInName matches the characters that OpenAI does not accept in the name of a schema.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// strict reports whether a schema fits OpenAI's strict mode: objects require all their properties and allow no others.
func strict(schema json.RawMessage) bool {
	var v any
	return json.Unmarshal(schema, &v) == nil && strictValue(v)
}

func strictValue(v any) bool {
	list, _ := v.([]any)
	if object, ok := v.(map[string]any); ok {
		if properties, ok := object["properties"].(map[string]any); ok || object["type"] == "object" {
			required, _ := object["required"].([]any)
			if object["additionalProperties"] != false || len(required) != len(properties) {
				return false
			}
		}
		list = slices.Collect(maps.Values(object))
	}
	return !slices.ContainsFunc(list, func(inner any) bool { return !strictValue(inner) })
}

// readOpenAI reads a chat completion of OpenAI's format.
func readOpenAI(body []byte) (llm.Reply, error) {
	var r streamEvent
	if err := lenient(body, &r); err != nil {
		return llm.Reply{}, fmt.Errorf("read the chat completion: %w", err)
	}
	var used tokenCounts
	_ = lenient(r.Usage, &used) // token counts that cannot be read are estimated
	reply := llm.Reply{Model: string(r.Model), Fingerprint: string(r.Print), Usage: metering.UsageOf(used.Prompt, used.Completion)}
	reply.Usage.ProviderCached = int(min(max(used.Details.Cached, 0), max(used.Prompt, 0)))
	if len(r.Choices) == 0 {
		return llm.Finish(reply, "", "")
	}
	c := r.Choices[0].Message
	text := string(c.Content)
	if text == "" && len(c.Calls) == 1 {
		text = string(c.Calls[0].Function.Arguments) // some models call an invented tool to answer in JSON
	}
	if text == "" && c.Refusal != "" {
		return llm.Finish(reply, string(c.Refusal), "refusal")
	}
	reply.Reasoning = string(cmp.Or(c.Thought, c.Reasoning))
	return llm.Finish(reply, text, r.Choices[0].finish())
}

// tokenCounts are the token counts of a reply in OpenAI's format.
type tokenCounts struct {
	Prompt     metering.Count `json:"prompt_tokens"`
	Completion metering.Count `json:"completion_tokens"`
	Total      metering.Count `json:"total_tokens"`
	Details    struct {
		Cached metering.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// lenient decodes a JSON object and ignores fields of an unexpected type, which would otherwise fail the reply.
func lenient(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if shape := (*json.UnmarshalTypeError)(nil); errors.As(err, &shape) && shape.Field != "" {
		return nil
	}
	return err
}

// ollamaBody returns the body of a request to Ollama, with exactly the options that are set. Fields of Extra go
// to the top level of the body, and fields of Extra["options"] to the options.
func ollamaBody(e *endpoint, req chatRequest) map[string]any {
	options := optionsSet(req.Request, "num_predict")
	options["num_ctx"] = cmp.Or(e.ContextTokens, e.context(req.Request))
	body := map[string]any{}
	maps.Copy(body, e.Extra)
	if more, ok := body["options"].(map[string]any); ok {
		maps.Copy(options, more)
	}
	body["model"], body["messages"], body["options"], body["stream"] = e.Model, messages(req.Request), options, req.stream != nil
	switch {
	case len(req.Schema) > 0:
		body["format"] = req.Schema
	case req.JSON:
		body["format"] = "json"
	}
	return body
}

const (
	leastContext = 4096 // Ollama's default context, in tokens
	openReply    = 2048 // tokens kept for a reply without a limit
)

// context returns the context size for Ollama, which cuts longer prompts: the estimated tokens of the prompt, a
// quarter more for other vocabularies, and the reply's limit, rounded up to a power of two. The size never
// falls, since Ollama reloads the model when it changes.
func (e *endpoint) context(req llm.Request) int {
	need := llm.Reply{}.UsageFor(req).PromptTokens*5/4 + cmp.Or(req.MaxTokens, openReply)
	return e.t.context(e.name, max(leastContext, 1<<bits.Len(uint(need-1))))
}

// readOllama reads a reply of Ollama's chat that is one JSON object.
func readOllama(body []byte) (llm.Reply, error) {
	var r struct {
		streamEvent
		Reason looseText      `json:"done_reason"`
		Prompt metering.Count `json:"prompt_eval_count"`
		Eval   metering.Count `json:"eval_count"`
	}
	reply := llm.Reply{Usage: llm.Usage{Calls: 1, Estimated: true}}
	if err := lenient(body, &r); err != nil {
		return reply, fmt.Errorf("read the chat: %w", err)
	}
	if !r.Done {
		return reply, &llm.Error{Kind: llm.ErrTransient, Err: errors.New("the reply ends before its last part")}
	}
	reply.Model, reply.Reasoning, reply.Usage = string(r.Model), string(r.Message.Thinking), metering.UsageOf(r.Prompt, r.Eval)
	return llm.Finish(reply, string(r.Message.Content), string(r.Reason))
}
