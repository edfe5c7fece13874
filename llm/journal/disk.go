// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"io"
	"os"
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
