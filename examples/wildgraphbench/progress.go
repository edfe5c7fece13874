// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/wildgraph/wildgraph/benchmark"
)

// progress shows how far a run is: a bar on a terminal, a line now and then
// elsewhere.
type progress struct {
	w     io.Writer
	bar   *progressbar.ProgressBar // nil: plain lines
	tty   bool
	start time.Time
	last  benchmark.Event
	next  int // plain: questions at which the next line is due
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, tty: ok && term.IsTerminal(int(f.Fd()))}
}

// event takes a step of the run; see benchmark.Options.Progress.
func (p *progress) event(e benchmark.Event) {
	if p.start.IsZero() {
		p.start, p.next = time.Now(), max(e.Total/10, 1)
	}
	if p.tty {
		p.draw(e)
	} else {
		p.print(e)
	}
	p.last = e
}

func (p *progress) draw(e benchmark.Event) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(e.Total,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("questions"),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionUseANSICodes(true), progressbar.OptionClearOnFinish())
	}
	text := e.System + " · " + e.Domain
	if e.Stage == "index" {
		text += fmt.Sprintf(" · indexing, %d pages", e.Documents)
	}
	p.bar.Describe(fmt.Sprintf("%-44.44s", text))
	_ = p.bar.Set(e.Done)
}

// print writes a line for every new cell and for every tenth of the questions.
func (p *progress) print(e benchmark.Event) {
	cell := e.System != p.last.System || e.Domain != p.last.Domain
	if e.Stage == "index" && cell {
		fmt.Fprintf(p.w, "%s on %s: indexing\n", e.System, e.Domain)
	}
	if e.Resumed > p.last.Resumed {
		fmt.Fprintf(p.w, "%s on %s: %d questions were answered before\n", e.System, e.Domain, e.Resumed-p.last.Resumed)
		return
	}
	if e.Stage == "answer" && e.Total > 0 && (e.Done >= p.next || e.Done == e.Total) {
		p.next = e.Done + max(e.Total/10, 1)
		fmt.Fprintf(p.w, "%d of %d questions%s\n", e.Done, e.Total, p.rate(e))
	}
}

// rate is the speed so far and what it means for the rest.
func (p *progress) rate(e benchmark.Event) string {
	fresh, spent := e.Done-e.Resumed, time.Since(p.start)
	if fresh <= 0 || spent <= 0 {
		return ""
	}
	perQuestion := spent / time.Duration(fresh)
	left := perQuestion * time.Duration(e.Total-e.Done)
	return fmt.Sprintf(" (%.1f a second, %s left)", float64(fresh)/spent.Seconds(), left.Round(time.Second))
}

// done clears the bar.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// answered is the number of questions this start answered.
func (p *progress) answered() int { return p.last.Done - p.last.Resumed }
