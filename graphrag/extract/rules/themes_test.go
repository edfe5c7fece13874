// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/internal/check"
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
		check.Equal(t, rules.Themes(tt.question, tt.names), tt.want, "%q", tt.question)
	}
}

// The extractions of a corpus stay in memory, so lists have no spare capacity but for what
// the allocator rounds up, an eighth at most beyond a few entries.
func TestListsAreOfTheirLength(t *testing.T) {
	var names strings.Builder
	for i := range 100 {
		fmt.Fprintf(&names, "Ann Smith%c met Bob Jones%c in May. ", 'a'+i%26, 'a'+i/26)
	}
	x := check.Of(rules.New(rules.Options{})).OK(t)
	found := check.Of(extract.Linked(x).Extract(t.Context(), []graphrag.Chunk{{ID: "1", Text: names.String()}, {ID: "2"}})).OK(t)
	m, f := found[0].Mentions, found[0].Facts
	check.True(t, len(m) >= 100 && len(f) >= 100 && cap(m) <= len(m)*9/8 && cap(f) <= len(f)*9/8,
		"%d mentions in room for %d, %d facts in room for %d", len(m), cap(m), len(f), cap(f))
	check.True(t, found[1].Mentions == nil && found[1].Facts == nil, "something in nothing: %+v", found[1])
}

// Blanks of more than one byte stand between words as any others, also at the
// beginning and at the end.
func TestQuestionNamesWideBlanks(t *testing.T) {
	x := check.Of(rules.New(rules.Options{})).OK(t)
	for _, q := range []string{"Was the Fram built by Fridtjof\u00a0Nansen?", "Was the\u2003Fram built by Fridtjof\u2003Nansen\u00a0", "\u3000Was the Fram built by Fridtjof\u3000Nansen"} {
		check.Equal(t, fold(x.QuestionNames(q, nil)), []string{"Fram", "Fridtjof\u00a0Nansen"}, "%q", q)
	}
}

// fold writes the blank within a name in one way.
func fold(names []string) []string {
	for i, n := range names {
		runes := []rune(n)
		for j, r := range runes {
			if j > 0 && (r == ' ' || r == '\u2003' || r == '\u3000') {
				runes[j] = '\u00a0'
			}
		}
		names[i] = string(runes)
	}
	return names
}

func TestMayBeNoun(t *testing.T) {
	for word, want := range map[string]bool{
		"ship": true, "engine": true, "norway": true, "mother": true, "müller": true, "北京": true, "fram": true,
		"the": false, "quickly": false, "was": false, "visited": false, "who": false, "because": false,
	} {
		got := rules.MayBeNoun(word)
		check.True(t, got == want, "%q: %v", word, got)
	}
}
