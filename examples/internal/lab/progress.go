// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Progress shows how far a run is: a bar on a terminal, a line now and then
// elsewhere.
type Progress struct {
	w    io.Writer
	bar  *progressbar.ProgressBar // nil: plain lines
	tty  bool
	last benchmark.Event
	next int       // plain: questions at which the next line is due
	said time.Time // plain: when a cell was named last
	pace pace
	now  func() time.Time
}

// rarely is the least time between two lines that name cells: a short run needs few.
const rarely = time.Second

// NewProgress writes to w.
func NewProgress(w io.Writer) *Progress {
	f, ok := w.(*os.File)
	return &Progress{w: w, tty: ok && term.IsTerminal(int(f.Fd())), now: time.Now}
}

// Event takes a step of the run; see benchmark.Options.Progress.
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
	what := text.OneLine(e.System + " · " + e.Domain)
	if e.Stage == "index" {
		what += fmt.Sprintf(" · indexing, %d pages", e.Documents)
	} else if left, ok := p.pace.left(e); ok {
		what += fmt.Sprintf(" · %s left", left)
	}
	p.bar.Describe(fmt.Sprintf("%-52.52s", what))
	_ = p.bar.Set(e.Done)
}

// print writes a line for every tenth of the answers (one of each system to each question), and for a new cell if none was written
// for as long as rarely.
func (p *Progress) print(e benchmark.Event) {
	line := func(format string, args ...any) {
		fmt.Fprintln(p.w, text.OneLine(fmt.Sprintf(format, args...)))
	}
	if now := p.now(); e.Stage == "index" && e.Cell != p.last.Cell && now.Sub(p.said) >= rarely {
		p.said = now
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

// Answered is the number of answers of this start.
func (p *Progress) Answered() int { return p.pace.fresh }

// Took says how much was answered in how long.
func (p *Progress) Took(d time.Duration, noTimings bool) string {
	if p.Answered() == 0 {
		return fmt.Sprintf("Nothing to do, %d answers are there. ", p.last.Done)
	}
	if noTimings {
		return ""
	}
	return fmt.Sprintf("%d answers given and judged in %s. ", p.Answered(), d.Round(10*time.Millisecond))
}

// pace is how long indexing and answering take: the one by the index, the other by
// the question.
type pace struct {
	at                  time.Time
	indexing, answering time.Duration
	indexed, fresh      int
	cell                int // the last that was indexed
}

// step counts the time since the last event for what was done in it.
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

// left is the time that the questions and the indexes still take, at the pace so
// far; false before anything is known.
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
