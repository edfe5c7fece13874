// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// TestWriteFilePowerCut cuts the power at every operation: afterwards the file
// is whole, the old one or the new one, and the new one once it was promised.
func TestWriteFilePowerCut(t *testing.T) {
	before, after := strings.Repeat("old ", 300), strings.Repeat("new ", 2500)
	write := func(d *simDisk, text string) error {
		return writeFile(d, "dir/f", func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}
	whole := newSimDisk()
	check.OK(t, errors.Join(write(whole, before), write(whole, after)))
	for _, cut := range powerCuts {
		for at := range whole.ops + 1 {
			for _, half := range []bool{false, true} {
				d := newSimDisk()
				check.OK(t, write(d, before))
				d.failAt, d.half = at, half
				promised := write(d, after) == nil
				f := d.reboot(cut.keep(uint64(at))).files["dir/f"]
				check.Must(t, f != nil, "%s at %d: no file", cut.name, at)
				if got := string(f.data); got != after && (promised || got != before) {
					t.Errorf("%s at %d: promised %v, %d bytes: %.20q", cut.name, at, promised, len(got), got)
				}
			}
		}
	}
}

// TestWriteFileErrors fails every operation: the error says so, and the file
// is the old one unless it stood in place when its folder could not be synced.
func TestWriteFileErrors(t *testing.T) {
	for _, fault := range []error{syscall.ENOSPC, syscall.EIO} {
		for at := 0; ; at++ {
			d := newSimDisk()
			put := func(text string) error {
				return writeFile(d, "dir/f", func(w io.Writer) error {
					_, err := io.WriteString(w, text)
					return err
				})
			}
			check.OK(t, put("old"))
			d.failAt, d.err, d.half = d.ops+at, fault, true
			err := put("new")
			if d.ops <= d.failAt {
				break
			}
			got := string(d.files["dir/f"].data)
			check.True(t, got == "old" || got == "new", "operation %d: %q", at, got)
			check.True(t, errors.Is(err, fault) && strings.Contains(err.Error(), "dir/f"),
				"operation %d: %v", at, err)
		}
	}
}

func TestWriteFileOnDisk(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	check.OK(t, WriteFile(name, func(w io.Writer) error { _, err := io.WriteString(w, "one"); return err }))
	stop := errors.New("stop")
	check.Is(t, WriteFile(name, func(w io.Writer) error { return stop }), stop, "error of write")
	got, _ := os.ReadFile(name)
	check.Equal(t, string(got), "one", "after a failed write: %q", got)
	left, _ := filepath.Glob(filepath.Join(dir, TempPattern))
	check.True(t, left == nil, "left behind: %v", left)
}
