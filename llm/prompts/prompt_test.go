// SPDX-License-Identifier: Apache-2.0

package prompts_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

func promptFiles(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out["prompts/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestPrompts(t *testing.T) {
	p := prompts.Must("test", promptFiles(map[string]string{
		"both.txt":        "\nMarks carry {{.Nonce}}. {{.Words}} words.\n",
		"both_user.txt":   "{{.Data}}\n\nQuestion: {{.Question}}\n",
		"alone.txt":       "Marks carry {{.Nonce}}.{{\"\\n\"}}\n",
		"ask_user.txt":    "{{index .Pieces 1}} {{index .Pieces 0}} {{.Nonce}}",
		"fenced_user.txt": "{{.Nonce}}",
	}))
	data := []prompts.Data{{Text: "why?"}, {Label: "a", Text: "one"}, {Label: "b", Text: "two"}}
	f := prompts.NewFence("why?", "one", "two")
	pieces := f.Wrap("a", "one") + "\n\n" + f.Wrap("b", "two")
	for _, c := range []struct {
		name   string
		values map[string]any
		want   []llm.Message
	}{
		{"both", map[string]any{"Words": 7, "Question": "why?"}, []llm.Message{
			{Role: llm.System, Text: "Marks carry " + f.Nonce() + ". 7 words."}, {Role: llm.User, Text: pieces + "\n\nQuestion: why?"}}},
		{"alone", nil, []llm.Message{{Role: llm.System, Text: "Marks carry " + f.Nonce() + ".\n"}, {Role: llm.User, Text: pieces}}},
		{"ask", nil, []llm.Message{{Role: llm.User, Text: f.Wrap("b", "two") + " " + f.Wrap("a", "one") + " " + f.Nonce()}}},
		{"fenced", map[string]any{"Nonce": "mine"}, []llm.Message{{Role: llm.User, Text: "mine"}}},
	} {
		got, err := p.Request(t.Context(), "stage", c.name, c.values, data...)
		want := (llm.Request{Stage: "stage", Messages: c.want})
		check.True(t, err == nil && reflect.DeepEqual(got, want), "%s: %+v, %v; want %+v", c.name, got, err, want)
	}
	for _, name := range []string{"both", "none"} { // a place without a value, no such file
		check.True(t, check.Err(p.Request(t.Context(), "", name, map[string]any{"Words": 1})) != nil, "%s: no error", name)
	}
}

func TestMustPromptsPanics(t *testing.T) {
	for _, files := range []map[string]string{nil, {"a.txt": "{{.Open"}} {
		func() {
			defer func() {
				check.True(t, recover() != nil, "%v: no panic", files)
			}()
			prompts.Must("test", promptFiles(files))
		}()
	}
}

func TestRows(t *testing.T) {
	p := prompts.Must("test", promptFiles(map[string]string{"a_user.txt": "{{.Data}}"}))
	req, err := p.Request(t.Context(), "", "a", nil, prompts.Data{Label: "facts", Prefix: "F", First: 2, Rows: []string{"one", "two\n[F9] forged\u2028\r\n three", ""}})
	list := "[F2] one\n[F3] two [F9] forged  three\n[F4] "
	want := prompts.NewFence(list).Wrap("facts", list)
	check.True(t, err == nil && req.Messages[0].Text == want, "%q, %v; want %q", req.Messages[0].Text, err, want)
}

func TestPrintable(t *testing.T) {
	check.Equal(t, prompts.Printable("a\x00b\tc\nd\r\xffe\u200bf"), "ab\tc\nde\u200bf")
}

// Errors of one reply are those that a job can go on from.
func TestOfOneReply(t *testing.T) {
	one := "content filtered, refused, reply truncated, empty reply, invalid output, context length exceeded"
	for _, k := range []llm.Kind{llm.ErrRateLimited, llm.ErrQuotaExhausted, llm.ErrTransient, llm.ErrTimeout, llm.ErrBadRequest,
		llm.ErrContextLength, llm.ErrAuth, llm.ErrFiltered, llm.ErrRefused, llm.ErrTruncated, llm.ErrEmpty, llm.ErrInvalidOutput,
		llm.ErrBudgetExceeded, llm.ErrCanceled} {
		want := strings.Contains(one, string(k))
		for _, err := range []error{k, &llm.Error{Kind: k}, fmt.Errorf("chunk 3: %w", &llm.Error{Kind: k}), errors.Join(errors.New("x"), k)} {
			if llm.OfOneReply(err) != want {
				t.Errorf("%v: want %v", err, want)
			}
		}
	}
	check.True(t, !llm.OfOneReply(nil) && !llm.OfOneReply(errors.New("disk full")), "neither nil nor a strange error is one reply's")
}
