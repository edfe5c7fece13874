// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

// The folder of a segment that says which rows of those below it replaces or deletes, so
// that nobody has to compare their ids again.
const (
	hidesFolder  = "hides"
	hidesKind    = "hides"
	hidesVersion = 1
)

// hide marks the rows of the segments below that s replaces or deletes.
func (s *segment) hide(below []*segment, dead []bits) {
	for i, b := range below {
		mark := func(row, _ int) { dead[i].add(row) }
		common(b.ids, s.ids, mark)
		common(b.ids, s.gone, mark)
	}
}

// writeHides keeps the rows that are dead below a segment.
func (s *segment) writeHides(below []*segment, dead []bits) error {
	w, err := flat.Create(filepath.Join(s.dir, hidesFolder), hidesKind, hidesVersion)
	if err != nil {
		return err
	}
	numbers, err1 := flat.NewArray[int32](w, "segments")
	ends, err2 := flat.NewArray[int64](w, "ends")
	rows, err3 := flat.NewArray[int32](w, "rows")
	if err := errors.Join(err1, err2, err3); err != nil {
		return errors.Join(err, w.Abort())
	}
	for i, b := range below {
		for row := range b.len() {
			if dead[i].has(row) {
				rows.Append(int32(row))
			}
		}
		numbers.Append(int32(b.number))
		ends.Append(int64(rows.Len()))
	}
	return w.Close(struct{}{})
}

// readHides marks the rows that were kept.
func (s *segment) readHides(below []*segment, dead []bits) (err error) {
	f, err := flat.Open(filepath.Join(s.dir, hidesFolder), hidesKind, hidesVersion, &struct{}{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	numbers, err1 := flat.View[int32](f, "segments")
	ends, err2 := flat.View[int64](f, "ends")
	rows, err3 := flat.View[int32](f, "rows")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if len(numbers) != len(below) || len(ends) != len(below) {
		return fmt.Errorf("%s: %w", s.dir, errFit)
	}
	start := int64(0)
	for i, b := range below {
		if numbers[i] != int32(b.number) || ends[i] < start || ends[i] > int64(len(rows)) {
			return fmt.Errorf("%s: %w", s.dir, errFit)
		}
		for _, row := range rows[start:ends[i]] {
			if row < 0 || int(row) >= b.len() {
				return fmt.Errorf("%s: %w", s.dir, errFit)
			}
			dead[i].add(int(row))
		}
		start = ends[i]
	}
	return nil
}
