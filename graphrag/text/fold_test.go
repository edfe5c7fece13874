// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

func TestFoldName(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{" ...\"' ", ""},
		{"Donald  J.\tTrump", "donald j. trump"},
		{"“The Avengers”", "the avengers"},
		{"**Steam**", "steam"},
		{"O’Neill", "o'neill"},
		{"U.S.", "u.s"},
		{"C++", "c++"},
		{"C#", "c#"},
		{"COVID–19", "covid-19"},
		{"São Tomé,", "são tomé"},
		{"Steam (service)", "steam (service)"},
		{"(United Nations)", "united nations"},
		{"[\"Nested\"].", "nested"},
		{"(a) and (b)", "(a) and (b)"},
		{"「東京都」", "東京都"},
		{"zero\u200bwidth\u00ad", "zerowidth"},
		{"bad\xff bytes\x00here", "bad bytes here"},
	} {
		if got := text.FoldName(c.in); got != c.want {
			t.Errorf("FoldName(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzFoldName(f *testing.F) {
	for _, s := range []string{"", "((a))", "( [x] )", "O’Neill\xff", "İstanbul", "\u200b\"q\"", "(()", "-(x)-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := text.FoldName(s)
		if !utf8.ValidString(once) {
			t.Fatalf("FoldName(%q) = %q is not UTF-8", s, once)
		}
		if twice := text.FoldName(once); twice != once {
			t.Fatalf("FoldName(%q) = %q, folded again %q", s, once, twice)
		}
	})
}
