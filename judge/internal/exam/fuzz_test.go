// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"encoding/json"
	"testing"

	"github.com/wildgraph/wildgraph/judge"
)

// FuzzReply reads any reply of a judge: at most one line per id that was asked
// for, and every discarded line counted.
func FuzzReply(f *testing.F) {
	b := NewBatch("p", "0123456789abcdef", 3, True, False)
	for _, s := range []string{
		`{"results": [{"id": "` + b.Items[0].ID + `", "score": 1}, {"id": "p9", "score": "yes"}]}`,
		`{"results": [{"id": 1, "gold": ["g1", 2, null]}, {"id": null, "statements": ["a"]}]}`, `{"results": {}}`, `[]`, `{"results": [{"id": {"a": 1}, "score": 1e400}]}`, `{"results": [[1]]}`, `{"results": [{}]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		var l lines
		if json.Unmarshal([]byte(reply), &l) != nil {
			return
		}
		var p judge.Protocol
		got := sift(b.Items, l.Results, &p)
		if len(got) > len(b.Items) || len(got)+p.Extra+p.Duplicate > len(l.Results) {
			t.Fatalf("%d of %d lines kept, %+v", len(got), len(l.Results), p)
		}
		for _, line := range got {
			if n, ok := line.Value(); ok && n != 0 && n != 1 {
				t.Fatalf("score %d", n)
			}
		}
	})
}
