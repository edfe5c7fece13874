// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// disk is the file system of a journal and of WriteFile. Tests use one that fails and loses power.
type disk interface {
	// open opens or creates a file and locks it, or returns ErrLocked.
	open(path string) (file, error)
	// syncDir makes the entries of a folder durable.
	syncDir(dir string) error
	exists(path string) bool
	// at reports whether the open file is the one of that name.
	at(path string, f file) bool
	// create makes a file of a new name in a folder, for WriteFile.
	create(dir string) (f file, path string, err error)
	rename(from, to string) error
	remove(path string)
}

// file is the part of an *os.File that a journal uses.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// osDisk is the real one.
type osDisk struct{}

func (osDisk) open(path string) (file, error) { return openLocked(path) }
func (osDisk) syncDir(dir string) error       { return syncDir(dir) }

func (osDisk) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// at returns true if it cannot tell: access to the folder may be denied meanwhile.
func (osDisk) at(path string, f file) bool {
	now, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	open, err := f.Stat()
	return err != nil || os.SameFile(now, open)
}

func (osDisk) create(dir string) (file, string, error) {
	f, err := os.CreateTemp(dir, TempPattern)
	if err != nil {
		return nil, "", err
	}
	if err := f.Chmod(0o644); err != nil {
		return nil, "", errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, f.Name(), nil
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) remove(path string)           { _ = os.Remove(path) }

func writeAll(f file, b []byte, at int64) error {
	n, err := f.WriteAt(b, at)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}

// Lock locks a file, creating it if necessary, once no other process or caller holds it, unless ctx ends
// first. The lock ends with unlock, and with the process; the file stays.
func Lock(ctx context.Context, name string) (unlock func() error, err error) {
	for {
		f, err := openLocked(name)
		if err == nil {
			return f.Close, nil
		}
		if !errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("locking %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("locking %s: %w: %w", name, err, ctx.Err())
		case <-time.After(lockPause):
		}
	}
}

// lockPause is the time between two attempts of [Lock].
const lockPause = 50 * time.Millisecond

// TempPattern matches the files that a killed [WriteFile] leaves beside the real ones. They may be removed.
const TempPattern = ".tmp-*"

// WriteFile writes a whole file so that a crash or a power cut at any moment leaves the old file or the new
// one, never a part: it writes a temporary file, syncs and renames that, and syncs the folder. If write or
// the disk fails the old file stays, and the error names the file.
func WriteFile(name string, write func(io.Writer) error) error {
	return writeFile(osDisk{}, name, write)
}

func writeFile(d disk, name string, write func(io.Writer) error) error {
	dir := filepath.Dir(name)
	f, temp, err := d.create(dir)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	b := bufio.NewWriter(io.NewOffsetWriter(f, 0))
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.rename(temp, name)
	}
	if err != nil {
		d.remove(temp)
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := d.syncDir(dir); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
