// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// simItems is the length of the jobs below. WILDGRAPH_CRASH_ITEMS makes them
// longer.
func simItems(t *testing.T, most int) int {
	text := os.Getenv("WILDGRAPH_CRASH_ITEMS")
	if text == "" {
		return most
	}
	n, err := strconv.Atoi(text)
	check.Must(t, err == nil && n >= 1, "WILDGRAPH_CRASH_ITEMS=%q: want a positive number", text)
	return n
}

// A long configuration makes a header of more than two sectors.
var simHeader = Header{Schema: "test/1", Config: strings.Repeat("setting=1;", 120)}

func simText(i int) string { return fmt.Sprintf("item %d %s", i, strings.Repeat("x", i*37%900)) }

// job is a resumable piece of work: each of its items is to be recorded once.
// It remembers what it was promised, over all its crashes.
type job struct {
	items    int
	promised map[string]bool
	noted    map[string]bool // written without a promise
}

func newJob(items int) *job {
	return &job{items: items, promised: map[string]bool{}, noted: map[string]bool{}}
}

// run opens the journal, does what is missing, some alone, some in one batch
// and some as notes, and closes it.
func (w *job) run(d *simDisk) error {
	j, err := Open("dir/j", simHeader, Options{disk: d})
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for r, err := range j.Records() {
		if err != nil {
			return errors.Join(err, j.Close())
		}
		if have[string(r.Payload)] {
			return fmt.Errorf("%.20q twice", r.Payload)
		}
		have[string(r.Payload)] = true
	}
	for text := range w.promised {
		if !have[text] {
			return fmt.Errorf("lost: promised %.20q is missing", text)
		}
	}
	for text := range have {
		if !w.noted[text] && !w.promised[text] {
			return fmt.Errorf("lost: %.20q was never written", text)
		}
	}
	// What was shown must stay, whoever promised it.
	maps.Copy(w.promised, have)
	if err := w.rest(j, have); err != nil {
		_ = j.Close()
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	maps.Copy(w.promised, w.noted) // closed without error
	return nil
}

func (w *job) rest(j *Journal, have map[string]bool) error {
	var missing []string
	for i := range w.items {
		if !have[simText(i)] {
			missing = append(missing, simText(i))
		}
	}
	for len(missing) > 0 {
		n := min(1+len(missing)%4, len(missing))
		group := missing[:n]
		missing = missing[n:]
		for _, text := range group {
			w.noted[text] = true
		}
		var err error
		switch len(missing) % 3 {
		case 0: // notes: a promise only with what follows
			for _, text := range group {
				if err = j.Note(7, []byte(text)); err != nil {
					return err
				}
			}
			continue
		case 1: // one batch, as concurrent appends make it
			var b *batch
			for _, text := range group {
				if b, _, err = j.join(7, []byte(text), true); err != nil {
					return err
				}
			}
			j.write(b)
			err = b.err
		default:
			for _, text := range group {
				if err = j.Append(7, []byte(text)); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return err
		}
		maps.Copy(w.promised, w.noted) // an fsync covers the notes before it
	}
	return nil
}

// finish runs the job to its end and checks that nothing is missing.
func (w *job) finish(d *simDisk) error {
	if err := w.run(d); err != nil {
		return err
	}
	if len(w.promised) != w.items {
		return fmt.Errorf("%d of %d items", len(w.promised), w.items)
	}
	return w.run(d.restart())
}

var powerCuts = []struct {
	name string
	keep func(seed uint64) func() bool
}{
	{"drop", func(uint64) func() bool { return dropAll }},
	{"keep", func(uint64) func() bool { return keepAll }},
	{"tear", tear},
	{"tear again", func(seed uint64) func() bool { return tear(seed + 1<<32) }},
}

// TestPowerCutAtEveryOperation cuts the power before and after every
// operation of a job, drops, keeps or tears what was not synced, resumes,
// sometimes cuts again, and demands that nothing promised or shown is lost
// and that the journal always opens.
func TestPowerCutAtEveryOperation(t *testing.T) {
	items := simItems(t, 30)
	whole := newSimDisk()
	check.OK(t, newJob(items).finish(whole))
	cuts := 0
	for _, cut := range powerCuts {
		for at := range whole.ops {
			for _, after := range []bool{false, true} {
				d, w := newSimDisk(), newJob(items)
				d.failAt, d.half = at, after
				err := w.finish(d)
				check.Must(t, err == nil || errors.Is(err, errPower), "%s at %d: %v", cut.name, at, err)
				d = d.reboot(cut.keep(uint64(at)))
				// And once more while it recovers.
				d.failAt, d.half = (at*7)%23, !after
				if err := w.finish(d); err != nil && !errors.Is(err, errPower) {
					t.Fatalf("%s at %d, first resume: %v", cut.name, at, err)
				}
				d = d.reboot(cut.keep(uint64(at) << 16))
				check.OK(t, w.finish(d), "%s at %d, second resume", cut.name, at)
				cuts += 2
			}
		}
	}
	t.Logf("%d items, %d operations, %d power cuts: nothing lost", items, whole.ops, cuts)
}

// TestKillThenPowerCut kills the process at every operation, lets another
// open the journal, and cuts the power: what the second one saw must stay.
func TestKillThenPowerCut(t *testing.T) {
	items := simItems(t, 30)
	whole := newSimDisk()
	check.OK(t, newJob(items).finish(whole))
	for at := range whole.ops {
		for reopened := range 12 {
			d, w := newSimDisk(), newJob(items)
			d.failAt, d.half = at, true
			_ = w.finish(d)
			d = d.restart()
			d.ops, d.failAt = 0, reopened
			err := w.finish(d)
			check.Must(t, err == nil || errors.Is(err, errPower), "killed at %d: %v", at, err)
			check.OK(t, w.finish(d.reboot(dropAll)), "killed at %d, power cut %d operations later", at, reopened)
		}
	}
}

// TestErrorAtEveryOperation lets each operation of a job fail in turn, opens,
// reads, writes, syncs, folder and all, and demands a clean stop, after which
// the same process resumes; then the power goes too.
func TestErrorAtEveryOperation(t *testing.T) {
	items := simItems(t, 30)
	whole := newSimDisk()
	check.OK(t, newJob(items).finish(whole))
	failures := 0
	for name, fault := range map[string]simDisk{
		"ENOSPC":      {err: syscall.ENOSPC},
		"EIO, half":   {err: syscall.EIO, half: true},
		"short write": {err: syscall.EIO, half: true, short: true},
	} {
		for at := range whole.ops {
			d, w := newSimDisk(), newJob(items)
			d.failAt, d.err, d.half, d.short = at, fault.err, fault.half, fault.short
			err := w.finish(d)
			check.Must(t, err == nil || errors.Is(err, fault.err) ||
				strings.Contains(err.Error(), "short write"), "%s at %d: %v", name, at, err)
			check.OK(t, w.run(d.restart()), "%s at %d, resume", name, at)
			for _, cut := range powerCuts {
				check.OK(t, w.finish(d.reboot(cut.keep(uint64(at)))), "%s at %d, then power cut (%s)", name, at, cut.name)
			}
			failures++
		}
	}
	t.Logf("%d items, %d operations, %d failures: nothing lost", items, whole.ops, failures)
}

// A file whose entry in the folder never got to disk must not have been
// promised anything.
func TestDroppedFolderSync(t *testing.T) {
	for at := range 12 {
		d, w := newSimDisk(), newJob(3)
		d.failAt, d.half = at, true
		_ = w.run(d)
		after := d.reboot(dropAll)
		check.Must(t, len(w.promised) == 0 || after.exists("dir/j"), "power cut at %d: %d records were promised in a file that is gone", at, len(w.promised))
	}
}
