// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"os"
)

// Span is a run of sequence numbers, both ends included.
type Span struct{ First, Last uint64 }

// Repaired tells what Repair saved.
type Repaired struct {
	Header Header
	// Records is the number of records copied.
	Records int
	// Lost are the sequence numbers in the damaged file that are missing
	// from the copy. Records after the last whole one cannot be counted:
	// BadTail bytes hold them.
	Lost    []Span
	BadTail int64
}

// Repair copies the whole records of a damaged journal into a new one at
// out, which must not exist. Sequence numbers are given anew; the damaged
// file stays as it is. A journal whose header is damaged cannot be repaired.
func Repair(path, out string) (Repaired, error) { return repair(osDisk{}, path, out) }

func repair(d disk, path, out string) (Repaired, error) {
	var r Repaired
	if !d.exists(path) {
		return r, fmt.Errorf("journal: repair %s: %w", path, os.ErrNotExist)
	}
	f, err := d.open(path)
	if err != nil {
		return r, fmt.Errorf("journal: repair %s: %w", path, err)
	}
	defer f.Close()
	if d.exists(out) {
		return r, fmt.Errorf("journal: repair %s: %s exists: name a new file", path, out)
	}
	info, err := f.Stat()
	if err != nil {
		return r, fmt.Errorf("journal: repair %s: %w", path, err)
	}
	h, begin, err := readHeader(f, info.Size())
	if err != nil {
		return r, fmt.Errorf("journal: repair %s: %w", path, err)
	}
	r.Header = h
	dst, err := Open(out, h, Options{MaxRecord: 1<<31 - 1, disk: d})
	if err != nil {
		return r, err
	}
	err = r.copy(dst, f, begin, info.Size())
	if err != nil {
		err = fmt.Errorf("journal: repair %s: %w", path, err)
	}
	return r, errors.Join(err, dst.Close())
}

// copy appends every whole record of src to dst in batches.
func (r *Repaired) copy(dst *Journal, src file, at, size int64) error {
	const flushAt = 1 << 20
	next := uint64(1)
	for at < size {
		var werr error
		x, err := scan(src, at, size, next, func(rec Record) bool {
			r.Records++
			dst.batch.buf = appendRecord(dst.batch.buf, rec.Kind, dst.next, rec.Payload)
			dst.next++
			if len(dst.batch.buf) >= flushAt {
				werr = dst.flushPending()
			}
			return werr == nil
		})
		if err = errors.Join(err, werr); err != nil {
			return err
		}
		at, next = x.end, x.next
		if at == size {
			break
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
	return dst.flushPending()
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
