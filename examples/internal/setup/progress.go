// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
)

// Progress shows the progress of a run, as a bar on a terminal and otherwise as lines.
type Progress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil if progress is shown as lines
	tty  bool
	last benchmark.Event
	next int       // number of answers at which the next line is due
	cell time.Time // time of the last line that names a cell
	pace pace
	now  func() time.Time
}

func NewProgress(w io.Writer) *Progress {
	f, ok := w.(*os.File)
	return &Progress{w: w, tty: ok && term.IsTerminal(int(f.Fd())), now: time.Now}
}

// Event handles an event of the run, see benchmark.Options.Progress.
func (p *Progress) Event(e benchmark.Event) {
	if p.last.Total == 0 {
		p.next = max(e.Total/10, 1)
	}
	p.pace.step(p.last, e, p.now())
	if p.tty {
		p.draw(e)
	} else {
		p.print(e)
	}
	p.last = e
}

func (p *Progress) draw(e benchmark.Event) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(e.Total,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(24), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionUseANSICodes(true), progressbar.OptionClearOnFinish())
	}
	what := display.OneLine(e.System + " · " + e.Domain)
	if e.Stage == "index" {
		what += fmt.Sprintf(" · indexing, %d pages", e.Documents)
	} else if left, ok := p.pace.left(e); ok {
		what += fmt.Sprintf(" · %s left", left)
	}
	p.bar.Describe(fmt.Sprintf("%-52.52s", what))
	_ = p.bar.Set(e.Done)
}

// print writes a line for every tenth of all answers, and a line for a new cell, but not more often than rarely.
func (p *Progress) print(e benchmark.Event) {
	const rarely = time.Second // least time between two lines that name a cell
	line := func(format string, args ...any) {
		fmt.Fprintln(p.w, display.OneLine(fmt.Sprintf(format, args...)))
	}
	if now := p.now(); e.Stage == "index" && e.Cell != p.last.Cell && now.Sub(p.cell) >= rarely {
		p.cell = now
		line("%s on %s: indexing", e.System, e.Domain)
	}
	if e.Resumed > p.last.Resumed {
		line("%s on %s: %d answers were there", e.System, e.Domain, e.Resumed-p.last.Resumed)
		return
	}
	if e.Stage == "failed" {
		line("%s on %s: no index, %d answers are missing", e.System, e.Domain, e.Done-p.last.Done)
	}
	if e.Stage == "answer" && e.Done > p.last.Done && (e.Done >= p.next || e.Done == e.Total) {
		p.next = e.Done + max(e.Total/10, 1)
		rate := ""
		if left, ok := p.pace.left(e); ok {
			rate = fmt.Sprintf(" (%s left)", left)
		}
		line("%d of %d answers%s", e.Done, e.Total, rate)
	}
}

// Done clears the bar.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// Answered returns the number of answers that this process made.
func (p *Progress) Answered() int { return p.pace.fresh }

// Took describes how many answers were made in how much time.
func (p *Progress) Took(d time.Duration, noTimings bool) string {
	if p.Answered() == 0 {
		return fmt.Sprintf("Nothing to do, %d answers are there. ", p.last.Done)
	}
	if noTimings {
		return ""
	}
	return fmt.Sprintf("%d answers given and judged in %s. ", p.Answered(), d.Round(10*time.Millisecond))
}

// pace measures the time of indexing per index, and of answering per question.
type pace struct {
	at                  time.Time
	indexing, answering time.Duration
	indexed, fresh      int
	cell                int // cell of the last index
}

// step adds the time since the last event to the time of indexing or of answering.
func (p *pace) step(last, e benchmark.Event, now time.Time) {
	if e.Stage == "index" && e.Cell != p.cell {
		p.cell = e.Cell
		p.indexed++
	}
	if !p.at.IsZero() {
		if last.Stage == "index" {
			p.indexing += now.Sub(p.at)
		} else {
			p.answering += now.Sub(p.at)
		}
	}
	p.at = now
	if e.Stage == "answer" {
		p.fresh += e.Done - last.Done - (e.Resumed - last.Resumed)
	}
}

// left estimates the remaining time of the run. It is false before the first answer.
func (p *pace) left(e benchmark.Event) (time.Duration, bool) {
	if p.fresh == 0 {
		return 0, false
	}
	left := p.answering.Seconds() * float64(e.Total-e.Done) / float64(p.fresh)
	if p.indexed > 0 {
		left += p.indexing.Seconds() * float64(e.Cells-e.Cell) / float64(p.indexed)
	}
	return time.Duration(left) * time.Second, true
}

// ExitIncomplete is the exit status of a run that was stopped or has spent its budget, that left questions
// without a score, or in which a system failed.
const ExitIncomplete = 3

// ErrIncomplete is wrapped by the error of a finished run that lacks scores, or whose systems are not all
// compared.
var ErrIncomplete = errors.New("incomplete")

// Status prints the error of a run and returns the exit status.
func Status(w io.Writer, program string, err error) int {
	if errors.Is(err, context.Canceled) && !errors.Is(err, cli.ErrUsage) {
		fmt.Fprintf(w, "\n%s: stopped; finished work is kept, start it again to continue\n", program)
		return ExitIncomplete
	}
	code := cli.Fail(w, program, err)
	if errors.Is(err, ErrIncomplete) || errors.Is(err, llm.ErrBudgetExceeded) {
		return ExitIncomplete
	}
	return code
}

// Complete returns an error if a question has no score, or if a system failed too often to be compared.
func Complete(r *report.Report) error {
	var failed []error
	unscored := 0
	for _, sys := range r.Systems {
		if sys.NotApplicable != "" {
			continue
		}
		if len(sys.NotCompared) > 0 {
			failed = append(failed, fmt.Errorf("%w: %s is not compared: %s", ErrIncomplete, sys.System, strings.Join(sys.NotCompared, "; ")))
		}
		if v := sys.Overall.Types[benchmark.All].Verdicts(); v != nil {
			for _, n := range v.Reasons {
				unscored += n
			}
		}
	}
	if unscored > 0 {
		failed = append(failed, fmt.Errorf("%w: %d scores are missing, for the reasons in the report; -retry asks for them again", ErrIncomplete, unscored))
	}
	return errors.Join(failed...)
}
