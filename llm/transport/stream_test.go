// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// streamer returns a model of either kind at an address.
func streamer(t *testing.T, kind, url string) llm.Model {
	t.Helper()
	make, path := transport.OpenAI, "/v1"
	if kind == "ollama" {
		make, path = transport.Ollama, ""
	}
	return check.Of(make(transport.Config{Model: "m", BaseURL: url + path, Transport: transport.Options{Attempts: 2, BaseDelay: 1, MaxDelay: 1}})).OK(t)
}

var hello = llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello?"}}}

// A streamed reply equals the reply of a call in one piece, with its usage and finish reason, and its parts
// together are its text.
func TestStream(t *testing.T) {
	for _, kind := range []string{"openai", "ollama"} {
		for name, reply := range map[string]llm.Reply{
			"words":     {Text: "The light was lit in 1698."},
			"reasoning": {Text: "In 1698.", Reasoning: "The tower was begun in 1696."},
			"thinking":  {Text: "<think>Was it 1696?</think>\n\nIn 1698."},
			"channels":  {Text: "<|channel|>analysis<|message|>Was it 1696?<|end|><|start|>assistant<|channel|>final<|message|>In 1698."},
		} {
			s := llmtest.NewServer(llmtest.ServerOptions{Handler: func(llm.Request) llm.Reply { return reply }})
			m := streamer(t, kind, s.URL)
			want := check.Of(m.Generate(t.Context(), hello)).OK(t)
			var pieces []string
			got, err := llm.Stream(t.Context(), m, hello, func(p string) error {
				pieces = append(pieces, p)
				return nil
			})
			check.True(t, err == nil && fmt.Sprint(got) == fmt.Sprint(want),
				"%s, %s: %+v, %v, want %+v", kind, name, got, err, want)
			check.True(t, len(pieces) >= 2 && strings.Join(pieces, "") == want.Text,
				"%s, %s: the pieces are %q of %q", kind, name, pieces, want.Text)
			s.Close()
		}
	}
}

// The first words are passed on while the server still writes. The request ends at once when the context ends
// or piece returns an error.
func TestStreamIsLive(t *testing.T) {
	for _, kind := range []string{"openai", "ollama"} {
		left := make(chan struct{}, 2)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			line := `data: {"choices":[{"delta":{"content":"It was "}}]}` + "\n\n"
			if kind == "ollama" {
				line = `{"message":{"content":"It was "},"done":false}` + "\n"
			}
			io.ReadAll(r.Body)
			io.WriteString(w, line)
			http.NewResponseController(w).Flush()
			<-r.Context().Done() // ends only with the request
			left <- struct{}{}
		}))
		m := streamer(t, kind, s.URL)
		transport.Plain(m)
		enough := errors.New("enough")
		_, err := llm.Stream(t.Context(), m, hello, func(p string) error {
			check.True(t, p == "It was" || p == "It was ", "the first piece is %q", p)
			return enough
		})
		<-left
		check.Is(t, err, enough, "%s", kind)
		ctx, cancel := context.WithCancel(t.Context())
		_, err = llm.Stream(ctx, m, hello, func(string) error {
			cancel()
			return nil
		})
		<-left
		check.Is(t, err, llm.ErrCanceled, "%s", kind)
		s.Close()
	}
}

// Malformed streams: each is read, or fails with a reason, and a request is not repeated after a part of the
// reply was passed on.
func TestHostileStreams(t *testing.T) {
	event := func(s string) string { return `data: {"choices":[{"delta":{"content":"` + s + `"}}]}` + "\n\n" }
	end := `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for _, x := range []struct {
		name, kind, body, text string
		want                   error
		calls                  int
	}{
		{"whole", "openai", event("It ") + event("was.") + end, "It was.", nil, 1},
		{"crlf", "openai", strings.ReplaceAll(event("It ")+event("was.")+end, "\n", "\r\n"), "It was.", nil, 1},
		{"comments", "openai", ": ping\n\nevent: x\n" + event("It was.") + ": ping\n\n" + end, "It was.", nil, 1},
		{"no blank behind data", "openai", strings.ReplaceAll(event("It was.")+end, "data: ", "data:"), "It was.", nil, 1},
		{"parts", "openai", `data: {"choices":[{"delta":{"content":[{"type":"text","text":"It was."}]}}]}` + "\n" + end, "It was.", nil, 1},
		{"null", "openai", `data: {"choices":[{"delta":{"role":"assistant","content":null}}]}` + "\n" + event("It was.") + end, "It was.", nil, 1},
		{"tool call", "openai", `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}}]}` + "\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}` + "\n" + end, `{"a":1}`, nil, 1},
		{"in one piece", "openai", `{"choices":[{"message":{"content":"It was."},"finish_reason":"stop"}]}`, "It was.", nil, 1},
		{"in one piece, a line", "ollama", `{"message":{"content":"It was."},"done":true,"prompt_eval_count":9}` + "\n", "It was.", nil, 1},
		{"no done", "openai", event("It ") + `data: {"choices":[{"delta":{"content":"was."},"finish_reason":"stop"}]}` + "\n\n", "It was.", nil, 1},
		{"refusal", "openai", `data: {"choices":[{"delta":{"refusal":"I cannot."}}]}` + "\n" + end, "", llm.ErrRefused, 1},
		{"cut", "openai", event("It ") + event("wa"), "It wa", llm.ErrTransient, 1},
		{"cut in a line", "openai", event("It ") + `data: {"choices":[{"delta":{"con`, "It", llm.ErrTransient, 1},
		{"cut before all", "openai", `data: {"choices":[{"delta":{"role":"assistant"}}]}` + "\n\n", "", llm.ErrTransient, 2},
		{"error in the middle", "openai", event("It ") + `data: {"error":{"message":"out of memory","type":"server_error"}}` + "\n\n", "It", llm.ErrTransient, 1},
		{"length", "openai", event("It was") + `data: {"choices":[{"delta":{},"finish_reason":"length"}]}` + "\n\ndata: [DONE]\n\n", "It was", llm.ErrTruncated, 1},
		{"filter", "openai", event("It was") + `data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}` + "\n\n", "It was", llm.ErrFiltered, 1},
		{"reasoning without its end", "openai", event("<think>It was") + end, "", llm.ErrTruncated, 1},
		{"nothing", "openai", "data: [DONE]\n\n", "", llm.ErrTransient, 2},
		{"empty", "openai", end, "", llm.ErrEmpty, 2},
		{"a page", "openai", "<html>Welcome</html>", "", llm.ErrTransient, 2},
		{"junk between", "openai", "data: what\n\n" + event("It was.") + "data: [1,2]\n\n" + end, "It was.", nil, 1},
		{"too long", "openai", strings.Repeat(event(strings.Repeat("x", 1000)), 100) + end, "", llm.ErrTruncated, 1},
		{"an event of several lines", "openai", "data: {\"choices\":[\ndata: {\"delta\":{\"content\":\ndata:  \"It was.\"}}]}\n\n" + end, "It was.", nil, 1},
		{"several lines without an end", "openai", "data: {\"choices\":[{\"delta\":{\ndata: \"content\":\"It was.\"},\"finish_reason\":\"stop\"}]}", "It was.", nil, 1},
		{"a line without an end", "openai", event("It was") + `data: {"choices":[{"delta":{"content":"` + strings.Repeat("x", 5<<20), "It was", llm.ErrInvalidOutput, 1},
		{"an event without an end", "openai", event("It was") + strings.Repeat("data: [\n", 3<<20), "It was", llm.ErrInvalidOutput, 1},
		{"broken off", "openai", event("It was") + `data: {"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}` + "\n\n", "It was", llm.ErrTransient, 1},
		{"an event of error", "openai", event("It was") + "event: error\ndata: {\"message\":\"overloaded\"}\n\n" + end, "It was", llm.ErrTransient, 1},
		{"an error of a choice", "openai", event("It was") + `data: {"choices":[{"delta":{},"finish_reason":"stop","error":{"code":502}}]}` + "\n\n", "It was", llm.ErrTransient, 1},
		{"unknown end", "openai", event("It was") + `data: {"choices":[{"delta":{},"finish_reason":"banana"}]}` + "\n\n", "It was", llm.ErrUnfinished, 1},
		{"odd fields", "openai", `data: {"error":{},"system_fingerprint":17,"choices":[{"delta":{"content":"It ","reasoning":{"x":1},"tool_calls":[{"function":{"arguments":{}}}]}}]}` + "\n" +
			`data: {"choices":[{"index":1,"delta":{"content":"is."}}]}` + "\n" + event("was.") + end, "It was.", nil, 1},
		{"a null delta at the end", "openai", event("It was.") + `data: {"choices":[{"delta":null,"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", "It was.", nil, 1},
		{"null events", "openai", "data: null\n\n" + event("It ") + "data: null\n\n" + event("was.") + end, "It was.", nil, 1},
		{"comments as data", "openai", "data: : PROCESSING\n\n" + event("It ") + "data: : PROCESSING\n\n" + event("was.") + end, "It was.", nil, 1},
		{"figures without choices", "openai", event("It was.") + end[:strings.Index(end, "data: [")] + `data: {"usage":{"prompt_tokens":9,"completion_tokens":2}}` + "\n\n" + `data: {"choices":null}` + "\n\ndata: [DONE]\n\n", "It was.", nil, 1},
		{"an empty event of a name", "openai", "event: keepalive\ndata:\n\n" + event("It was.") + "id: 3\nretry: 10\n\n" + end, "It was.", nil, 1},
		{"reasoning alone", "openai", `data: {"choices":[{"delta":{"reasoning_content":"It was."}}]}` + "\n\n" + end, "", llm.ErrEmpty, 2},
		{"lines", "ollama", `{"message":{"content":"It "},"done":false}` + "\n" + `{"message":{"content":"was."},"done":false}` + "\n" +
			`{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":3}` + "\n", "It was.", nil, 1},
		{"lines, cut", "ollama", `{"message":{"content":"It "},"done":false}` + "\n", "It", llm.ErrTransient, 1},
		{"lines, error", "ollama", `{"message":{"content":"It "},"done":false}` + "\n" + `{"error":"out of memory"}` + "\n", "It", llm.ErrTransient, 1},
	} {
		t.Run(x.kind+" "+x.name, func(t *testing.T) {
			calls := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				io.ReadAll(r.Body)
				io.WriteString(w, x.body)
			}))
			defer s.Close()
			m := streamer(t, x.kind, s.URL)
			transport.Plain(m)
			req := hello
			if x.name == "too long" {
				req.MaxTokens = 100
			}
			shown := ""
			reply, err := llm.Stream(t.Context(), m, req, func(p string) error {
				shown += p
				return nil
			})
			if !errors.Is(err, x.want) || x.want == nil && (err != nil || reply.Text != x.text || shown != x.text) {
				t.Errorf("%q, shown %q, %v; want %q, %v", reply.Text, shown, err, x.text, x.want)
			}
			check.True(t, x.want == nil || x.text == "" || strings.TrimSpace(shown) == x.text,
				"shown is %q, want %q", shown, x.text)
			var e *llm.Error
			if broke := x.text != "" && x.name != "broken off" && (x.want == llm.ErrTransient || x.want == llm.ErrInvalidOutput); broke && (!errors.As(err, &e) ||
				e.Billed != llm.BilledYes || !e.Usage.Estimated || e.Usage.PromptTokens != 2 || e.Usage.CompletionTokens < 1) {
				t.Errorf("what broke off has taken %+v", e)
			}
			check.Equal(t, calls, x.calls, "requests")
		})
	}
}

// Reasoning with only a closing mark is not shown, whatever came before: a model's first reply, and replies of
// models that reason, wait for that mark, and if they are interrupted before it they are requested again.
func TestLateThinking(t *testing.T) {
	thought, answer := "Was it 1696, as the second passage of them says? No. ", "It was in 1698, when the second tower was built on the rock."
	for mark, want := range map[string]string{"</think>": answer, "[/THINK]": answer, "<|END_THINKING|>": answer, "": thought + answer} {
		round := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text := thought + mark + answer
			if round++; round == 1 {
				text = text[:60]
			}
			for word := range strings.SplitAfterSeq(text, " ") {
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", word)
			}
			if round > 1 {
				io.WriteString(w, "data: [DONE]\n\n")
			}
		}))
		m := streamer(t, "openai", s.URL)
		for range 3 {
			var pieces []string
			reply, err := llm.Stream(t.Context(), m, hello, func(p string) error {
				pieces = append(pieces, p)
				return nil
			})
			if err != nil || reply.Text != want || strings.Join(pieces, "") != want || len(pieces) < 5 && (mark != "" || round > 2) {
				t.Errorf("%q, %d: %q, %v, shown %q", mark, round, reply.Text, err, pieces)
			}
		}
		check.Equal(t, round, 4, "%q: %d requests", mark, round)
		s.Close()
	}
}

// If a server does not stream, or does not send the usage of a stream, requests omit that from then on.
func TestStreamRefused(t *testing.T) {
	for _, word := range []string{"stream_options", "stream"} {
		calls := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls++
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), `"`+word+`"`) {
				http.Error(w, `{"error":{"message":"Unrecognized request argument supplied: `+word+`"}}`, http.StatusBadRequest)
				return
			}
			if strings.Contains(string(body), `"stream"`) {
				io.WriteString(w, `data: {"choices":[{"delta":{"content":"It was."},"finish_reason":"stop"}]}`+"\n\n")
				return
			}
			io.WriteString(w, `{"choices":[{"message":{"content":"It was."},"finish_reason":"stop"}]}`)
		}))
		m := streamer(t, "openai", s.URL)
		for want := range 2 {
			before, shown := calls, ""
			reply, err := llm.Stream(t.Context(), m, hello, func(p string) error {
				shown += p
				return nil
			})
			check.True(t, err == nil && reply.Text == "It was." && shown == "It was." && reply.Usage.Estimated,
				"%s: %+v, %q, %v", word, reply, shown, err)
			most := map[int]int{0: 3, 1: 1}[want]
			check.True(t, calls-before <= most, "%s: %d requests, want at most %d", word, calls-before, most)
		}
		s.Close()
	}
}

// A field that is not needed, or has an unusual form, does not lose the text, in one piece or streamed.
func TestOddFields(t *testing.T) {
	odd := []string{`null`, `true`, `17`, `-0.5`, `"x"`, `""`, `{}`, `[]`, `{"a":{"b":[1]}}`, `[{"a":1}]`, `["x"]`, `[[]]`, `[null]`}
	place := map[string][]string{
		"":       {"id", "object", "created", "model", "system_fingerprint", "usage", "service_tier", "message", "done", "x"},
		"choice": {"logprobs", "content_filter_results", "stop_reason", "token_ids", "x"},
		"delta":  {"role", "refusal", "reasoning", "reasoning_content", "thinking", "tool_calls", "function_call", "audio", "annotations", "x"},
	}
	for level, fields := range place {
		for _, field := range fields {
			for _, value := range odd {
				add := map[string]string{level: fmt.Sprintf(`,%q:%s`, field, value)}
				body := func(kind, text, finish string) string {
					return fmt.Sprintf(`{"choices":[{"index":0,%q:{"content":%q%s},"finish_reason":%q%s}]%s}`, kind, text, add["delta"], finish, add["choice"], add[""])
				}
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if asked, _ := io.ReadAll(r.Body); !strings.Contains(string(asked), `"stream"`) {
						io.WriteString(w, body("message", "It was not built.", "stop"))
						return
					}
					for _, word := range []string{"It ", "was ", "not ", "built."} {
						io.WriteString(w, "data: "+body("delta", word, "")+"\n\n")
					}
					io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
				}))
				m := streamer(t, "openai", s.URL)
				whole, err := m.Generate(t.Context(), hello)
				shown := ""
				streamed, err2 := llm.Stream(t.Context(), m, hello, func(p string) error {
					shown += p
					return nil
				})
				s.Close()
				if err := errors.Join(err, err2); err != nil || whole.Text != "It was not built." || streamed.Text != whole.Text || shown != whole.Text {
					t.Errorf("%s %s %s: %q, %q, shown %q, %v", level, field, value, whole.Text, streamed.Text, shown, err)
				}
			}
		}
	}
}
