// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

func TestBudget(t *testing.T) {
	script := llmtest.NewScript("m").Handle(llmtest.Any, func(llm.Request) llm.Reply {
		return llm.Reply{Text: "x", Usage: llm.Usage{PromptTokens: 40, CompletionTokens: 10}}
	})
	b, err := paid.NewBudget(200, func(string) int { return 36 })
	if err != nil {
		t.Fatal(err)
	}
	m := b.Model(script)
	req := llm.Prompt("q")
	req.MaxTokens = 60 // reserves 36 (schema) + 36 + 4 + 60 = 136
	var wg sync.WaitGroup
	var mu sync.Mutex
	ok, refused := 0, 0
	for range 8 {
		wg.Go(func() {
			_, err := m.Generate(t.Context(), req)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				ok++
			case errors.Is(err, llm.ErrBudgetExceeded):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	// Calls wait for each other and settle for 50: two fit, a third might not.
	if ok != 2 || refused != 6 || b.Spent() != 100 || script.Calls() != 2 {
		t.Errorf("%d calls, %d refused, %d spent", ok, refused, b.Spent())
	}
	if _, err := paid.NewBudget(0, nil); err == nil {
		t.Error("a budget of nothing was accepted")
	}

	// Waiting for others ends with the context.
	b, err = paid.NewBudget(100, func(string) int { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	s := slow{llmtest.NewScript("m"), make(chan struct{}, 1), make(chan struct{})}
	req.MaxTokens = 60
	wg.Go(func() {
		if _, err := b.Model(s).Generate(t.Context(), req); err != nil {
			t.Error(err)
		}
	})
	<-s.start
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := b.Model(s).Generate(ctx, req); !errors.Is(err, context.DeadlineExceeded) || len(s.start) != 0 {
		t.Errorf("a call that has to wait for another: %v", err)
	}
	close(s.gate)
	wg.Wait()

	// What may have been billed is charged, what was not is given back.
	for billed, want := range map[llm.Billed]int{llm.BilledUnknown: 3, llm.BilledNo: 0, llm.BilledYes: 2} {
		b, err := paid.NewBudget(100, func(string) int { return 1 })
		if err != nil {
			t.Fatal(err)
		}
		failing := llmtest.NewScript("m")
		e := &llm.Error{Kind: llm.ErrTransient, Billed: billed}
		if billed == llm.BilledYes {
			e.Usage.PromptTokens = 2
		}
		failing.Fail(llmtest.Any, e)
		if _, err := b.Embedder("e", failingEmbedder{e}).EmbedDocuments(t.Context(), []string{"a", "b", "c"}); err == nil {
			t.Error("no error")
		}
		if billed != llm.BilledYes && b.Spent() != want {
			t.Errorf("billed %q: %d spent, want %d", billed, b.Spent(), want)
		}
		spent := b.Spent()
		req := llm.Request{MaxTokens: 2}
		if _, err := b.Model(failing).Generate(t.Context(), req); err == nil {
			t.Error("no error")
		}
		if got := b.Spent() - spent; got != want {
			t.Errorf("billed %q: %d spent by the model, want %d", billed, got, want)
		}
	}
}

type failingEmbedder struct{ err error }

func (f failingEmbedder) EmbedDocuments(context.Context, []string) ([][]float32, error) {
	return nil, f.err
}
func (f failingEmbedder) EmbedQuery(context.Context, string) ([]float32, error) { return nil, f.err }
