// SPDX-License-Identifier: Apache-2.0

package desk

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
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/journal"
)

const (
	// fresh is how long a look at the files holds: questions that come fast do not each
	// read the folder.
	fresh = 2 * time.Second
	// grace is how long a question waits for a look. Most changes are read in less; after
	// that the question is answered from the index that stands.
	grace = time.Second / 2
)

// looks are the looks at the files after the first: at most one at a time, in the
// background.
type looks struct {
	mu      sync.Mutex
	checked time.Time
	change  folder.Change   // what the last look that changed the index found
	news    folder.Change   // what no Refresh has returned yet
	failed  error           // of the last look
	made    context.Context // holds what was made of this state of the index
	running chan struct{}   // closed when the look under way ends; nil without one
	stop    context.CancelFunc
}

// Notes on answers that are not from the files as they are now.
const (
	notePending = "New or changed files are still being read: this answer is from the index before them."
	noteFailed  = "The files could not be looked at again, so this answer is from the index as it was: "
)

// Refresh looks at the files if the last look was a while ago. It waits a moment for the
// end of the look and no longer: the index is replaced when the new one is ready. It
// returns the changes that it has not returned before, and a note if answers do not
// follow the files as they are now, "" otherwise.
func (d *Desk) Refresh(ctx context.Context) (news folder.Change, note string) {
	d.mu.Lock()
	if d.running == nil && time.Since(d.checked) >= fresh {
		d.look(context.WithoutCancel(ctx))
	}
	running := d.running
	d.mu.Unlock()
	if running != nil {
		select {
		case <-running:
		case <-time.After(grace):
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
		note = noteFailed + text.OneLine(d.failed.Error())
	}
	return news, note
}

// Watch looks at the files again and again until ctx ends, for a twentieth of the time at most, so
// that questions find the new index made. tell is told what changed.
func (d *Desk) Watch(ctx context.Context, tell func(folder.Change)) {
	for pause := fresh; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		begun := time.Now()
		if news, _ := d.Refresh(ctx); news.Any() {
			tell(news)
		}
		pause = max(fresh, 20*time.Since(begun))
	}
}

// look starts a look. It is called with mu held.
func (d *Desk) look(ctx context.Context) {
	ctx, d.stop = context.WithCancel(ctx)
	d.running = make(chan struct{})
	go func() {
		c, err := d.folder.Refresh(ctx)
		if err != nil && ctx.Err() == nil && d.o.Log != nil {
			d.o.Log.Warn("the index stays as it was", "error", err)
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

// endLooks stops the look under way and waits for its end.
func (d *Desk) endLooks() {
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

// Files returns the number of files in the index, and a line for each that is not read.
func (d *Desk) Files() (read int, skipped []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	skipped = []string{}
	for _, s := range d.change.Skipped {
		skipped = append(skipped, text.OneLine(strings.TrimPrefix(s.Error(), "load: ")))
	}
	return d.change.Stats.Documents, skipped
}

// Shares of failed pieces: from the first on the user is warned, above the second questions are refused.
const warnedFrom, refusedAbove = .1, .5

// lost says at which steps of indexing a model failed for more than a share of their
// pieces. Rules that find nothing in a passage have not failed.
func (d *Desk) lost(share float64) (out []string) {
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

// usable is an error for an index of which the larger part is missing.
func (d *Desk) usable() error {
	if most := d.lost(refusedAbove); len(most) > 0 {
		return fmt.Errorf("the replies of the model could not be used: %s, so the index in %s lacks most of what the files say: name a larger -model, or answer from what there is with -incomplete", strings.Join(most, ", "), d.Index)
	}
	return nil
}

// Report says in a few lines what opening the index found. Skipped files are told by their kinds, in
// one line, when they are others than the last time, counted otherwise, and listed if all is set.
func (d *Desk) Report(all bool) []string {
	files, skipped := d.Files()
	size := text.Counted(files, "file")
	var out []string
	switch {
	case all:
		d.untold(skipped)
		for _, line := range skipped {
			out = append(out, "skipped: "+line)
		}
	case d.untold(skipped) && len(skipped) > 0:
		out = append(out, "skipped: "+byKind(skipped))
	case len(skipped) > 0:
		size += ", some are skipped (-v says which)"
	}
	switch c := d.change; {
	case c.Rebuilt != "":
		out = append(out, fmt.Sprintf("The index is made anew: %s.", c.Rebuilt))
	case c.Changed+c.Deleted > 0 || c.Added > 0 && c.Added < c.Files:
		out = append(out, fmt.Sprintf("Changed since the last time: %d new, %d changed, %d gone.", c.Added, c.Changed, c.Deleted))
	}
	for _, f := range d.lost(0) {
		told := f + ", since replies of the model could not be used."
		if slices.Contains(d.lost(warnedFrom-1e-9), f) {
			told = "The index is not complete: " + told + " A larger -model makes an index of its own."
		}
		out = append(out, told)
	}
	return append(out, fmt.Sprintf("%s; index in %s", size, d.Index))
}

// byKind says of skipped files how many there are of each kind, with the first and its reason.
func byKind(skipped []string) string {
	first, count := map[string]string{}, map[string]int{}
	for _, line := range skipped {
		name, _, _ := strings.Cut(line, ": ")
		kind := cmp.Or(strings.ToLower(filepath.Ext(name)), line) // load has put together those of kinds that are not read
		if count[kind]++; count[kind] == 1 {
			first[kind] = line
		}
	}
	var out []string
	for kind, n := range count {
		if out = append(out, first[kind]); n > 1 {
			ext, _, _ := strings.Cut(kind, " ") // ".docx is read without charts"
			out[len(out)-1] += fmt.Sprintf(" (and %s %s)", text.Digits(n-1), ext)
		}
	}
	slices.Sort(out)
	more := ""
	if len(out) > mostKinds {
		out, more = out[:mostKinds], fmt.Sprintf("; and %d kinds", len(out)-mostKinds)
	}
	if len(out) < len(skipped) {
		more += "; -v lists all"
	}
	return strings.Join(out, "; ") + more
}

// mostKinds is how many kinds of skipped files are told in a line.
const mostKinds = 6

// toldName is the file beside the index that remembers which skipped files were listed.
const toldName = "told"

// untold reports whether these lines were not the last to be listed, and remembers them.
// Where that cannot be written they are listed again.
func (d *Desk) untold(skipped []string) bool {
	name := filepath.Join(d.Index, toldName)
	digest := fmt.Appendf(nil, "%x\n", sha256.Sum256([]byte(strings.Join(skipped, "\n"))))
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(digest)) {
		if before, err := os.ReadFile(name); err == nil && bytes.Equal(before, digest) {
			return false
		}
	}
	_ = journal.WriteFile(name, func(w io.Writer) error { // in place of a link, not through it
		_, err := w.Write(digest)
		return err
	})
	return true
}
