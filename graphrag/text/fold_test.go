// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"encoding/json"
	"strings"
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

func TestPrintable(t *testing.T) {
	for _, tt := range []struct{ in, want, line string }{
		{"plain, with ümläut and 中文", "plain, with ümläut and 中文", "plain, with ümläut and 中文"},
		{"a\n\tb", "a\n\tb", "a  b"},
		{"\x1b[2Jgone\x07\r", " [2Jgone  ", " [2Jgone  "},
		{"\u009b31mred", " 31mred", " 31mred"},
		{"invoice\u202efdp.exe\u202c \u2066x\u2069\u200e", "invoicefdp.exe x", "invoicefdp.exe x"},
		{"a\u2028b\u2029c", "a b c", "a b c"},
		{"tag\U000e0041 \ufeffbom", "tag bom", "tag bom"},
		{"می\u200cخواهم 👩\u200d🚀", "می\u200cخواهم 👩\u200d🚀", "می\u200cخواهم 👩\u200d🚀"},
		{"\xff\x9b", "\uFFFD", "\uFFFD"},
	} {
		if got := text.Printable(tt.in); got != tt.want {
			t.Errorf("Printable(%q) = %q, want %q", tt.in, got, tt.want)
		}
		if got := text.OneLine(tt.in); got != tt.line {
			t.Errorf("OneLine(%q) = %q, want %q", tt.in, got, tt.line)
		}
	}
}

func TestHead(t *testing.T) {
	for _, tt := range []struct {
		in    string
		bytes int
		want  string
	}{
		{"a whole title", 13, "a whole title"}, {"a whole title", 12, "a whole"}, {"a whole title", 7, "a whole"},
		{"unbroken", 4, ""}, {"", 0, ""}, {"é é é", 4, "é"}, {"中文　标题", 9, "中文"},
	} {
		if got := text.Head(tt.in, tt.bytes); got != tt.want {
			t.Errorf("Head(%q, %d) = %q, want %q", tt.in, tt.bytes, got, tt.want)
		}
	}
}

// What is encoded means what it meant, and shows nothing hidden.
func TestJSON(t *testing.T) {
	in := map[string]string{"a\u202eb": "\u009b2J\U000e0041 é\x1b\u2028 \u200d <中>"}
	var out strings.Builder
	if err := text.JSON(&out).Encode(in); err != nil {
		t.Fatal(err)
	}
	if want := `{"a\u202eb":"\u009b2J\udb40\udc41 é\u001b\u2028 ` + "\u200d" + ` <中>"}` + "\n"; out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back["a\u202eb"] != in["a\u202eb"] {
		t.Errorf("%q, %v", back, err)
	}
}
