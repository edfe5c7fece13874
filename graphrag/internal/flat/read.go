// SPDX-License-Identifier: Apache-2.0

package flat

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// ErrFormat is wrapped by errors about folders that are incomplete, damaged, or of another kind or version.
var ErrFormat = errors.New("not a whole index folder")

// Folder is an open folder. Several goroutines may read its arrays until it is closed.
type Folder struct {
	dir  string
	m    manifest
	maps map[string][]byte
	open []mmap.MMap

	damage atomic.Pointer[error] // the first damage that Check found
}

// Open opens a folder of the given kind and version, and decodes the metadata of its writer into meta.
func Open(dir, kind string, version int, meta any) (*Folder, error) {
	f := &Folder{dir: dir, maps: map[string][]byte{}}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: the file %s is missing, so it was never completed; build it again", dir, ErrFormat, manifestName)
	}
	if err == nil {
		err = f.describe(data, kind, version, meta)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	small, err := f.view(smallName, f.m.Small)
	for name, a := range f.m.Arrays {
		switch {
		case err != nil:
		case int64(len(a.Sums)) != 4*((a.Bytes+block-1)/block) || a.At > f.m.Small || a.At >= 0 && (a.Bytes < 0 || a.Bytes > f.m.Small-a.At):
			err = fmt.Errorf("%s: %w: the array %q does not fit its file; build it again", dir, ErrFormat, name)
		case a.At >= 0:
			f.maps[name] = small[a.At : a.At+a.Bytes]
		default:
			f.maps[name], err = f.view(name, a.Bytes)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Folder) describe(data []byte, kind string, version int, meta any) error {
	if x := uint16(1); *(*byte)(unsafe.Pointer(&x)) != 1 {
		return errors.New("index folders are read on little-endian machines only")
	}
	if err := json.Unmarshal(data, &f.m); err != nil {
		return fmt.Errorf("%w: %s is not valid JSON: %w", ErrFormat, manifestName, err)
	}
	if f.m.Kind != kind || f.m.Version != version {
		return fmt.Errorf("%w: it is %q, version %d, want %q, version %d; build it again", ErrFormat, f.m.Kind, f.m.Version, kind, version)
	}
	if sum, err := f.m.sum(); err != nil || sum != f.m.Sum {
		return errors.Join(fmt.Errorf("%w: %s was changed, or written by an earlier release; build it again", ErrFormat, manifestName), err)
	}
	if err := json.Unmarshal(f.m.Meta, meta); err != nil {
		return fmt.Errorf("%w: the metadata in %s is not readable: %w", ErrFormat, manifestName, err)
	}
	return nil
}

// view maps a file into memory. An empty file does not exist, because it cannot be mapped.
func (f *Folder) view(name string, bytes int64) (_ []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(f.dir, name), err)
		}
	}()
	if filepath.Base(name) != name {
		return nil, fmt.Errorf("%w: the name of the file leads out of the folder", ErrFormat)
	}
	if bytes == 0 {
		return nil, nil
	}
	in, err := os.Open(filepath.Join(f.dir, name))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != bytes {
		return nil, fmt.Errorf("%w: it has %d bytes, want %d: it was cut off or changed; build it again", ErrFormat, info.Size(), bytes)
	}
	m, err := mmap.Map(in, mmap.RDONLY, 0)
	f.open = append(f.open, m)
	return m, err
}

// View returns the array with a name, mapped into memory, after checking all of its bytes. The array must not
// be written to, nor used after the folder is closed.
func View[T any](f *Folder, name string) ([]T, error) {
	v, sums, err := Lazy[T](f, name)
	const some = 1 << 20
	for i := 0; i < len(v); i += some {
		end := min(i+some, len(v))
		Soon(v[i:end])
		sums.Check(i, end)
	}
	return v, errors.Join(err, f.Err())
}

// Lazy returns the array with a name, mapped into memory, without a check: the caller calls Check before
// reading a part, and the folder's Err before using a result. So an array may be larger than memory.
func Lazy[T any](f *Folder, name string) ([]T, *Sums, error) {
	a, ok := f.m.Arrays[name]
	var zero T
	if width := int(unsafe.Sizeof(zero)); !ok || a.Width != width || a.Bytes%int64(width) != 0 {
		return nil, nil, fmt.Errorf("%s: %w: it has no array %q of values of %d bytes; build it again", f.dir, ErrFormat, name, width)
	}
	b := f.maps[name]
	if len(b) == 0 {
		return nil, nil, nil
	}
	return valuesOf[T](b), &Sums{folder: f, name: name, bytes: b, width: a.Width, sums: a.Sums, good: make([]atomic.Uint64, (len(a.Sums)/4+63)/64)}, nil
}

// Sums holds the checksums of an array. A nil Sums checks nothing.
type Sums struct {
	folder *Folder
	name   string
	bytes  []byte
	width  int
	sums   []byte
	good   []atomic.Uint64 // bit set of the blocks that Check has found undamaged
}

// Check compares the blocks of the values i to end-1 with their checksums, each block once, and reports whether
// they are undamaged.
func (s *Sums) Check(i, end int) bool {
	if s == nil || i >= end {
		return true
	}
	from, to := i*s.width, end*s.width
	for b := from / block; b*block < to; b++ {
		if s.good[b/64].Load()>>(b%64)&1 == 1 {
			continue
		}
		if crc32.Checksum(s.bytes[b*block:min(b*block+block, len(s.bytes))], castagnoli) != binary.LittleEndian.Uint32(s.sums[4*b:]) {
			err := fmt.Errorf("%s: %w: a checksum is wrong, so its bytes were changed; build it again", filepath.Join(s.folder.dir, s.name), ErrFormat)
			s.folder.damage.CompareAndSwap(nil, &err)
			return false
		}
		s.good[b/64].Or(1 << (b % 64))
	}
	return true
}

// Err returns the first damage that Check has found, after which no result from the folder is valid.
func (f *Folder) Err() error {
	if err := f.damage.Load(); err != nil {
		return *err
	}
	return nil
}

// scatteredFrom is the least size, in bytes, of arrays that Scattered treats: smaller ones are read whole.
const scatteredFrom = 8 << 20

// Scattered tells the system that the arrays will be read in random order. The system then reads only the
// requested pages, not megabytes around each, which would add up to a whole folder that may be larger than
// memory.
func (f *Folder) Scattered() {
	for _, m := range f.maps {
		if len(m) >= scatteredFrom {
			scattered(m)
		}
	}
}

// Close unmaps all arrays, which must no longer be used.
func (f *Folder) Close() error {
	var errs []error
	for _, m := range f.open {
		errs = append(errs, m.Unmap())
	}
	f.open, f.maps = nil, nil
	return errors.Join(errs...)
}
