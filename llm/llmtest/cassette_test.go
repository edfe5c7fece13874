// SPDX-License-Identifier: Apache-2.0

package llmtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// A cassette says what was said, without the keys that a model can say, and names what
// it does not hold.
func TestRecordAndReplay(t *testing.T) {
	secrets := []string{"canary7f3a", "org-" + strings.Repeat("A1b2", 6), "sk-" + strings.Repeat("y", 30), "sk-proj-" + strings.Repeat("x", 20)}
	planted := "bad key \"Bearer " + secrets[0] + "\" in " + strings.Join(secrets[1:], ", ")
	script := llmtest.NewScript("paid").
		Reply(llmtest.Contains("dice"), "4", "6").
		Fail(llmtest.Contains("filtered"), &llm.Error{Kind: llm.ErrFiltered}).
		Handle(llmtest.Contains("key"), func(llm.Request) llm.Reply { return llm.Reply{Text: planted, Reasoning: planted} })
	zero := 0.0
	requests := []llm.Request{
		llm.Prompt("dice"), llm.Prompt("dice"), llm.Prompt("h\u00e9llo <b> \"x\" \x00"), llm.Prompt(planted),
		{Messages: llm.Prompt("dice").Messages, Temperature: &zero, Schema: json.RawMessage(`{ "type" : "object" }`)},
	}
	ask := func(m llm.Model) (out []llm.Reply) {
		for _, req := range requests {
			reply, err := m.Generate(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, reply)
		}
		return out
	}
	var cassette bytes.Buffer
	record := llmtest.Record(script, &cassette)
	want := ask(record)
	if _, err := record.Generate(t.Context(), llm.Prompt("filtered")); !errors.Is(err, llm.ErrFiltered) {
		t.Error(err)
	}
	for _, secret := range secrets {
		if strings.Contains(cassette.String(), secret) {
			t.Errorf("the cassette holds %s: %s", secret, &cassette)
		}
	}
	replay, err := llmtest.Replay(&cassette)
	if err != nil {
		t.Fatal(err)
	}
	if want[3].Text != planted {
		t.Errorf("the caller got %q", want[3].Text)
	}
	want[3].Text = `bad key "***" in ***, ***, ***`
	want[3].Reasoning = want[3].Text
	if diff := cmp.Diff(want, ask(replay)); diff != "" {
		t.Error(diff)
	}
	want[0] = want[1] // the last one repeats
	if diff := cmp.Diff(want, ask(replay)); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"never asked before " + secrets[1], "filtered"} {
		_, err = replay.Generate(t.Context(), llm.Prompt(text))
		if !errors.Is(err, llmtest.ErrNotRecorded) || !strings.Contains(err.Error(), text[:8]) || strings.Contains(err.Error(), secrets[1]) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, bad := range []string{"{", `{"request":{}}`, `{"model":"a","request":{},"reply":{}}` + "\n" + `{"model":"b","request":{},"reply":{}}`} {
		if _, err := llmtest.Replay(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "cassette:") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestReplayConforms(t *testing.T) {
	var cassette bytes.Buffer
	llmtest.TestModel(t, llmtest.Record(llmtest.NewScript("m"), &cassette))
	replay, err := llmtest.Replay(&cassette)
	if err != nil {
		t.Fatal(err)
	}
	llmtest.TestModel(t, replay)
}
