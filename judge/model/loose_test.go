// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/judge/internal/exam"
)

// Replies that no model should write, as the released evaluator reads them.
func TestLooseScoresAsReleased(t *testing.T) {
	for reply, want := range map[string][]bool{
		`{"scores": [], "results": [{"idx": 1, "score": 1}]}`:                     {true, false}, // an empty list is passed over
		`{"scores": null, "items": [{"idx": 2, "score": 1}]}`:                     {false, true},
		`{"scores": "x", "results": [{"idx": 1, "score": 1}]}`:                    {false, false}, // a text is not
		`{"scores": {"x": 1}, "results": [{"idx": 1, "score": 1}]}`:               {false, false},
		`{"scores": [7, "x", null, {"idx": 1, "score": 1}]}`:                      {true, false}, // what is no object is passed over
		`{"scores": [{"idx": "1.0", "score": 1}, {"idx": 2.0, "score": 1}]}`:      {false, true},
		`{"scores": [{"idx": "1e0", "score": 1}, {"idx": true, "score": 1}]}`:     {true, false},
		`{"scores": [{"idx": 1, "score": 1}, {"idx": 1}]}`:                        {false, false}, // no score is a no
		`{"scores": [{"idx": 1, "score": 1}, {"idx": 1, "score": "maybe"}]}`:      {true, false},
		`{"scores": [{"idx": 1, "score": "inf"}, {"idx": 2, "score": 1e12}]}`:     {true, true},
		`{"scores": [{"idx": 1, "score": Infinity}, {"idx": 2, "score": 1e999}]}`: {true, true},
		`{"scores": [{"idx": 1, "score": NaN}, {"idx": 2, "score": -Infinity}]}`:  {false, false},
		`{"scores": [{"idx": 1e12, "score": 1}, {"idx": 2, "score": "0x1p0"}]}`:   {false, false},
		`{"scores": [{"idx": NaN, "score": 1}, {"idx": 2, "score": "0.5"}]}`:      {false, true},
	} {
		if diff := cmp.Diff(want, looseScores(looseObject(reply), 2)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reply, diff)
		}
	}
}

func TestLooseObjectAsReleased(t *testing.T) {
	for reply, want := range map[string]float64{
		`[{"score": 1}]`:                          0, // a list is no object, and no text to look for one in
		`  "score: 1"`:                            0,
		`so: [{"score": 1}]`:                      1,
		`{"score": 1, "confidence": NaN}`:         1,
		`{"score": 1, "reason": "NaN, Infinity"}`: 1,
		`{"score": 1, "x": -Infinity}`:            1,
		`{"score": 1, "reason": "a \"NaN\" b"}`:   1,
	} {
		if got := looseFlag(looseObject(reply)["score"]); got != want {
			t.Errorf("%s: %v, want %v", reply, got, want)
		}
	}
	if reason := looseObject(`{"score": 1, "reason": "NaN"}`)["reason"]; string(reason) != `"NaN"` {
		t.Errorf("a text was changed: %s", reason)
	}
}

func TestLooseStatementsAsReleased(t *testing.T) {
	for raw, want := range map[string][]string{
		`["a", 5, 1.5, true, false, null, {"b": 1}]`: {"a", "5", "1.5", "True", "False", `{"b": 1}`},
		`7`: nil,
	} {
		if diff := cmp.Diff(want, looseStatements(json.RawMessage(raw)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}

// FuzzLooseReply reads any reply as the released evaluator does.
func FuzzLooseReply(f *testing.F) {
	for _, s := range []string{
		`{"scores": [{"idx": "1", "score": "0.7"}], "score": true, "statements": "a. b。c"}`, `{"scores": {"scores": [{"idx": 1e308, "score": -1}]}}`, `[]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		object := looseObject(reply)
		if v := looseFlag(object["score"]); v != 0 && v != 1 {
			t.Fatalf("flag %v", v)
		}
		if n := len(looseScores(object, 3)); n != 3 {
			t.Fatalf("%d scores", n)
		}
		if kept, _ := exam.Distinct(looseStatements(object["statements"]), 5); len(kept) > 5 {
			t.Fatalf("%d statements", len(kept))
		}
	})
}
