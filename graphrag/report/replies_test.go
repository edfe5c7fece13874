// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Every report of the replies that a real model gave is read at the first try.
func TestRecordedReplies(t *testing.T) {
	reports, findings := 0, 0
	for _, c := range llmtest.Calls(t) {
		if !strings.Contains(c.System, `"rating_explanation"`) {
			continue
		}
		m := llmtest.NewScript("m").Reply(llmtest.Any, c.Reply)
		by, err := report.ByModel(report.ModelOptions{Model: m})
		if err != nil {
			t.Fatal(err)
		}
		r, err := by.Report(t.Context(), &report.Input{Graph: &report.Graph{}})
		if err != nil || m.Calls() != 1 || r.Title == "" || r.Summary == "" || len(r.Findings) == 0 {
			t.Errorf("%d calls, %+v, %v", m.Calls(), r, err)
		}
		reports++
		findings += len(r.Findings)
	}
	if reports != 66 || findings != 241 {
		t.Errorf("%d reports with %d findings", reports, findings)
	}
}
