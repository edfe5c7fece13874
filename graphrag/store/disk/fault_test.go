// SPDX-License-Identifier: Apache-2.0

//go:build linux

package disk_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
)

// The disk is full: the flush fails with an error, and loses nothing.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv("WILDGRAPH_FULL_DISK_IN"); dir != "" {
		fullDisk(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), "WILDGRAPH_FULL_DISK_IN="+t.TempDir())
	out, err := cmd.CombinedOutput()
	check.True(t, err == nil, "%v\n%s", err, out)
}

func fullDisk(t *testing.T, dir string) {
	s := openArrays(t, dir, disk.Options{})
	defer s.Close()
	c := check.Of(s.Create(t.Context(), "corpus", buildSchema())).OK(t)
	g := check.Of(c.Write(t.Context(), "first")).OK(t)
	tableName := check.Of(g.Table("chunks")).OK(t)
	put := func(prefix string) {
		for i := range 2000 {
			check.OK(t, tableName.Put(t.Context(), store.Record{ID: fmt.Sprintf("%s%d", prefix, i), Text: strings.Repeat("words ", 20), Vector: make([]float32, 8)}))
		}
	}
	put("a")
	check.OK(t, errors.Join(g.Flush(t.Context()), c.Publish(t.Context(), "first", "")))
	put("b")
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	check.OK(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	for _, limit := range []uint64{100, 4096, 1 << 16, 1 << 17} {
		check.OK(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: was.Max}))
		err := g.Flush(t.Context())
		check.OK(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
		check.Is(t, err, syscall.EFBIG, "files of at most %d bytes: %v, want EFBIG", limit, err)
		n, err := tableName.Count(t.Context(), graphrag.Condition{})
		check.True(t, n == 2000 && err == nil, "%d records are left, %v; want 2000", n, err)
	}
	check.OK(t, g.Flush(t.Context()))
	n, err := tableName.Count(t.Context(), graphrag.Condition{})
	check.True(t, n == 4000 && err == nil, "%d records when there is room again, %v; want 4000", n, err)
	entries, err := os.ReadDir(filepath.Join(dir, "segments"))
	check.True(t, err == nil && len(entries) == 2, "%d segments are on the disk, %v; want 2", len(entries), err)
}
