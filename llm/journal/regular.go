// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"os"
)

// mustBeRegular refuses pipes, devices and directories.
func mustBeRegular(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	return nil
}
