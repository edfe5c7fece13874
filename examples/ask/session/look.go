// SPDX-License-Identifier: Apache-2.0

package session

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm/journal"
)

const (
	fresh = 2 * time.Second // time after a refresh during which the files are not looked at again
	grace = time.Second / 2 // longest wait of a question for a refresh; then the current index answers it
)

// refresher refreshes the index in the background, one refresh at a time.
type refresher struct {
	mu      sync.Mutex
	checked time.Time
	change  folder.Change   // result of the last refresh that changed the index
	news    folder.Change   // changes that Refresh has not returned yet
	failed  error           // error of the last refresh
	made    context.Context // context with a memo of values that follow from the index
	running chan struct{}   // closed at the end of the running refresh; nil without one
	stop    context.CancelFunc
}

// Notes on answers from an outdated index.
const (
	notePending = "New or changed files are still being read: this answer is from the index before them."
	noteFailed  = "The files could not be looked at again, so this answer is from the index as it was: "
)

// Refresh starts a refresh if the last one was two seconds ago or more, and waits up to half a second for its
// end; the index is replaced when the new one is ready. It returns the changes that it has not returned
// before, and a note if the index is outdated, otherwise "".
func (d *Session) Refresh(ctx context.Context) (news folder.Change, note string) {
	return d.refreshed(ctx, time.After(grace))
}

// refreshed is Refresh with another limit of its wait. With nil it waits until the refresh has ended.
func (d *Session) refreshed(ctx context.Context, enough <-chan time.Time) (news folder.Change, note string) {
	d.mu.Lock()
	if d.running == nil && time.Since(d.checked) >= fresh {
		d.startRefresh(context.WithoutCancel(ctx))
	}
	running := d.running
	d.mu.Unlock()
	if running != nil {
		select {
		case <-running:
		case <-enough:
		case <-ctx.Done():
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	news, d.news = d.news, folder.Change{}
	switch {
	case d.running != nil:
		note = notePending
	case d.failed != nil:
		note = noteFailed + display.OneLine(d.failed.Error())
	}
	return news, note
}

// Watch refreshes the index repeatedly until ctx ends, for at most a twentieth of the time, so that questions
// need not wait. It calls report with the changes.
func (d *Session) Watch(ctx context.Context, report func(folder.Change)) {
	for pause := fresh; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		begun := time.Now()
		if news, _ := d.refreshed(ctx, nil); news.Any() {
			report(news)
		}
		pause = max(fresh, 20*time.Since(begun))
	}
}

// startRefresh starts a refresh. It is called with mu held.
func (d *Session) startRefresh(ctx context.Context) {
	ctx, d.stop = context.WithCancel(ctx)
	d.running = make(chan struct{})
	go func() {
		c, err := d.folder.Refresh(ctx)
		if err != nil && ctx.Err() == nil && d.o.Log != nil {
			d.o.Log.Warn("the index was not updated", "error", err)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.failed = err; err == nil && c.Any() {
			d.change, d.news = c, c
			d.made = memo.With(context.Background())
		} else if err == nil {
			d.change.Skipped = c.Skipped
		}
		d.checked = time.Now()
		d.stop()
		close(d.running)
		d.running = nil
	}()
}

// endRefresh stops the running refresh and waits for its end.
func (d *Session) endRefresh() {
	d.mu.Lock()
	running := d.running
	if running != nil {
		d.stop()
	}
	d.mu.Unlock()
	if running != nil {
		<-running
	}
}

// Files returns the number of files in the index, and for each skipped file a line with the reason.
func (d *Session) Files() (read int, skipped []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	skipped = []string{}
	for _, s := range d.change.Skipped {
		skipped = append(skipped, display.OneLine(strings.TrimPrefix(s.Error(), "load: ")))
	}
	return d.change.Stats.Documents, skipped
}

// warnedFrom is the share of failed pieces from which on users are warned, above refusedAbove questions are
// refused.
const warnedFrom, refusedAbove = .1, .5

// lost lists the steps of indexing in which a model failed for more than a share of the pieces. That rules
// find nothing in a passage is no failure.
func (d *Session) lost(share float64) (out []string) {
	if indexing(d.o) == "" {
		return nil
	}
	for _, stage := range d.change.Stats.Stages {
		if float64(stage.Failed) > share*float64(stage.Asked) {
			out = append(out, fmt.Sprintf("%s failed for %d of %d", stage.Name, stage.Failed, stage.Asked))
		}
	}
	return out
}

// Report describes the result of opening the index in a few lines. With all it lists every skipped file,
// otherwise it counts them by kind in one line if they changed since the last time.
func (d *Session) Report(all bool) []string {
	files, skipped := d.Files()
	size := display.Counted(files, "file")
	var out []string
	switch {
	case all:
		d.unlisted(skipped)
		for _, line := range skipped {
			out = append(out, "skipped: "+line)
		}
	case d.unlisted(skipped) && len(skipped) > 0:
		out = append(out, "skipped: "+byKind(skipped))
	case len(skipped) > 0:
		size += ", some are skipped (-v lists them)"
	}
	switch c := d.change; {
	case c.Rebuilt != "":
		out = append(out, fmt.Sprintf("The index is rebuilt: %s.", c.Rebuilt))
	case c.Changed+c.Deleted > 0 || c.Added > 0 && c.Added < c.Files:
		out = append(out, fmt.Sprintf("Changed since the last time: %d new, %d changed, %d gone.", c.Added, c.Changed, c.Deleted))
	}
	for _, f := range d.lost(0) {
		line := f + ", since replies of the model could not be used."
		if slices.Contains(d.lost(warnedFrom-1e-9), f) {
			line = "The index is not complete: " + line + " A larger -model makes an index of its own."
		}
		out = append(out, line)
	}
	for _, note := range d.change.Stats.Notes() {
		out = append(out, note+".")
	}
	return append(out, fmt.Sprintf("%s; index in %s", size, d.Index))
}

// byKind counts skipped files by kind, with the first file of each and its reason.
func byKind(skipped []string) string {
	const mostKinds = 6 // that the line lists
	first, count := map[string]string{}, map[string]int{}
	for _, line := range skipped {
		name, _, _ := strings.Cut(line, ": ")
		kind := cmp.Or(strings.ToLower(filepath.Ext(name)), line) // package load names each unread kind once
		if count[kind]++; count[kind] == 1 {
			first[kind] = line
		}
	}
	var out []string
	for kind, n := range count {
		if out = append(out, first[kind]); n > 1 {
			ext, _, _ := strings.Cut(kind, " ") // ".docx is read without charts"
			out[len(out)-1] += fmt.Sprintf(" (and %s %s)", display.Digits(n-1), ext)
		}
	}
	slices.Sort(out)
	more := ""
	if len(out) > mostKinds {
		out, more = out[:mostKinds], fmt.Sprintf("; and %d more kinds", len(out)-mostKinds)
	}
	if len(out) < len(skipped) {
		more += "; -v lists all"
	}
	return strings.Join(out, "; ") + more
}

// listedName is the file, in the folder of the index, with a digest of the skipped files that were last listed.
const listedName = "told"

// unlisted reports whether these lines were not listed the last time, and records them as listed.
func (d *Session) unlisted(skipped []string) bool {
	name := filepath.Join(d.Index, listedName)
	digest := fmt.Appendf(nil, "%x\n", sha256.Sum256([]byte(strings.Join(skipped, "\n"))))
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(digest)) {
		if before, err := os.ReadFile(name); err == nil && bytes.Equal(before, digest) {
			return false
		}
	}
	_ = journal.WriteFile(name, func(w io.Writer) error { // a link is replaced, not followed
		_, err := w.Write(digest)
		return err
	})
	return true
}

// idle computes vectors that the index still lacks, while no question is answered.
type idle struct {
	mu    sync.Mutex
	asked int                // number of questions being answered
	ended bool               // the session is closing
	stop  context.CancelFunc // stops the last computation; nil before the first
	works sync.WaitGroup
	turn  sync.Mutex // held by the running computation
}

// busy stops the computation of vectors until the returned function is called.
func (d *Session) busy() (over func()) {
	d.idle.mu.Lock()
	defer d.idle.mu.Unlock()
	d.idle.asked++
	if d.idle.stop != nil {
		d.idle.stop()
	}
	return d.over
}

// over continues the computation of vectors if no question is being answered.
func (d *Session) over() {
	i := &d.idle
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.asked--; i.asked > 0 || i.ended || !d.o.Encode {
		return
	}
	var ctx context.Context
	ctx, i.stop = context.WithCancel(context.Background())
	i.works.Go(func() {
		i.turn.Lock()
		defer i.turn.Unlock()
		if err := d.folder.System.Encode(ctx); err != nil && ctx.Err() == nil && d.o.Log != nil {
			d.o.Log.Warn("passages are encoded at the first question that needs them", "error", err)
		}
	})
}

// endIdle ends the computation of vectors, and waits until it has stopped.
func (d *Session) endIdle() {
	over := d.busy()
	d.idle.mu.Lock()
	d.idle.ended = true
	d.idle.mu.Unlock()
	over()
	d.idle.works.Wait()
}
