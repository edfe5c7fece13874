// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func triplesOf(t *testing.T, titles *bool, chunks ...graphrag.Chunk) []kg.Extraction {
	t.Helper()
	k, err := kit.Offline(kit.OfflineOptions{Titles: titles})
	if err != nil {
		t.Fatal(err)
	}
	x, err := k.Triples()
	if err != nil {
		t.Fatal(err)
	}
	out, err := x.Extract(t.Context(), chunks)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ofTitles(found []kg.Extraction) (n int) {
	for _, x := range found {
		for _, f := range x.Facts {
			if f.Relation == "mentions" {
				n++
			}
		}
	}
	return n
}

// The title of a short passage has to do with each name in it, once, and not with
// itself; what stands in brackets behind it is no part of the name.
func TestTitleFacts(t *testing.T) {
	c := graphrag.Chunk{ID: "a#0", Doc: "a", Title: "Fram (ship)", Text: "It was built by Colin Archer in Larvik. The Fram carried Roald Amundsen. Later Colin Archer saw it.", Tokens: 25}
	with := func(titles *bool) (out []string) {
		for _, f := range triplesOf(t, titles, c)[0].Facts {
			if f.Head == "Fram" && f.Relation == "mentions" {
				out = append(out, f.Tail)
			}
		}
		return out
	}
	no, yes := false, true
	want := []string{"Colin Archer", "Larvik"} // what the page states of the Fram is stated already
	for name, titles := range map[string]*bool{"by default": nil, "asked for": &yes} {
		if diff := cmp.Diff(want, with(titles)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := with(&no); got != nil {
		t.Errorf("not wanted: %v", got)
	}
	names := 0
	c.Text = "In 1911 Colin Archer saw the Fram in Larvik."
	for _, m := range triplesOf(t, &yes, c)[0].Mentions {
		if m.Name == "Fram" {
			names++
		}
	}
	c.Text = "It was built by Colin Archer in Larvik."
	added := triplesOf(t, &yes, c)[0].Mentions
	if last := added[len(added)-1]; names != 1 || last.Name != "Fram" || last.Span != (kg.Span{}) {
		t.Errorf("%d mentions of a title that the passage names; one it does not name is %+v", names, last)
	}
	c.Title = strings.Repeat("A long headline ", 3)
	if n := ofTitles(triplesOf(t, &yes, c)); n > 0 {
		t.Errorf("a headline is no name, but has %d facts", n)
	}
}

// A corpus is one of titled passages if nearly all documents are: short, alone, and
// with a short title.
func TestTitledPassages(t *testing.T) {
	passage := func(i int, title string, tokens int) graphrag.Chunk {
		return graphrag.Chunk{ID: fmt.Sprintf("d%02d#0", i), Doc: fmt.Sprintf("d%02d", i), Title: title, Tokens: tokens, Text: fmt.Sprintf("In %d it was seen by Colin Archer.", 1900+i)}
	}
	for _, tt := range []struct {
		name string
		odd  graphrag.Chunk // takes the place of some of ten
		n    int
		want bool
	}{
		{"all", passage(0, "Fram", 50), 10, true},
		{"one page", passage(0, "Fram", 5000), 1, true},
		{"two pages", passage(0, "Fram", 5000), 2, false},
		{"headlines", passage(0, strings.Repeat("long ", 9), 50), 10, false},
		{"no titles", passage(0, "", 50), 10, false},
	} {
		var chunks []graphrag.Chunk
		for i := range 10 {
			c := passage(i, "Fram", 50)
			if i < tt.n {
				c.Title, c.Tokens = tt.odd.Title, tt.odd.Tokens
			}
			chunks = append(chunks, c)
		}
		if facts := ofTitles(triplesOf(t, nil, chunks...)); facts > 0 != tt.want {
			t.Errorf("%s: %d facts", tt.name, facts)
		}
	}
	cut := []graphrag.Chunk{passage(0, "Fram", 50), passage(0, "Fram", 50)}
	cut[1].ID = "d00#1"
	if ofTitles(triplesOf(t, nil, cut...)) > 0 {
		t.Error("a document in two pieces is no passage")
	}
}
