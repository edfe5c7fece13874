// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"iter"
)

// Records reads the acknowledged records in order. Appends during the
// iteration do not show up in it. A yielded error ends it.
func (j *Journal) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		j.mu.Lock()
		end := j.end
		j.mu.Unlock()
		stopped := false
		x, err := scan(j.f, j.begin, end, 1, func(r Record) bool {
			stopped = !yield(r, nil)
			return !stopped
		})
		switch {
		case stopped:
		case err != nil:
			yield(Record{}, fmt.Errorf("journal: read %s: %w", j.path, err))
		case x.end < end:
			yield(Record{}, fmt.Errorf("%w: %s changed under this process at byte %d", ErrCorrupt, j.path, x.end))
		}
	}
}

// readAhead is how much Read reads at once, in bytes.
const readAhead = 4096

// Read reads the record at an offset that AppendAt or Records gave.
func (j *Journal) Read(at int64) (Record, error) {
	j.mu.Lock()
	end := j.end
	j.mu.Unlock()
	fail := func(err error) (Record, error) {
		return Record{}, fmt.Errorf("journal: read %s at byte %d: %w", j.path, at, err)
	}
	if at < j.begin || at >= end {
		return fail(fmt.Errorf("%w: no record there", ErrCorrupt))
	}
	// Most records come whole with the first read.
	b := make([]byte, min(readAhead, end-at))
	if _, err := j.f.ReadAt(b, at); err != nil {
		return fail(err)
	}
	if len(b) < recordSz {
		return fail(ErrCorrupt)
	}
	length, _ := payloadLength(b)
	size := int64(recordSz) + length
	if size > end-at {
		return fail(ErrCorrupt)
	}
	if have := len(b); size > int64(have) {
		b = append(make([]byte, 0, size), b...)[:size]
		if _, err := j.f.ReadAt(b[have:], at+int64(have)); err != nil {
			return fail(err)
		}
	}
	rec, err := checkRecord(b[:recordSz], b[recordSz:size:size])
	if err != nil {
		return fail(ErrCorrupt)
	}
	rec.At = at
	return rec, nil
}
