// SPDX-License-Identifier: Apache-2.0

//go:build unix

package find_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/internal/check"
)

// BenchmarkFind searches a hundred megabytes on one core, and compares with ripgrep in the same run if it is
// installed, else with grep -i, by the least processor time of each, on which other processes have little
// effect. FIND_PAGES names a folder of pages; without it they are generated.
func BenchmarkFind(b *testing.B) {
	texts := corpus(b)
	var chunks []graphrag.Chunk
	dir := b.TempDir()
	for i, t := range texts {
		name := fmt.Sprintf("%06d.txt", i)
		chunks = append(chunks, graphrag.Chunk{ID: name + "#0", Doc: name, Text: t, End: len(t)})
		check.OK(b, os.WriteFile(filepath.Join(dir, name), []byte(t), 0o600))
	}
	p := find.New(chunks)
	for _, tt := range []struct{ name, pattern string }{
		{"literal", "shipyard"}, {"common letters", "entertain"}, {"frequent", "other"}, {"alternatives", "larvik|vestfold|oslo"},
		{"pattern", `harbou?r\s+of`}, {"pattern of frequent words", `\w+ of the \d+`}, {"none", `\d{4}-\d{2}-\d{2}`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the benchmark framework resets this at its start
			n, best := 0, time.Hour
			for b.Loop() {
				before := cpu()
				r := check.Of(p.Find(b.Context(), tt.pattern, 20)).OK(b)
				n, best = r.Matching, min(best, cpu()-before)
			}
			b.ReportMetric(float64(n), "lines")
			b.ReportMetric(best.Seconds()*1000, "cpu-ms")
			tool, args := "rg", []string{"-i", "-j1", "--no-ignore", "-c", tt.pattern, dir}
			if _, err := exec.LookPath(tool); err != nil {
				tool, args = "grep", []string{"-r", "-i", "-P", "-c", tt.pattern, dir}
			}
			best = time.Hour
			for range 7 {
				c := exec.Command(tool, args...)
				_ = c.Run() // the exit status only says whether there are matches
				best = min(best, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
			}
			b.ReportMetric(best.Seconds()*1000, tool+"-cpu-ms")
		})
	}
}

// cpu returns the processor time of this process so far.
func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // cannot fail for this process
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func corpus(b *testing.B) (texts []string) {
	b.Helper()
	total := 0
	if dir := os.Getenv("FIND_PAGES"); dir != "" {
		names, _ := filepath.Glob(filepath.Join(dir, "*"))
		for total < 100<<20 && len(names) > 0 { // repeats the files from the first
			for _, name := range names {
				if data, err := os.ReadFile(name); err == nil && total < 100<<20 {
					texts, total = append(texts, string(data)), total+len(data)
				}
			}
		}
		return texts
	}
	words := strings.Fields("the of and harbour ship other people entertained in 1893 sailed to ice north museum built shipyards town where a was by for with that this from its")
	rng := rand.New(rand.NewPCG(1, 2))
	for total < 100<<20 {
		var t strings.Builder
		for t.Len() < 50_000 {
			t.WriteString(words[rng.IntN(len(words))])
			t.WriteByte(" \n"[min(rng.IntN(12)/11, 1)])
		}
		texts, total = append(texts, t.String()), total+t.Len()
	}
	return texts
}
