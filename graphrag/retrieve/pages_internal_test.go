// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"fmt"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
)

// The memory of questions does not grow with their number, whatever their budgets.
func TestPagesMemory(t *testing.T) {
	var docs []graphrag.Document
	for i := range 40 {
		docs = append(docs, graphrag.Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("Ship %d carries tar.", i)})
	}
	pages, err := chunk.Pages(t.Context(), docs, chunk.PageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPages(t.Context(), pages, PagesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	one := p.memory.New().(*asked)
	p.memory.New = func() any { return one }
	for range 12 {
		for _, tokens := range []int{500, 3000} {
			if _, err := p.Retrieve(t.Context(), graphrag.Question{Text: "Which ship carries tar?", Tokens: tokens}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := cap(one.list); n > 2*len(pages) {
		t.Errorf("room for %d candidates, of %d pages", n, len(pages))
	}
}
