// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
)

// Blanks of more than one byte stand between words as any others, also at the
// beginning and at the end.
func TestQuestionNamesWideBlanks(t *testing.T) {
	x, err := rules.New(rules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"Was the Fram built by Fridtjof\u00a0Nansen?", "Was the\u2003Fram built by Fridtjof\u2003Nansen\u00a0", "\u3000Was the Fram built by Fridtjof\u3000Nansen"} {
		if diff := cmp.Diff([]string{"Fram", "Fridtjof\u00a0Nansen"}, fold(x.QuestionNames(q, nil))); diff != "" {
			t.Errorf("%q: %s", q, diff)
		}
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
		if got := rules.MayBeNoun(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}
