// SPDX-License-Identifier: Apache-2.0

//go:build linux

package vector_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// TestMemory adds a million rows of 384, alone in its process, and reads the peak of
// its memory. It runs where VECTOR_MEMORY says what grows: an index in memory, one with
// codes, or a folder with codes and signs, whose mapped files do not count.
//
//	VECTOR_MEMORY=rows   go test -count=1 -v -run Memory ./graphrag/vector
//	VECTOR_MEMORY=codes  go test -count=1 -v -run Memory ./graphrag/vector
//	VECTOR_MEMORY=folder go test -count=1 -v -run Memory ./graphrag/vector
func TestMemory(t *testing.T) {
	const n, dim = 1_000_000, 384
	kind := os.Getenv("VECTOR_MEMORY")
	c, ok := map[string]struct {
		opts  vector.Options
		limit int // kB
	}{
		"rows":   {vector.Options{Dim: dim}, 1_650_000},
		"codes":  {vector.Options{Dim: dim, Quantized: true}, 2_050_000},
		"folder": {vector.Options{Dim: dim, Quantized: true, Signs: true}, 50_000},
	}[kind]
	if !ok {
		t.Skip("VECTOR_MEMORY is none of rows, codes and folder")
	}
	peak := peakOf(t, func() error {
		row, rng := make([]float32, dim), rand.New(rand.NewPCG(1, 2))
		draw := func() []float32 {
			for j := range row {
				row[j] = rng.Float32() - .5
			}
			return row
		}
		if kind == "folder" {
			w, err := vector.Create(filepath.Join(t.TempDir(), "index"), c.opts)
			for i := 0; i < n && err == nil; i++ {
				err = w.Add(draw())
			}
			return errors.Join(err, w.Close())
		}
		x, err := vector.New(c.opts)
		for i := 0; i < n && err == nil; i++ {
			err = x.Add(draw())
		}
		return err
	})
	t.Logf("%s: %d rows, %d kB of floats, peak %d kB", kind, n, n*dim*4/1024, peak)
	if peak > c.limit {
		t.Errorf("peak %d kB, want at most %d", peak, c.limit)
	}
}

// peakOf is the most memory, in kB and without mapped files, that was seen while
// something was done.
func peakOf(t *testing.T, do func() error) int {
	t.Helper()
	done := make(chan error)
	go func() { done <- do() }()
	peak := 0
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return peak
		case <-time.After(5 * time.Millisecond):
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(status), "RssAnon:")
		now, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			t.Fatal(err)
		}
		peak = max(peak, now)
	}
}
