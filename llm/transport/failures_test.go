// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// inMemory runs f in virtual time against a server that speaks the wire
// format of kind.
func inMemory(t *testing.T, kind string, c Config, f func(t *testing.T, s *llmtest.Server, m llm.Model)) {
	t.Helper()
	t.Run(kind, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := llmtest.NewServer(llmtest.ServerOptions{InMemory: true})
			defer s.Close()
			c.Transport.Base = s.Transport()
			m := check.Of(provider(s, kind, c).Model("test-model")).OK(t)
			f(t, s, m)
		})
	})
}

// TestProviderFailures is what really goes wrong with providers, one row
// each, with the default options and a virtual clock: what the caller gets,
// how many requests are made, and how long it takes.
func TestProviderFailures(t *testing.T) {
	reply := func(r llm.Reply) llmtest.Fault { return llmtest.Fault{Reply: &r} }
	say := func(text string) llmtest.Fault { return reply(llm.Reply{Text: text}) }
	forever := func(f llmtest.Fault) []llmtest.Fault { return slices.Repeat([]llmtest.Fault{f}, 50) }
	type object struct {
		N int `json:"n"`
	}
	generate := func(ctx context.Context, m llm.Model) (string, error) {
		r, err := m.Generate(ctx, llm.Prompt("hello"))
		return r.Text, err
	}
	decode := func(ctx context.Context, m llm.Model) (string, error) {
		_, r, err := replies.Decode[object](ctx, m, llm.Prompt("hello"))
		return r.Text, err
	}
	httpDate := llmtest.Fault{Status: 429, Header: map[string]string{
		// The server's clock is years ahead of the client's (which a bubble
		// starts in 2000): only the difference of its own two dates counts.
		"Date": "Wed, 01 Jan 2025 00:00:00 GMT", "Retry-After": "Wed, 01 Jan 2025 00:00:09 GMT",
	}}
	for _, tc := range []struct {
		name     string
		faults   []llmtest.Fault
		ask      func(context.Context, llm.Model) (string, error) // nil: generate
		text     string                                           // of a success; "" means the usual one
		want     llm.Kind                                         // of a failure
		billed   llm.Billed
		requests int
		min, max time.Duration // of the whole call
	}{
		{name: "429 with Retry-After 7", faults: []llmtest.Fault{llmtest.TooManyRequests(7)}, requests: 2, min: 7 * time.Second, max: 8 * time.Second},
		{name: "429 with an HTTP date", faults: []llmtest.Fault{httpDate}, requests: 2, min: 9 * time.Second, max: 10 * time.Second},
		{name: "429 for longer than the job should hang", faults: []llmtest.Fault{llmtest.TooManyRequests(121)}, want: llm.ErrRateLimited, billed: llm.BilledNo, requests: 1},
		{name: "429 insufficient_quota", faults: []llmtest.Fault{{Status: 429, Body: `{"error":{"code":"insufficient_quota"}}`}}, want: llm.ErrQuotaExhausted, billed: llm.BilledNo, requests: 1},
		{name: "429 billing limit", faults: []llmtest.Fault{{Status: 429, Body: `{"error":{"code":"billing_hard_limit_reached"}}`}}, want: llm.ErrQuotaExhausted, billed: llm.BilledNo, requests: 1},
		{name: "500, 502, 503, 504 in a row", faults: []llmtest.Fault{{Status: 500}, {Status: 502}, {Status: 503}, {Status: 504}}, requests: 5, max: 15 * time.Second},
		{name: "the same 500 for ever", faults: forever(llmtest.Fault{Status: 500, Body: `{"error":"assert failed"}`}), want: llm.ErrTransient, requests: 10, max: 5 * time.Minute},
		{name: "529 overloaded", faults: []llmtest.Fault{{Status: 529}, {Status: 529}}, requests: 3, max: 3 * time.Second},
		{name: "timeout before headers", faults: []llmtest.Fault{{Hang: true}}, requests: 2, min: 5 * time.Minute, max: 5*time.Minute + time.Second},
		{name: "timeout before headers for ever", faults: forever(llmtest.Fault{Hang: true}), want: llm.ErrTimeout, requests: 2, min: 5 * time.Minute, max: 10 * time.Minute},
		{name: "reset", faults: []llmtest.Fault{{Reset: true}}, requests: 2, max: time.Second},
		{name: "EOF in the middle", faults: []llmtest.Fault{{CutAfter: 30}}, requests: 2, max: time.Second},
		{name: "no choices, null content", faults: []llmtest.Fault{{EmptyChoices: true}, say("")}, requests: 3, max: 3 * time.Second},
		{name: "no choices for ever", faults: forever(llmtest.Fault{EmptyChoices: true}), want: llm.ErrEmpty, billed: llm.BilledYes, requests: 3, max: 3 * time.Second},
		{name: "finish_reason length", faults: []llmtest.Fault{reply(llm.Reply{Text: "half", Finish: llm.FinishLength})}, want: llm.ErrTruncated, billed: llm.BilledYes, requests: 1},
		{name: "content_filter", faults: []llmtest.Fault{reply(llm.Reply{Text: "x", Finish: llm.FinishFilter})}, want: llm.ErrFiltered, billed: llm.BilledYes, requests: 1},
		{name: "refusal", faults: []llmtest.Fault{reply(llm.Reply{Text: "x", Finish: "refusal"})}, want: llm.ErrRefused, billed: llm.BilledYes, requests: 1},
		{name: "fenced JSON in prose", ask: decode, faults: []llmtest.Fault{say("Sure!\n```json\n{\"n\": 1}\n```\nAnything else?")}, text: "Sure!\n```json\n{\"n\": 1}\n```\nAnything else?", requests: 1},
		{name: "trailing comma, single quotes, comment", ask: decode, faults: []llmtest.Fault{say("{'n': 1, // one\n}")}, text: "{'n': 1, // one\n}", requests: 1},
		{name: "truncated JSON", ask: decode, faults: forever(say(`{"n": 1, "m": "hal`)), want: llm.ErrTruncated, billed: llm.BilledYes, requests: 1},
		{name: "wrong type once", ask: decode, faults: []llmtest.Fault{say(`{"n":"one"}`), say(`{"n":1}`)}, text: `{"n":1}`, requests: 2},
		{name: "wrong type for ever", ask: decode, faults: forever(say(`{"n":"one"}`)), want: llm.ErrInvalidOutput, billed: llm.BilledYes, requests: 2},
		{name: "reasoning before the answer", faults: []llmtest.Fault{say("<think>hm</think>\nfour")}, text: "four", requests: 1},
		{name: "reasoning that never ends", faults: []llmtest.Fault{say("<think>hm")}, want: llm.ErrTruncated, billed: llm.BilledYes, requests: 1},
		{name: "an error object at 200", faults: []llmtest.Fault{{Status: 200, Body: `{"error":{"message":"upstream failed","code":502}}`}}, requests: 2, max: time.Second},
		{name: "half a JSON document", faults: forever(llmtest.Fault{Status: 200, Body: `{"choices":[`}), want: llm.ErrTransient, requests: 3, max: 3 * time.Second},
		{name: "401", faults: []llmtest.Fault{{Status: 401}}, want: llm.ErrAuth, billed: llm.BilledNo, requests: 1},
		{name: "404", faults: []llmtest.Fault{{Status: 404}}, want: llm.ErrBadRequest, billed: llm.BilledNo, requests: 1},
		{name: "redirect", faults: []llmtest.Fault{{Status: 307, Header: map[string]string{"Location": "http://example.com/"}}}, want: llm.ErrBadRequest, billed: llm.BilledNo, requests: 1},
		{name: "context length exceeded", faults: []llmtest.Fault{{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`}}, want: llm.ErrContextLength, billed: llm.BilledNo, requests: 1},
		{name: "huge body", faults: []llmtest.Fault{{Status: 200, Body: `{"a":"` + strings.Repeat("x", 1<<20) + `"}`}}, want: llm.ErrInvalidOutput, billed: llm.BilledYes, requests: 1},
		{name: "a body that stops coming", faults: []llmtest.Fault{{StallAfter: 30}}, requests: 2, min: time.Minute, max: time.Minute + time.Second},
		{name: "200 with an HTML page", faults: []llmtest.Fault{llmtest.HTMLPage(), llmtest.HTMLPage()}, requests: 3, max: 3 * time.Second},
		{name: "200 with an HTML page for ever", faults: forever(llmtest.HTMLPage()), want: llm.ErrTransient, billed: llm.BilledNo, requests: 3, max: 3 * time.Second},
		{name: "an error is never an empty reply", faults: forever(llmtest.Fault{Status: 500, Body: " "}), want: llm.ErrTransient, requests: 10, max: 5 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, kind := range []string{"openai", "ollama"} {
				c := Config{}
				c.Transport.MaxBody = 1 << 20
				inMemory(t, kind, c, func(t *testing.T, s *llmtest.Server, m llm.Model) {
					s.Fail(tc.faults...)
					ask, want := tc.ask, tc.text
					if ask == nil {
						ask = generate
					}
					if want == "" {
						want = "You said: hello"
					}
					start := time.Now()
					var written metering.Bill
					text, err := ask(metering.WithBill(t.Context(), &written), m)
					took := time.Since(start)
					var e *llm.Error
					switch {
					case tc.want == "" && (err != nil || text != want):
						t.Errorf("reply %q, error %v", text, err)
					case tc.want != "" && (!errors.As(err, &e) || e.Kind != tc.want || e.Billed != tc.billed):
						t.Errorf("error %v, want %v, billed %q", err, tc.want, tc.billed)
					}
					if got := len(s.Requests()); got != tc.requests {
						t.Errorf("%d requests, want %d", got, tc.requests)
					}
					usage := written.Known()
					if e != nil {
						usage = e.Usage
					}
					// What the caller is told is what the provider billed, as far as
					// anybody can know.
					if bill := s.Bill().Total; written.Unknown() == 0 && !usage.Estimated && usage != bill {
						t.Errorf("told %+v, billed %+v", usage, bill)
					}
					if took < tc.min || took > tc.max {
						t.Errorf("took %v, want %v to %v", took, tc.min, tc.max)
					}
				})
			}
		})
	}
}

// A model alias that moves in the middle of a run mixes two models.
func TestProviderFailureModelChangesUnderItsName(t *testing.T) {
	var log strings.Builder
	c := Config{}
	c.Transport.Logger = debugLogger(&log)
	inMemory(t, "openai", c, func(t *testing.T, s *llmtest.Server, m llm.Model) {
		body := func(model, fingerprint string) llmtest.Fault {
			return llmtest.Fault{Status: http.StatusOK, Body: `{"model":"` + model + `","system_fingerprint":"` + fingerprint + `","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`}
		}
		for i, warnings := range []int{0, 0, 1, 2} {
			s.Fail([]llmtest.Fault{body("m-1", "fp1"), body("m-1", "fp1"), body("m-1", "fp2"), body("m-2", "fp2")}[i])
			reply, err := m.Generate(t.Context(), llm.Prompt("hello"))
			check.True(t, err == nil && reply.Model != "" && reply.Fingerprint != "", "%+v, %v", reply, err)
			got := strings.Count(log.String(), "another model than before")
			check.Equal(t, got, warnings, "call %d: %d warnings", i, got)
		}
	})
}
