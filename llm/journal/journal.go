// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// DefaultMaxRecord is the default limit of a payload, in bytes: twice the 32 MiB of a model's largest reply.
const DefaultMaxRecord = 64 << 20

// Options tune a journal. The zero value is good.
type Options struct {
	// MaxRecord limits the payload of one record, in bytes; 0 means [DefaultMaxRecord].
	MaxRecord int

	disk disk // tests replace it by one that fails
}

// Recovery describes the file that Open found.
type Recovery struct {
	// Records is the number of whole records.
	Records int
	// TornBytes is the length of an unacknowledged write that was cut off the end.
	TornBytes int64
}

// Journal is an open journal. It is safe for concurrent use.
type Journal struct {
	path      string
	f         file
	begin     int64 // offset of the first record
	maxRecord int
	disk      disk
	recovered Recovery

	commit sync.Mutex // held while a batch is written
	firm   bool       // all that was written is on disk; guarded by commit

	mu    sync.Mutex
	end   int64  // offset of the first byte after the acknowledged records
	next  uint64 // sequence number of the next record
	batch *batch // collects records until the previous batch is written
	err   error  // a failed write or fsync, returned by all later calls
}

// batch holds the records that share one write and one fsync. The caller of the first record writes them all.
type batch struct {
	buf  []byte
	sync bool // a caller of Append waits for the fsync
	at   int64
	done chan struct{}
	err  error
}

// Open opens the journal at path for reading and appending, or creates it (mode 0600) in an existing directory.
// It returns [ErrLocked], a [*MismatchError], [ErrVersion] or [ErrCorrupt], wrapped, if the file is in use, of
// another kind, in another format, or damaged. Callers should report a torn write, see [Journal.Recovered].
func Open(path string, h Header, o Options) (*Journal, error) {
	most := min(cmp.Or(max(o.MaxRecord, 0), DefaultMaxRecord), math.MaxInt32)
	j := &Journal{path: path, maxRecord: most, disk: cmp.Or[disk](o.disk, osDisk{}), batch: newBatch()}
	var err error
	if j.f, err = j.disk.open(path); err != nil {
		return nil, fmt.Errorf("journal: open %s: %w", path, err)
	}
	if err := j.load(h); err != nil {
		return nil, errors.Join(err, j.f.Close())
	}
	return j, nil
}

// load reads an existing file or starts a new one.
func (j *Journal) load(want Header) error {
	head, err := appendHeader(nil, want)
	if err != nil {
		return fmt.Errorf("journal: open %s: %w", j.path, err)
	}
	info, err := j.f.Stat()
	if err != nil {
		return fmt.Errorf("journal: open %s: %w", j.path, err)
	}
	size := info.Size()
	fresh, err := unfinished(j.f, size, head)
	if err != nil {
		return fmt.Errorf("journal: read %s: %w", j.path, err)
	}
	if fresh {
		return j.create(head)
	}
	have, begin, err := readHeader(j.f, size)
	if err != nil {
		return fmt.Errorf("journal: read %s: %w", j.path, err)
	}
	if have != want {
		return &MismatchError{Path: j.path, Want: want, Have: have}
	}
	j.begin = begin
	return j.recover(size)
}

// unfinished reports whether the file is empty or holds only parts of the header after a crash at creation: a
// file system may have grown the file and not written all of the bytes.
func unfinished(f file, size int64, head []byte) (bool, error) {
	if size > int64(len(head)) {
		return false, nil
	}
	have := make([]byte, size)
	if _, err := f.ReadAt(have, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	for i, c := range have {
		if c != 0 && c != head[i] {
			return false, nil
		}
	}
	return !bytes.Equal(have, head), nil
}

func (j *Journal) create(head []byte) error {
	err := j.f.Truncate(0)
	if err == nil {
		err = j.rewrite(head, 0, true)
	}
	if err != nil {
		return fmt.Errorf("journal: create %s: %w", j.path, err)
	}
	j.begin, j.end, j.next, j.firm = int64(len(head)), int64(len(head)), 1, true
	return nil
}

// recover finds the end of the whole records, cuts off an unfinished write, and syncs the file.
func (j *Journal) recover(size int64) error {
	x, err := scan(j.f, j.begin, size, 1, func(Record) bool { return true })
	if err != nil {
		return fmt.Errorf("journal: read %s: %w", j.path, err)
	}
	end, next := x.end, x.next
	j.end, j.next = end, next
	j.recovered = Recovery{Records: int(next - 1), TornBytes: size - end}
	if end < size {
		at, seq, found, err := resync(j.f, end, size, next, true)
		switch {
		case errors.Is(err, errBad):
			return fmt.Errorf("%w: %s: record %d at byte %d is bad, and whether whole records follow cannot be decided: %s",
				ErrCorrupt, j.path, next, end, remedy)
		case err != nil:
			return fmt.Errorf("journal: read %s: %w", j.path, err)
		case found:
			return fmt.Errorf("%w: %s: record %d at byte %d is bad, but record %d at byte %d is whole: %s",
				ErrCorrupt, j.path, next, end, seq, at, remedy)
		}
	}
	if err := j.settle(x, size); err != nil {
		return fmt.Errorf("journal: sync %s: %w", j.path, err)
	}
	j.firm = true
	return nil
}

// settle makes everything that Open shows durable. A process that died before its fsync, or whose fsync
// failed, leaves records that can be read and are not on disk; since a failed fsync may have marked their
// pages as clean, they are written again. Before the first record, the same holds for the folder's entry.
func (j *Journal) settle(x extent, size int64) error {
	if x.end < size {
		if err := j.f.Truncate(x.end); err != nil {
			return err
		}
	}
	from := x.firm
	if x.next == 1 {
		from = 0 // rewrites the header too
	}
	last := make([]byte, x.end-from)
	if _, err := j.f.ReadAt(last, from); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return j.rewrite(last, from, x.next == 1)
}

// rewrite writes and syncs bytes, and syncs the folder's entry if folder is set.
func (j *Journal) rewrite(b []byte, at int64, folder bool) error {
	if err := writeAll(j.f, b, at); err != nil {
		return err
	}
	if err := j.f.Sync(); err != nil || !folder {
		return err
	}
	return j.disk.syncDir(filepath.Dir(j.path))
}

// Recovered returns the state in which Open found the file.
func (j *Journal) Recovered() Recovery { return j.recovered }

// Path returns the file name given to Open.
func (j *Journal) Path() string { return j.path }

// Append writes one record and returns when it is on disk. Concurrent calls share one fsync; records are in
// the order of their sequence numbers. The payload is copied.
//
// After a failed write or fsync this and every later Append return the error; earlier acknowledged records
// are safe. A file that was removed or replaced meanwhile is [ErrGone].
func (j *Journal) Append(kind uint8, payload []byte) error {
	_, err := j.AppendAt(kind, payload)
	return err
}

// AppendAt does what Append does, and returns the offset of the record for [Journal.Read].
func (j *Journal) AppendAt(kind uint8, payload []byte) (at int64, err error) {
	return j.append(kind, payload, true)
}

// Note writes one record without waiting for the disk: it survives this process, but not a power cut, until a
// later Append or Close returns without error. Use it for records that matter only until the next one, such
// as an intent.
func (j *Journal) Note(kind uint8, payload []byte) error {
	_, err := j.append(kind, payload, false)
	return err
}

func (j *Journal) append(kind uint8, payload []byte, sync bool) (at int64, err error) {
	b, offset, err := j.join(kind, payload, sync)
	if err != nil {
		return 0, err
	}
	if offset == 0 { // the caller of a batch's first record writes the batch
		j.write(b)
	}
	<-b.done
	return b.at + offset, b.err
}

// join adds a record to the open batch and returns the record's offset in the batch.
func (j *Journal) join(kind uint8, payload []byte, sync bool) (b *batch, offset int64, err error) {
	if len(payload) > j.maxRecord {
		return nil, 0, fmt.Errorf("%w: append to %s: %d bytes, the limit is %d", ErrTooLarge, j.path, len(payload), j.maxRecord)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return nil, 0, j.err
	}
	b = j.batch
	offset = int64(len(b.buf))
	b.buf = appendRecord(b.buf, kind, j.next, payload)
	b.sync = b.sync || sync
	j.next++
	return b, offset, nil
}

// write waits for the previous batch, closes b to further records, and writes and syncs it.
func (j *Journal) write(b *batch) {
	j.commit.Lock()
	defer j.commit.Unlock()
	defer close(b.done)

	j.mu.Lock()
	j.batch = newBatch()
	end, err := j.end, j.err
	j.mu.Unlock()
	if err == nil {
		if j.firm {
			markFirm(b.buf)
		}
		err = j.flush(b.buf, end, b.sync)
		j.firm = err == nil && b.sync
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		b.err = err
		if j.err == nil {
			j.err = err
		}
		return
	}
	b.at = end
	j.end += int64(len(b.buf))
}

func (j *Journal) flush(buf []byte, at int64, sync bool) error {
	if err := writeAll(j.f, buf, at); err != nil {
		// Cut off the part that was written, if possible; otherwise the next Open does.
		if j.f.Truncate(at) == nil {
			_ = j.f.Sync()
		}
		return fmt.Errorf("journal: append to %s: %w: earlier records are safe: remove the cause, and open the file again", j.path, err)
	}
	if !sync {
		return nil
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("journal: fsync %s: %w: open it again to see what is on disk", j.path, err)
	}
	if !j.disk.at(j.path, j.f) {
		return fmt.Errorf("%w: %s: further records would be lost: restore the file if you can, and start again", ErrGone, j.path)
	}
	return nil
}

// Close waits for running appends and releases the file and its lock. A second Close returns [ErrClosed].
func (j *Journal) Close() error {
	j.commit.Lock()
	defer j.commit.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.err, ErrClosed) {
		return ErrClosed
	}
	var err error
	if j.err == nil && !j.firm { // records of Note are not synced yet
		err = j.f.Sync()
	}
	j.err = fmt.Errorf("%w: %s", ErrClosed, j.path)
	if err = errors.Join(err, j.f.Close()); err != nil {
		return fmt.Errorf("journal: close %s: %w", j.path, err)
	}
	return nil
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// disk is the file system of a journal and of WriteFile. Tests use one that fails and simulates power cuts.
type disk interface {
	// open opens or creates a file and locks it, or returns ErrLocked.
	open(path string) (file, error)
	// syncDir makes the entries of a folder durable.
	syncDir(dir string) error
	exists(path string) bool
	// at reports whether the open file f still has the name path.
	at(path string, f file) bool
	// create creates a file with an unused name in a folder, for WriteFile.
	create(dir string) (f file, path string, err error)
	rename(from, to string) error
	remove(path string)
}

// file is the part of an *os.File that a journal uses.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// osDisk is the file system of the operating system.
type osDisk struct{}

func (osDisk) open(path string) (file, error) { return openLocked(path) }
func (osDisk) syncDir(dir string) error       { return syncDir(dir) }

func (osDisk) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// at returns true if the name cannot be looked up, for instance because access to the folder is denied.
func (osDisk) at(path string, f file) bool {
	now, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	open, err := f.Stat()
	return err != nil || os.SameFile(now, open)
}

func (osDisk) create(dir string) (file, string, error) {
	f, err := os.CreateTemp(dir, TempPattern)
	if err != nil {
		return nil, "", err
	}
	if err := f.Chmod(0o644); err != nil {
		return nil, "", errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, f.Name(), nil
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) remove(path string)           { _ = os.Remove(path) }

func writeAll(f file, b []byte, at int64) error {
	n, err := f.WriteAt(b, at)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}

// Lock creates a file if necessary, and waits until it can lock it or ctx ends: one process or caller has the
// lock at a time. The lock ends with unlock, and with the process; the file stays.
func Lock(ctx context.Context, name string) (unlock func() error, err error) {
	for {
		f, err := openLocked(name)
		if err == nil {
			return f.Close, nil
		}
		if !errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("locking %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("locking %s: %w: gave up waiting: %w", name, err, ctx.Err())
		case <-time.After(lockPause):
		}
	}
}

// lockPause is the time between two attempts of [Lock].
const lockPause = 50 * time.Millisecond

// TempPattern matches the names of temporary files that a killed [WriteFile] leaves. They may be removed.
const TempPattern = ".tmp-*"

// WriteFile writes a whole file so that a crash or a power cut at any moment leaves the old file or the new
// one, never a part: it writes a temporary file, syncs and renames that, and syncs the folder. If write or
// the disk fails before the renaming, the old file stays. Every error names the file.
func WriteFile(name string, write func(io.Writer) error) error {
	return writeFile(osDisk{}, name, write)
}

func writeFile(d disk, name string, write func(io.Writer) error) error {
	dir := filepath.Dir(name)
	f, temp, err := d.create(dir)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	b := bufio.NewWriter(io.NewOffsetWriter(f, 0))
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.rename(temp, name)
	}
	if err != nil {
		d.remove(temp)
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := d.syncDir(dir); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
