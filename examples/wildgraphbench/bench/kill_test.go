// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// TestMain lets the test binary be the program, so that a test can kill it.
func TestMain(m *testing.M) {
	if os.Getenv("WILDGRAPHBENCH_CHILD") != "" {
		os.Args = append(os.Args[:1], strings.Split(os.Getenv("WILDGRAPHBENCH_CHILD"), "\x1f")...)
		Main()
		return
	}
	os.Exit(m.Run())
}

// child is the program with the given flags.
func child(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WILDGRAPHBENCH_CHILD="+strings.Join(args, "\x1f"))
	return cmd
}

// A run killed at five random moments ends with the bytes of a run in one go.
// With WILDGRAPHBENCH_DIR set the data are the real ones, for three systems.
func TestKill(t *testing.T) {
	check.Long(t)
	dir := t.TempDir()
	flags := func(out string) []string {
		f := []string{"-no-timings", "-out", filepath.Join(dir, out)}
		if data := os.Getenv("WILDGRAPHBENCH_DIR"); data != "" {
			// All of them would take minutes for each start.
			return append(f, "-data", data, "-systems", "naiverag,bm25,hipporag2")
		}
		return append(f, "-systems", "bm25,wild,lightrag,hipporag2,msgraphrag-local,raptor")
	}
	start := time.Now()
	out, err := child(flags("whole")...).CombinedOutput()
	check.OK(t, err, "%v\n%s", err, out)
	whole := time.Since(start)

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	killed := filepath.Join(dir, "killed")
	for kills := 0; kills < 5; {
		cmd := child(flags("killed")...)
		check.OK(t, cmd.Start())
		time.Sleep(time.Duration(random.Int64N(int64(whole) / 2)))
		check.OK(t, cmd.Process.Kill())
		if cmd.Wait() != nil {
			kills++
		} else { // it was done before: begin again
			check.OK(t, os.RemoveAll(killed))
		}
	}
	out, err = child(flags("killed")...).CombinedOutput()
	check.OK(t, err, "%s", out)
	check.Equal(t, folder(t, killed), folder(t, filepath.Join(dir, "whole")), "after five kills (-whole +killed)")
}

// folder reads all final files of a report folder.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(d.Name(), ".journal") || d.Name() == cli.LedgerName {
			return err
		}
		data, err := os.ReadFile(name)
		out[strings.TrimPrefix(name, dir)] = string(data)
		return err
	})
	check.Must(t, err == nil && len(out) >= 5, "%d files, %v", len(out), err)
	return out
}

// A terminal that hangs up ends the program as the keyboard does: what was paid is
// in the ledger.
func TestHangUp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process hangs up there")
	}
	asked := make(chan struct{})
	var once sync.Once
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		if !strings.HasSuffix(req.Messages[0].Text, "the word ready.") {
			once.Do(func() { close(asked) })
			time.Sleep(100 * time.Millisecond)
		}
		return llmtest.Default(req)
	}})
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "out")
	cmd := child("-out", dir, "-cache", filepath.Join(t.TempDir(), "c"), "-domains", "seafaring", "-systems", "bm25", "-model", "m")
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+server.OpenAIURL(), "OPENAI_API_KEY=sk")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	check.OK(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case <-asked:
		_ = cmd.Process.Signal(syscall.SIGHUP)
		err = <-ended
	case err = <-ended:
	}
	exit := (*exec.ExitError)(nil)
	check.Must(t, errors.As(err, &exit) && exit.ExitCode() == setup.ExitIncomplete, "%v\n%s", err, &out)
	var ledger struct{ Total struct{ Calls int } }
	data, err := os.ReadFile(filepath.Join(dir, cli.LedgerName))
	err = errors.Join(err, json.Unmarshal(data, &ledger))
	check.True(t, err == nil && ledger.Total.Calls >= 2, "%+v, %v\n%s", ledger, err, &out)
}
