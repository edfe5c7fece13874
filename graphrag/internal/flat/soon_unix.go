// SPDX-License-Identifier: Apache-2.0

//go:build unix && !aix && !solaris

package flat

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Soon tells the system that a part of an array will be read soon. The system then reads several such parts at
// the same time, instead of one after another with megabytes around each. A call costs a microsecond.
func Soon[T any](part []T) {
	if len(part) == 0 {
		return
	}
	_ = unix.Madvise(pages(bytesOf(part)), unix.MADV_WILLNEED) // only advice: an error can be ignored
}

// pages extends a slice to the start of the memory page in which it begins.
func pages(b []byte) []byte {
	before := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(os.Getpagesize()))
	from := (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), -before))
	return unsafe.Slice(from, before+len(b))
}

func scattered(b []byte) { _ = unix.Madvise(b, unix.MADV_RANDOM) } // only advice: an error can be ignored
