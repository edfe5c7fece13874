// SPDX-License-Identifier: Apache-2.0

//go:build unix

package wildgraph_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Pipes, devices and links to outside of the folder are refused: reading them would never end, or read files
// that do not belong to the data set.
func TestOnlyRegularFilesOfTheFolder(t *testing.T) {
	const qa, page = "QA/birds/questions.jsonl", "corpus/birds/Owl/reference_pages/page.txt"
	outside := filepath.Join(t.TempDir(), "secret.txt")
	check.OK(t, os.WriteFile(outside, []byte("# Secret"), 0o644))
	for _, tt := range []struct {
		name string
		put  func(path string) error
		file string
		want string // part of the error's message
	}{
		{"questions are a pipe", func(p string) error { return syscall.Mkfifo(p, 0o644) }, qa, "not a regular file"},
		{"questions are a device", func(p string) error { return os.Symlink("/dev/zero", p) }, qa, "questions.jsonl"},
		{"questions are a folder", func(p string) error { return os.Mkdir(p, 0o755) }, qa, "not a regular file"},
		{"a page is a pipe", func(p string) error { return syscall.Mkfifo(p, 0o644) }, page, "not a regular file"},
		{"a page is a link out", func(p string) error { return os.Symlink(outside, p) }, page, "page.txt cannot be read; if it is a link"},
		{"a topic is a link out", func(p string) error { return os.Symlink(filepath.Dir(outside), p) }, "corpus/birds/Hawk", "corpus/birds/Hawk cannot be read; if it is a link"},
		{"a domain is a link out", func(p string) error { return os.Symlink(filepath.Dir(outside), p) }, "QA/fish", "QA/fish cannot be read; if it is a link"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			check.OK(t, os.CopyFS(dir, small()))
			path := filepath.Join(dir, tt.file)
			err := os.Remove(path)
			check.Must(t, err == nil || errors.Is(err, fs.ErrNotExist), "%v", err)
			if err := tt.put(path); err != nil {
				t.Skip(err)
			}
			root := check.Of(os.OpenRoot(dir)).OK(t)
			defer root.Close()
			done := make(chan error, 1)
			go func() {
				_, err := wildgraph.Load(root.FS(), benchmark.LoadOptions{})
				done <- err
			}()
			select {
			case err := <-done:
				check.True(t, err != nil && strings.Contains(err.Error(), tt.want),
					"error %v, want one with %q", err, tt.want)
			case <-time.After(20 * time.Second):
				t.Fatal("it hangs")
			}
		})
	}
}

// Links within the folder are followed: no domain and no page is lost.
func TestLinksAreFollowed(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, os.CopyFS(dir, small()))
	plain := check.Of(wildgraph.Load(os.DirFS(dir), benchmark.LoadOptions{})).OK(t)
	for _, name := range []string{"QA/birds", "corpus/birds", "corpus/birds/Owl/reference_pages", "corpus/birds/Owl/reference_pages/page.txt"} {
		path := filepath.Join(dir, name)
		moved := filepath.Join(dir, "moved "+filepath.Base(name))
		to, err := filepath.Rel(filepath.Dir(path), moved)
		if err := errors.Join(err, os.Rename(path, moved), os.Symlink(to, path)); err != nil {
			t.Skip(err)
		}
		root := check.Of(os.OpenRoot(dir)).OK(t)
		set, err := wildgraph.Load(root.FS(), benchmark.LoadOptions{})
		check.True(t, err == nil && len(set.Domains) == 1 && set.Domains[0].Fingerprint == plain.Domains[0].Fingerprint, "with a link for %s: %v", name, err)
		_ = root.Close()
		check.OK(t, errors.Join(os.Remove(path), os.Rename(moved, path)))
	}
}
