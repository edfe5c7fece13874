// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package flat

import (
	"errors"
	"os"
)

// SyncDir makes the entries of a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
