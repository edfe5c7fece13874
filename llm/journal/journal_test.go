// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
)

var testHeader = Header{Schema: "test/1", Config: "a=1"}

// payload returns the i-th record of the reference journal, 0 to 60 bytes long.
func payload(i int) []byte {
	rng := rand.New(rand.NewPCG(uint64(i), 7))
	b := make([]byte, i*7%61)
	for k := range b {
		b[k] = byte(rng.Uint32())
	}
	return b
}

func mustOpen(t *testing.T, path string) *Journal {
	t.Helper()
	j := check.Of(Open(path, testHeader, Options{})).OK(t)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func readAll(t *testing.T, j *Journal) []Record {
	t.Helper()
	var out []Record
	for r, err := range j.Records() {
		check.OK(t, err)
		out = append(out, r)
	}
	return out
}

// reference returns the bytes of a journal of n records and the offset of each record's end; ends[0] is the
// offset of the first record.
func reference(t *testing.T, n int) (data []byte, ends []int) {
	t.Helper()
	data = check.Of(appendHeader(nil, testHeader)).OK(t)
	ends = []int{len(data)}
	for i := range n {
		data = appendRecord(data, uint8(i), uint64(i+1), payload(i))
		markFirm(data[ends[i]:])
		ends = append(ends, len(data))
	}
	return data, ends
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	check.OK(t, os.WriteFile(path, data, 0o600))
}

func TestAppendedRecordsComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := mustOpen(t, path)
	for i := range 100 {
		check.OK(t, j.Append(uint8(i), payload(i)))
	}
	before := readAll(t, j)
	check.OK(t, j.Close())
	want, _ := reference(t, 100)
	check.Must(t, bytes.Equal(check.Of(os.ReadFile(path)).OK(t), want), "the file differs from the documented format")
	j = mustOpen(t, path)
	check.Equal(t, j.Recovered(), Recovery{Records: 100})
	after := readAll(t, j)
	check.Equal(t, after, before)
	for i, r := range after {
		check.Must(t, r.Seq == uint64(i+1) && r.Kind == uint8(i) && bytes.Equal(r.Payload, payload(i)), "record %d: %+v", i, r)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v, want 0600", info.Mode(), err)
	}
	check.OK(t, j.Close())
	check.Is(t, j.Append(1, nil), ErrClosed, "append after close")
	check.Is(t, j.Close(), ErrClosed, "second close")
}

// yielding is a disk that lets other goroutines run before it syncs, as waiting for a real disk does, even on
// one processor.
type yielding struct {
	*simDisk
	syncs int
}

type yieldingFile struct {
	file
	d *yielding
}

func (d *yielding) at(string, file) bool { return true }

func (d *yielding) open(path string) (file, error) {
	f, err := d.simDisk.open(path)
	return yieldingFile{f, d}, err
}

func (f yieldingFile) Sync() error {
	f.d.syncs++ // guarded by the journal's lock commit
	for range 100 {
		runtime.Gosched()
	}
	return f.file.Sync()
}

func TestConcurrentAppendsShareSyncs(t *testing.T) {
	disk := &yielding{simDisk: newSimDisk()}
	j := check.Of(Open("j", testHeader, Options{disk: disk})).OK(t)
	const workers, each = 16, 20
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				if err := j.Append(uint8(w), fmt.Appendf(nil, "%d/%d", w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	check.True(t, disk.syncs < workers*each, "%d fsyncs for %d appends", disk.syncs, workers*each)
	last := map[uint8]int{}
	records := readAll(t, j)
	for _, r := range records {
		var w, i int
		_, err := fmt.Sscanf(string(r.Payload), "%d/%d", &w, &i)
		check.Must(t, err == nil && uint8(w) == r.Kind, "record %d: %q of kind %d", r.Seq, r.Payload, r.Kind)
		check.Must(t, i == last[r.Kind], "worker %d: %d came before %d", w, i, last[r.Kind])
		last[r.Kind]++
	}
	check.Equal(t, len(records), workers*each, "records")
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := mustOpen(t, path)
	_, err := Open(path, testHeader, Options{})
	check.Must(t, errors.Is(err, ErrLocked) && strings.Contains(err.Error(), path), "second open: %v", err)
	_, err = Repair(path, path+".new")
	check.Must(t, errors.Is(err, ErrLocked), "repair of an open journal: %v", err)
	check.OK(t, j.Close())
	mustOpen(t, path)
}

func TestMismatchNamesBoth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	check.OK(t, mustOpen(t, path).Close())
	for _, h := range []Header{{Schema: "test/2", Config: "a=1"}, {Schema: "test/1", Config: "a=2"}} {
		_, err := Open(path, h, Options{})
		var m *MismatchError
		check.True(t, errors.Is(err, ErrMismatch) && errors.As(err, &m) && m.Have == testHeader && m.Want == h, "%+v: %v", h, err)
	}
	_, err := Open(path, Header{Schema: "test/1", Config: "a=2"}, Options{})
	for _, want := range []string{`"a=1"`, `"a=2"`, path} {
		check.Fails(t, err, want)
	}
}

func TestRecordLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, err := Open(path, testHeader, Options{MaxRecord: 4})
	check.OK(t, err)
	check.Is(t, j.Append(1, []byte("12345")), ErrTooLarge, "5 bytes")
	err = j.Append(1, []byte("1234"))
	check.True(t, err == nil, "4 bytes after a refusal: %v", err)
	check.OK(t, j.Close())
	// The limit applies to writing: with a smaller one old records can still be read.
	j, err = Open(path, testHeader, Options{MaxRecord: 1})
	check.Must(t, err == nil && j.Recovered().Records == 1, "reopen with a smaller limit: %v", err)
	_ = j.Close()
	check.True(t, check.Err(Open(path+"2", Header{Config: strings.Repeat("x", maxHeader)}, Options{})) != nil, "a header over the limit was accepted")
}

func TestOpenRefusesOtherThings(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "notes.txt")
	write(t, foreign, []byte("dear diary, today was a long day and I have much to tell"))
	short := filepath.Join(dir, "short.txt")
	write(t, short, []byte("hi"))
	for _, path := range []string{foreign, short} {
		before, _ := os.ReadFile(path)
		check.Is(t, check.Err(Open(path, testHeader, Options{})), ErrCorrupt, "%s", path)
		after, _ := os.ReadFile(path)
		check.True(t, bytes.Equal(before, after), "%s was changed", path)
	}
	check.True(t, check.Err(Open(dir, testHeader, Options{})) != nil, "a folder was opened")
	check.Is(t, check.Err(Open(filepath.Join(dir, "no", "where"), testHeader, Options{})), os.ErrNotExist, "missing folder")
}

// If a file loses its name, or the name goes to another file, the run ends at the next append and not at its
// end.
func TestRemovedOrReplacedIsNoticed(t *testing.T) {
	for name, do := range map[string]func(path string) error{
		"removed":        os.Remove,
		"folder removed": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"renamed":        func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("something else"), 0o600))
		},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		check.OK(t, os.Mkdir(dir, 0o700))
		path := filepath.Join(dir, "j")
		j := mustOpen(t, path)
		check.OK(t, j.Append(1, []byte("kept")))
		if err := do(path); err != nil {
			t.Skip(name, err) // some systems cannot remove an open file
		}
		err := j.Append(1, []byte("lost"))
		check.True(t, errors.Is(err, ErrGone) && strings.Contains(err.Error(), path), "%s: %v", name, err)
		check.Is(t, j.Append(1, []byte("lost")), ErrGone, "%s, the second time", name)
	}
}

// Another format is not damage: there is nothing to repair.
func TestOtherFormats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	_ = mustOpen(t, path).Close()
	data := check.Of(os.ReadFile(path)).OK(t)
	for _, v := range []byte{version - 1, version + 1} {
		data[len(magic)] = v
		check.OK(t, os.WriteFile(path, data, 0o600))
		_, err := Open(path, testHeader, Options{})
		check.True(t, errors.Is(err, ErrVersion) && !errors.Is(err, ErrCorrupt) && strings.Contains(err.Error(), "another file"), "version %d: %v", v, err)
	}
}

// TestWriteFilePowerCut cuts the power at every operation: afterwards the file is the whole old one or the
// whole new one, and the new one if WriteFile had returned.
func TestWriteFilePowerCut(t *testing.T) {
	before, after := strings.Repeat("old ", 300), strings.Repeat("new ", 2500)
	write := func(d *simDisk, text string) error {
		return writeFile(d, "dir/f", func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}
	whole := newSimDisk()
	check.OK(t, errors.Join(write(whole, before), write(whole, after)))
	for _, cut := range powerCuts {
		for at := range whole.ops + 1 {
			for _, half := range []bool{false, true} {
				d := newSimDisk()
				check.OK(t, write(d, before))
				d.failAt, d.half = at, half
				promised := write(d, after) == nil
				f := d.reboot(cut.keep(uint64(at))).files["dir/f"]
				check.Must(t, f != nil, "%s at %d: no file", cut.name, at)
				if got := string(f.data); got != after && (promised || got != before) {
					t.Errorf("%s at %d: promised %v, %d bytes: %.20q", cut.name, at, promised, len(got), got)
				}
			}
		}
	}
}

// TestWriteFileErrors makes every operation fail: the error names it, and the file is the old one, or the new
// one if only the sync of the folder failed.
func TestWriteFileErrors(t *testing.T) {
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO} {
		for at := 0; ; at++ {
			d := newSimDisk()
			put := func(text string) error {
				return writeFile(d, "dir/f", func(w io.Writer) error {
					_, err := io.WriteString(w, text)
					return err
				})
			}
			check.OK(t, put("old"))
			d.failAt, d.err, d.half = d.ops+at, fault, true
			err := put("new")
			if d.ops <= d.failAt {
				break
			}
			got := string(d.files["dir/f"].data)
			check.True(t, got == "old" || got == "new", "operation %d: %q", at, got)
			check.True(t, errors.Is(err, fault) && strings.Contains(err.Error(), "dir/f"),
				"operation %d: %v", at, err)
		}
	}
}

func TestWriteFileOnDisk(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	check.OK(t, WriteFile(name, func(w io.Writer) error { _, err := io.WriteString(w, "one"); return err }))
	stop := errors.New("stop")
	check.Is(t, WriteFile(name, func(w io.Writer) error { return stop }), stop, "error of write")
	got, _ := os.ReadFile(name)
	check.Equal(t, string(got), "one", "after a failed write: %q", got)
	left, _ := filepath.Glob(filepath.Join(dir, TempPattern))
	check.True(t, left == nil, "left behind: %v", left)
}

// TestFailureIsFinal has a disk that works again at once: after a failed fsync a second one may report success
// for pages that were lost.
func TestFailureIsFinal(t *testing.T) {
	for failAt := range 4 { // an operation of the two appends
		d := newSimDisk()
		j, err := Open("j", testHeader, Options{disk: d})
		check.OK(t, err)
		d.failAt, d.err = d.ops+failAt, syscall.EIO
		var first error
		for i := range 10 {
			err := j.Append(1, nil)
			check.Must(t, first == nil || err != nil, "op %d: append %d worked after %v", failAt, i, first)
			if first == nil {
				first = err
			}
		}
		check.Is(t, first, syscall.EIO, "op %d", failAt)
		err = j.Close()
		check.OK(t, err)
	}
}

// TestChild is not a test: it is the process that TestKill kills. It prints the number of each record whose
// Append returned.
func TestChild(t *testing.T) {
	path := os.Getenv("WILDGRAPH_JOURNAL_CHILD")
	if path == "" {
		t.Skip("helper process of TestKill")
	}
	j, err := Open(path, testHeader, Options{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var mu sync.Mutex
	next := j.Recovered().Records
	for range 4 {
		go func() {
			for {
				mu.Lock()
				id := next
				next++
				mu.Unlock()
				if err := j.Append(1, fmt.Appendf(nil, "%d", id)); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Printf("ack %d\n", id)
				mu.Unlock()
			}
		}()
	}
	select {}
}

func TestKill(t *testing.T) {
	check.Long(t)
	path := filepath.Join(t.TempDir(), "j")
	rng := rand.New(rand.NewPCG(1, 2))
	for kill := range 6 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
		cmd.Env = append(os.Environ(), "WILDGRAPH_JOURNAL_CHILD="+path)
		out := check.Of(cmd.StdoutPipe()).OK(t)
		check.OK(t, cmd.Start())
		acked := map[string]bool{}
		limit := 5 + rng.IntN(40)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break // an incomplete line is no acknowledgement
			}
			id, ok := strings.CutPrefix(strings.TrimSpace(line), "ack ")
			check.Must(t, ok, "child says %q", line)
			acked[id] = true
			if len(acked) == limit {
				time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
				_ = cmd.Process.Kill()
			}
		}
		_ = cmd.Wait()
		check.Must(t, len(acked) >= limit, "the child died after %d records", len(acked))
		j := mustOpen(t, path) // the child's lock ended with it
		seen := map[string]int{}
		for _, r := range readAll(t, j) {
			seen[string(r.Payload)]++
		}
		for id := range acked {
			check.True(t, seen[id] != 0, "kill %d: acknowledged record %s is lost", kill, id)
		}
		check.OK(t, j.Close())
	}
}
