// SPDX-License-Identifier: Apache-2.0

package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func TestScriptConforms(t *testing.T) { llmtest.TestModel(t, llmtest.NewScript("script")) }

func TestScriptRules(t *testing.T) {
	s := llmtest.NewScript("script").
		Reply(llmtest.Contains("capital", "France"), "Paris", "still Paris").
		Fail(llmtest.Contains("forbidden"), &llm.Error{Kind: llm.ErrFiltered}).
		Handle(llmtest.Stage("count"), func(r llm.Request) llm.Reply {
			return llm.Reply{Text: strings.Repeat("x", len(r.Messages))}
		})
	ask := func(text, stage string) string {
		req := llm.Prompt(text)
		req.Stage = stage
		reply, err := s.Generate(t.Context(), req)
		if err != nil {
			return err.Error()
		}
		return reply.Text
	}
	for _, tc := range []struct{ text, stage, want string }{
		{"The capital of France?", "", "Paris"},
		{"The capital of France?", "", "still Paris"},
		{"The capital of France?", "", "still Paris"},
		{"forbidden", "", "llm: content filtered"},
		{"a", "count", "x"},
		{"a", "", "You said: a"},
	} {
		check.Equal(t, ask(tc.text, tc.stage), tc.want, "%q", tc.text)
	}
	check.True(t, s.Calls() == 6 && len(s.Requests()) == 6, "%d calls", s.Calls())
}

func post(t *testing.T, url, body string) (int, string, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func TestServerSpeaksTheWireFormats(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{
		Embed: func(string) []float32 { return []float32{1, 2} },
		Handler: func(req llm.Request) llm.Reply {
			if strings.Contains(string(req.Schema), `"required":["a"]`) && req.SchemaName == "n" {
				return llm.Reply{Text: `{"a":""}`}
			}
			return llmtest.Default(req)
		},
	})
	defer s.Close()
	for _, tc := range []struct{ path, body, want string }{
		{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
			`{"choices":[{"finish_reason":"stop","index":0,"message":{"content":"You said: hi","role":"assistant"}}],"created":0,"id":"chatcmpl-test","model":"m","object":"chat.completion","system_fingerprint":"fp_test","usage":{"completion_tokens":3,"prompt_tokens":1,"total_tokens":4}}`},
		{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}}}}`,
			`{"choices":[{"finish_reason":"stop","index":0,"message":{"content":"{\"a\":\"\"}","role":"assistant"}}],"created":0,"id":"chatcmpl-test","model":"m","object":"chat.completion","system_fingerprint":"fp_test","usage":{"completion_tokens":2,"prompt_tokens":1,"total_tokens":3}}`},
		{"/v1/embeddings", `{"model":"m","input":["aaaa","b"]}`,
			`{"data":[{"embedding":[1,2],"index":0,"object":"embedding"},{"embedding":[1,2],"index":1,"object":"embedding"}],"model":"m","object":"list","usage":{"prompt_tokens":2,"total_tokens":2}}`},
		{"/api/chat", `{"model":"m","stream":false,"messages":[{"role":"user","content":"hi"}]}`,
			`{"created_at":"2025-01-01T00:00:00Z","done":true,"done_reason":"stop","eval_count":3,"message":{"content":"You said: hi","role":"assistant"},"model":"m","prompt_eval_count":1}`},
		{"/api/embed", `{"model":"m","input":"a"}`, `{"embeddings":[[1,2]],"model":"m","prompt_eval_count":1}`},
	} {
		status, got, err := post(t, s.URL+tc.path, tc.body)
		check.True(t, status == 200 && err == nil, "%s: status %d, %v: %s", tc.path, status, err, got)
		check.Equal(t, got, tc.want, "%s", tc.path)
	}
	bill := s.Bill()
	want := (llm.Usage{Calls: 3, PromptTokens: 3, CompletionTokens: 8, EmbeddedTokens: 3})
	check.True(t, bill.Total == want && len(bill.ByKey) == 5, "bill %+v, want %+v", bill, want)
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"messages":[]}`, "/v1/embeddings": `{"model":"m","input":3}`,
		"/api/chat": `{`, "/api/embed": `{}`,
	} {
		status, got, _ := post(t, s.URL+path, body)
		check.True(t, status == 400 && strings.Contains(got, `"error"`), "%s with %s: status %d, %s", path, body, status, got)
	}
	status, _, _ := post(t, s.URL+"/nowhere", "{}")
	check.Equal(t, status, 404, "unknown path")
}

func TestServerFaults(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{Key: "k"})
	defer s.Close()
	body := `{"model":"m","input":"a"}`
	ask := func() (int, string, error) { return post(t, s.URL+"/api/embed", body) }
	status, _, _ := ask()
	check.Equal(t, status, 401, "without key")
	s.Fail(
		llmtest.Fault{When: func(r llmtest.Received) bool { return r.Path == "/api/chat" }, Status: 418},
		llmtest.TooManyRequests(7), llmtest.HTMLPage(), llmtest.Fault{Reset: true},
		llmtest.Fault{Status: 500, Body: strings.Repeat("x", 100), CutAfter: 10}, llmtest.Fault{Delay: time.Millisecond},
	)
	status, got, _ := ask()
	check.True(t, status == 429 && strings.Contains(got, "Too Many Requests"), "429: %d %s", status, got)
	status, got, _ = ask()
	check.True(t, status == 200 && strings.HasPrefix(got, "<!DOCTYPE"), "html: %d %s", status, got)
	_, _, err := ask()
	check.True(t, err != nil, "reset: no error")
	_, got, err = ask()
	check.True(t, errors.Is(err, io.ErrUnexpectedEOF) && got == "xxxxxxxxxx", "cut: %q, %v", got, err)
	status, _, _ = ask()
	check.Equal(t, status, 401, "delay")
	bill := s.Bill()
	check.Equal(t, bill.Total, (llm.Usage{}), "failures were billed: %+v", bill)
	status, _, _ = post(t, s.URL+"/api/chat", "{}")
	check.Equal(t, status, 418, "the fault for chats")
}

func TestCloseEndsHangingRequests(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	s.Fail(llmtest.Fault{Hang: true})
	done := make(chan error, 1)
	go func() {
		_, err := http.Post(s.URL+"/api/chat", "application/json", strings.NewReader("{}"))
		done <- err
	}()
	for len(s.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	s.Close()
	check.True(t, <-done != nil, "a hanging request ended well")
}

func TestHashVector(t *testing.T) {
	dot := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	fox, same, other := llmtest.HashVector("the red fox runs", 64), llmtest.HashVector("The Red FOX runs", 64), llmtest.HashVector("quarterly revenue report", 64)
	check.True(t, math.Abs(dot(fox, same)-1) <= 1e-6 && dot(fox, other) <= 0.5, "similarities %v and %v", dot(fox, same), dot(fox, other))
	v := llmtest.HashVector(" ", 3)
	check.True(t, v[0] == 1 && len(llmtest.HashVector("x", 0)) == 0, "blank text: %v", v)
}

func ExampleScript() {
	model := llmtest.NewScript("fake").
		Reply(llmtest.Contains("capital of France"), "Paris").
		Reply(llmtest.Any, "I do not know.")

	for _, q := range []string{"What is the capital of France?", "Why?"} {
		reply, err := model.Generate(context.Background(), llm.Prompt(q))
		fmt.Println(reply.Text, err)
	}
	fmt.Println(model.Calls(), "calls")
	// Output:
	// Paris <nil>
	// I do not know. <nil>
	// 2 calls
}
