// SPDX-License-Identifier: Apache-2.0

//go:build unix

package multihop

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// A pipe in place of a file, and a link to outside of the folder, are refused: loading ends at once with an
// error that names them.
func TestNoFiles(t *testing.T) {
	dir := t.TempDir()
	const question = `{"id": "2hop__1_2", "question": "?", "answer": "a", "paragraphs": [{"title": "t", "paragraph_text": "x", "is_supporting": true}]}`
	check.OK(t, os.WriteFile(filepath.Join(dir, "musique.json"), []byte(question), 0o644))
	corpus := filepath.Join(dir, "musique_corpus.json")
	if err := syscall.Mkfifo(corpus, 0o644); err != nil {
		t.Skip(err)
	}
	root, err := os.OpenRoot(dir)
	check.OK(t, err)
	defer root.Close()
	_, err = Load(root.FS(), benchmark.LoadOptions{})
	check.Fails(t, err, "musique_corpus.json is not a regular file", "a pipe")
	check.OK(t, os.Remove(corpus))
	check.OK(t, os.Symlink("/etc/passwd", corpus))
	_, err = Load(root.FS(), benchmark.LoadOptions{})
	check.Fails(t, err, "musique_corpus.json", "a link out of the folder")
}

// A file without end is read up to a limit.
func TestCapped(t *testing.T) {
	got, err := io.ReadAll(&journal.CappedReader{R: strings.NewReader(strings.Repeat("x", 100)), Left: 10})
	check.True(t, len(got) == 10 && err != nil && strings.Contains(err.Error(), "larger than 1024 MiB"), "%d bytes, %v", len(got), err)
	got, err = io.ReadAll(&journal.CappedReader{R: strings.NewReader("0123456789"), Left: 11})
	check.True(t, len(got) == 10 && err == nil, "%d bytes, %v", len(got), err)
}
