// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestReadObject(t *testing.T) {
	for _, tc := range []struct {
		in, want string
		repaired bool
	}{
		{`{"a":1}`, `{"a":1}`, false},
		{" \n{\"a\" : [1, 2.50, -3e4], \"b\":{}} ", `{"a":[1,2.50,-3e4],"b":{}}`, false},
		{"```json\n{\"a\":1}\n```", `{"a":1}`, true},
		{"Sure! Here it is:\n{\"a\":1}\nHope that helps {smile}.", `{"a":1}`, true},
		{"<think>{\"a\":2} or {\"a\":3}?</think>\n{\"a\":1}", `{"a":1}`, false},
		{"hm, {\"a\":2}?</think>{\"a\":1}", `{"a":1}`, false},
		{`{"a":[1,2,],}`, `{"a":[1,2]}`, true},
		{`{'a':'it\'s "x"'}`, `{"a":"it's \"x\""}`, true},
		{"{\"a\":1, // one\n /* two */ \"b\":2}", `{"a":1,"b":2}`, true},
		{`{"a":True,"b":None,"c":NaN,"d":-Infinity,"e":false,"f":null}`, `{"a":true,"b":null,"c":null,"d":null,"e":false,"f":null}`, true},
		{"{\"a\":\"line\nbreak\ttab\"}", `{"a":"line\nbreak\ttab"}`, true},
		{`{"re":"\d+ \( \\ \/ \u00e9 \ud83d\ude00 \ud800"}`, `{"re":"\\d+ \\( \\ / é 😀 ` + "\ufffd" + `"}`, true},
		{`{"a":+1,"b":.5,"c":2.}`, `{"a":1,"b":0.5,"c":2}`, true},
		{"\ufeff{\"a\":1}", `{"a":1}`, false},
		{`{"a":1} {"a":1}`, `{"a":1}`, true},
		{"{\"a\":\"\xff\"}", "{\"a\":\"\ufffd\"}", false},
		{`{}`, `{}`, false},
		{`{"猫":"犬"}`, `{"猫":"犬"}`, false},
	} {
		got, err := ReadObject(tc.in)
		if err != nil || string(got.JSON) != tc.want || got.Repaired != tc.repaired {
			t.Errorf("%q: %s (repaired %v), %v; want %s (%v)", tc.in, got.JSON, got.Repaired, err, tc.want, tc.repaired)
		}
		if err == nil && !json.Valid(got.JSON) {
			t.Errorf("%q: the result is no JSON: %s", tc.in, got.JSON)
		}
	}
}

func TestReadObjectRefuses(t *testing.T) {
	for in, want := range map[string]Kind{
		"":                                   ErrInvalidOutput,
		"I cannot say.":                      ErrInvalidOutput,
		"[1,2]":                              ErrInvalidOutput,
		`{"a":1} or rather {"a":2}`:          ErrInvalidOutput,
		`{"verdict":"yes","verdict":"no"}`:   ErrInvalidOutput,
		`{"a":[{"b":1},{"b":2} oops]}`:       ErrInvalidOutput, // not its inner objects
		`{"a" "b"}`:                          ErrInvalidOutput,
		`{"a":1e}`:                           ErrInvalidOutput,
		`{"a":"\u12x4 and more"}`:            ErrInvalidOutput,
		`{verdict: true}`:                    ErrInvalidOutput,
		`{"a":1`:                             ErrTruncated,
		`{"a":"half`:                         ErrTruncated,
		`{"a":tr`:                            ErrTruncated,
		`{"a":12`:                            ErrTruncated,
		`{"a":1,`:                            ErrTruncated,
		`{"a":1 // no`:                       ErrTruncated,
		`{"a":"\u00`:                         ErrTruncated,
		`{"a":1} and {"b":`:                  ErrTruncated,
		"<think>not done {\"a\":1}":          ErrTruncated,
		strings.Repeat(`{"a":`, 100_000):     ErrInvalidOutput, // too deep
		`{"a":` + strings.Repeat("[", 1<<20): ErrInvalidOutput,
	} {
		got, err := ReadObject(in)
		if !errors.Is(err, want) {
			t.Errorf("%.40q: %s, %.200v; want %v", in, got.JSON, err, want)
		}
	}
}

func TestSplitThinking(t *testing.T) {
	for _, tc := range []struct {
		in, answer, thinking string
		open                 bool
	}{
		{"plain", "plain", "", false},
		{"<think>a</think>b", "b", "a", false},
		{" <thinking>a</thinking> <think>c</think> b", "b", "a\nc", false},
		{"a</think>b", "b", "a", false},
		{"<think>a", "", "a", true},
		{"use <think> tags, then </think>", "use <think> tags, then </think>", "", false},
		{"<think></think>", "", "", false},
	} {
		answer, thinking, open := SplitThinking(tc.in)
		if answer != tc.answer || thinking != tc.thinking || open != tc.open {
			t.Errorf("%q: %q, %q, %v", tc.in, answer, thinking, open)
		}
	}
}

func FuzzReadObject(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, "```json\n{'a':[True,],}\n```", `{"a":"\ud83d\ude00 \d"`, "<think>x</think>{}", `{"a":-Infinity,/*c*/"b":.5}`} {
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
		if !json.Valid(got.JSON) || got.JSON[0] != '{' {
			t.Fatalf("%q gave %s", in, got.JSON)
		}
		again, err := ReadObject(string(got.JSON))
		if err != nil || again.Repaired || string(again.JSON) != string(got.JSON) {
			t.Fatalf("%s read again: %s, %v, %v", got.JSON, again.JSON, again.Repaired, err)
		}
		// What encoding/json takes as an object without duplicate keys needs
		// no repair.
		if got.Repaired && json.Valid([]byte(in)) && strings.Count(in, "{") == 1 && strings.HasPrefix(in, "{") {
			t.Fatalf("%q is valid and was repaired to %s", in, got.JSON)
		}
	})
}
