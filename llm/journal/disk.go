// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"io"
	"os"
)

// disk is what a journal needs of a file system. Tests put one in its place
// that fails and loses power.
type disk interface {
	// open opens or creates a file and locks it, or returns ErrLocked.
	open(path string) (file, error)
	// syncDir makes the entries of a folder durable.
	syncDir(dir string) error
	exists(path string) bool
}

// file is what a journal needs of an *os.File.
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
