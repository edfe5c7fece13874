// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Two cells of 50 questions, each with 60 s of indexing and 1 s a question: after a
// tenth of the questions 150 s are left, and not what a mean over all of the time
// would say.
func TestTimeLeft(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	now := time.Unix(0, 0)
	p.now = func() time.Time { return now }
	step := func(stage string, cell, done, resumed int) {
		p.Event(benchmark.Event{System: "owl\x1b[2J", Domain: "a\u202eb", Stage: stage, Cell: cell, Cells: 2, Done: done, Total: 100, Resumed: resumed})
	}
	step("index", 1, 0, 0)
	now = now.Add(60 * time.Second)
	step("answer", 1, 0, 0)
	for done := range 50 {
		now = now.Add(time.Second)
		step("answer", 1, done+1, 0)
	}
	want := "owl [2J on ab: indexing\n10 of 100 answers (2m30s left)\n20 of 100 answers (2m20s left)\n" +
		"30 of 100 answers (2m10s left)\n40 of 100 answers (2m0s left)\n50 of 100 answers (1m50s left)\n"
	check.True(t, out.String() == want && p.Answered() == 50, "%d answered\n%s\nwant\n%s", p.Answered(), out.String(), want)
	step("answer", 2, 100, 50)
	if !strings.HasSuffix(out.String(), "owl [2J on ab: 50 answers were there\n") || p.Answered() != 50 {
		t.Errorf("%d answered\n%s", p.Answered(), out.String())
	}
}

// Cells that follow each other at once are not named one by one.
func TestShortCells(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	p.now = func() time.Time { return time.Unix(9, 0) }
	for cell := range 20 {
		p.Event(benchmark.Event{System: "owl", Domain: "d", Stage: "index", Cell: cell + 1, Cells: 20, Total: 100})
	}
	check.Equal(t, out.String(), "owl on d: indexing\n")
}
