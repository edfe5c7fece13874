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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hookDisk is the real disk with some of its methods replaced.
type hookDisk struct {
	osDisk
	open_    func(path string) (file, error)
	syncDir_ func(dir string) error
}

func (hookDisk) at(string, file) bool { return true }

func (d hookDisk) open(path string) (file, error) {
	if d.open_ != nil {
		return d.open_(path)
	}
	return d.osDisk.open(path)
}

func (d hookDisk) syncDir(dir string) error {
	if d.syncDir_ != nil {
		return d.syncDir_(dir)
	}
	if d.open_ != nil {
		return nil // a file from elsewhere has no folder
	}
	return d.osDisk.syncDir(dir)
}

// faulty fails the failAt-th write, truncate or sync, counted from 0, and all
// after it; a failing write stores only half.
type faulty struct {
	file
	mu     sync.Mutex
	failAt int
	once   bool // work again after the failure
	ops    int
	syncs  int
	err    error
	short  bool // report the half write without an error
}

func (f *faulty) fails() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ops++
	return f.failAt >= 0 && (f.ops-1 == f.failAt || f.ops > f.failAt && !f.once)
}

func (f *faulty) WriteAt(p []byte, off int64) (int, error) {
	if !f.fails() {
		return f.file.WriteAt(p, off)
	}
	n, err := f.file.WriteAt(p[:len(p)/2], off)
	if f.short {
		return n, err
	}
	return n, f.err
}

func (f *faulty) Truncate(n int64) error {
	if f.fails() {
		return f.err
	}
	return f.file.Truncate(n)
}

func (f *faulty) Sync() error {
	f.syncs++ // under commit
	if f.fails() {
		return f.err
	}
	return f.file.Sync()
}

// TestFailingDisk lets every operation of a small job fail in turn, for good,
// and demands a clean stop, no lost acknowledged record, and a clean resume.
func TestFailingDisk(t *testing.T) {
	for _, disk := range []struct {
		err   error
		short bool
	}{{err: syscall.ENOSPC}, {err: syscall.EIO}, {err: syscall.ENOSPC, short: true}} {
		completed := false
		for failAt := 0; !completed; failAt++ {
			path := filepath.Join(t.TempDir(), "j")
			acked := 0
			j, err := Open(path, testHeader, Options{disk: hookDisk{open_: func(p string) (file, error) {
				f, err := openLocked(p)
				return &faulty{file: f, failAt: failAt, err: disk.err, short: disk.short}, err
			}}})
			if err == nil {
				for ; acked < 5 && err == nil; acked++ {
					if err = j.Append(uint8(acked), payload(acked)); err != nil {
						break
					}
				}
				if err != nil {
					if again := j.Append(9, nil); again == nil {
						t.Fatalf("op %d: the handle lives on after %v", failAt, err)
					}
				}
				completed = err == nil
				if cerr := j.Close(); cerr != nil {
					t.Fatal(cerr)
				}
			}
			if err != nil && !errors.Is(err, disk.err) && !errors.Is(err, io.ErrShortWrite) {
				t.Fatalf("op %d: %v", failAt, err)
			}
			j = mustOpen(t, path)
			got := len(readAll(t, j))
			if got < acked || got > acked+1 {
				t.Fatalf("op %d: %d acknowledged, %d found", failAt, acked, got)
			}
			wholePrefix(t, j, got)
			if err := j.Append(uint8(got), payload(got)); err != nil {
				t.Fatalf("op %d: resume: %v", failAt, err)
			}
			wholePrefix(t, j, got+1)
		}
	}
}

// TestPowerCut drops whatever was not synced after every acknowledgement.
func TestPowerCut(t *testing.T) {
	j, disk, err := openFake(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := j.Append(uint8(i), payload(i)); err != nil {
			t.Fatal(err)
		}
		after, _, err := openFake(disk.synced)
		if err != nil {
			t.Fatal(err)
		}
		wholePrefix(t, after, i+1)
	}
	// A cut-off tail must stay cut off.
	_, disk, err = openFake(append(bytes.Clone(disk.synced), 1, 2, 3))
	if err != nil || !bytes.Equal(disk.synced, disk.data) {
		t.Errorf("the cut was not synced, error %v", err)
	}
}

func TestNewFileIsSyncedInItsFolder(t *testing.T) {
	dir := t.TempDir()
	var synced []string
	o := Options{disk: hookDisk{syncDir_: func(dir string) error {
		synced = append(synced, dir)
		return nil
	}}}
	// Until there is a record, an earlier process may have died before it
	// synced the folder; afterwards it cannot have.
	for range 4 {
		j, err := Open(filepath.Join(dir, "j"), testHeader, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(synced) == 2 {
			if err := j.Append(1, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(synced) != 2 || synced[0] != dir {
		t.Errorf("synced %q, want the folder twice, while there was no record", synced)
	}
	o.disk = hookDisk{syncDir_: func(string) error { return syscall.EIO }}
	if _, err := Open(filepath.Join(dir, "k"), testHeader, o); !errors.Is(err, syscall.EIO) {
		t.Errorf("a folder that cannot be synced: %v", err)
	}
}

// TestFailureIsFinal lets the disk recover at once: after a failed fsync a
// second one may report success for pages that were thrown away.
func TestFailureIsFinal(t *testing.T) {
	for failAt := 3; failAt < 7; failAt++ { // creation takes 3 operations
		var disk *faulty
		j, err := Open(filepath.Join(t.TempDir(), "j"), testHeader, Options{disk: hookDisk{open_: func(p string) (file, error) {
			f, err := openLocked(p)
			disk = &faulty{file: f, failAt: failAt, once: true, err: syscall.EIO}
			return disk, err
		}}})
		if err != nil {
			t.Fatal(err)
		}
		var first error
		for i := range 10 {
			err := j.Append(1, nil)
			if first != nil && err == nil {
				t.Fatalf("op %d: append %d worked after %v", failAt, i, first)
			}
			if first == nil {
				first = err
			}
		}
		if !errors.Is(first, syscall.EIO) {
			t.Errorf("op %d: %v", failAt, first)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestChild is not a test: it is the process that TestKill kills. It prints
// the number of each record it was promised.
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
	if testing.Short() {
		t.Skip("starts processes")
	}
	path := filepath.Join(t.TempDir(), "j")
	rng := rand.New(rand.NewPCG(1, 2))
	for kill := range 6 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
		cmd.Env = append(os.Environ(), "WILDGRAPH_JOURNAL_CHILD="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		acked := map[string]bool{}
		limit := 5 + rng.IntN(40)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break // an unfinished line is no acknowledgement
			}
			id, ok := strings.CutPrefix(strings.TrimSpace(line), "ack ")
			if !ok {
				t.Fatalf("child says %q", line)
			}
			acked[id] = true
			if len(acked) == limit {
				time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
				_ = cmd.Process.Kill()
			}
		}
		_ = cmd.Wait()
		if len(acked) < limit {
			t.Fatalf("the child died after %d records", len(acked))
		}
		j := mustOpen(t, path) // the lock died with the child
		seen := map[string]int{}
		for _, r := range readAll(t, j) {
			seen[string(r.Payload)]++
		}
		for id := range acked {
			if seen[id] == 0 {
				t.Errorf("kill %d: acknowledged record %s is lost", kill, id)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	j, err := Open(filepath.Join(b.TempDir(), "j"), testHeader, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	data := make([]byte, 2048)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := j.Append(1, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
