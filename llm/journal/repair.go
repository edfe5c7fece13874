// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"os"
)

// Span is a run of sequence numbers, both ends included.
type Span struct{ First, Last uint64 }

// Repaired tells what is whole in a file, and what is not.
type Repaired struct {
	Header Header
	// Records is the number of whole records.
	Records int
	// Lost are the sequence numbers that are missing among them. Records after
	// the last whole one cannot be counted: BadTail bytes hold them.
	Lost    []Span
	BadTail int64
	// Bad is where the first bad record begins, 0 if there is none. Torn says that it
	// is no damage but an unfinished write, of which nothing was acknowledged: Open
	// cuts it off with what follows.
	Bad  int64
	Torn bool
}

// Repair copies the whole records of a damaged journal into a new one at
// out, which must not exist. Sequence numbers are given anew; the damaged
// file stays as it is. A journal whose header is damaged cannot be repaired.
func Repair(path, out string) (Repaired, error) { return repair(osDisk{}, path, out) }

func repair(d disk, path, out string) (r Repaired, err error) {
	err = look(d, path, func(src file, size, begin int64) error {
		if d.exists(out) {
			return fmt.Errorf("%s exists: name a new file", out)
		}
		dst, err := Open(out, r.Header, Options{MaxRecord: 1<<31 - 1, disk: d})
		if err != nil {
			return err
		}
		err = r.walk(src, begin, size, dst.copyIn)
		return errors.Join(err, dst.flushPending(), dst.Close())
	}, &r)
	if err != nil {
		err = fmt.Errorf("journal: repair %s: %w", path, err)
	}
	return r, err
}

// Verify looks through a journal and changes nothing.
func Verify(path string) (r Repaired, err error) {
	err = look(osDisk{}, path, func(f file, size, begin int64) error {
		return r.walk(f, begin, size, func(Record) error { return nil })
	}, &r)
	if err != nil {
		err = fmt.Errorf("journal: verify %s: %w", path, err)
	}
	return r, err
}

// look opens a journal that is there, under its lock, and reads its header.
func look(d disk, path string, then func(f file, size, begin int64) error, r *Repaired) (err error) {
	if !d.exists(path) {
		return os.ErrNotExist
	}
	f, err := d.open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h, begin, err := readHeader(f, info.Size())
	if err != nil {
		return err
	}
	r.Header = h
	return then(f, info.Size(), begin)
}

// copyIn appends a record of another journal. Records are written in batches.
func (j *Journal) copyIn(rec Record) error {
	const flushAt = 1 << 20
	j.batch.buf = appendRecord(j.batch.buf, rec.Kind, j.next, rec.Payload)
	j.next++
	if len(j.batch.buf) < flushAt {
		return nil
	}
	return j.flushPending()
}

// walk hands every whole record of src to yield.
func (r *Repaired) walk(src file, at, size int64, yield func(Record) error) error {
	next := uint64(1)
	for at < size {
		var stop error
		x, err := scan(src, at, size, next, func(rec Record) bool {
			r.Records++
			stop = yield(rec)
			return stop == nil
		})
		if err = errors.Join(err, stop); err != nil {
			return err
		}
		at, next = x.end, x.next
		if at == size {
			break
		}
		if r.Bad == 0 {
			_, _, damage, err := resync(src, at, size, next, true)
			r.Bad, r.Torn = at, err == nil && !damage
		}
		found, seq, ok, err := resync(src, at, size, next, false)
		if errors.Is(err, errBad) {
			ok, err = false, nil
		}
		if err != nil {
			return err
		}
		if ok && found == at && seq < next {
			// Whole but out of order: a repeated stretch. Step over it.
			at++
			found, seq, ok, err = resync(src, at, size, next, false)
			if err != nil && !errors.Is(err, errBad) {
				return err
			}
			ok = ok && seq >= next
		}
		if !ok {
			r.BadTail = size - at
			break
		}
		if seq > next {
			r.Lost = append(r.Lost, Span{next, seq - 1})
		}
		at, next = found, seq
	}
	return nil
}

// flushPending commits what copy collected; nobody else uses the journal.
func (j *Journal) flushPending() error {
	b := j.batch
	if len(b.buf) == 0 {
		return nil
	}
	b.sync = true
	j.write(b)
	return b.err
}
