// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"os"
)

// Span is a run of sequence numbers, both ends included.
type Span struct{ First, Last uint64 }

// Repaired lists the whole and the lost records of a file.
type Repaired struct {
	Header Header
	// Records is the number of whole records.
	Records int
	// Lost are the missing sequence numbers. The number of records in the last BadTail bytes is unknown.
	Lost    []Span
	BadTail int64
	// Bad is the offset of the first bad record, 0 if there is none. Torn means that it is not damage but an
	// unfinished write, never acknowledged, which Open cuts off with the rest of the file.
	Bad  int64
	Torn bool
}

// Repair copies the whole records of a damaged journal into a new one at out, which must not exist. Records
// get new sequence numbers; the damaged file does not change. A journal with a damaged header cannot be
// repaired.
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

// Verify checks a journal and changes nothing.
func Verify(path string) (r Repaired, err error) {
	err = look(osDisk{}, path, func(f file, size, begin int64) error {
		return r.walk(f, begin, size, func(Record) error { return nil })
	}, &r)
	if err != nil {
		err = fmt.Errorf("journal: verify %s: %w", path, err)
	}
	return r, err
}

// look opens an existing journal under its lock and reads its header.
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

// copyIn appends a record of another journal, in batches.
func (j *Journal) copyIn(rec Record) error {
	const flushAt = 1 << 20
	j.batch.buf = appendRecord(j.batch.buf, rec.Kind, j.next, rec.Payload)
	j.next++
	if len(j.batch.buf) < flushAt {
		return nil
	}
	return j.flushPending()
}

// walk calls yield for every whole record of src.
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

// flushPending commits the records of copyIn, the only user of the journal.
func (j *Journal) flushPending() error {
	b := j.batch
	if len(b.buf) == 0 {
		return nil
	}
	b.sync = true
	j.write(b)
	return b.err
}
