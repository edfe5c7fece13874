// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

func TestCite(t *testing.T) {
	type citation = graphrag.Citation
	three := citables{passages: 3}
	for _, tt := range []struct {
		reply, text string
		want        []citation
	}{
		{"", "", nil},
		{"No mark.", "No mark.", nil},
		{"One [1].", "One.", []citation{{Start: 0, End: 4, Evidence: 0}}},
		{"One. [1] Two [3][2].", "One. Two.", []citation{{Start: 0, End: 4, Evidence: 0}, {Start: 5, End: 9, Evidence: 2}, {Start: 5, End: 9, Evidence: 1}}},
		{"One [1, 2; 2] and more [ 1 ].", "One and more.", []citation{{Start: 0, End: 13, Evidence: 0}, {Start: 0, End: 13, Evidence: 1}}},
		{"One [1-3].", "One.", []citation{{Start: 0, End: 4, Evidence: 0}, {Start: 0, End: 4, Evidence: 1}, {Start: 0, End: 4, Evidence: 2}}},
		{"One [2–9].", "One.", []citation{{Start: 0, End: 4, Evidence: 1}, {Start: 0, End: 4, Evidence: 2}}},
		{"Bad [4] [99].", "Bad.", nil},
		{"Text [1945] [sic] [0] [] [3-1] [x1].", "Text [1945] [sic] [0] [] [3-1] [x1].", nil},
		{"  [1] Lead. ", "Lead.", []citation{{Start: 0, End: 5, Evidence: 0}}},
		{"[1]", "", nil},
		{"Cut [1", "Cut [1", nil},
		{"Much [99999999999999999999].", "Much [99999999999999999999].", nil},
	} {
		got, citations, _, _ := cite(tt.reply, three)
		check.Equal(t, got, tt.text, "cite(%q)", tt.reply)
		check.Equal(t, citations, tt.want, "cite(%q)", tt.reply)
	}
	// Hostile replies end in a blink.
	for _, s := range []string{"[", "[1", "[1]", "[1,", "[1-999,", "a. [1] "} {
		checkCite(t, strings.Repeat(s, 50_000), 5)
	}
}

// Facts and reports lead to derived texts, memory nowhere; without material of a
// kind its marks are text or lead to nothing.
func TestCiteDerived(t *testing.T) {
	type citation = graphrag.Citation
	open := citables{passages: 1, facts: []int{1, 2}, reports: []int{0}, memory: true}
	derived := func(end, i int) citation { return citation{End: end, Of: graphrag.OfDerived, Evidence: i} }
	for _, tt := range []struct {
		reply, text string
		of          citables
		want        []citation
	}{
		{"One [F1, r1, 1].", "One.", open, []citation{derived(4, 1), derived(4, 0), {End: 4}}},
		{"One [F1-F2] [F9] [F1].", "One.", open, []citation{derived(4, 1), derived(4, 2)}},
		{"One [F1–2; Memory].", "One.", open, []citation{derived(4, 1), derived(4, 2), {End: 4, Of: graphrag.OfMemory}}},
		{"One [memory].", "One [memory].", citables{passages: 1}, nil},
		{"One [F1-R2] [F] [memories] [G1].", "One [F1-R2] [F] [memories] [G1].", open, nil},
	} {
		got, citations, _, _ := cite(tt.reply, tt.of)
		diff := cmp.Diff(tt.want, citations)
		check.True(t, got == tt.text && diff == "", "cite(%q) = %q, want %q; (-want +got):\n%s", tt.reply, got, tt.text, diff)
	}
}

// Each form of testdata/marks.tsv leads to its pieces and leaves no debris; what is no mark stays.
func TestMarks(t *testing.T) {
	table := check.Of(os.ReadFile("testdata/marks.tsv")).OK(t)
	of := citables{passages: 3, facts: []int{0, 1}, reports: []int{2}}
	var plain []string
	for line := range strings.Lines(string(table)) {
		row := strings.Split(strings.TrimRight(strings.ReplaceAll(line, `\n`, "\n"), "\n"), "\t")
		if row[1] == "=" {
			row[1] = row[0]
			plain = append(plain, row[0])
		}
		got, citations, _, _ := cite(row[0], of)
		var cited []string
		for _, c := range citations {
			name := map[graphrag.Origin][]string{"": {"1", "2", "3"}, graphrag.OfDerived: {"F1", "F2", "R1"}}[c.Of][c.Evidence]
			if !slices.Contains(cited, name) {
				cited = append(cited, name)
			}
		}
		if got != row[1] || strings.Join(cited, ",") != row[2] {
			t.Errorf("%q is read as %q of %q", row[0], got, cited)
		}
	}
	for i := range len(plain) * len(plain) { // 200 answers and more without a mark
		reply := plain[i/len(plain)] + "\n\n" + plain[i%len(plain)]
		got, citations, _, _ := cite(reply, of)
		check.True(t, got == reply && citations == nil, "%q became %q of %v", reply, got, citations)
	}
	check.True(t, len(plain)*len(plain) >= 200, "%d answers without a mark are too few", len(plain)*len(plain))
}

func checkCite(t *testing.T, reply string, n int) {
	text, citations, _, _ := cite(reply, citables{passages: n})
	check.Must(t, len(text) <= len(reply), "%.100q became longer", reply)
	for _, c := range citations {
		check.Must(t, c.Start >= 0 && c.Start < c.End && c.End <= len(text) && c.Evidence >= 0 &&
			c.Evidence < n, "%.100q: citation %+v in %.100q", reply, c, text)
	}
}

func FuzzCite(f *testing.F) {
	for _, s := range []string{"One [1]. Two [2, 3] [4-9].", "[1–2", "[[1]]", "\xff[1]\x00 [ 1 , 2 ]"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || n > 1000 {
			return
		}
		checkCite(t, s, n)
	})
}
