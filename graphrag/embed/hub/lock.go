// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"
)

// lock creates the file name for the one process that fetches, which unlock removes. The
// holder sets the time of the file ten times in stale; a file whose time stays the same for
// that long was left by a killed process, and is removed by one that waits. If two processes
// held it, both would write the same bytes.
func lock(ctx context.Context, name string, stale time.Duration) (unlock func(), err error) {
	var touched, since time.Time
	for {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			ctx, cancel := context.WithCancel(context.Background())
			go touch(ctx, name, stale/10)
			return func() { cancel(); _ = os.Remove(name) }, f.Close() // a file that stays is stale later
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case !info.ModTime().Equal(touched):
			touched, since = info.ModTime(), time.Now()
		case time.Since(since) > stale:
			breakLock(name, touched)
		}
		if err := sleep(ctx, stale/100); err != nil {
			return nil, fmt.Errorf("another process fetches the model: %w", err)
		}
	}
}

// touch sets the time of a file until ctx ends.
func touch(ctx context.Context, name string, every time.Duration) {
	for sleep(ctx, every) == nil {
		now := time.Now()
		_ = os.Chtimes(name, now, now)
	}
}

// breakLock removes a lock that was last touched at a time. The file is renamed first and its
// time compared: another process may have replaced it meanwhile.
func breakLock(name string, touched time.Time) {
	old := fmt.Sprintf("%s.%d", name, rand.Int64())
	if os.Rename(name, old) != nil {
		return
	}
	if info, err := os.Stat(old); err == nil && !info.ModTime().Equal(touched) {
		_ = os.Rename(old, name)
	} else {
		_ = os.Remove(old)
	}
}
