// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// quick makes back-off short.
var quick = Options{BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}

func debugLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// both runs a test with either wire format.
func both(t *testing.T, o llmtest.ServerOptions, c Config, f func(t *testing.T, s *llmtest.Server, m llm.Model)) {
	t.Helper()
	for _, kind := range []string{"openai", "ollama"} {
		t.Run(kind, func(t *testing.T) {
			s := llmtest.NewServer(o)
			t.Cleanup(s.Close)
			m := check.Of(provider(s, kind, c).Model("test-model")).OK(t)
			f(t, s, m)
		})
	}
}

func provider(s *llmtest.Server, kind string, c Config) *Provider {
	c.BaseURL = s.URL
	if kind == "openai" {
		c.BaseURL = s.OpenAIURL()
	}
	if c.Transport == (Options{}) {
		c.Transport = quick
	}
	return &Provider{Kind: kind, Config: c}
}

func bothEmbedders(t *testing.T, c Config, f func(t *testing.T, s *llmtest.Server, e llm.NamedEmbedder)) {
	t.Helper()
	for _, kind := range []string{"openai", "ollama"} {
		t.Run(kind, func(t *testing.T) {
			s := llmtest.NewServer(llmtest.ServerOptions{})
			t.Cleanup(s.Close)
			e := check.Of(provider(s, kind, c).Embedder("test-embed")).OK(t)
			f(t, s, e)
		})
	}
}

func TestConformance(t *testing.T) {
	both(t, llmtest.ServerOptions{}, Config{}, func(t *testing.T, _ *llmtest.Server, m llm.Model) { llmtest.TestModel(t, m) })
	bothEmbedders(t, Config{Batch: 2}, func(t *testing.T, _ *llmtest.Server, e llm.NamedEmbedder) { graphragtest.Embedder(t, e) })
}

func TestReplyAndUsage(t *testing.T) {
	handler := func(llm.Request) llm.Reply {
		return llm.Reply{Text: "<think>two and two</think>\nfour", Reasoning: "sums", Usage: llm.Usage{PromptTokens: 7, CompletionTokens: 9}}
	}
	both(t, llmtest.ServerOptions{Handler: handler}, Config{Transport: quick}, func(t *testing.T, s *llmtest.Server, m llm.Model) {
		var bill metering.Bill
		reply := check.Of(m.Generate(metering.WithBill(t.Context(), &bill), llm.Prompt("2+2?"))).OK(t)
		usage := llm.Usage{Calls: 1, PromptTokens: 7, CompletionTokens: 9}
		want := llm.Reply{Text: "four", Reasoning: "sums\ntwo and two", Finish: llm.FinishStop, Model: "test-model", Usage: usage}
		if strings.HasPrefix(m.Name(), "openai") {
			want.Fingerprint = "fp_test"
		}
		check.Equal(t, reply, want)
		check.Equal(t, bill.Known(), usage, "recorded")
		check.Equal(t, s.Bill().Total, usage, "bill")
	})
}

// sent returns the body of the last request that the server received.
func sent(t *testing.T, s *llmtest.Server) map[string]any {
	t.Helper()
	all := s.Requests()
	var body map[string]any
	check.OK(t, json.Unmarshal(all[len(all)-1].Body, &body))
	delete(body, "messages")
	return body
}

func ptr[T any](v T) *T { return &v }

func TestRequestBodies(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`)
	var schemaValue any
	check.OK(t, json.Unmarshal(schema, &schemaValue))
	full := llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "s"}, {Role: llm.User, Text: "u"}},
		Schema:   schema, SchemaName: "my schema", MaxTokens: 10,
		Temperature: ptr(0.0), TopP: ptr(0.9), Seed: ptr(int64(0)), Stop: []string{"END"},
	}
	for _, tc := range []struct {
		name string
		kind string
		c    Config
		req  llm.Request
		want map[string]any
	}{
		{"bare", "openai", Config{}, llm.Prompt("u"), map[string]any{"model": "test-model"}},
		{"bare", "ollama", Config{}, llm.Prompt("u"), map[string]any{"model": "test-model", "stream": false, "options": map[string]any{"num_ctx": 4096.0}}},
		{"full", "openai", Config{Extra: map[string]any{"reasoning_effort": "low"}}, full, map[string]any{
			"model": "test-model", "max_completion_tokens": 10.0, "temperature": 0.0, "top_p": 0.9, "seed": 0.0,
			"stop": []any{"END"}, "reasoning_effort": "low",
			"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{
				"name": "my_schema", "strict": true, "schema": schemaValue}},
		}},
		{"full", "ollama", Config{ContextTokens: 8192, Extra: map[string]any{"think": false, "options": map[string]any{"top_k": 3}}}, full, map[string]any{
			"model": "test-model", "stream": false, "think": false, "format": schemaValue,
			"options": map[string]any{"num_predict": 10.0, "temperature": 0.0, "top_p": 0.9, "seed": 0.0,
				"stop": []any{"END"}, "num_ctx": 8192.0, "top_k": 3.0},
		}},
		{"json", "openai", Config{}, llm.Request{Messages: full.Messages, JSON: true, MaxTokens: 5}, map[string]any{
			"model": "test-model", "max_completion_tokens": 5.0, "response_format": map[string]any{"type": "json_object"}}},
		{"json", "ollama", Config{}, llm.Request{Messages: full.Messages, JSON: true}, map[string]any{
			"model": "test-model", "stream": false, "format": "json", "options": map[string]any{"num_ctx": 4096.0}}},
	} {
		t.Run(tc.name+"/"+tc.kind, func(t *testing.T) {
			s := llmtest.NewServer(llmtest.ServerOptions{})
			defer s.Close()
			check.OK(t, check.Err(check.Of(provider(s, tc.kind, tc.c).Model("test-model")).OK(t).Generate(t.Context(), tc.req)))
			check.Equal(t, sent(t, s), tc.want)
		})
	}
}

func TestStrictSchemas(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                              false,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                  false,
		`{"type":"array","items":{"type":"object"}}`:                                                           false,
		`{"type":"array","items":{"type":"string"}}`:                                                           true,
		`nonsense`: false,
	} {
		check.True(t, strict(json.RawMessage(schema)) == want, "strict(%s) = %v", schema, !want)
	}
}

// Some models write their JSON as a call of a tool that no request offered.
func TestReplyAsToolCall(t *testing.T) {
	for body, want := range map[string]string{
		`{"choices": [{"finish_reason": "tool_calls", "message": {"content": null, "tool_calls": [{"function": {"name": "json", "arguments": "{\"keep\": [1]}"}}]}}]}`:   `{"keep": [1]}`,
		`{"choices": [{"finish_reason": "stop", "message": {"content": "four", "tool_calls": [{"function": {"arguments": "{}"}}]}}]}`:                                    "four",
		`{"choices": [{"finish_reason": "tool_calls", "message": {"content": "", "tool_calls": [{"function": {"arguments": "a"}}, {"function": {"arguments": "b"}}]}}]}`: "",
	} {
		reply, err := readOpenAI([]byte(body))
		check.True(t, reply.Text == want && (err == nil) == (want != ""), "%s: %q, %v", body, reply.Text, err)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	o := quick
	o.AttemptTimeout = 300 * time.Millisecond // by then the server has read the request
	o.Attempts = 2
	both(t, llmtest.ServerOptions{}, Config{Transport: o}, func(t *testing.T, s *llmtest.Server, m llm.Model) {
		s.Fail(llmtest.Fault{Hang: true}, llmtest.Fault{Hang: true})
		var bill metering.Bill
		_, err := m.Generate(metering.WithBill(t.Context(), &bill), llm.Prompt("hello"))
		if !errors.Is(err, llm.ErrTimeout) || len(s.Requests()) != 2 || bill.Unknown() != 2 {
			t.Errorf("error %v after %d requests, %d possibly billed", err, len(s.Requests()), bill.Unknown())
		}
	})
	both(t, llmtest.ServerOptions{}, Config{}, func(t *testing.T, s *llmtest.Server, m llm.Model) {
		s.Fail(llmtest.Fault{Hang: true})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for len(s.Requests()) == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		_, err := m.Generate(ctx, llm.Prompt("hello"))
		var e *llm.Error
		check.True(t, errors.Is(err, context.Canceled) && errors.As(err, &e) && e.Kind == llm.ErrCanceled && e.Billed == llm.BilledUnknown, "error %#v", err)
	})
}

// If a server refuses a number of texts, half as many are sent, and no more later; a refused single text is an
// error, after which the number is kept.
func TestEmbedderHalves(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity} {
		var sizes []int
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var in struct{ Input []string }
			err := json.NewDecoder(r.Body).Decode(&in)
			if sizes = append(sizes, len(in.Input)); err != nil || len(in.Input) > 10 || slices.Contains(in.Input, "bad") {
				http.Error(w, `{"error":{"message":"batch size is invalid"}}`, status)
				return
			}
			data := make([]any, len(in.Input))
			for i, text := range in.Input {
				data[i] = map[string]any{"index": i, "embedding": []int{len(text), 1}}
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
		}))
		e, err := OpenAIEmbedder(Config{Model: "e", BaseURL: s.URL})
		check.OK(t, err)
		texts := make([]string, 70)
		for i := range texts {
			texts[i] = strings.Repeat("x", i+1)
		}
		for _, want := range [][]int{{64, 32, 16, 8, 8, 8, 8, 8, 8, 8, 8, 6}, {8, 8, 8, 8, 8, 8, 8, 8, 6}} {
			sizes = nil
			got, err := e.EmbedDocuments(t.Context(), texts)
			check.True(t, err == nil && slices.Equal(sizes, want) && len(got) == 70 && got[69][0] == 70,
				"%d: %d vectors, %v, requests %v, want %v", status, len(got), err, sizes, want)
		}
		_, err = e.EmbedDocuments(t.Context(), []string{"good", "bad"})
		check.True(t, err != nil && e.Batch() == 8, "%d: %v, batches of %d", status, err, e.Batch())
		s.Close()
	}
}

func TestEmbedderDetails(t *testing.T) {
	bothEmbedders(t, Config{Batch: 2}, func(t *testing.T, s *llmtest.Server, e llm.NamedEmbedder) {
		var bill metering.Bill
		ctx := metering.WithBill(t.Context(), &bill)
		got, err := e.EmbedDocuments(ctx, []string{"a", "b", "c d e f g"})
		check.OK(t, err)
		check.Equal(t, len(s.Requests()), 2, "requests for 3 texts in batches of 2")
		for i, text := range []string{"a", "b", "c d e f g"} {
			check.Equal(t, got[i], llmtest.HashVector(text, llmtest.DefaultDimensions))
		}
		want := s.Bill().Total
		check.True(t, bill.Known() == want && want.EmbeddedTokens == 5, "recorded %+v, billed %+v", bill.Known(), want)
		// Unusable replies of any form are errors.
		for _, body := range []string{
			`{"data":[{"index":0,"embedding":[1]}],"embeddings":[[1]]}`,
			`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}],"embeddings":[[1],[]]}`,
			`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}],"embeddings":[[1],[1,2]]}`,
			`{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}],"embeddings":[]}`,
		} {
			bad := llmtest.Fault{Status: 200, Body: body}
			s.Fail(bad, bad, bad)
			check.Is(t, check.Err(e.EmbedDocuments(t.Context(), []string{"a", "b"})), ErrBadVector, "%s", body)
		}
		s.Fail(llmtest.TooManyRequests(0), llmtest.Fault{CutAfter: 10}, llmtest.HTMLPage())
		_, err = e.EmbedQuery(t.Context(), "a")
		check.True(t, err == nil, "after three passing failures: %v", err)
	})
}

func TestVectorsStandWhereTheirIndexSays(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	defer s.Close()
	e := check.Of(provider(s, "openai", Config{}).Embedder("m")).OK(t)
	s.Fail(llmtest.Fault{Shuffle: true})
	texts := []string{"one", "two", "three"}
	got := check.Of(e.EmbedDocuments(t.Context(), texts)).OK(t)
	for i, text := range texts {
		check.Equal(t, got[i], llmtest.HashVector(text, llmtest.DefaultDimensions), "text %d has the vector of another", i)
	}
}

// A stream of Ollama without its last line is an error, even if the connection ended without one.
func TestLostStream(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	defer s.Close()
	m := check.Of(provider(s, "ollama", Config{Transport: Options{Attempts: 1}}).Model("m")).OK(t)
	s.Fail(llmtest.Fault{Status: 200, Body: `{"message":{"content":"half"},"done":false}` + "\n"})
	reply, err := m.Generate(t.Context(), llm.Prompt("x"))
	check.Is(t, err, llm.ErrTransient, "%+v", reply)
}

// A setting that a server refuses is omitted at once and later, and reported once. A schema is replaced by a
// JSON object, and that by nothing; other faults of a request change no setting.
func TestRefusedSettings(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	for _, tc := range []struct {
		name    string
		status  int
		refuses map[string]string // the server's error for requests that contain the key
		first   int               // number of requests of the first call
		gone    []string          // settings that are no longer sent
		left    []string
		fails   bool
	}{
		{name: "temperature", status: 400, refuses: map[string]string{`"temperature"`: `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","param":"temperature"}}`},
			first: 2, gone: []string{"temperature"}, left: []string{`"seed":7`, "json_schema|\"format\""}},
		{name: "seed and temperature", status: 422, refuses: map[string]string{`"temperature"`: "extra inputs: temperature", `"seed"`: "extra inputs: seed"},
			first: 3, gone: []string{"temperature", `"seed"`}},
		{name: "schema", status: 400, refuses: map[string]string{"json_schema": `{"error":"response_format json_schema is not supported"}`, `"format":{`: "invalid format"},
			first: 2, gone: []string{"json_schema", `"format":{`}, left: []string{`json_object|"format":"json"`, `"temperature":0`}},
		{name: "every form", status: 400, refuses: map[string]string{"response_format": "response_format: unknown field", `"format"`: "unknown format"},
			first: 3, gone: []string{"response_format", `"format"`}, left: []string{`"seed":7`}},
		{name: "another fault", status: 400, refuses: map[string]string{"model": "the seed of a temperature that the format exceeds"}, first: 5, fails: true,
			left: []string{`"seed":7`, `"temperature":0`, "json_schema|\"format\":{"}},
		{name: "a word of the prompt", status: 500, refuses: map[string]string{"model": "temperature"}, first: 1, fails: true, left: []string{`"temperature":0`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log strings.Builder
			o := Options{Attempts: 1, Logger: debugLogger(&log)}
			both(t, llmtest.ServerOptions{}, Config{Transport: o}, func(t *testing.T, s *llmtest.Server, m llm.Model) {
				log.Reset()
				for part, says := range tc.refuses {
					when := func(r llmtest.Received) bool { return bytes.Contains(r.Body, []byte(part)) }
					s.Fail(slices.Repeat([]llmtest.Fault{{When: when, Status: tc.status, Body: says}}, 20)...)
				}
				req := llm.Prompt("Reply in JSON.")
				req.Temperature, req.Seed, req.Schema = ptr(0.0), ptr(int64(7)), schema
				_, err := m.Generate(t.Context(), req)
				check.Must(t, (err != nil) == tc.fails, "%v", err)
				check.Equal(t, len(s.Requests()), tc.first, "requests")
				check.True(t, req.Temperature != nil && req.Schema != nil, "the caller's request has changed")
				_, _ = m.Generate(t.Context(), req)
				body := string(s.Requests()[tc.first].Body)
				for _, part := range tc.gone {
					check.True(t, !strings.Contains(body, part), "%s is sent again: %s", part, body)
				}
				for _, part := range tc.left {
					check.True(t, regexp.MustCompile(part).MatchString(body),
						"%s is not sent any more: %s", part, body)
				}
				n := strings.Count(log.String(), "does not take a setting")
				check.True(t, n <= 2 && n == 0 == tc.fails, "said %d times: %s", n, &log)
			})
		})
	}
}

// A server that refuses or ignores max_completion_tokens gets max_tokens.
func TestOldNameOfTheLimit(t *testing.T) {
	req := llm.Prompt("Write on.")
	req.MaxTokens = 5
	for name, tc := range map[string]struct {
		f    llmtest.Fault
		want []string // limits in the requests of the first two calls
	}{
		"refuses":     {llmtest.Fault{Status: 422, Body: `{"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted"}]}`}, []string{newLimit, "max_tokens", "max_tokens"}},
		"passes over": {llmtest.Fault{Reply: &llm.Reply{Text: "on and on", Usage: llm.Usage{PromptTokens: 2, CompletionTokens: 6}}}, []string{newLimit, "max_tokens"}},
		"keeps to it": {llmtest.Fault{Reply: &llm.Reply{Text: "on and on", Usage: llm.Usage{PromptTokens: 2, CompletionTokens: 5}}}, []string{newLimit, newLimit}},
	} {
		var log strings.Builder
		s := llmtest.NewServer(llmtest.ServerOptions{})
		defer s.Close()
		m := check.Of(provider(s, "openai", Config{Transport: Options{Logger: debugLogger(&log)}}).Model("m")).OK(t)
		s.Fail(tc.f)
		for range 2 {
			check.OK(t, check.Err(m.Generate(t.Context(), req)), "%v", name)
		}
		var got []string
		for _, r := range s.Requests() {
			got = append(got, regexp.MustCompile(`max_\w+`).FindString(string(r.Body)))
		}
		if !slices.Equal(got, tc.want) || strings.Count(log.String(), "WARN") != min(1, strings.Count(strings.Join(got, " "), "max_tokens")) {
			t.Errorf("%s: asked with %q: %s", name, got, &log)
		}
	}
}

// Ollama gets the context size that a prompt and its reply need, which never falls; a prompt that it has read
// only in part is an error.
func TestOllamaContext(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	defer s.Close()
	p := provider(s, "ollama", Config{})
	p.Config.Shared = newTestTransport(t, Options{})
	for _, tc := range []struct{ bytes, reply, want int }{
		{100, 0, 4096}, {4 * 3000, 346, 4096}, {4 * 3000, 347, 8192}, {4, 0, 8192}, {4 * 40_000, 4096, 65536}, {4 * 6000, 692, 65536},
	} {
		m := check.Of(p.Model("m")).OK(t)
		req := llm.Prompt(strings.Repeat("word", tc.bytes/4))
		req.MaxTokens = tc.reply
		check.OK(t, check.Err(m.Generate(t.Context(), req)))
		o, _ := sent(t, s)["options"].(map[string]any)
		check.True(t, o["num_ctx"] == float64(tc.want), "%+v: %v", tc, o)
	}
	m := check.Of(p.Model("other")).OK(t)
	for read, whole := range map[int]bool{2048: false, 2500: true} {
		s.Fail(llmtest.Fault{Answer: func(llm.Request) llm.Reply {
			return llm.Reply{Text: "x", Usage: llm.Usage{PromptTokens: read, CompletionTokens: 1}}
		}})
		_, err := m.Generate(t.Context(), llm.Prompt(strings.Repeat("word", 5000)))
		if e := (*llm.Error)(nil); whole != (err == nil) || !whole && (!errors.As(err, &e) || e.Kind != llm.ErrContextLength || e.Usage.PromptTokens != read) {
			t.Errorf("%d tokens were read: %v", read, err)
		}
	}
}
