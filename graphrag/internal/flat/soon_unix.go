// SPDX-License-Identifier: Apache-2.0

//go:build unix && !aix && !solaris

package flat

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Soon tells the system that a part of an array will be read, and nothing around it: it
// then reads several parts at once, where each would else wait for the one before and for
// megabytes of what lies next to it. It costs a microsecond.
func Soon[T any](part []T) {
	if len(part) == 0 {
		return
	}
	_ = unix.Madvise(pages(bytesOf(part)), unix.MADV_WILLNEED) // advice: what is not taken does no harm
}

// pages are some bytes and those before them on their first page.
func pages(b []byte) []byte {
	before := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(os.Getpagesize()))
	from := (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), -before))
	return unsafe.Slice(from, before+len(b))
}

func scattered(b []byte) { _ = unix.Madvise(b, unix.MADV_RANDOM) } // advice, too
