// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

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
