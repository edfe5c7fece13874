// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
)

const (
	magic      = "WGJRNL\x00"
	version    = 2
	preambleSz = len(magic) + 1
	frameSz    = 4 + 4           // bytes of the length and the checksum
	recordSz   = frameSz + 1 + 8 // bytes of a record without payload: the frame, the kind and the sequence number
	// firmBit in a record's length says that all earlier records were on disk when the record was written.
	firmBit = 1 << 31
	// maxHeader limits a header, in bytes, so that little is read of a file that is no journal.
	maxHeader = 1 << 20
)

// castagnoli is the table of CRC-32C, which processors of amd64 and arm64 compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHeader appends the whole file header.
func appendHeader(b []byte, h Header) ([]byte, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(body) > maxHeader {
		return nil, fmt.Errorf("header has %d bytes, the limit is %d: store a hash of the configuration", len(body), maxHeader)
	}
	b = append(b, magic...)
	b = append(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(body, castagnoli))
	return append(b, body...), nil
}

// readHeader returns the header and the offset of the first record.
func readHeader(r io.ReaderAt, size int64) (Header, int64, error) {
	var h Header
	pre := make([]byte, preambleSz+frameSz)
	n, err := r.ReadAt(pre, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, 0, err
	}
	if n < len(pre) || !bytes.HasPrefix(pre, []byte(magic)) {
		return h, 0, fmt.Errorf("%w: this is not a journal: name another file", ErrCorrupt)
	}
	switch v := pre[len(magic)]; {
	case v > version:
		return h, 0, fmt.Errorf("%w: version %d, this program reads version %d: use the newer program that wrote it, or another file", ErrVersion, v, version)
	case v < version:
		return h, 0, fmt.Errorf("%w: version %d, this program reads version %d: use the program that wrote it, or another file", ErrVersion, v, version)
	}
	length := int64(binary.LittleEndian.Uint32(pre[preambleSz:]))
	sum := binary.LittleEndian.Uint32(pre[preambleSz+4:])
	if length > maxHeader || int64(len(pre))+length > size {
		return h, 0, fmt.Errorf("%w: the header is cut short", ErrCorrupt)
	}
	body := make([]byte, length)
	if _, err := r.ReadAt(body, int64(len(pre))); err != nil && !errors.Is(err, io.EOF) {
		return h, 0, err
	}
	if crc32.Checksum(body, castagnoli) != sum {
		return h, 0, fmt.Errorf("%w: the header fails its checksum", ErrCorrupt)
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return h, 0, fmt.Errorf("%w: the header is unreadable: %v", ErrCorrupt, err)
	}
	return h, int64(len(pre)) + length, nil
}

// appendRecord appends one record. The caller has checked the length of the payload.
func appendRecord(b []byte, kind uint8, seq uint64, payload []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = append(b, 0, 0, 0, 0) // replaced by the checksum below
	b = append(b, kind)
	b = binary.LittleEndian.AppendUint64(b, seq)
	b = append(b, payload...)
	rec := b[start:]
	binary.LittleEndian.PutUint32(rec[4:], checksum(rec[:recordSz], rec[recordSz:]))
	return b
}

// markFirm sets the firm bit of the first record in b.
func markFirm(b []byte) {
	length := binary.LittleEndian.Uint32(b)
	binary.LittleEndian.PutUint32(b, length|firmBit)
	binary.LittleEndian.PutUint32(b[4:], checksum(b[:recordSz], b[recordSz:recordSz+int(length)]))
}

// checksum covers the length, the kind, the sequence number and the payload.
func checksum(head, payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, head[:4])
	sum = crc32.Update(sum, castagnoli, head[frameSz:recordSz])
	return crc32.Update(sum, castagnoli, payload)
}

// errBad reports bytes that are not a valid record.
var errBad = errors.New("bad record")

// decodeRecord reads one record of at most left bytes. It returns errBad if the bytes are no valid record,
// and other errors if reading fails.
func decodeRecord(r io.Reader, left int64) (rec Record, size int64, firm bool, err error) {
	if left < int64(recordSz) {
		return rec, 0, false, errBad
	}
	var head [recordSz]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return rec, 0, false, err
	}
	length, firm := payloadLength(head[:])
	if length > left-int64(recordSz) {
		return rec, 0, false, errBad
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(r, payload); err != nil {
		return rec, 0, false, err
	}
	if checksum(head[:], payload) != binary.LittleEndian.Uint32(head[4:]) {
		return rec, 0, false, errBad
	}
	rec = Record{Kind: head[frameSz], Seq: binary.LittleEndian.Uint64(head[frameSz+1:]), Payload: payload}
	return rec, int64(recordSz) + length, firm, nil
}

func payloadLength(head []byte) (n int64, firm bool) {
	length := binary.LittleEndian.Uint32(head)
	return int64(length &^ firmBit), length&firmBit != 0
}

// extent describes consecutive whole records.
type extent struct {
	end  int64  // offset of the first byte after the records
	next uint64 // sequence number that a record at end must have
	firm int64  // offset of the last firm record
}

// scan calls yield for the whole records in [from, to) whose sequence numbers count up from next. If the
// extent ends before to without an error, a bad record follows, or yield returned false.
func scan(r io.ReaderAt, from, to int64, next uint64, yield func(Record) bool) (extent, error) {
	x := extent{end: from, next: next, firm: from}
	br := bufio.NewReaderSize(io.NewSectionReader(r, from, to-from), int(min(to-from, 1<<18)))
	for x.end < to {
		rec, n, firm, err := decodeRecord(br, to-x.end)
		if errors.Is(err, errBad) || err == nil && rec.Seq != x.next {
			return x, nil
		}
		if err != nil {
			return x, err
		}
		if firm {
			x.firm = x.end
		}
		rec.At = x.end
		x.end, x.next = x.end+n, x.next+1
		if !yield(rec) {
			break
		}
	}
	return x, nil
}

// resync looks for the next whole record at or after from. At from itself any record with a valid checksum
// counts. A later one must have a sequence number that is possible there, which excludes bytes of a payload;
// and if firm is set it must be a firm record: others may belong to the same unfinished write as the bad
// record, of which a power cut left any part.
//
// A payload that imitates record headers could make the search quadratic, so the checksummed bytes are limited
// to a multiple of the searched bytes; beyond the limit errBad is returned, and the caller must assume damage.
func resync(r io.ReaderAt, from, to int64, next uint64, firm bool) (at int64, seq uint64, found bool, err error) {
	const window = 1 << 18
	last := next + uint64(to-from)/uint64(recordSz)
	effort := 64*(to-from) + 1<<20
	buf := make([]byte, min(int64(window+recordSz), to-from))
	for base := from; base < to; base += window {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), to-base)], base)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, false, err
		}
		for i := 0; i < min(window, n-recordSz+1); i++ {
			head, off := buf[i:i+recordSz], base+int64(i)
			seq := binary.LittleEndian.Uint64(head[frameSz+1:])
			length, isFirm := payloadLength(head)
			if off != from && (seq < next || seq > last || firm && !isFirm) || length > to-off-int64(recordSz) {
				continue
			}
			if effort -= length; effort < 0 {
				return 0, 0, false, errBad
			}
			rec, _, _, err := decodeRecord(io.NewSectionReader(r, off, to-off), to-off)
			if err == nil {
				return off, rec.Seq, true, nil
			}
			if !errors.Is(err, errBad) {
				return 0, 0, false, err
			}
		}
	}
	return 0, 0, false, nil
}

// The errors that a caller may handle, by errors.Is.
var (
	ErrLocked   = errors.New("journal: in use by another process")
	ErrMismatch = errors.New("journal: written with another schema or configuration")
	ErrCorrupt  = errors.New("journal: damaged")
	ErrVersion  = errors.New("journal: written in another format")
	ErrGone     = errors.New("journal: removed or replaced while in use")
	ErrClosed   = errors.New("journal: closed")
	ErrTooLarge = errors.New("journal: record too large")
)

// remedy is the last part of the errors about a damaged file: the command that repairs it.
const remedy = "`go run github.com/wildgraph/wildgraph/examples/maker journal repair FILE NEW` copies the good records"

// Header identifies a journal. It is written once, at creation.
type Header struct {
	// Schema names the format of the payloads and its version.
	Schema string `json:"schema"`
	// Config identifies the configuration of the records, as readable text or as a hash; at most 1 MiB.
	Config string `json:"config"`
}

// MismatchError reports a journal whose header is not the wanted one. It satisfies errors.Is(err, ErrMismatch).
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

// Record is one record of a journal.
type Record struct {
	// Seq is the sequence number: records are counted from 1 without gaps.
	Seq uint64
	// Kind is a number that the caller gives a meaning.
	Kind    uint8
	Payload []byte
	// At is the offset of the record, for [Journal.Read].
	At int64
}

// Records reads the records that were acknowledged before the call, in order. It ends at the first error.
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
			yield(Record{}, fmt.Errorf("%w: %s changed while it was open, at byte %d", ErrCorrupt, j.path, x.end))
		}
	}
}

// readAhead is the number of bytes that are read first: most records are no longer.
const readAhead = 4096

// Read reads the record at an offset that AppendAt or Records returned.
func (j *Journal) Read(at int64) (Record, error) {
	j.mu.Lock()
	end := j.end
	j.mu.Unlock()
	fail := func(err error) (Record, error) {
		return Record{}, fmt.Errorf("journal: read %s at byte %d: %w", j.path, at, err)
	}
	if at < j.begin || at >= end {
		return fail(fmt.Errorf("%w: no record begins there", ErrCorrupt))
	}
	r := bufio.NewReaderSize(io.NewSectionReader(j.f, at, end-at), int(min(readAhead, end-at)))
	rec, _, _, err := decodeRecord(r, end-at)
	if errors.Is(err, errBad) {
		err = ErrCorrupt
	}
	if err != nil {
		return fail(err)
	}
	rec.At = at
	return rec, nil
}

// regular returns an error for pipes, devices and directories.
func regular(name string, info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file (%s)", name, info.Mode().Type())
	}
	return err
}

// Span is a range of sequence numbers, First and Last included.
type Span struct{ First, Last uint64 }

// Repaired lists the whole and the lost records of a file.
type Repaired struct {
	Header Header
	// Records is the number of whole records.
	Records int
	// Lost has the missing sequence numbers. How many records the last BadTail bytes held is unknown.
	Lost    []Span
	BadTail int64
	// Bad is the offset of the first bad record, 0 if there is none. Torn means that the bad record is not
	// damage but an unfinished write, never acknowledged, which Open cuts off with the rest of the file.
	Bad  int64
	Torn bool
}

// Repair copies the whole records of a damaged journal into a new one at out, which must not exist. Records get
// new sequence numbers; the damaged file does not change. A journal with a damaged header cannot be repaired.
func Repair(path, out string) (Repaired, error) { return repair(osDisk{}, path, out) }

// syncEvery is the number of bytes of payload after which Repair syncs the copy.
const syncEvery = 1 << 20

func repair(d disk, path, out string) (Repaired, error) {
	return look(d, "repair", path, func(r *Repaired, src file, size, begin int64) error {
		if d.exists(out) {
			return fmt.Errorf("%s exists: name a new file", out)
		}
		dst, err := Open(out, r.Header, Options{MaxRecord: 1<<31 - 1, disk: d})
		if err != nil {
			return err
		}
		left := syncEvery
		err = r.walk(src, begin, size, func(rec Record) error {
			if left -= len(rec.Payload); left > 0 {
				return dst.Note(rec.Kind, rec.Payload)
			}
			left = syncEvery
			return dst.Append(rec.Kind, rec.Payload)
		})
		return errors.Join(err, dst.Close())
	})
}

// Verify checks a journal and changes nothing.
func Verify(path string) (Repaired, error) {
	return look(osDisk{}, "verify", path, func(r *Repaired, f file, size, begin int64) error {
		return r.walk(f, begin, size, func(Record) error { return nil })
	})
}

// look opens and locks an existing journal, reads its header, and calls then.
func look(d disk, why, path string, then func(r *Repaired, f file, size, begin int64) error) (r Repaired, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("journal: %s %s: %w", why, path, err)
		}
	}()
	if !d.exists(path) {
		return r, fs.ErrNotExist
	}
	f, err := d.open(path)
	if err != nil {
		return r, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return r, err
	}
	h, begin, err := readHeader(f, info.Size())
	if err != nil {
		return r, err
	}
	r.Header = h
	err = then(&r, f, info.Size(), begin)
	return r, err
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
			// The record is whole, but its sequence number was read before: the bytes are a copy. Skip them.
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
