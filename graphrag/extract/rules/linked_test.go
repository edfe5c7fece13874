// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

func TestThemes(t *testing.T) {
	for _, tt := range []struct {
		question string
		names    []string
		want     []string
	}{
		{"Where was the builder of the Fram born?", []string{"Fram"}, []string{"builder", "born"}},
		{"What role did maritime trade routes play in Norway, and who paid?", []string{"Norway"}, []string{"role", "maritime trade routes play", "paid"}},
		{"the ice and the Ice", nil, []string{"ice"}},
		{"steam-engine parts, engines", nil, []string{"steam-engine parts", "engines"}},
		{"who is it?", nil, nil},
		{"", nil, nil},
	} {
		if diff := cmp.Diff(tt.want, rules.Themes(tt.question, tt.names)); diff != "" {
			t.Errorf("%q: %s", tt.question, diff)
		}
	}
}

// fixed is an extractor that has found some names and a fact before.
type fixed struct{ kg.Extraction }

func (f fixed) Extract(context.Context, []graphrag.Chunk) ([]kg.Extraction, error) {
	return []kg.Extraction{f.Extraction}, nil
}

// Neighbours in a sentence are related, once in a chunk, and not where a fact
// relates them; names without a place are not.
func TestLinked(t *testing.T) {
	text := "Ann met Bob and Cid. Ann saw Bob. Dan left."
	var x kg.Extraction
	for at, name := range map[int]string{0: "Ann", 8: "Bob", 16: "Cid", 21: "Ann", 29: "Bob", 34: "Dan"} {
		x.Mentions = append(x.Mentions, kg.Mention{Name: name, Span: kg.Span{Start: at, End: at + 3}})
	}
	x.Mentions = append(x.Mentions, kg.Mention{Name: "Eve"})
	relate := func() (out []string) {
		found, err := rules.Described(rules.Linked(fixed{x})).Extract(t.Context(), []graphrag.Chunk{{Text: text}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found[0].Facts {
			out = append(out, f.Head+" "+f.Relation+" "+f.Tail+": "+f.Description)
		}
		return out
	}
	if diff := cmp.Diff([]string{"Ann met Bob: Ann met Bob and Cid.", "Bob and Cid: Ann met Bob and Cid."}, relate()); diff != "" {
		t.Error(diff)
	}
	x.Facts = []kg.Fact{{Triple: graphrag.Triple{Head: "bob", Relation: "met by", Tail: "Ann"}, Description: "known"}}
	if diff := cmp.Diff([]string{"bob met by Ann: known", "Bob and Cid: Ann met Bob and Cid."}, relate()); diff != "" {
		t.Error(diff)
	}
}

// Who extracts from a corpus holds all that was found: lists are no longer than what is in
// them, but for what the allocator rounds up, an eighth at most beyond a few entries.
func TestListsAreOfTheirLength(t *testing.T) {
	var names strings.Builder
	for i := range 100 {
		fmt.Fprintf(&names, "Ann Smith%c met Bob Jones%c in May. ", 'a'+i%26, 'a'+i/26)
	}
	x, err := rules.New(rules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := rules.Linked(x).Extract(t.Context(), []graphrag.Chunk{{ID: "1", Text: names.String()}, {ID: "2"}})
	if err != nil {
		t.Fatal(err)
	}
	m, f := found[0].Mentions, found[0].Facts
	if len(m) < 100 || len(f) < 100 || cap(m) > len(m)*9/8 || cap(f) > len(f)*9/8 {
		t.Errorf("%d mentions in room for %d, %d facts in room for %d", len(m), cap(m), len(f), cap(f))
	}
	if found[1].Mentions != nil || found[1].Facts != nil {
		t.Errorf("something in nothing: %+v", found[1])
	}
}
