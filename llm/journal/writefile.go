// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// Lock locks a file, creating it if necessary, once no other process or caller holds it, unless ctx ends
// first. The lock ends with unlock, and with the process; the file stays.
func Lock(ctx context.Context, name string) (unlock func() error, err error) {
	for {
		f, err := openLocked(name)
		if err == nil {
			return f.Close, nil
		}
		if !errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("locking %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("locking %s: %w: %w", name, err, ctx.Err())
		case <-time.After(lockPause):
		}
	}
}

// lockPause is the time between two attempts of [Lock].
const lockPause = 50 * time.Millisecond

// TempPattern matches the files that a killed [WriteFile] leaves beside the real ones. They may be removed.
const TempPattern = ".tmp-*"

// WriteFile writes a whole file so that a crash or a power cut at any moment leaves the old file or the new
// one, never a part: it writes a temporary file, syncs and renames that, and syncs the folder. If write or
// the disk fails the old file stays, and the error names the file.
func WriteFile(name string, write func(io.Writer) error) error {
	return writeFile(osDisk{}, name, write)
}

func writeFile(d disk, name string, write func(io.Writer) error) error {
	dir := filepath.Dir(name)
	f, temp, err := d.create(dir)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	b := bufio.NewWriter(io.NewOffsetWriter(f, 0))
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.rename(temp, name)
	}
	if err != nil {
		d.remove(temp)
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := d.syncDir(dir); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
