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
	b := bytesOf(part)
	before := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(os.Getpagesize()))
	from := (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), -before))
	_ = unix.Madvise(unsafe.Slice(from, before+len(b)), unix.MADV_WILLNEED) // advice: what is not taken does no harm
}

func scattered(b []byte) { _ = unix.Madvise(b, unix.MADV_RANDOM) } // advice, too
