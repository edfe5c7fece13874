// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
)

// simDisk is a file system in memory that distinguishes what is on disk from what is only in the cache. It
// counts its operations; the one with the number failAt returns err or cuts the power.
type simDisk struct {
	files map[string]*simFile // files in the cache, which processes see
	disk  map[string]*simFile // entries of the folder that are on disk
	ops   int

	failAt int   // number of the failing operation, -1 for none
	err    error // error of that operation; nil means a power cut, after which all operations fail
	off    bool
	half   bool // a failing write writes half of its bytes; before a power cut the operation reaches the cache
	short  bool // a failing write reports no error
}

var errPower = errors.New("power lost")

// sector is the number of bytes that a disk writes as a whole.
const sector = 512

type simFile struct {
	data, synced []byte
	lost         [][2]int // ranges lost in a failed fsync, which count as clean
	open         bool
}

func newSimDisk() *simDisk {
	return &simDisk{files: map[string]*simFile{}, disk: map[string]*simFile{}, failAt: -1}
}

// op counts an operation. do says whether it takes effect, err is its error.
func (d *simDisk) op() (do bool, err error) {
	d.ops++
	switch {
	case d.off:
		return false, errPower
	case d.ops-1 != d.failAt:
		return true, nil
	case d.err != nil:
		return false, d.err
	}
	d.off = true
	return d.half, errPower
}

func (d *simDisk) exists(path string) bool { return d.files[path] != nil }

func (d *simDisk) at(path string, f file) bool { return d.files[path] == f.(*simHandle).f }

func (d *simDisk) open(path string) (file, error) {
	do, err := d.op()
	if do && d.files[path] == nil {
		d.files[path] = &simFile{}
	}
	if err != nil {
		return nil, err
	}
	f := d.files[path]
	if f.open {
		return nil, ErrLocked
	}
	f.open = true
	return &simHandle{f, d}, nil
}

func (d *simDisk) syncDir(string) error {
	do, err := d.op()
	if do {
		d.disk = maps.Clone(d.files)
	}
	return err
}

func (d *simDisk) create(dir string) (file, string, error) {
	path := fmt.Sprintf("%s/.tmp-%d", dir, len(d.files))
	f, err := d.open(path)
	return f, path, err
}

func (d *simDisk) rename(from, to string) error {
	do, err := d.op()
	if do {
		d.files[to] = d.files[from]
		delete(d.files, from)
	}
	return err
}

func (d *simDisk) remove(path string) {
	if do, _ := d.op(); do {
		delete(d.files, path)
	}
}

// reboot returns the disk after a power cut. keep decides for each sector, length and folder entry whether the
// cache's state or the disk's remains.
func (d *simDisk) reboot(keep func() bool) *simDisk {
	after := newSimDisk()
	names := maps.Clone(d.files)
	maps.Copy(names, d.disk)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := d.files[name]
		if d.disk[name] != f && !keep() {
			f = d.disk[name]
		}
		if f == nil {
			continue
		}
		data := f.survives(keep)
		g := &simFile{data: data, synced: bytes.Clone(data)}
		after.files[name], after.disk[name] = g, g
	}
	return after
}

func (f *simFile) survives(keep func() bool) []byte {
	size := len(f.synced)
	if len(f.data) != size && keep() {
		size = len(f.data)
	}
	out := make([]byte, size)
	for at := 0; at < size; at += sector {
		from := f.synced
		if keep() && !f.isLost(at) {
			from = f.data
		}
		if at < len(from) {
			copy(out[at:min(at+sector, size)], from[at:])
		}
	}
	return out
}

func (f *simFile) isLost(at int) bool {
	return slices.ContainsFunc(f.lost, func(l [2]int) bool { return at+sector > l[0] && at < l[1] })
}

// restart returns the disk after the process died: the cache remains.
func (d *simDisk) restart() *simDisk {
	d.off, d.failAt = false, -1
	for _, f := range d.files {
		f.open = false
	}
	return d
}

type sized struct {
	os.FileInfo
	n int64
}

func (s sized) Size() int64 { return s.n }

type simHandle struct {
	f *simFile
	d *simDisk
}

func (h *simHandle) Stat() (os.FileInfo, error) {
	_, err := h.d.op()
	return sized{n: int64(len(h.f.data))}, err
}

func (h *simHandle) ReadAt(p []byte, off int64) (int, error) {
	if _, err := h.d.op(); err != nil {
		return 0, err
	}
	if off >= int64(len(h.f.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *simHandle) WriteAt(p []byte, off int64) (int, error) {
	do, err := h.d.op()
	n := len(p)
	if !do {
		if n = 0; h.d.half && err != nil && !errors.Is(err, errPower) {
			n = len(p) / 2
		}
	}
	f, end := h.f, int(off)+n
	if end > len(f.data) {
		f.data = append(f.data, make([]byte, end-len(f.data))...)
	}
	copy(f.data[off:], p[:n])
	// Bytes that are written again are no longer clean.
	f.lost = slices.DeleteFunc(f.lost, func(l [2]int) bool { return int(off) <= l[0] && end >= l[1] })
	if h.d.short && err != nil && !errors.Is(err, errPower) {
		err = nil
	}
	return n, err
}

func (h *simHandle) Truncate(n int64) error {
	do, err := h.d.op()
	if do {
		h.f.data = append(h.f.data[:min(int(n), len(h.f.data))], make([]byte, max(0, int(n)-len(h.f.data)))...)
	}
	return err
}

// Sync moves the cache to the disk. A failing Sync loses what it should write and marks it as clean, as Linux
// did and may do.
func (h *simHandle) Sync() error {
	do, err := h.d.op()
	f := h.f
	if !do {
		if err != nil && !errors.Is(err, errPower) {
			from := 0
			for from < min(len(f.data), len(f.synced)) && f.data[from] == f.synced[from] {
				from++
			}
			if from < len(f.data) {
				f.lost = append(f.lost, [2]int{from, len(f.data)})
			}
		}
		return err
	}
	if len(f.lost) == 0 {
		f.synced = bytes.Clone(f.data)
		return err
	}
	all := true
	f.synced = f.survives(func() bool { return all })
	return err
}

func (h *simHandle) Close() error {
	h.f.open = false
	_, err := h.d.op()
	return err
}

// The three kinds of power cuts.
func dropAll() bool { return false }
func keepAll() bool { return true }

func tear(seed uint64) func() bool {
	rng := rand.New(rand.NewPCG(seed, 512))
	return func() bool { return rng.IntN(2) == 0 }
}
