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
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// A pipe in place of a file is no file, and a link out of the folder leads nowhere:
// loading ends at once and says which.
func TestNoFiles(t *testing.T) {
	dir := t.TempDir()
	const question = `{"id": "2hop__1_2", "question": "?", "answer": "a", "paragraphs": [{"title": "t", "paragraph_text": "x", "is_supporting": true}]}`
	benchtest.OK(t, os.WriteFile(filepath.Join(dir, "musique.json"), []byte(question), 0o644))
	corpus := filepath.Join(dir, "musique_corpus.json")
	if err := syscall.Mkfifo(corpus, 0o644); err != nil {
		t.Skip(err)
	}
	root, err := os.OpenRoot(dir)
	benchtest.OK(t, err)
	defer root.Close()
	if _, err := Load(root.FS(), benchmark.LoadOptions{}); err == nil || !strings.Contains(err.Error(), "musique_corpus.json is not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	benchtest.OK(t, os.Remove(corpus))
	benchtest.OK(t, os.Symlink("/etc/passwd", corpus))
	if _, err := Load(root.FS(), benchmark.LoadOptions{}); err == nil || !strings.Contains(err.Error(), "musique_corpus.json") {
		t.Errorf("a link out of the folder: %v", err)
	}
}

// A file without end is read so far and no further.
func TestCapped(t *testing.T) {
	got, err := io.ReadAll(&jsonl.Capped{R: strings.NewReader(strings.Repeat("x", 100)), Left: 10})
	if len(got) != 10 || err == nil || !strings.Contains(err.Error(), "larger than 1024 MiB") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := io.ReadAll(&jsonl.Capped{R: strings.NewReader("0123456789"), Left: 11}); len(got) != 10 || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
