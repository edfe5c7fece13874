// SPDX-License-Identifier: Apache-2.0

package llmtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/transport"
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

// TestCassettesHoldNoSecrets plants secrets wherever HTTP can carry one, and
// greps the file for them.
func TestCassettesHoldNoSecrets(t *testing.T) {
	const canary = "canary7f3a"
	org := "org-" + strings.Repeat("A1b2", 6)
	s := llmtest.NewServer(llmtest.ServerOptions{})
	defer s.Close()
	path := filepath.Join(t.TempDir(), "cassette.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	send := func(base http.RoundTripper, url, body string) (string, error) {
		transport, err := transport.New(transport.Options{Base: base, BaseDelay: time.Millisecond, MaxDelay: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"?api-version=1&key="+canary+"-query&sig="+canary+"-sig", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.URL.User = nil
		for name, v := range map[string]string{
			"Authorization": "Bearer " + canary + "-bearer", "Api-Key": canary + "-apikey", "X-Api-Key": canary + "-xapikey",
			"Cookie": "session=" + canary + "-cookie", "Openai-Organization": canary + "-org", "X-Custom": canary + "-custom", "Content-Type": "application/json",
		} {
			req.Header.Set(name, v)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return "", err
		}
		b, err := io.ReadAll(resp.Body)
		return string(b), err
	}
	echo := `{"error":{"message":"bad key ` + canary + `-bearer ` + canary + `-cookie ` + canary + `-custom ` + canary + `-sig in ` + org + `, try sk-proj-` + strings.Repeat("x", 20) + `"}}`
	chat := `{"model":"m","messages":[{"role":"user","content":"my key is ` + canary + `-bearer, mine is sk-` + strings.Repeat("y", 30) + `"}]}`
	embed := `{"model":"m","input":["a","b"]}`
	record := llmtest.NewWireRecorder(s.Transport(), file)
	s.Fail(llmtest.Fault{Status: 503, Body: echo, Header: map[string]string{"Set-Cookie": "id=" + canary + "-setcookie", "Retry-After-Ms": "1", "X-Echo": canary + "-header"}},
		llmtest.Fault{Reset: true})
	var want []string
	for _, body := range []string{chat, embed} {
		url := s.URL + "/v1/chat/completions"
		if body == embed {
			url = s.URL + "/v1/embeddings"
		}
		got, err := send(record, url, body)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, got)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{canary, org, "sk-proj", "sk-yyy"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the cassette holds %s: %s", secret, text)
		}
	}
	if got := bytes.Count(text, []byte("\n")); got != 4 {
		t.Errorf("%d lines, want the failed attempts too: %s", got, text)
	}
	s.Close()

	replay, err := llmtest.NewWireReplay(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for i, body := range []string{chat, embed} {
		got, err := send(replay, "http://elsewhere.example"+[]string{"/v1/chat/completions", "/v1/embeddings"}[i], body)
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 && got != want[1] || i == 0 && !strings.Contains(got, "my key is ***, mine is ***") {
			t.Errorf("replayed %s, recorded %s", got, want[i])
		}
	}
	_, err = send(replay, "http://elsewhere.example/v1/chat/completions", embed)
	if !errors.Is(err, llmtest.ErrNotRecorded) || !strings.Contains(err.Error(), "POST /v1/chat/completions") || strings.Contains(err.Error(), canary) {
		t.Errorf("an unknown request: %v", err)
	}
	for _, bad := range []string{"nonsense", `{"method":"GET"}`} {
		if _, err := llmtest.NewWireReplay(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: accepted", bad)
		}
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
