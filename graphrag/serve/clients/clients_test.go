// SPDX-License-Identifier: Apache-2.0

// Package clients_test asks a folder with OpenAI's own clients, for Go and, where Python has
// the package openai (PYTHON names the interpreter), for Python.
package clients_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const token = "token-of-tides-0123456789"

// serving starts ask over a folder, and returns the address of its API.
func serving(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	program, tokens := filepath.Join(dir, "ask"), filepath.Join(dir, "tokens.json")
	build := exec.Command("go", "build", "-o", program, "./examples/ask")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(tokens, []byte(`{"`+token+`": {"scope": "kind = \"txt\""}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := exec.Command(program, "-docs", filepath.Join(root, "examples/ask/testdata/corpus"), "-index", filepath.Join(dir, "index"), "-serve", "127.0.0.1:0", "-tokens", tokens)
	said, err := ask.StderrPipe()
	if err == nil {
		err = ask.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = ask.Process.Signal(os.Interrupt)
		_ = ask.Wait()
	})
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), "Chat programs ask "); ok {
			url, _, _ := strings.Cut(rest, ";")
			return url
		}
	}
	t.Fatal("ask said no address")
	return ""
}

const (
	question = "Why are there two high tides a day?"
	answer   = "The moon draws the water"
	place    = "tides.txt:"
	hidden   = "What does a red light mean?" // its answer is in a file outside of the scope
)

func TestGo(t *testing.T) {
	url := serving(t)
	c := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey(token), option.WithMaxRetries(0))
	params := func(model, text string) openai.ChatCompletionNewParams {
		return openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)}}
	}
	models, err := c.Models.List(t.Context())
	if err != nil || len(models.Data) != 1 {
		t.Fatal(models, err)
	}
	name := models.Data[0].ID
	whole, err := c.Chat.Completions.New(t.Context(), params(name, question))
	if err != nil || !strings.Contains(whole.Choices[0].Message.Content, answer) || !strings.Contains(whole.Choices[0].Message.Content, place) {
		t.Fatalf("%+v, %v", whole, err)
	}
	stream := c.Chat.Completions.NewStreaming(t.Context(), params(name, question))
	var sum openai.ChatCompletionAccumulator
	for stream.Next() {
		sum.AddChunk(stream.Current())
	}
	if stream.Err() != nil || sum.Choices[0].Message.Content != whole.Choices[0].Message.Content || sum.Choices[0].FinishReason != "stop" {
		t.Errorf("%+v, %v", sum, stream.Err())
	}
	if r, err := c.Chat.Completions.New(t.Context(), params(name, hidden)); err != nil || strings.Contains(r.Choices[0].Message.Content, "red") {
		t.Errorf("a file outside of the scope: %+v, %v", r, err)
	}
	for what, tt := range map[string]struct {
		key, model, text string
		status           int
	}{
		"unknown model": {token, "gpt-4", question, 404}, "wrong token": {"nobody", name, question, 401}, "100 MB": {token, name, strings.Repeat("x", 100<<20), 413},
	} {
		c := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey(tt.key), option.WithMaxRetries(0))
		_, err := c.Chat.Completions.New(t.Context(), params(tt.model, tt.text))
		if e := new(openai.Error); !errors.As(err, &e) || e.StatusCode != tt.status {
			t.Errorf("%s: %v, want status %d", what, err, tt.status)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := c.Chat.Completions.New(ctx, params(name, question)); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
	if _, err := c.Chat.Completions.New(t.Context(), params(name, question)); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

const script = `
import sys, openai
c = openai.OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
ask = lambda **more: c.chat.completions.create(messages=[{"role": "user", "content": sys.argv[3]}], **more)
name = [m.id for m in c.models.list()][0]
whole = ask(model=name)
assert sys.argv[4] in whole.choices[0].message.content and whole.citations[0]["document"] == "tides.txt", whole
parts = [x.choices[0].delta.content for x in ask(model=name, stream=True)]
assert "".join(parts) == whole.choices[0].message.content and len(parts) > 1, parts
try: ask(model="gpt-4"); assert False
except openai.NotFoundError: pass
try: openai.OpenAI(base_url=sys.argv[1], api_key="nobody", max_retries=0).models.list(); assert False
except openai.AuthenticationError: pass
`

func TestPython(t *testing.T) {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	if exec.Command(python, "-c", "import openai").Run() != nil {
		t.Skip("Python has no package openai: see .ci/clients")
	}
	if out, err := exec.Command(python, "-c", script, serving(t), token, question, answer).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
