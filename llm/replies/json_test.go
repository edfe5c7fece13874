// SPDX-License-Identifier: Apache-2.0

package replies

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/journal"

	"github.com/wildgraph/wildgraph/llm"
)

// Each line has a reply and the object that is read, or the fault.
func TestReadObject(t *testing.T) {
	kinds := map[string]llm.Kind{"ErrInvalidOutput": llm.ErrInvalidOutput, "ErrTruncated": llm.ErrTruncated}
	read := func(in, want string, kind llm.Kind) {
		got, err := ReadObject(in)
		switch {
		case kind != "" && !errors.Is(err, kind):
			t.Errorf("%.40q: %s, %.200v; want %v", in, got, err, kind)
		case kind == "" && (err != nil || string(got) != want || !json.Valid(got)):
			t.Errorf("%q: %s, %v; want %s", in, got, err, want)
		}
	}
	err := journal.EachLine(os.DirFS("testdata"), "objects.jsonl", 1<<20, func(_ int, c struct{ Input, Want, Kind string }) error {
		read(c.Input, c.Want, kinds[c.Kind])
		return nil
	})
	check.OK(t, err)
	read("{\"a\":\"\xff\"}", "{\"a\":\"\ufffd\"}", "")
	read(strings.Repeat(`{"a":`, 100_000), "", llm.ErrInvalidOutput) // too deeply nested
	read(`{"a":`+strings.Repeat("[", 1<<20), "", llm.ErrInvalidOutput)
}

func TestSplitThinking(t *testing.T) {
	for in, open := range map[string]bool{"<think>a": true, "[THINK]a": true, "<|channel|>analysis<|message|>a<|end|>": true, "<|channel|>final<|message|>a": false, "<think></think>": false} {
		if answer, thinking, is := llm.SplitThinking(in); is != open || open && (answer != "" || thinking != "a") {
			t.Errorf("%q: %q, %q, %v", in, answer, thinking, is)
		}
	}
}

func FuzzReadObject(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, "```json\n{'a':[True,],}\n```", `{"a":"\ud83d\ude00 \d"`, "<think>x</think>{}", `{"a":-Infinity,/*c*/"b":.5}`, "{\"\xc7\xcd\":1}", `{a: {"b":1}}`, `{"a":1}, "b":2}`, `{} {"a":TRUE}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := ReadObject(in)
		if err != nil {
			var e *llm.Error
			check.Must(t, errors.As(err, &e), "%q: %T", in, err)
			return
		}
		check.Must(t, json.Valid(got) && got[0] == '{', "%q gave %s", in, got)
		again, err := ReadObject(string(got))
		check.Must(t, err == nil && string(again) == string(got), "%s read again: %s, %v", got, again, err)
		// An object without inner objects that encoding/json accepts is read with the same meaning.
		var mine, theirs map[string]any
		if strings.Count(in, "{") == 1 && json.Unmarshal([]byte(in), &theirs) == nil {
			check.Must(t, json.Unmarshal(got, &mine) == nil && reflect.DeepEqual(mine, theirs), "%q is valid and was changed to %s", in, got)
		}
	})
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"Incorrect API key provided: sk-proj-abc***xyz.": "Incorrect API key provided: ***.",
		"Authorization: Bearer abc.def, sorry":           "Authorization: ***, sorry",
		"the planted-one is gone":                        "the *** is gone",
		"a risk-free task":                               "a risk-free task",
		"-":                                              "-",
	} {
		check.Equal(t, Excerpt([]byte(in), "planted-one", "-"), want, "%q became", in)
	}
	if got := Excerpt([]byte(strings.Repeat("猫", 1000)), "x"); len(got) > bodyExcerpt+3 || strings.Contains(got, "\ufffd") {
		t.Errorf("excerpt of %d bytes: %q", len(got), got[len(got)-10:])
	}
}
