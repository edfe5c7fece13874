// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Call is one recorded call of a real model.
type Call struct{ System, User, Reply string }

// Data is what stands between the first pair of marks of the call.
func (c Call) Data() string {
	_, rest, _ := strings.Cut(c.User, "]\n")
	text, _, _ := strings.Cut(rest, "\n[/")
	return text
}

// Calls returns the recorded calls in the folder MODEL_REPLIES_DIR (*.jsonl, each
// line with system, user and reply), and skips the test without it.
func Calls(tb testing.TB) (out []Call) {
	tb.Helper()
	dir := os.Getenv("MODEL_REPLIES_DIR")
	if dir == "" {
		tb.Skip("MODEL_REPLIES_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no recorded calls in MODEL_REPLIES_DIR=%s: %v", dir, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var c Call
			if err := json.Unmarshal(line, &c); err != nil {
				tb.Fatalf("%s: %v", name, err)
			}
			out = append(out, c)
		}
	}
	return out
}
