// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
)

// TestModel checks the contract of [llm.Model] with a few short requests, which cost a little with a paid
// model.
func TestModel(t *testing.T, m llm.Model) {
	t.Helper()
	ask := func(ctx context.Context) (llm.Reply, error) {
		return m.Generate(ctx, llm.Request{
			Messages: []llm.Message{
				{Role: llm.System, Text: "You answer in one word."},
				{Role: llm.User, Text: "Say hello."},
			},
			Stage: "conformance",
		})
	}
	t.Run("Name", func(t *testing.T) {
		if first := m.Name(); first == "" || first != m.Name() {
			t.Errorf("Name is %q, want a name that stays", m.Name())
		}
	})
	t.Run("Reply", func(t *testing.T) {
		reply, err := ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		checkReply(t, reply)
	})
	t.Run("Pieces", func(t *testing.T) {
		req := llm.Prompt("Count from one to three.")
		var text strings.Builder
		reply, err := llm.Stream(t.Context(), m, req, func(piece string) error {
			text.WriteString(piece)
			return nil
		})
		if err != nil || text.String() != reply.Text {
			t.Errorf("pieces %q of the reply %q, %v", text.String(), reply.Text, err)
		}
		full := errors.New("no more")
		if _, err := llm.Stream(t.Context(), m, req, func(string) error { return full }); !errors.Is(err, full) {
			t.Errorf("the reader stopped, the error is %v", err)
		}
	})
	t.Run("RequestIsNotChanged", func(t *testing.T) {
		stop := make([]string, 1, 4)
		stop[0] = "\n\n\n"
		messages := make([]llm.Message, 1, 4)
		messages[0] = llm.Message{Role: llm.User, Text: "Say\nhello."}
		req := llm.Request{Messages: messages, Stop: stop}
		if _, err := m.Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if messages[0].Text != "Say\nhello." || stop[0] != "\n\n\n" || messages[:2][1] != (llm.Message{}) {
			t.Error("the request was changed")
		}
	})
	t.Run("Cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		reply, err := ask(ctx)
		var e *llm.Error
		if !errors.Is(err, context.Canceled) || !errors.As(err, &e) {
			t.Errorf("reply %+v, error %v, want an *llm.Error that is context.Canceled", reply, err)
		}
	})
	t.Run("Concurrent", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				reply, err := ask(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				checkReply(t, reply)
			})
		}
		wg.Wait()
	})
}

func checkReply(t *testing.T, reply llm.Reply) {
	t.Helper()
	if reply.Text == "" || reply.Finish != llm.FinishStop {
		t.Errorf("reply %+v, want text and finish %q", reply, llm.FinishStop)
	}
	if u := reply.Usage; u.Calls+u.CachedCalls < 1 || u.Calls > 0 && u.PromptTokens == 0 {
		t.Errorf("usage %+v, want a call and its tokens", u)
	}
}
