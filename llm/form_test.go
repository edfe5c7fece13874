// SPDX-License-Identifier: Apache-2.0

package llm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

type form struct {
	Answer  bool
	Score   float64
	Keep    []int
	Names   []string
	Facts   []llm.Triple `json:"facts"`
	Details []struct {
		Head string
		Text string `llm:"alone"`
	}
	Of map[string][]string
}

// Replies in the shapes that models write, and how a form reads them.
func TestRead(t *testing.T) {
	for reply, want := range map[string]string{
		`{"answer": "true"}`:                               "{true 0 [] [] [] [] map[]}",
		`{"answer": 1, "score": "4.0"}`:                    "{true 4 [] [] [] [] map[]}",
		`{"answer": "**Yes.**", "score": "5/10"}`:          "{true 5 [] [] [] [] map[]}",
		`{"score": "**7**"}`:                               "{false 7 [] [] [] [] map[]}",
		`{"score": "8 out of 10", "keep": null}`:           "{false 8 [] [] [] [] map[]}",
		`{"keep": ["1", 2, "passage 3", "4.0", null]}`:     "{false 0 [1 2 3 4] [] [] [] map[]}",
		`{"keep": 4}`:                                      "{false 0 [4] [] [] [] map[]}",
		`{"names": "Fram"}`:                                "{false 0 [] [Fram] [] [] map[]}",
		`{"names": ""}`:                                    "{false 0 [] [] [] [] map[]}",
		`{"names": [1911, true, {"name": "Fram"}]}`:        "{false 0 [] [1911 true Fram] [] [] map[]}",
		`{"names": {"list": ["Fram"]}}`:                    "{false 0 [] [Fram] [] [] map[]}",
		`{"NAMES": ["Fram"], "more": 1}`:                   "{false 0 [] [Fram] [] [] map[]}",
		`{"result": {"names": ["Fram"]}}`:                  "{false 0 [] [Fram] [] [] map[]}",
		`{"details": ["it sank"]}`:                         "{false 0 [] [] [] [{ it sank}] map[]}",
		`{"details": {"head": "Fram", "text": "it sank"}}`: "{false 0 [] [] [] [{Fram it sank}] map[]}",
		`{"of": {"Fram": {"built": 1892}, "Gjøa": "a"}}`:   "{false 0 [] [] [] [] map[Fram:[built: 1892] Gjøa:[a]]}",
	} {
		got, err := llm.Read[form](reply)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v; want %s", reply, got, err, want)
		}
	}
}

// A fault is named in the words of the form, never in those of Go; an object without
// the form's keys is not an empty answer.
func TestReadFaults(t *testing.T) {
	for reply, want := range map[string]string{
		`{"names": [["a"]], "keep": ["some"]}`:           "keep, element 1, holds a text where a number was expected",
		`{"keep": [1.5]}`:                                "keep, element 1, holds a number where a whole number was expected",
		`{"keep": ["1 or 2"]}`:                           "keep, element 1, holds a text where a number was expected",
		`{"score": "NaN"}`:                               "score holds a text where a number was expected",
		`{"answer": "perhaps"}`:                          "answer holds a text where true or false was expected",
		`{"names": 3, "of": ["a"]}`:                      "of holds a list where an object was expected",
		`{"details": [["a", "b"]]}`:                      "details, element 1, holds a list where an object was expected",
		`{"names": {"a": {"b": 1}, "c": 2}}`:             "names holds an object where a list was expected",
		`{}`:                                             `the object is empty, without "answer", "score"`,
		`{"answers": 1}`:                                 `the object has answers, not "answer"`,
		`{"a": {"names": ["x"]}, "b": {"names": ["y"]}}`: "the object has a, b, not",
	} {
		got, err := llm.Read[form](reply)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v, %v; want %q", reply, got, err, want)
		}
	}
}

// A form that holds one list is read from the list alone.
func TestReadList(t *testing.T) {
	type facts struct{ Triples []llm.Triple }
	const want = "{[{Fram carried Amundsen  } {Amundsen died in 1928  }]}"
	for _, reply := range []string{
		`[["Fram", "carried", "Amundsen"], ["Amundsen", "died in", 1928]]`,
		"<think>hm</think>```json\n" + `[{"head": "Fram", "relation": "carried", "tail": "Amundsen"}, {"subject": "Amundsen", "predicate": "died in", "object": 1928},]` + "\n```",
		`{"facts": [["Fram", "carried", "Amundsen"], {"source": "Amundsen", "relation": "died in", "target": 1928}]}`,
	} {
		got, err := llm.Read[facts](reply)
		for i := range got.Triples {
			got.Triples[i].Raw = ""
		}
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v", reply, got, err)
		}
	}
	for _, reply := range []string{`{"queries": []}`, `[1] It is so.`, `[["a", "b", "c"]`} {
		if got, err := llm.Read[facts](reply); err == nil {
			t.Errorf("%s: %v", reply, got)
		}
	}
}

// The second asking names the fault in the words of the form.
func TestAskedAgain(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, `{"keep": ["none"]}`, `{"keep": ["1"]}`)
	got, _, err := llm.Decode[struct{ Keep []int }](t.Context(), m, llm.Prompt("?"))
	if err != nil || fmt.Sprint(got.Keep) != "[1]" || m.Calls() != 2 {
		t.Fatal(got, err)
	}
	const want = "That reply does not have the form asked for: keep, element 1, holds a text where a number was expected. Reply again with one JSON object of exactly the form shown in the instructions, nothing around it."
	if got := m.Requests()[1].Messages[2].Text; got != want {
		t.Error(got)
	}
}

// Whatever stands in a reply is read or refused; what is read is read again.
func FuzzForm(f *testing.F) {
	for _, s := range []string{`{"keep": ["1"], "facts": [["a", "b", 1]]}`, `{"of": {"a": {"b": "c"}}}`, `[{"names": 1e999}]`, `{"score": "-.5/1e9"}`, `{"details": "x"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		got, err := llm.Read[form](reply)
		if err != nil {
			return
		}
		raw, err := json.Marshal(struct {
			form
			Facts any `json:"facts"`
		}{got, nil})
		if err != nil {
			t.Fatalf("%s: %v", reply, err)
		}
		again, err := llm.Read[form](string(raw))
		if got.Facts = nil; err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
			t.Errorf("%s: %v, read again %v, %v", reply, got, again, err)
		}
	})
}
