// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/zoo"
	"github.com/wildgraph/wildgraph/graphrag"
)

// shy refuses what is asked of owls and jays.
type shy struct{ zoo.Parrot }

func (s *shy) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	a, err := s.Parrot.Answer(ctx, q)
	a.Refused = strings.Contains(q.Text, "owl") || strings.Contains(q.Text, "jay")
	if strings.Contains(q.Text, "jay") {
		a.Evidence = nil // and has not read the page
	}
	return a, err
}

// The four counts stand in the table of every form and in the CSV, where a system
// refuses or is told to; else there is no table.
func TestRefusalTable(t *testing.T) {
	var calls atomic.Int64
	const title = "Answers and refusals"
	for _, tt := range []struct {
		name, mode string
		shy        bool
		want       string // the first system's row in Markdown
	}{
		{"nobody refuses", "", false, ""},
		{"nobody refuses in reject mode", "reject", false, "| parrot | 5 | 2 | 0 | 0 | 0 |"},
		{"a system refuses", "", true, "| shy | 3 | 2 | 1 | 1 | 0 |"},
	} {
		dir := t.TempDir()
		r := zoo.Runner(dir, &calls, nil)
		if tt.shy {
			r.Systems[0] = benchmark.Entry{Name: "shy", New: func(string) (benchmark.System, error) {
				return &shy{zoo.Parrot{Calls: &calls}}, nil
			}}
		}
		if tt.mode != "" {
			r.Options.Settings["mode"] = tt.mode
		}
		rep, err := run(t, r)
		zoo.OK(t, err)
		got := zoo.Files(t, dir)
		var md bytes.Buffer
		zoo.OK(t, rep.WriteMarkdown(&md))
		for form, text := range map[string]string{"terminal": tables(t, rep), "Markdown": md.String(), "HTML": got["/report.html"]} {
			if strings.Contains(text, title) != (tt.want != "") {
				t.Errorf("%s: the table in %s: %v", tt.name, form, tt.want == "")
			}
		}
		if !strings.Contains(md.String(), tt.want) {
			t.Errorf("%s: no row %q in\n%s", tt.name, tt.want, md.String())
		}
		if tt.shy && !strings.Contains(got["/report.csv"], ",0.000000,3,2,1,1,") {
			t.Errorf("%s: the counts are not in the CSV:\n%s", tt.name, got["/report.csv"])
		}
	}
}
