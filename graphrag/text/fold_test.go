// SPDX-License-Identifier: Apache-2.0

package text_test

import (
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
