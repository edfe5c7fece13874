// SPDX-License-Identifier: Apache-2.0

package display_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/internal/display"
)

func TestPrintable(t *testing.T) {
	for line := range strings.Lines(string(check.Of(os.ReadFile("testdata/printable.txt")).OK(t))) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range c {
			c[i] = check.Of(strconv.Unquote(c[i])).OK(t)
		}
		if got := display.Printable(c[0]); got != c[1] {
			t.Errorf("Printable(%q) = %q, want %q", c[0], got, c[1])
		}
		if got := display.OneLine(c[0]); got != c[2] {
			t.Errorf("OneLine(%q) = %q, want %q", c[0], got, c[2])
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
		check.Equal(t, display.Head(tt.in, tt.bytes), tt.want, "Head(%q, %d)", tt.in, tt.bytes)
	}
}

// Escaped JSON means the same, and shows no hidden characters.
func TestJSON(t *testing.T) {
	in := map[string]string{"a\u202eb": "\u009b2J\U000e0041 é\x1b\u2028 \u200d <中>"}
	var out strings.Builder
	check.OK(t, display.JSON(&out).Encode(in))
	want := `{"a\u202eb":"\u009b2J\udb40\udc41 é\u001b\u2028 ` + "\u200d" + ` <中>"}` + "\n"
	check.Equal(t, out.String(), want)
	var back map[string]string
	err := json.Unmarshal([]byte(out.String()), &back)
	check.True(t, err == nil && back["a\u202eb"] == in["a\u202eb"], "%q, %v", back, err)
}
