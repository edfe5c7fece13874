// SPDX-License-Identifier: Apache-2.0

package flat_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/internal/check"
)

type pair struct {
	A uint32
	B float32
}

type meta struct{ Name string }

func write(t *testing.T, dir string) {
	t.Helper()
	w := check.Of(flat.Create(dir, "test", 3)).OK(t)
	pairs := check.Of(flat.NewArray[pair](w, "pairs")).OK(t)
	bytes := check.Of(flat.NewArray[byte](w, "bytes")).OK(t)
	check.OK(t, check.Err(flat.NewArray[uint64](w, "none")))
	few := check.Of(flat.NewArray[int32](w, "few")).OK(t)
	few.Append(7, 8, 9)
	for i := range 10_000 {
		pairs.Append(pair{uint32(i), float32(i) / 2}, pair{uint32(i), -1})
		bytes.Append([]byte("some bytes")...)
	}
	check.True(t, pairs.Len() == 20_000 && bytes.Len() == 100_000, "%d pairs, %d bytes", pairs.Len(), bytes.Len())
	check.OK(t, w.Close(meta{"x"}))
}

func TestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	write(t, dir)
	var m meta
	f, err := flat.Open(dir, "test", 3, &m)
	check.Must(t, err == nil && m.Name == "x", "%v %v", m, err)
	pairs, err := flat.View[pair](f, "pairs")
	check.True(t, err == nil && len(pairs) == 20_000 && pairs[6] == (pair{3, 1.5}) && pairs[19_999] == (pair{9999, -1}), "%d pairs, %v", len(pairs), err)
	few, err := flat.View[int32](f, "few")
	check.True(t, err == nil && slices.Equal(few, []int32{7, 8, 9}), "%v, %v", few, err)
	none, err := flat.View[uint64](f, "none")
	check.True(t, err == nil && len(none) == 0, "%v, %v", none, err)
	for _, wrong := range []func() error{
		func() error { _, err := flat.View[uint32](f, "pairs"); return err },
		func() error { _, err := flat.View[pair](f, "pear"); return err },
	} {
		check.Is(t, wrong(), flat.ErrFormat, "another array")
	}
	err = f.Close()
	check.OK(t, err)
	_, err = flat.Create(dir, "test", 3)
	check.Fails(t, err, "already", "writing over it")
}

func TestDamage(t *testing.T) {
	open := func(dir, kind string, version int) error {
		f, err := flat.Open(dir, kind, version, &meta{})
		if err != nil {
			return err
		}
		_, err1 := flat.View[pair](f, "pairs")
		_, err3 := flat.View[int32](f, "few")
		_, sums, err2 := flat.Lazy[byte](f, "bytes")
		if !sums.Check(0, 76) || !sums.Check(90_000, 100_000) || err1 == nil && err3 == nil && sums.Check(5000, 5100) != (f.Err() == nil) {
			t.Errorf("the sums: %v", f.Err())
		}
		return errors.Join(err1, err2, err3, f.Err(), f.Close())
	}
	change := func(name string, by func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			check.OK(t, os.WriteFile(filepath.Join(dir, name), by(check.Of(os.ReadFile(filepath.Join(dir, name))).OK(t)), 0o644))
		}
	}
	for name, damage := range map[string]func(*testing.T, string){
		"a flipped bit": change("bytes", func(b []byte) []byte { b[5077] ^= 4; return b }),
		"another meta":  change("manifest.json", func(b []byte) []byte { return []byte(strings.Replace(string(b), `"x"`, `"y"`, 1)) }),
		"small ones":    change("small", func(b []byte) []byte { b[1] ^= 4; return b }),
		"cut":           change("pairs", func(b []byte) []byte { return b[:len(b)-1] }),
		"longer":        change("pairs", func(b []byte) []byte { return append(b, 0) }),
		"no manifest":   func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "manifest.json")) },
		"no array":      func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "bytes")) },
		"half manifest": change("manifest.json", func(b []byte) []byte { return b[:len(b)/2] }),
		"a way out":     change("manifest.json", func(b []byte) []byte { return []byte(strings.Replace(string(b), `"bytes": {`, `"../bytes": {`, 1)) }),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir)
			damage(t, dir)
			err := open(dir, "test", 3)
			check.True(t, errors.Is(err, flat.ErrFormat) && strings.Contains(err.Error(), filepath.Dir(dir)), "it is opened: %v", err)
		})
	}
	dir := t.TempDir()
	write(t, dir)
	err := errors.Join(open(dir, "test", 2), open(dir, "other", 3))
	check.True(t, errors.Is(err, flat.ErrFormat) && strings.Count(err.Error(), "build it again") == 2, "of another version and kind: %v", err)
}

// A folder whose writing was aborted is incomplete, and can be written again.
func TestAbort(t *testing.T) {
	dir := t.TempDir()
	w, err := flat.Create(dir, "test", 3)
	check.OK(t, err)
	a := check.Of(flat.NewArray[int32](w, "a")).OK(t)
	a.Append(slices.Repeat([]int32{7}, 1<<17)...)
	check.OK(t, w.Abort())
	_, err = flat.Open(dir, "test", 3, &meta{})
	check.True(t, errors.Is(err, flat.ErrFormat) && strings.Contains(err.Error(), "never completed"), "it is opened: %v", err)
	write(t, dir)
}
