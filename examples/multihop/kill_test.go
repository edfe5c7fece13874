// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test binary be the program, so that a test can kill it.
func TestMain(m *testing.M) {
	if args := os.Getenv("MULTIHOP_CHILD"); args != "" {
		os.Args = append(os.Args[:1], strings.Split(args, "\x1f")...)
		main()
		return
	}
	os.Exit(m.Run())
}

// A run that is killed between and within its systems, and started again, ends with the
// bytes of a run in one go.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program many times")
	}
	data, err := filepath.Abs("sample")
	if err != nil {
		t.Fatal(err)
	}
	child := func(dir string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		args := []string{"-data", data, "-out", dir, "-systems", "bm25,hipporag2,linearrag", "-no-timings", "-concurrency", "1"}
		cmd.Env = append(os.Environ(), "MULTIHOP_CHILD="+strings.Join(args, "\x1f"))
		return cmd
	}
	whole, killed := t.TempDir(), t.TempDir()
	if out, err := child(whole).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, lines := range []int{2, 5, 8, 13} { // of progress, each later than the one before
		cmd := child(killed)
		out, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for in := bufio.NewScanner(out); lines > 0 && in.Scan(); {
			lines--
		}
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	if out, err := child(killed).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if diff := cmp.Diff(files(t, whole), files(t, killed)); diff != "" {
		t.Errorf("(-whole +killed):\n%.2000s", diff)
	}
}
