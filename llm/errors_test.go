// SPDX-License-Identifier: Apache-2.0

package llm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
)

func TestErrorContract(t *testing.T) {
	e := &llm.Error{Kind: llm.ErrRateLimited, Endpoint: "http://h/v1", Status: 429, RetryAfter: 7 * time.Second, Body: "slow\x1b[31m", Err: errors.New("cause")}
	got, want := e.Error(), `llm: rate limited: http://h/v1: HTTP 429, retry after 7s: "slow\x1b[31m": cause`
	check.Equal(t, got, want)
	wrapped := fmt.Errorf("outer: %w", e)
	check.True(t, errors.Is(wrapped, llm.ErrRateLimited) && !errors.Is(wrapped, llm.ErrTimeout), "errors.Is does not ask for the kind")
	retryable := map[llm.Kind]bool{llm.ErrRateLimited: true, llm.ErrTransient: true, llm.ErrTimeout: true, llm.ErrEmpty: true}
	for _, k := range []llm.Kind{llm.ErrRateLimited, llm.ErrQuotaExhausted, llm.ErrTransient, llm.ErrTimeout, llm.ErrBadRequest, llm.ErrContextLength, llm.ErrAuth,
		llm.ErrFiltered, llm.ErrRefused, llm.ErrTruncated, llm.ErrEmpty, llm.ErrInvalidOutput, llm.ErrBudgetExceeded, llm.ErrCanceled} {
		check.Equal(t, (&llm.Error{Kind: k}).Retryable(), retryable[k], "%v: retryable", k)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("because"))
	err := llm.Canceled(ctx, llm.BilledNo)
	check.True(t, errors.Is(err, context.Canceled) && errors.Is(err, llm.ErrCanceled), "%v", err)
}

// A reply with an unknown stop reason is an error, and its text is kept.
func TestFinish(t *testing.T) {
	check.OK(t, journal.EachLine(os.DirFS("testdata"), "stops.jsonl", 1<<20, func(_ int, c struct{ Stop, Want string }) error {
		m := llm.ByFunc("f", func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{Text: "<think>so</think>half", Finish: c.Stop, Usage: llm.Usage{Calls: 1, PromptTokens: 7}}, nil
		})
		reply, err := m.Generate(t.Context(), llm.Prompt("?"))
		e := new(llm.Error)
		if c.Want == "" && (err != nil || reply.Text != "half" || reply.Finish != llm.FinishStop) ||
			c.Want != "" && (!errors.As(err, &e) || string(e.Kind) != c.Want || e.Partial != "half" || e.Usage.PromptTokens != 7) {
			t.Errorf("%q: %+v, %v", c.Stop, reply, err)
		}
		return nil
	}))
}

// A function of the caller is a model for every system, judge and cache.
func ExampleByFunc() {
	model := llm.ByFunc("echo", func(_ context.Context, req llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "You said: " + req.Messages[len(req.Messages)-1].Text, Finish: llm.FinishStop}, nil
	})
	reply, err := model.Generate(context.Background(), llm.Prompt("Hello"))
	fmt.Println(model.Name(), "|", reply.Text, err)
	// Output: echo | You said: Hello <nil>
}
