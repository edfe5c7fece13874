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
		{`"Weird Al" Yankovic`, `"weird al" yankovic`},
		{"“苹果”公司", `"苹果"公司`},
		{`the "Iron Lady"`, `the "iron lady"`},
		{`"cut off`, "cut off"},
		{`6' 2"`, `6' 2`},
		{`"A" and "B"`, `"a" and "b"`},
		{`『「二重」』`, "二重"},
		{"《三体》电影", "《三体》电影"},
		{"」odd「", "odd"},
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
		{"Cafe\u0301", "café"},
		{"CAFE\u0301 Café", "café café"},
		{"Ｔｏｋｙｏ　２０２０", "tokyo 2020"},
		{"（株）ＡＢＣ！", "(株)abc"},
		{"ΟΔΟΣ ὁδός", "οδοσ ὁδόσ"},
		{"STRASSE Straße STRAẞE", "strasse strasse strasse"},
		{"x² ½ ﬁ", "x² ½ ﬁ"},
		{"J\u030C", "ǰ"},
		{"bad\xff bytes\x00here", "bad bytes here"},
	} {
		if got := text.FoldName(c.in); got != c.want {
			t.Errorf("FoldName(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzFoldName(f *testing.F) {
	for _, s := range []string{"", "((a))", "( [x] )", "O’Neill\xff", "İstanbul", "J\u030C\u0301", "e\u0301\u0327", "\u212b\u1100\u1161", "a\u037e\u1fef", "\u200b\"q\"", "(()", "-(x)-"} {
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
