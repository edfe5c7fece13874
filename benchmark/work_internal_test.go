// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"errors"
	"iter"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Documents are read until it went well and to the end, and not once more.
func TestOnce(t *testing.T) {
	broken, reads := true, 0
	documents := once(func() iter.Seq2[graphrag.Document, error] {
		reads++
		return func(yield func(graphrag.Document, error) bool) {
			if !yield(graphrag.Document{ID: "a"}, nil) {
				return
			}
			if broken {
				yield(graphrag.Document{}, errors.New("gone"))
				return
			}
			yield(graphrag.Document{ID: "b"}, nil)
		}
	})
	read := func(most int) (ids string, failed bool) {
		for doc, err := range documents() {
			ids, failed = ids+doc.ID, failed || err != nil
			if len(ids) == most {
				break
			}
		}
		return ids, failed
	}
	if ids, failed := read(9); ids != "a" || !failed {
		t.Errorf("of a broken stream: %q, %t", ids, failed)
	}
	broken = false
	for i, most := range []int{1, 9, 9, 1} {
		if ids, failed := read(most); ids != "ab"[:min(most, 2)] || failed {
			t.Errorf("%d: %q, %t", i, ids, failed)
		}
	}
	if reads != 3 {
		t.Errorf("read %d times, want 3", reads)
	}
}
