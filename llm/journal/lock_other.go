// SPDX-License-Identifier: Apache-2.0

//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package journal

import (
	"errors"
	"fmt"
)

// openLocked fails: without a lock that ends with the process, two writers could damage the file.
func openLocked(string) (file, error) {
	return nil, fmt.Errorf("journals need file locks: %w on this system", errors.ErrUnsupported)
}

func syncDir(string) error { return nil }
