// SPDX-License-Identifier: Apache-2.0

package chunk_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
)

// Whatever pages came, changed and went, the pages of a site are those that are cut anew together,
// and a change cuts few that it does not bring.
func TestSite(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	long := "This sentence is long, so that it has to stand on six pages until it is taken for boilerplate %d."
	docs, now := map[string]graphrag.Document{}, map[string]chunk.Page{}
	random := func() graphrag.Document {
		d := graphrag.Document{ID: fmt.Sprintf("d%d", r.IntN(40)), Text: "Title.\n"}
		for range r.IntN(12) {
			d.Text += fmt.Sprintf([]string{"Share this with %d. ", long + " ", "\nOwls %d. ", "[x](http://a/%d). "}[r.IntN(4)], r.IntN(5))
		}
		return d
	}
	site, _, err := chunk.NewSite(t.Context(), nil, chunk.PageOptions{})
	texttest.OK(t, err)
	recut := 0
	for step := range 400 {
		var come []graphrag.Document
		var gone []string
		for range r.IntN(3) {
			if d := random(); !slices.ContainsFunc(come, func(o graphrag.Document) bool { return o.ID == d.ID }) {
				come = append(come, d)
				docs[d.ID] = d
			}
		}
		if id := fmt.Sprintf("d%d", r.IntN(40)); !slices.ContainsFunc(come, func(o graphrag.Document) bool { return o.ID == id }) {
			gone = append(gone, id)
			delete(docs, id)
			delete(now, id)
		}
		next, pages, err := site.Change(t.Context(), come, gone)
		texttest.OK(t, err)
		if _, again, err := site.Change(t.Context(), come, gone); err != nil || cmp.Diff(pages, again) != "" {
			t.Fatalf("step %d: a site that was changed is another: %v", step, err)
		}
		site = next
		for _, p := range pages {
			now[p.Doc] = p
		}
		recut += len(pages) - len(come)
		want, err := chunk.Pages(t.Context(), slices.SortedFunc(maps.Values(docs), func(a, b graphrag.Document) int {
			return cmpID(chunk.Page{Doc: a.ID}, chunk.Page{Doc: b.ID})
		}), chunk.PageOptions{})
		texttest.OK(t, err)
		if diff := cmp.Diff(want, slices.SortedFunc(maps.Values(now), cmpID)); diff != "" {
			t.Fatalf("step %d (-anew +changed):\n%s", step, diff)
		}
	}
	if recut < 100 || recut > 1500 {
		t.Errorf("%d pages were cut again in 400 changes of some 30 pages", recut)
	}
	if _, _, err := site.Change(t.Context(), []graphrag.Document{{ID: "x"}, {ID: "x"}}, nil); err == nil {
		t.Error("two pages of one ID")
	}
}

func cmpID(a, b chunk.Page) int {
	if a.ID() < b.ID() {
		return -1
	}
	return 1
}
