// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/internal/check"
)

// A process that refreshes an index is killed at any moment: the next one finds the old index or the new one,
// and never has to build it again.
func TestKill(t *testing.T) {
	const docs, index = "FOLDER_KILL_DOCS", "FOLDER_KILL_INDEX"
	if os.Getenv(docs) != "" { // this process is the child
		h := home{t, folder.Options{Docs: os.Getenv(docs), Index: os.Getenv(index)}}
		f, _, err := h.try()
		for i := 0; err == nil; i++ {
			h.write("moving.md", fmt.Sprintf("The harbour has %d berths.\n", i))
			_, err = f.Refresh(t.Context())
		}
		t.Fatal(err)
	}
	kills := 30
	if testing.Short() {
		kills = 5
	}
	h := newHome(t)
	for i := range 40 {
		h.write(fmt.Sprintf("fixed%d.md", i), fmt.Sprintf("The barn owl number %d hunts by ear.\n", i))
	}
	f, _ := h.open()
	f.Close()
	refreshed := 0
	before, _ := os.ReadFile(filepath.Join(h.Index, "current"))
	for i := range kills {
		child := exec.Command(os.Args[0], "-test.run", "^TestKill$")
		child.Env = append(os.Environ(), docs+"="+h.Docs, index+"="+h.Index)
		check.OK(t, child.Start())
		for wait := 0; i%2 == 0 && wait < 2000; wait++ { // waits until the child publishes
			if now, _ := os.ReadFile(filepath.Join(h.Index, "current")); string(now) != string(before) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(rand.N(150 * time.Millisecond))
		check.OK(t, child.Process.Kill())
		_ = child.Wait()
		if now, _ := os.ReadFile(filepath.Join(h.Index, "current")); string(now) != string(before) {
			refreshed++
			before = now
		}
		f, c := h.open()
		check.Must(t, c.Rebuilt == "" && c.Added <= 1 && c.Deleted <= 0, "after a kill: %+v", c)
		answer, _ := h.ask(f, "How does the barn owl number 7 hunt?")
		check.Must(t, answer == "The barn owl number 7 hunts by ear.", "after a kill: %q", answer)
		f.Close()
		before, _ = os.ReadFile(filepath.Join(h.Index, "current"))
	}
	t.Logf("%d of %d children had published before they were killed", refreshed, kills)
	check.True(t, refreshed != 0, "no child was killed while it published")
}
