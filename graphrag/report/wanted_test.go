// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/llm"
)

// What is written where not all reports are wanted: with them the parts of a
// community that does not fit, and the community above one that has no edge inside,
// is too small or fails. Each is shown what it is shown when all are written.
func TestWanted(t *testing.T) {
	for _, tt := range []struct {
		name    string
		wanted  []int32
		tokens  int
		minSize int
		fails   map[int32]error
		written []int32
	}{
		{"all", nil, 0, 0, nil, []int32{0, 1, 2}},
		{"none", []int32{}, 0, 0, nil, nil},
		{"a part", []int32{1}, 0, 0, nil, []int32{1}},
		{"the whole", []int32{0}, 0, 0, nil, []int32{0}},
		{"the whole of its parts", []int32{0}, 80, 0, nil, []int32{0, 1, 2}},
		{"without an edge", []int32{2, 3}, 0, 0, nil, []int32{0, 2}},
		{"too small", []int32{1, 2}, 0, 3, nil, []int32{0, 1}},
		{"all of a size", nil, 0, 3, nil, []int32{0, 1}},
		{"failed", []int32{1, 2}, 0, 0, map[int32]error{2: llm.ErrEmpty}, []int32{0, 1, 2}},
	} {
		g, h := parts()
		some, all := &recorder{fails: tt.fails, shown: map[int32]*report.Input{}}, &recorder{fails: tt.fails, shown: map[int32]*report.Input{}}
		o := report.Options{Reporter: some, Wanted: tt.wanted, Tokens: tt.tokens, MinSize: tt.minSize}
		set, err := report.Write(t.Context(), g, h, o)
		if err != nil {
			t.Fatal(err)
		}
		written := slices.Sorted(maps.Keys(some.shown))
		if diff := cmp.Diff(tt.written, written); diff != "" || len(set.Reports) != len(written)-len(tt.fails) {
			t.Errorf("%s: %d reports; (-want +written) %s", tt.name, len(set.Reports), diff)
		}
		o.Reporter, o.Wanted = all, nil
		if _, err := report.Write(t.Context(), g, h, o); err != nil {
			t.Fatal(err)
		}
		for c, shown := range some.shown {
			if diff := cmp.Diff(all.shown[c].Text(), shown.Text()); diff != "" && tt.fails == nil {
				t.Errorf("%s: community %d is shown (-all +wanted):\n%s", tt.name, c, diff)
			}
		}
	}
	g, h := parts()
	if _, err := report.Write(t.Context(), g, h, report.Options{Reporter: &recorder{}, Wanted: []int32{9}}); err == nil || !strings.Contains(err.Error(), "community 9") {
		t.Errorf("a community that is not there: %v", err)
	}
}

// The text of a report has no marks that mean something only beside its tables.
func TestTextWithoutMarks(t *testing.T) {
	r := report.Report{Title: "T", Summary: "One. [Data: Entities (0)]", Findings: []report.Finding{
		{Summary: "Two [data: Reports (1, +more)].", Explanation: "Three [Data: Entities (3, 17); Relationships (5)]. Four [1945]."}}}
	if got, want := r.Text(), "# T\n\nOne.\n\n## Two.\n\nThree. Four [1945]."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
