// SPDX-License-Identifier: Apache-2.0

package llmtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func TestRecordAndReplay(t *testing.T) {
	script := llmtest.NewScript("paid").
		Reply(llmtest.Contains("dice"), "4", "6").
		Fail(llmtest.Contains("filtered"), &llm.Error{Kind: llm.ErrFiltered, Status: 400, Billed: llm.BilledYes, Usage: llm.Usage{Calls: 1, PromptTokens: 3}})
	zero := 0.0
	ask := func(m llm.Model) (out []string) {
		for _, req := range []llm.Request{
			llm.Prompt("dice"), llm.Prompt("dice"), llm.Prompt("dice"), llm.Prompt("filtered"), llm.Prompt("héllo <b> \"x\" \x00"),
			{Messages: llm.Prompt("dice").Messages, Temperature: &zero, Schema: json.RawMessage(`{ "type" : "object" }`)},
		} {
			reply, err := m.Generate(t.Context(), req)
			var e *llm.Error
			if err != nil && !errors.As(err, &e) {
				t.Fatal(err)
			}
			if e != nil {
				out = append(out, fmt.Sprint(e.Kind, e.Status, e.Billed, e.Usage))
			} else {
				out = append(out, fmt.Sprint(reply))
			}
		}
		return out
	}
	var cassette bytes.Buffer
	want := ask(llmtest.NewRecorder(script, &cassette))
	replay, err := llmtest.NewReplay(bytes.NewReader(cassette.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ask(replay)); diff != "" {
		t.Error(diff)
	}
	// A blot must not break the quotes around it.
	if _, err := llmtest.NewRecorder(script, &cassette).Generate(t.Context(), llm.Prompt(`say "Bearer x" twice`)); err != nil {
		t.Fatal(err)
	}
	if _, err := llmtest.NewReplay(&cassette); err != nil {
		t.Error(err)
	}
	if replay.Name() != "paid" {
		t.Errorf("the replay is called %q", replay.Name())
	}
	if reply, err := replay.Generate(t.Context(), llm.Prompt("dice")); err != nil || reply.Text != "6" {
		t.Errorf("beyond the end: %+v, %v", reply, err)
	}
	_, err = replay.Generate(t.Context(), llm.Prompt("never asked before"))
	if !errors.Is(err, llmtest.ErrNotRecorded) || !strings.Contains(err.Error(), "never asked before") || (&llm.Error{Kind: llm.ErrBadRequest}).Retryable() {
		t.Errorf("an unknown request: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay.Generate(ctx, llm.Prompt("dice")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, bad := range []string{"{", `{"model":"m"}`, `{"model":"a","request":{},"reply":{}}` + "\n" + `{"model":"b","request":{},"reply":{}}`} {
		if _, err := llmtest.NewReplay(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "cassette:") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestReplayConforms(t *testing.T) {
	var cassette bytes.Buffer
	llmtest.TestModel(t, llmtest.NewRecorder(llmtest.NewScript("m"), &cassette))
	replay, err := llmtest.NewReplay(&cassette)
	if err != nil {
		t.Fatal(err)
	}
	llmtest.TestModel(t, replay)
}

// TestCassettesHoldNoSecrets plants secrets wherever a model can say one, and
// greps the cassette for them.
func TestCassettesHoldNoSecrets(t *testing.T) {
	org, bearer := "org-"+strings.Repeat("A1b2", 6), "Bearer canary7f3a"
	planted := "bad key " + bearer + " in " + org + ", mine is sk-" + strings.Repeat("y", 30) + ", try sk-proj-" + strings.Repeat("x", 20)
	script := llmtest.NewScript("m").
		Fail(llmtest.Contains("refused"), &llm.Error{Kind: llm.ErrAuth, Status: 401, Body: planted, Err: errors.New(planted)}).
		Handle(llmtest.Any, func(llm.Request) llm.Reply { return llm.Reply{Text: planted, Reasoning: planted} })
	var cassette bytes.Buffer
	record := llmtest.NewRecorder(script, &cassette)
	for _, text := range []string{planted, "refused " + planted} {
		if reply, err := record.Generate(t.Context(), llm.Prompt(text)); err == nil && reply.Text != planted {
			t.Errorf("the caller got %q", reply.Text)
		}
	}
	for _, secret := range []string{"canary7f3a", org, "sk-proj", "sk-yyy"} {
		if strings.Contains(cassette.String(), secret) {
			t.Errorf("the cassette holds %s: %s", secret, &cassette)
		}
	}
	if got := strings.Count(cassette.String(), "\n"); got != 2 {
		t.Errorf("%d lines, want the failed call too: %s", got, &cassette)
	}
	replay, err := llmtest.NewReplay(&cassette)
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := replay.Generate(t.Context(), llm.Prompt(planted)); err != nil || !strings.Contains(reply.Text, "mine is ***, try ***") {
		t.Errorf("replayed %q, %v", reply.Text, err)
	}
	if _, err := replay.Generate(t.Context(), llm.Prompt("refused "+planted)); !errors.Is(err, llm.ErrAuth) {
		t.Errorf("replayed %v", err)
	}
	_, err = replay.Generate(t.Context(), llm.Prompt("other "+planted))
	if !errors.Is(err, llmtest.ErrNotRecorded) || strings.Contains(err.Error(), "canary7f3a") {
		t.Errorf("an unknown request: %v", err)
	}
}

func ExampleRecorder() {
	var cassette bytes.Buffer // a file in testdata, as a rule
	paid := llmtest.NewScript("paid").Reply(llmtest.Any, "Paris")
	_, _ = llmtest.NewRecorder(paid, &cassette).Generate(context.Background(), llm.Prompt("What is the capital of France?"))

	model, err := llmtest.NewReplay(&cassette)
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Generate(context.Background(), llm.Prompt("What is the capital of France?"))
	fmt.Println(model.Name(), reply.Text, err)
	_, err = model.Generate(context.Background(), llm.Prompt("And of Spain?"))
	fmt.Println(errors.Is(err, llmtest.ErrNotRecorded))
	// Output:
	// paid Paris <nil>
	// true
}
