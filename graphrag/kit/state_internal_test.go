// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
)

// The chunks of a document are kept in its order and without room for more: a corpus of
// 155 MB has 23,388 of 136 bytes.
func TestChunksAreKeptWithoutRoom(t *testing.T) {
	d, err := newDraft(Frame{})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("The mill stands by the river and was built of stone. ", 9000)
	err = d.insert(t.Context(), func(yield func(graphrag.Document, error) bool) {
		_ = yield(graphrag.Document{ID: "a", Text: long}, nil) && yield(graphrag.Document{ID: "b"}, nil) && yield(graphrag.Document{ID: "c", Text: "A mill."}, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	a := d.docs["a"]
	if len(a) < 50 || cap(a) > len(a)*9/8 || len(d.docs["c"]) != 1 {
		t.Errorf("%d chunks in room for %d, and %d", len(a), cap(a), len(d.docs["c"]))
	}
	if b, ok := d.docs["b"]; !ok || len(b) != 0 {
		t.Errorf("a document without text: %v, %v", b, ok)
	}
	for i, c := range a {
		if c.Index != i || c.Doc != "a" {
			t.Errorf("chunk %d of %s at place %d", c.Index, c.Doc, i)
		}
	}
}
