// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/internal/check"
)

// simItems is the number of items of the jobs below. WILDGRAPH_CRASH_ITEMS sets a larger one.
func simItems(t *testing.T, most int) int {
	text := os.Getenv("WILDGRAPH_CRASH_ITEMS")
	if text == "" {
		return most
	}
	n, err := strconv.Atoi(text)
	check.Must(t, err == nil && n >= 1, "WILDGRAPH_CRASH_ITEMS=%q: want a positive number", text)
	return n
}

// A long configuration gives a header of more than two sectors.
var simHeader = Header{Schema: "test/1", Config: strings.Repeat("setting=1;", 120)}

func simText(i int) string { return fmt.Sprintf("item %d %s", i, strings.Repeat("x", i*37%900)) }

// job is resumable work: each of its items must be recorded once. It remembers, over all crashes, which records
// were acknowledged.
type job struct {
	items    int
	promised map[string]bool
	noted    map[string]bool // items written by Note, not acknowledged
}

func newJob(items int) *job {
	return &job{items: items, promised: map[string]bool{}, noted: map[string]bool{}}
}

// run opens the journal, does the missing items, some alone, some in one batch and some as notes, and closes
// it.
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
	// Records that were shown once must stay, even unacknowledged ones.
	maps.Copy(w.promised, have)
	if err := w.rest(j, have); err != nil {
		_ = j.Close()
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	maps.Copy(w.promised, w.noted) // Close without an error acknowledges the notes
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
		case 0: // notes are acknowledged only by a later append
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
		maps.Copy(w.promised, w.noted) // an fsync includes the notes before it
	}
	return nil
}

// finish runs the job to its end and checks that no item is missing.
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

// TestPowerCutAtEveryOperation cuts the power before and after every operation of a job, loses, keeps or tears
// what was not synced, resumes, sometimes cuts again, and checks that nothing acknowledged or shown is lost and
// that the journal can always be opened.
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
				// Cuts the power again during recovery.
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

// TestKillThenPowerCut kills the process at every operation, lets another one open the journal, and cuts the
// power: what the second process saw must stay.
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

// TestErrorAtEveryOperation makes each operation of a job fail in turn (opens, reads, writes, syncs, also of
// the folder) and requires a clean stop, after which the same process resumes; then the power is cut.
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

// No record may be acknowledged while the file's entry in the folder is not on disk.
func TestDroppedFolderSync(t *testing.T) {
	for at := range 12 {
		d, w := newSimDisk(), newJob(3)
		d.failAt, d.half = at, true
		_ = w.run(d)
		after := d.reboot(dropAll)
		check.Must(t, len(w.promised) == 0 || after.exists("dir/j"), "power cut at %d: %d records were promised in a file that is gone", at, len(w.promised))
	}
}

// openFake opens a journal in memory, so that thousands of damaged ones are opened quickly.
func openFake(data []byte) (*Journal, *simFile, error) {
	d, f := newSimDisk(), &simFile{data: bytes.Clone(data), synced: bytes.Clone(data)}
	d.files["fake"], d.disk["fake"] = f, f
	j, err := Open("fake", testHeader, Options{disk: d})
	return j, f, err
}

// wholePrefix fails the test unless j has exactly the first n reference records.
func wholePrefix(t *testing.T, j *Journal, n int) {
	t.Helper()
	got := readAll(t, j)
	check.Must(t, len(got) == n, "%d records, want %d", len(got), n)
	for i, r := range got {
		check.Must(t, r.Seq == uint64(i+1) && r.Kind == uint8(i) && bytes.Equal(r.Payload, payload(i)), "record %d is wrong: %+v", i, r)
	}
}

func TestEveryTruncation(t *testing.T) {
	data, ends := reference(t, 100)
	whole := 0
	for cut := range len(data) + 1 {
		for whole+1 < len(ends) && ends[whole+1] <= cut {
			whole++
		}
		j, f, err := openFake(data[:cut])
		check.OK(t, err, "cut at %d", cut)
		wholePrefix(t, j, whole)
		wantTorn := int64(0)
		if cut >= ends[0] {
			wantTorn = int64(cut - ends[whole])
		}
		diff := cmp.Diff(Recovery{Records: whole, TornBytes: wantTorn}, j.Recovered())
		check.Must(t, diff == "", "cut at %d: %s", cut, diff)
		// Further appends work as if nothing had happened.
		for i := whole; i < min(whole+2, 100); i++ {
			check.OK(t, j.Append(uint8(i), payload(i)))
		}
		check.Must(t, bytes.Equal(f.data, data[:ends[min(whole+2, 100)]]), "cut at %d: the continued file differs", cut)
	}
}

func TestEveryBitFlip(t *testing.T) {
	data, ends := reference(t, 100)
	for at := range data {
		for bit := range 8 {
			if at > ends[0] && (at*8+bit)%3 != 0 {
				continue // damages a third of the records' bits and all of the header's
			}
			bad := bytes.Clone(data)
			bad[at] ^= 1 << bit
			j, _, err := openFake(bad)
			switch {
			case at >= ends[99]: // the last record: its damage looks like an unfinished write
				check.OK(t, err, "byte %d bit %d", at, bit)
				wholePrefix(t, j, 99)
			case err == nil:
				t.Fatalf("byte %d bit %d: accepted", at, bit)
			case at == len(magic) && !errors.Is(err, ErrVersion) || at != len(magic) && !errors.Is(err, ErrCorrupt):
				t.Fatalf("byte %d bit %d: %v", at, bit, err)
			}
		}
	}
}

func TestZeroedTailIsTorn(t *testing.T) {
	data, ends := reference(t, 10)
	bad := append(bytes.Clone(data), make([]byte, 4096)...)
	j, f, err := openFake(bad)
	check.OK(t, err)
	wholePrefix(t, j, 10)
	check.True(t, j.Recovered().TornBytes == 4096 && len(f.data) == ends[10], "recovered %+v, %d bytes left", j.Recovered(), len(f.data))
}

func TestSwappedRecordsAreRefused(t *testing.T) {
	data, ends := reference(t, 10)
	swapped := bytes.Clone(data[:ends[4]])
	swapped = append(swapped, data[ends[5]:ends[6]]...)
	swapped = append(swapped, data[ends[4]:ends[5]]...)
	for name, bad := range map[string][]byte{
		"swapped":             append(bytes.Clone(swapped), data[ends[6]:]...),
		"swapped at the end":  swapped,
		"dropped":             append(bytes.Clone(data[:ends[4]]), data[ends[5]:]...),
		"repeated at the end": append(bytes.Clone(data), data[ends[9]:]...),
	} {
		_, _, err := openFake(bad)
		check.Is(t, err, ErrCorrupt, "%s", name)
	}
}

func TestHostilePayloadCannotStallRecovery(t *testing.T) {
	data, _ := reference(t, 3)
	// An unfinished record whose payload consists of headers of 64 kB records.
	var fake []byte
	for i := range 1 << 14 {
		fake = appendRecord(fake, 0, uint64(5+i), nil)
		fake[len(fake)-recordSz+1] = 0xff
	}
	torn := appendRecord(nil, 1, 4, append(fake, make([]byte, 1<<17)...))
	j, _, err := openFake(append(bytes.Clone(data), torn[:len(torn)-1]...))
	if err == nil {
		wholePrefix(t, j, 3)
	} else if !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
}

func TestRepair(t *testing.T) {
	data, ends := reference(t, 100)
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		damage func([]byte) []byte
		want   Repaired
		keeps  func(i int) bool
	}{
		"whole": {
			damage: func(b []byte) []byte { return b },
			want:   Repaired{Records: 100},
			keeps:  func(int) bool { return true },
		},
		"two places": {
			damage: func(b []byte) []byte {
				b[ends[3]] ^= 1    // damages the length of record 4
				b[ends[40]+9] ^= 1 // damages the sequence number of record 41
				b[ends[41]+8] ^= 1 // damages the kind of record 42
				return b
			},
			want:  Repaired{Records: 97, Lost: []Span{{4, 4}, {41, 42}}, Bad: int64(ends[3])},
			keeps: func(i int) bool { return i != 3 && i != 40 && i != 41 },
		},
		"bad tail": {
			damage: func(b []byte) []byte { return b[:ends[90]+5] },
			want:   Repaired{Records: 90, BadTail: 5, Bad: int64(ends[90]), Torn: true},
			keeps:  func(i int) bool { return i < 90 },
		},
		"swapped": {
			damage: func(b []byte) []byte {
				out := append(bytes.Clone(b[:ends[4]]), b[ends[5]:ends[6]]...)
				out = append(out, b[ends[4]:ends[5]]...)
				return append(out, b[ends[6]:]...)
			},
			want:  Repaired{Records: 99, Lost: []Span{{5, 5}}, Bad: int64(ends[4])},
			keeps: func(i int) bool { return i != 4 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, out := filepath.Join(dir, name), filepath.Join(dir, name+" repaired")
			damaged := tc.damage(bytes.Clone(data))
			write(t, path, damaged)
			seen := check.Of(Verify(path)).OK(t)
			now, err := os.ReadFile(path)
			check.True(t, err == nil && bytes.Equal(now, damaged), "Verify changes the file, %v", err)
			got := check.Of(Repair(path, out)).OK(t)
			tc.want.Header = testHeader
			check.Equal(t, cmp.Diff(tc.want, got)+cmp.Diff(tc.want, seen), "")
			if j, err := Open(path, testHeader, Options{}); (err == nil) != (tc.want.Bad == 0 || tc.want.Torn) {
				t.Errorf("Open: %v", err)
			} else if err == nil && (j.Recovered().TornBytes > 0) != tc.want.Torn {
				t.Errorf("Open: %+v", j.Recovered())
			} else if err == nil {
				_ = j.Close()
			}
			records := readAll(t, mustOpen(t, out))
			k := 0
			for i := range 100 {
				if !tc.keeps(i) {
					continue
				}
				if r := records[k]; r.Kind != uint8(i) || !bytes.Equal(r.Payload, payload(i)) || r.Seq != uint64(k+1) {
					t.Fatalf("record %d: %+v", i, r)
				}
				k++
			}
			check.True(t, check.Err(Repair(path, out)) != nil, "an existing file was overwritten")
		})
	}
	check.Is(t, check.Err(Repair(filepath.Join(dir, "missing"), filepath.Join(dir, "x"))), os.ErrNotExist, "missing file")
	check.Is(t, check.Err(os.Stat(filepath.Join(dir, "missing"))), os.ErrNotExist, "repair created the file it should read")
}

func FuzzOpen(f *testing.F) {
	head := check.Of(appendHeader(nil, testHeader)).OK(f)
	one := appendRecord(bytes.Clone(head), 1, 1, []byte("payload"))
	markFirm(one[len(head):])
	two := appendRecord(bytes.Clone(one), 2, 2, nil)
	for _, seed := range [][]byte{nil, head, one, two, two[:len(two)-3], append(bytes.Clone(one), 0, 0, 0), []byte(magic)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		j, file, err := openFake(data)
		if err != nil {
			return
		}
		n := 0
		for _, err := range j.Records() {
			check.OK(t, err)
			n++
		}
		check.Must(t, n == j.Recovered().Records, "%d records, Open counted %d", n, j.Recovered().Records)
		check.OK(t, j.Append(9, []byte("next")))
		again, _, err := openFake(file.data)
		check.Must(t, err == nil && again.Recovered() == (Recovery{Records: n + 1}), "after one more append: %+v, %v", again, err)
	})
}
