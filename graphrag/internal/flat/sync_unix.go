// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package flat

import (
	"errors"
	"os"
)

// SyncDir syncs a folder, so that new and renamed entries survive a crash.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
