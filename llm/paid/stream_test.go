// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// streaming is a model behind a server that writes events.
func streaming(t *testing.T, events func(n int) string) (m llm.Model, requests *int) {
	t.Helper()
	requests = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("known?")) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"yes"}}]}`)
			return
		}
		*requests++
		_, _ = io.WriteString(w, events(*requests))
	}))
	t.Cleanup(s.Close)
	m, err := transport.OpenAI(transport.Config{Model: "m", BaseURL: s.URL + "/v1", Transport: transport.Options{Attempts: 2, BaseDelay: 1, MaxDelay: 1}})
	check.OK(t, err)
	return m, requests
}

// known has a model reply for the first time: it has no reasoning.
func known(t *testing.T, m llm.Model) {
	t.Helper()
	check.OK(t, check.Err(m.Generate(t.Context(), llm.Prompt("known?"))))
}

func event(text string) string {
	return `data: {"choices":[{"delta":{"content":"` + text + `"}}]}` + "\n\n"
}

// A reply that breaks off is in the account as an estimate of what came, and holds as much of
// the limit as it can have taken.
func TestBrokenStreamIsCharged(t *testing.T) {
	c := open(t, paid.Options{File: file(t), Tokens: 200})
	inner, _ := streaming(t, func(int) string { return event("In the year ") + event("of our lord ") + event("16") })
	known(t, inner)
	m := cachedModel(t, c, inner)
	req := llm.Prompt("When was the light lit?") // 6 tokens, 4 for the message
	req.MaxTokens = 90
	_, err := llm.Stream(t.Context(), m, req, func(string) error { return nil })
	check.Must(t, errors.Is(err, llm.ErrTransient), "%v", err)
	a := c.Account()
	u := a.Total.Usage
	check.True(t, u.Estimated && u.Calls == 1 && u.PromptTokens == 6 && u.CompletionTokens >= 6, "in the account: %+v", u)
	check.True(t, a.Total.Unknown == 0 && len(a.Unknown) == 0, "unknown calls: %+v", a)
	check.Equal(t, a.Total.Most.Tokens(), 100, "tokens at most")
	for _, over := range []int{1, 0} {
		req = llm.Prompt("When was the dark lit?")
		req.MaxTokens = 90 + over
		_, err := llm.Stream(t.Context(), m, req, func(string) error { return nil })
		check.True(t, errors.Is(err, llm.ErrBudgetExceeded) == (over > 0), "%d more than the rest: %v", over, err)
	}
}

// Attempts that broke off before anything was shown count each.
func TestBrokenAttemptsAreCharged(t *testing.T) {
	c := open(t, paid.Options{File: file(t)})
	inner, requests := streaming(t, func(int) string { return event("<think>In the year") })
	req := llm.Prompt("When was the light lit?")
	req.MaxTokens = 90
	_, err := llm.Stream(t.Context(), cachedModel(t, c, inner), req, func(string) error { return nil })
	a := c.Account().Total
	check.True(t, errors.Is(err, llm.ErrTransient) && *requests == 2 && a.Usage.Calls == 2 && a.Most.Tokens() == 200, "%d requests, %+v, %v", *requests, a, err)
}

// A question that two stream at the same time is asked once; when the first leaves, the
// second asks.
func TestStreamsShare(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		inner, requests := streaming(t, func(int) string {
			return event("one ") + event("two ") + event("three") + `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
		})
		known(t, inner)
		c := open(t, paid.Options{File: file(t)})
		m := cachedModel(t, c, inner)
		begun, joined := make(chan struct{}), make(chan struct{})
		var g errgroup.Group
		var first sync.Once
		enough := errors.New("enough")
		g.Go(func() error {
			_, err := llm.Stream(t.Context(), m, llm.Prompt("count"), func(string) error {
				first.Do(func() { close(begun) })
				<-joined
				if leaves {
					return enough
				}
				return nil
			})
			if leaves && errors.Is(err, enough) {
				err = nil
			}
			return err
		})
		<-begun
		shown := ""
		g.Go(func() error {
			ctx := &joining{t.Context(), joined, false}
			_, err := llm.Stream(ctx, m, llm.Prompt("count"), func(text string) error {
				shown += text
				return nil
			})
			return err
		})
		want := 1
		if leaves {
			want = 2
		}
		if err := g.Wait(); err != nil || strings.TrimSpace(shown) != "one two three" || *requests != want {
			t.Errorf("leaves: %v: %d requests, %q, %v", leaves, *requests, shown, err)
		}
	}
}

// joining is a context that tells when it is waited for.
type joining struct {
	context.Context
	waits  chan struct{}
	closed bool
}

func (j *joining) Done() <-chan struct{} {
	if !j.closed {
		j.closed = true
		close(j.waits)
	}
	return j.Context.Done()
}

// A model within a budget: the second question is answered from the journal.
func Example() {
	dir, err := os.MkdirTemp("", "paid")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	client, err := paid.Open(paid.Options{
		File: filepath.Join(dir, "replies.journal"), Run: "demo", Tokens: 100_000,
		Prices: &paid.Prices{Currency: "USD", Models: []paid.Price{{Model: "demo", AsOf: "2025-06-01", Prompt: 1000, Completion: 4000}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	model, err := client.Model(llmtest.NewScript("demo").Reply(llmtest.Any, "Paris"))
	if err != nil {
		fmt.Println(err)
		return
	}
	req := llm.Prompt("What is the capital of France?")
	req.Stage = "answer"
	for range 2 {
		reply, err := model.Generate(context.Background(), req)
		fmt.Println(reply.Text, err)
	}
	for _, line := range client.Account().Stages {
		fmt.Println(line.Name, line.Calls, line.Usage.PromptTokens, line.Usage.CompletionTokens, line.Cost)
	}
	// Output:
	// Paris <nil>
	// Paris <nil>
	// answer 1 8 2 0.0160
}

func ExampleEstimate() {
	var e paid.Estimate
	e.Add("extract", "gpt-x", llm.Usage{Calls: 1000, PromptTokens: 1_600_000, CompletionTokens: 200_000})
	e.Add("judge", "gpt-y", llm.Usage{Calls: 300, PromptTokens: 90_000, CompletionTokens: 6_000})
	prices := &paid.Prices{Currency: "USD", Models: []paid.Price{{Model: "gpt-x", AsOf: "2025-06-01", Prompt: 0.25, Completion: 2}}}
	for _, s := range e.Stages {
		fmt.Println(s.Stage, s.Usage.Calls, s.Usage.PromptTokens+s.Usage.CompletionTokens, prices.Cost(s.Model, s.Usage))
	}
	fmt.Println("total", e.Total().Calls, e.Cost(prices), prices.Currency)
	// Output:
	// extract 1000 1800000 0.8000
	// judge 300 96000 unknown
	// total 1300 at least 0.8000 USD
}
