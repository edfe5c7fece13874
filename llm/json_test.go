// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestReadObject(t *testing.T) {
	for _, tc := range []struct {
		in, want string
	}{
		{`{"a":1}`, `{"a":1}`},
		{" \n{\"a\" : [1, 2.50, -3e4], \"b\":{}} ", `{"a":[1,2.50,-3e4],"b":{}}`},
		{"```json\n{\"a\":1}\n```", `{"a":1}`},
		{"Sure! Here it is:\n{\"a\":1}\nHope that helps {smile}.", `{"a":1}`},
		{"<think>{\"a\":2} or {\"a\":3}?</think>\n{\"a\":1}", `{"a":1}`},
		{"hm, {\"a\":2}?</think>{\"a\":1}", `{"a":1}`},
		{`{"a":[1,2,],}`, `{"a":[1,2]}`},
		{`{'a':'it\'s "x"'}`, `{"a":"it's \"x\""}`},
		{"{\"a\":1, // one\n /* two */ \"b\":2}", `{"a":1,"b":2}`},
		{`{"a":True,"b":None,"c":NaN,"d":-Infinity,"e":false,"f":null}`, `{"a":true,"b":null,"c":null,"d":null,"e":false,"f":null}`},
		{"{\"a\":\"line\nbreak\ttab\"}", `{"a":"line\nbreak\ttab"}`},
		{`{"re":"\d+ \( \\ \/ \u00e9 \ud83d\ude00 \ud800"}`, `{"re":"\\d+ \\( \\ / é 😀 ` + "\ufffd" + `"}`},
		{`{"a":+1,"b":.5,"c":2.}`, `{"a":1,"b":0.5,"c":2}`},
		{"\ufeff{\"a\":1}", `{"a":1}`},
		{`{"a":1} {"a":1}`, `{"a":1}`},
		{"{\"a\":\"\xff\"}", "{\"a\":\"\ufffd\"}"},
		{`{}`, `{}`},
		{"{\"a\":1}\nI used braces { } here.", `{"a":1}`},
		{"Braces {} and {names} and \\frac{1}{2}: {\"a\":1}", `{"a":1}`},
		{`{"a":TRUE,"b":[FALSE,NULL]}`, `{"a":true,"b":[false,null]}`},
		{"{\"a\":1}, as you asked: no more", `{"a":1}`},
		{"An object {like this one}: {\"a\":{}}", `{"a":{}}`},
		{`{"猫":"犬"}`, `{"猫":"犬"}`},
	} {
		got, err := ReadObject(tc.in)
		if err != nil || string(got) != tc.want {
			t.Errorf("%q: %s, %v; want %s", tc.in, got, err, tc.want)
		}
		if err == nil && !json.Valid(got) {
			t.Errorf("%q: the result is no JSON: %s", tc.in, got)
		}
	}
}

func TestReadObjectRefuses(t *testing.T) {
	for in, want := range map[string]Kind{
		"":                                 ErrInvalidOutput,
		"I cannot say.":                    ErrInvalidOutput,
		"[1,2]":                            ErrInvalidOutput,
		`{"a":1} or rather {"a":2}`:        ErrInvalidOutput,
		`{"verdict":"yes","verdict":"no"}`: ErrInvalidOutput,
		`{"a":[{"b":1},{"b":2} oops]}`:     ErrInvalidOutput, // not its inner objects
		`{"a" "b"}`:                        ErrInvalidOutput,
		`{"a":1e}`:                         ErrInvalidOutput,
		`{"a":"\u12x4 and more"}`:          ErrInvalidOutput,
		`{verdict: true}`:                  ErrInvalidOutput,
		`{verdict: "no", example: {"verdict": "yes"}}`: ErrInvalidOutput, // not its inner object
		`{reasoning: "x", scores: {"correct": true}}`:  ErrInvalidOutput,
		`{"x0" {}}`:          ErrInvalidOutput,
		`{verdict {"a": 1}}`: ErrInvalidOutput,
		`{ "verdict" = "no", "was": {"verdict": "yes"}}`:    ErrInvalidOutput,
		`{"verdict": "no"}, "reason": "wrong year"}`:        ErrInvalidOutput,
		"{\"verdict\": \"no\"}\n, 'reason' : 'wrong year'}": ErrInvalidOutput,
		`{"verdict": "no"}}`:                                ErrInvalidOutput,
		`{{"verdict": "no"}}`:                               ErrInvalidOutput,
		`{"a":1`:                                            ErrTruncated,
		`{"a":"half`:                                        ErrTruncated,
		`{"a":tr`:                                           ErrTruncated,
		`{"a":12`:                                           ErrTruncated,
		`{"a":1,`:                                           ErrTruncated,
		`{"a":1 // no`:                                      ErrTruncated,
		`{"a":"\u00`:                                        ErrTruncated,
		`{"a":1} and {"b":`:                                 ErrTruncated,
		"<think>not done {\"a\":1}":                         ErrTruncated,
		strings.Repeat(`{"a":`, 100_000):                    ErrInvalidOutput, // too deep
		`{"a":` + strings.Repeat("[", 1<<20):                ErrInvalidOutput,
	} {
		got, err := ReadObject(in)
		if !errors.Is(err, want) {
			t.Errorf("%.40q: %s, %.200v; want %v", in, got, err, want)
		}
	}
}

func TestSplitThinking(t *testing.T) {
	for in, open := range map[string]bool{"<think>a": true, "[THINK]a": true, "<|channel|>analysis<|message|>a<|end|>": true, "<|channel|>final<|message|>a": false, "<think></think>": false} {
		if answer, thinking, is := SplitThinking(in); is != open || open && (answer != "" || thinking != "a") {
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
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%q: %T", in, err)
			}
			return
		}
		if !json.Valid(got) || got[0] != '{' {
			t.Fatalf("%q gave %s", in, got)
		}
		again, err := ReadObject(string(got))
		if err != nil || string(again) != string(got) {
			t.Fatalf("%s read again: %s, %v", got, again, err)
		}
		// What encoding/json takes as an object without objects inside it means
		// the same here.
		var mine, theirs map[string]any
		if strings.Count(in, "{") == 1 && json.Unmarshal([]byte(in), &theirs) == nil {
			if err := json.Unmarshal(got, &mine); err != nil || !reflect.DeepEqual(mine, theirs) {
				t.Fatalf("%q is valid and was changed to %s", in, got)
			}
		}
	})
}
