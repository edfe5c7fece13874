// SPDX-License-Identifier: Apache-2.0

package flat

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"unsafe"
)

// manifestName is the file that exists if a folder is complete; smallName is the file of all small arrays.
const (
	manifestName = "manifest.json"
	smallName    = "small"
)

// manifest describes a folder. Sum is the checksum of the manifest's own JSON with Sum 0.
type manifest struct {
	Kind    string           `json:"kind"`
	Version int              `json:"version"`
	Meta    json.RawMessage  `json:"meta"`
	Arrays  map[string]array `json:"arrays"`
	Small   int64            `json:"small"` // length of the file of small arrays in bytes
	Sum     uint32           `json:"sum"`
}

type array struct {
	At    int64  `json:"at"` // offset in the file of small arrays; -1 for a file of its own
	Bytes int64  `json:"bytes"`
	Width int    `json:"width"`  // number of bytes of a value
	Sums  []byte `json:"crc32c"` // checksums of all blocks, four bytes each, little-endian
}

// block is the number of bytes per checksum: a memory page, so that a check reads no extra pages.
const block = 4096

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the checksum of the manifest.
func (m manifest) sum() (uint32, error) {
	m.Sum = 0
	data, err := json.Marshal(m)
	return crc32.Checksum(data, castagnoli), err
}

// Writer writes the arrays of a folder.
type Writer struct {
	dir      string
	unsynced bool
	m        manifest
	arrays   []*file
}

// file is an array during writing. A small array stays in memory, since syncing each file takes time.
type file struct {
	name string
	dir  string
	held []byte
	f    *os.File // nil while the array is in memory
	w    *bufio.Writer
	err  error
	crc  uint32 // checksum of the last block so far
	array
}

// add adds appended bytes to the checksums.
func (a *file) add(b []byte) {
	for len(b) > 0 {
		n := min(len(b), block-int(a.Bytes%block))
		a.crc = crc32.Update(a.crc, castagnoli, b[:n])
		if a.Bytes += int64(n); a.Bytes%block == 0 {
			a.end()
		}
		b = b[n:]
	}
}

// end appends the checksum of the last block.
func (a *file) end() {
	a.Sums, a.crc = binary.LittleEndian.AppendUint32(a.Sums, a.crc), 0
}

// brief holds the temporary folders. Folders created in them are not synced to disk.
var brief sync.Map

// Temporary creates a temporary folder in which folders can be created, and returns a function that removes it.
func Temporary() (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", "wildgraph-")
	brief.Store(dir, true)
	return dir, func() error { brief.Delete(dir); return os.RemoveAll(dir) }, err
}

// Create creates a folder, which must not contain a manifest yet; files of written arrays are replaced.
func Create(dir, kind string, version int) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err == nil {
		return nil, fmt.Errorf("%s: the folder contains an index already: remove it or name another folder", dir)
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	_, unsynced := brief.Load(filepath.Dir(dir))
	return &Writer{dir: dir, unsynced: unsynced, m: manifest{Kind: kind, Version: version, Arrays: map[string]array{}}}, nil
}

// Array is an array during writing.
type Array[T any] struct{ f *file }

// NewArray adds an empty array to a folder.
func NewArray[T any](w *Writer, name string) (Array[T], error) {
	if filepath.Base(name) != name || name == manifestName || name == smallName {
		return Array[T]{}, fmt.Errorf("%s: an array cannot have the name %q", w.dir, name)
	}
	var zero T
	a := &file{name: name, dir: w.dir, array: array{At: -1, Width: int(unsafe.Sizeof(zero))}}
	w.arrays = append(w.arrays, a)
	return Array[T]{a}, nil
}

// smallBytes is the longest array, in bytes, that goes to the file of small arrays; each of these begins at a
// multiple of align bytes.
const (
	smallBytes = 1 << 16
	align      = 64
)

// write appends bytes.
func (a *file) write(b []byte) (err error) {
	if a.f == nil && len(a.held)+len(b) <= smallBytes {
		a.held = append(a.held, b...)
		return nil
	}
	if a.f == nil {
		if a.f, err = os.Create(filepath.Join(a.dir, a.name)); err != nil {
			return err
		}
		a.w = bufio.NewWriterSize(a.f, 1<<18)
		_, err = a.w.Write(a.held)
		a.held = nil
	}
	if err == nil {
		_, err = a.w.Write(b)
	}
	return err
}

// close flushes and closes a file, and syncs it unless unsynced is set.
func (a *file) close(unsynced bool) error {
	switch {
	case a.f == nil:
		return nil
	case unsynced:
		return errors.Join(a.w.Flush(), a.f.Close())
	}
	return errors.Join(a.w.Flush(), a.f.Sync(), a.f.Close())
}

// small writes the file of the small arrays.
func (w *Writer) small() *file {
	s := &file{name: smallName, dir: w.dir}
	var all []byte
	for _, a := range w.arrays {
		if a.f == nil {
			all = append(all, make([]byte, (align-len(all)%align)%align)...)
			a.At, all = int64(len(all)), append(all, a.held...)
		}
	}
	if w.m.Small = int64(len(all)); len(all) > 0 {
		if s.f, s.err = os.Create(filepath.Join(w.dir, smallName)); s.err == nil {
			s.w = bufio.NewWriter(s.f)
			_, s.err = s.w.Write(all)
		}
	}
	return s
}

// Append appends values. An error is returned later, by [Writer.Err] and [Writer.Close].
func (a Array[T]) Append(values ...T) {
	if len(values) == 0 {
		return
	}
	b := bytesOf(values)
	a.f.add(b)
	if err := a.f.write(b); err != nil && a.f.err == nil {
		a.f.err = err
	}
}

// Err returns the first error of writing an array, such as a full disk. Close returns it as well; a long write
// should check it earlier.
func (w *Writer) Err() error {
	for _, a := range w.arrays {
		if a.err != nil {
			return fmt.Errorf("%s: writing %s: %w", w.dir, a.name, a.err)
		}
	}
	return nil
}

// Len returns the number of values appended so far.
func (a Array[T]) Len() int { return int(a.f.Bytes) / a.f.Width }

// bytesOf views values as bytes, without a copy.
func bytesOf[T any](values []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(zero)))
}

// valuesOf views bytes as values, without a copy.
func valuesOf[T any](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// Close syncs all arrays to disk, and then completes the folder by writing its manifest, which contains meta.
func (w *Writer) Close(meta any) error {
	var err error
	if w.m.Meta, err = json.Marshal(meta); err != nil {
		return errors.Join(err, w.Abort())
	}
	// Sync all files concurrently, because a journaling file system commits them together.
	files := append(w.arrays, w.small())
	errs := make([]error, len(files))
	var wait sync.WaitGroup
	for i, a := range files {
		if a.Bytes%block > 0 {
			a.end()
		}
		if a.name != smallName {
			w.m.Arrays[a.name] = a.array
		}
		wait.Go(func() { errs[i] = errors.Join(a.err, a.close(w.unsynced)) })
	}
	wait.Wait()
	w.arrays = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: writing arrays: %w", w.dir, err)
	}
	if w.m.Sum, err = w.m.sum(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(w.m, "", "  ")
	if err != nil {
		return err
	}
	if w.unsynced {
		return os.WriteFile(filepath.Join(w.dir, manifestName), data, 0o600)
	}
	return publish(filepath.Join(w.dir, manifestName), append(data, '\n'))
}

// Abort removes the written files; the folder has no manifest.
func (w *Writer) Abort() error {
	var errs []error
	for _, a := range w.arrays {
		if a.f != nil {
			errs = append(errs, a.f.Close(), os.Remove(a.f.Name()))
		}
	}
	w.arrays = nil
	return errors.Join(errs...)
}

// publish writes data to a new file, syncs it, and renames it to name.
func publish(name string, data []byte) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(name))
}
