// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"testing"

	"github.com/wildgraph/wildgraph/judge/internal/score"
)

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
		if kept, _ := score.Distinct(looseStatements(object["statements"]), 5); len(kept) > 5 {
			t.Fatalf("%d statements", len(kept))
		}
	})
}
