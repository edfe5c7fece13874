// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
)

// TestFailureIsFinal lets the disk recover at once: after a failed fsync a
// second one may report success for pages that were thrown away.
func TestFailureIsFinal(t *testing.T) {
	for failAt := range 4 { // two appends
		d := newSimDisk()
		j, err := Open("j", testHeader, Options{disk: d})
		check.OK(t, err)
		d.failAt, d.err = d.ops+failAt, syscall.EIO
		var first error
		for i := range 10 {
			err := j.Append(1, nil)
			check.Must(t, first == nil || err != nil, "op %d: append %d worked after %v", failAt, i, first)
			if first == nil {
				first = err
			}
		}
		check.Is(t, first, syscall.EIO, "op %d", failAt)
		err = j.Close()
		check.True(t, err == nil, "%v", err)
	}
}

// TestChild is not a test: it is the process that TestKill kills. It prints
// the number of each record it was promised.
func TestChild(t *testing.T) {
	path := os.Getenv("WILDGRAPH_JOURNAL_CHILD")
	if path == "" {
		t.Skip("helper process of TestKill")
	}
	j, err := Open(path, testHeader, Options{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var mu sync.Mutex
	next := j.Recovered().Records
	for range 4 {
		go func() {
			for {
				mu.Lock()
				id := next
				next++
				mu.Unlock()
				if err := j.Append(1, fmt.Appendf(nil, "%d", id)); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Printf("ack %d\n", id)
				mu.Unlock()
			}
		}()
	}
	select {}
}

func TestKill(t *testing.T) {
	check.Long(t)
	path := filepath.Join(t.TempDir(), "j")
	rng := rand.New(rand.NewPCG(1, 2))
	for kill := range 6 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
		cmd.Env = append(os.Environ(), "WILDGRAPH_JOURNAL_CHILD="+path)
		out := check.Of(cmd.StdoutPipe()).OK(t)
		check.OK(t, cmd.Start())
		acked := map[string]bool{}
		limit := 5 + rng.IntN(40)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break // an unfinished line is no acknowledgement
			}
			id, ok := strings.CutPrefix(strings.TrimSpace(line), "ack ")
			check.Must(t, ok, "child says %q", line)
			acked[id] = true
			if len(acked) == limit {
				time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
				_ = cmd.Process.Kill()
			}
		}
		_ = cmd.Wait()
		check.Must(t, len(acked) >= limit, "the child died after %d records", len(acked))
		j := mustOpen(t, path) // the lock died with the child
		seen := map[string]int{}
		for _, r := range readAll(t, j) {
			seen[string(r.Payload)]++
		}
		for id := range acked {
			check.True(t, seen[id] != 0, "kill %d: acknowledged record %s is lost", kill, id)
		}
		check.OK(t, j.Close())
	}
}
