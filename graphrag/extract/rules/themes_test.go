// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
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

// The extractions of a corpus stay in memory, so lists have no spare capacity but for what
// the allocator rounds up, an eighth at most beyond a few entries.
func TestListsAreOfTheirLength(t *testing.T) {
	var names strings.Builder
	for i := range 100 {
		fmt.Fprintf(&names, "Ann Smith%c met Bob Jones%c in May. ", 'a'+i%26, 'a'+i/26)
	}
	x, err := rules.New(rules.Options{})
	texttest.OK(t, err)
	found, err := extract.Linked(x).Extract(t.Context(), []graphrag.Chunk{{ID: "1", Text: names.String()}, {ID: "2"}})
	texttest.OK(t, err)
	m, f := found[0].Mentions, found[0].Facts
	if len(m) < 100 || len(f) < 100 || cap(m) > len(m)*9/8 || cap(f) > len(f)*9/8 {
		t.Errorf("%d mentions in room for %d, %d facts in room for %d", len(m), cap(m), len(f), cap(f))
	}
	if found[1].Mentions != nil || found[1].Facts != nil {
		t.Errorf("something in nothing: %+v", found[1])
	}
}
