// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
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
	if out.String() != want || p.Answered() != 50 {
		t.Errorf("%d answered\n%s\nwant\n%s", p.Answered(), out.String(), want)
	}
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
	if out.String() != "owl on d: indexing\n" {
		t.Error(out.String())
	}
}

// From a tenth of the work on, the time left is right within a factor of two, however
// systems differ in indexing and answering, and whatever was answered before.
func TestTimeLeftOfUnlikeSystems(t *testing.T) {
	const asked = 30
	index := []int{5, 40, 10, 25, 8, 30, 12, 20}         // seconds of a cell
	answer := []int{500, 1500, 700, 900, 600, 1400, 800} // milliseconds of a question, in turn
	for _, resumed := range []int{0, 3} {                // cells that are complete
		p := NewProgress(&bytes.Buffer{})
		now, done := time.Unix(0, 0), resumed*asked
		p.now = func() time.Time { return now }
		type guess struct{ spent, left time.Duration }
		var guesses []guess
		event := func(stage string, cell int) {
			e := benchmark.Event{System: "owl", Domain: "a", Stage: stage, Cell: cell, Cells: len(index), Done: done, Total: asked * len(index), Resumed: resumed * asked}
			p.Event(e)
			if left, ok := p.pace.left(e); ok {
				guesses = append(guesses, guess{now.Sub(time.Unix(0, 0)), left})
			}
		}
		event("answer", resumed)
		for cell := resumed; cell < len(index); cell++ {
			event("index", cell+1)
			now = now.Add(time.Duration(index[cell]) * time.Second)
			event("answer", cell+1)
			for i := range asked {
				now = now.Add(time.Duration(answer[(cell+i)%len(answer)]) * time.Millisecond)
				done++
				event("answer", cell+1)
			}
		}
		whole := now.Sub(time.Unix(0, 0))
		checked := 0
		for _, g := range guesses {
			if rest := whole - g.spent; g.spent >= whole/10 && g.spent < whole*9/10 {
				checked++
				if g.left > 2*rest || 2*g.left < rest {
					t.Errorf("%d cells before: after %s of %s there are %s left, it says %s", resumed, g.spent, whole, rest, g.left)
				}
			}
		}
		if checked < asked {
			t.Errorf("%d estimates were checked", checked)
		}
	}
}
