// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"sync"
)

// DefaultMaxRecord is the default limit of a payload, in bytes: twice the
// 32 MiB that a model's reply may have.
const DefaultMaxRecord = 64 << 20

// The errors a caller may branch on.
var (
	ErrLocked   = errors.New("journal: in use by another process")
	ErrMismatch = errors.New("journal: written with another schema or configuration")
	ErrCorrupt  = errors.New("journal: damaged")
	ErrClosed   = errors.New("journal: closed")
	ErrTooLarge = errors.New("journal: record too large")
)

// Header says what a journal holds. It is written once, at creation.
type Header struct {
	// Schema names the meaning of the records and its version.
	Schema string `json:"schema"`
	// Config identifies the configuration the records belong to, as text
	// that people can compare or as a hash. At most 1 MiB.
	Config string `json:"config"`
}

// MismatchError is returned by Open for a journal with another header. It
// satisfies errors.Is(err, ErrMismatch).
type MismatchError struct {
	Path       string
	Want, Have Header
}

func (e *MismatchError) Error() string {
	what, want, have := "configuration", e.Want.Config, e.Have.Config
	if e.Want.Schema != e.Have.Schema {
		what, want, have = "schema", e.Want.Schema, e.Have.Schema
	}
	return fmt.Sprintf("journal: %s was written with %s %q, not %q: use the same %[2]s or another file", e.Path, what, have, want)
}

// Is reports whether target is [ErrMismatch].
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// Options tune a journal. The zero value is good.
type Options struct {
	// MaxRecord limits the payload of one record, in bytes;
	// 0 means [DefaultMaxRecord].
	MaxRecord int

	// Tests put failing disks in place of these.
	open    func(path string) (file, error)
	syncDir func(dir string) error
}

// Record is one entry.
type Record struct {
	// Seq counts from 1 without gaps.
	Seq uint64
	// Kind is the caller's to define.
	Kind    uint8
	Payload []byte
}

// Recovery tells what Open found.
type Recovery struct {
	// Records is the number of whole records.
	Records int
	// TornBytes were cut off the end: a write that was not acknowledged.
	TornBytes int64
}

// file is what a journal needs of an *os.File.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// Journal is an open journal. It is safe for concurrent use.
type Journal struct {
	path      string
	f         file
	begin     int64 // where the records start
	maxRecord int
	syncDir   func(dir string) error
	recovered Recovery

	commit sync.Mutex // held while a batch is written

	mu    sync.Mutex
	end   int64  // the acknowledged end of the file
	next  uint64 // sequence number of the next record
	batch *batch // collects appends until its leader may write
	err   error  // final for this handle
}

// batch is the appends that share one write and one fsync. The first to join
// leads: it writes for all of them.
type batch struct {
	buf  []byte
	done chan struct{}
	err  error
}

// Open opens the journal at path for reading and appending, or creates it
// (mode 0600) in an existing directory. It returns [ErrLocked], a
// [*MismatchError] or [ErrCorrupt], wrapped, when the file is in use, of
// another kind, or damaged.
func Open(path string, h Header, o Options) (*Journal, error) {
	j := &Journal{path: path, maxRecord: o.MaxRecord, batch: newBatch()}
	if j.maxRecord <= 0 {
		j.maxRecord = DefaultMaxRecord
	}
	if j.maxRecord > math.MaxInt32 {
		j.maxRecord = math.MaxInt32
	}
	if o.open == nil {
		o.open = openLocked
	}
	if o.syncDir == nil {
		o.syncDir = syncDir
	}
	j.syncDir = o.syncDir
	f, err := o.open(path)
	if err != nil {
		return nil, fmt.Errorf("journal: open %s: %w", path, err)
	}
	j.f = f
	if err := j.load(h); err != nil {
		return nil, errors.Join(err, f.Close())
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

// unfinished reports whether the file is empty or holds nothing but the
// start of the header that a crash at creation left behind.
func unfinished(f file, size int64, head []byte) (bool, error) {
	if size > int64(len(head)) {
		return false, nil
	}
	have := make([]byte, size)
	if _, err := f.ReadAt(have, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	// A file system may have grown the file and not written the bytes.
	have = bytes.TrimRight(have, "\x00")
	return len(have) < len(head) && bytes.HasPrefix(head, have), nil
}

func (j *Journal) create(head []byte) error {
	fail := func(err error) error { return fmt.Errorf("journal: create %s: %w", j.path, err) }
	if err := j.f.Truncate(0); err != nil {
		return fail(err)
	}
	if _, err := j.f.WriteAt(head, 0); err != nil {
		return fail(err)
	}
	if err := j.f.Sync(); err != nil {
		return fail(err)
	}
	if err := j.syncDir(filepath.Dir(j.path)); err != nil {
		return fail(err)
	}
	j.begin, j.end, j.next = int64(len(head)), int64(len(head)), 1
	return nil
}

// recover finds the end of the whole records and cuts off a torn tail.
func (j *Journal) recover(size int64) error {
	end, next, err := scan(j.f, j.begin, size, 1, func(Record) bool { return true })
	if err != nil {
		return fmt.Errorf("journal: read %s: %w", j.path, err)
	}
	j.end, j.next = end, next
	j.recovered = Recovery{Records: int(next - 1), TornBytes: size - end}
	if end == size {
		return nil
	}
	at, seq, found, err := resync(j.f, end, size, next)
	switch {
	case errors.Is(err, errBad):
		return fmt.Errorf("%w: %s: record %d at byte %d is bad and what follows cannot be told apart: journal.Repair copies the good records",
			ErrCorrupt, j.path, next, end)
	case err != nil:
		return fmt.Errorf("journal: read %s: %w", j.path, err)
	case found:
		return fmt.Errorf("%w: %s: record %d at byte %d is bad, but record %d at byte %d is whole: journal.Repair copies the good records",
			ErrCorrupt, j.path, next, end, seq, at)
	}
	if err := j.f.Truncate(end); err != nil {
		return fmt.Errorf("journal: cut the torn end of %s: %w", j.path, err)
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("journal: cut the torn end of %s: %w", j.path, err)
	}
	return nil
}

// Recovered tells what Open found in the file.
func (j *Journal) Recovered() Recovery { return j.recovered }

// Path is the file's name as given to Open.
func (j *Journal) Path() string { return j.path }

// Append writes one record and returns when it is on disk. Concurrent calls
// share one fsync; the order of their records is the order of their sequence
// numbers. The payload is copied.
//
// After a failed write or fsync the handle is dead: this and every later
// Append return the error. What was acknowledged before is safe.
func (j *Journal) Append(kind uint8, payload []byte) error {
	if len(payload) > j.maxRecord {
		return fmt.Errorf("%w: append to %s: %d bytes, the limit is %d", ErrTooLarge, j.path, len(payload), j.maxRecord)
	}
	j.mu.Lock()
	if j.err != nil {
		defer j.mu.Unlock()
		return j.err
	}
	b := j.batch
	leads := len(b.buf) == 0
	b.buf = appendRecord(b.buf, kind, j.next, payload)
	j.next++
	j.mu.Unlock()
	if leads {
		j.write(b)
	}
	<-b.done
	return b.err
}

// write waits for the batch before, takes in whoever joined meanwhile, and
// commits.
func (j *Journal) write(b *batch) {
	j.commit.Lock()
	defer j.commit.Unlock()
	defer close(b.done)

	j.mu.Lock()
	j.batch = newBatch()
	end, err := j.end, j.err
	j.mu.Unlock()
	if err == nil {
		err = j.flush(b.buf, end)
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
	j.end += int64(len(b.buf))
}

func (j *Journal) flush(buf []byte, at int64) error {
	n, err := j.f.WriteAt(buf, at)
	if err == nil && n < len(buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		// Leave no torn tail behind if that is still possible; Open copes
		// with one in any case.
		if j.f.Truncate(at) == nil {
			_ = j.f.Sync()
		}
		return fmt.Errorf("journal: append to %s: %w: earlier records are safe, free the cause and open it again", j.path, err)
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("journal: fsync %s: %w: open it again to see what is on disk", j.path, err)
	}
	return nil
}

// Records reads the acknowledged records in order. Appends during the
// iteration do not show up in it. A yielded error ends it.
func (j *Journal) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		j.mu.Lock()
		end := j.end
		j.mu.Unlock()
		stopped := false
		at, _, err := scan(j.f, j.begin, end, 1, func(r Record) bool {
			stopped = !yield(r, nil)
			return !stopped
		})
		switch {
		case stopped:
		case err != nil:
			yield(Record{}, fmt.Errorf("journal: read %s: %w", j.path, err))
		case at < end:
			yield(Record{}, fmt.Errorf("%w: %s changed under this process at byte %d", ErrCorrupt, j.path, at))
		}
	}
}

// Close waits for running appends and releases the file and its lock. A
// second Close returns [ErrClosed].
func (j *Journal) Close() error {
	j.commit.Lock()
	defer j.commit.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.err, ErrClosed) {
		return ErrClosed
	}
	j.err = fmt.Errorf("%w: %s", ErrClosed, j.path)
	if err := j.f.Close(); err != nil {
		return fmt.Errorf("journal: close %s: %w", j.path, err)
	}
	return nil
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }
