// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"os"
	"syscall"
)

// errSharingViolation is ERROR_SHARING_VIOLATION of winerror.h.
const errSharingViolation = syscall.Errno(32)

// openLocked opens or creates path without sharing, which locks the file on Windows until the process ends.
func openLocked(path string) (file, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(h), path)
	info, err := f.Stat()
	if err = regular(path, info, err); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// syncDir does nothing: Windows cannot flush a directory, and NTFS journals its entries.
func syncDir(string) error { return nil }
