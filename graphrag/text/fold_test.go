// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// table reads the cases of a test: the texts of a line, as Go quotes them.
func table(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	for line := range strings.Lines(string(data)) {
		var row []string
		for _, quoted := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			in, fault := strconv.Unquote(quoted)
			row, err = append(row, in), errors.Join(err, fault)
		}
		rows = append(rows, row)
	}
	check.OK(t, err)
	return rows
}

func TestFoldName(t *testing.T) {
	for _, c := range table(t, "fold.txt") {
		if got := text.FoldName(c[0]); got != c[1] {
			t.Errorf("FoldName(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func FuzzFoldName(f *testing.F) {
	for _, s := range []string{"", "((a))", "( [x] )", "O’Neill\xff", "İstanbul", "J\u030C\u0301", "e\u0301\u0327", "\u212b\u1100\u1161", "a\u037e\u1fef", "\u200b\"q\"", "(()", "-(x)-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := text.FoldName(s)
		check.Must(t, utf8.ValidString(once), "FoldName(%q) = %q is not UTF-8", s, once)
		twice := text.FoldName(once)
		check.Must(t, twice == once, "FoldName(%q) = %q, folded again %q", s, once, twice)
	})
}

func TestPrintable(t *testing.T) {
	for _, c := range table(t, "printable.txt") {
		if got := text.Printable(c[0]); got != c[1] {
			t.Errorf("Printable(%q) = %q, want %q", c[0], got, c[1])
		}
		if got := text.OneLine(c[0]); got != c[2] {
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
		check.Equal(t, text.Head(tt.in, tt.bytes), tt.want, "Head(%q, %d)", tt.in, tt.bytes)
	}
}

// What is encoded means what it meant, and shows nothing hidden.
func TestJSON(t *testing.T) {
	in := map[string]string{"a\u202eb": "\u009b2J\U000e0041 é\x1b\u2028 \u200d <中>"}
	var out strings.Builder
	check.OK(t, text.JSON(&out).Encode(in))
	want := `{"a\u202eb":"\u009b2J\udb40\udc41 é\u001b\u2028 ` + "\u200d" + ` <中>"}` + "\n"
	check.Equal(t, out.String(), want)
	var back map[string]string
	err := json.Unmarshal([]byte(out.String()), &back)
	check.True(t, err == nil && back["a\u202eb"] == in["a\u202eb"], "%q, %v", back, err)
}
