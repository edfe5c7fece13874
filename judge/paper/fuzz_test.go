// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"encoding/json"
	"testing"

	"github.com/wildgraph/wildgraph/judge"
)

// FuzzReply reads any reply of a judge: at most one line per id that was asked
// for, and every discarded line counted.
func FuzzReply(f *testing.F) {
	b := newBatch("p", "0123456789abcdef", 3, trueCanary, falseCanary)
	for _, s := range []string{
		`{"results": [{"id": "` + b.items[0].id + `", "score": 1}, {"id": "p9", "score": "yes"}]}`,
		`{"results": [{"id": 1, "gold": ["g1", 2, null]}, {"id": null, "statements": ["a"]}]}`, `{"results": {}}`, `[]`, `{"results": [{}]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		var l lines
		if json.Unmarshal([]byte(reply), &l) != nil {
			return
		}
		var p judge.Protocol
		got := sift(b.items, l.Results, &p)
		if len(got) > len(b.items) || len(got)+p.Extra+p.Duplicate > len(l.Results) {
			t.Fatalf("%d of %d lines kept, %+v", len(got), len(l.Results), p)
		}
		for _, line := range got {
			if n, ok := line.score(); ok && n != 0 && n != 1 {
				t.Fatalf("score %d", n)
			}
		}
	})
}
