// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

// cpuTime is the time of the process on all cores, in hundredths of a second; 0 where
// /proc does not tell.
func cpuTime() time.Duration {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // behind the name of the program
	fields := strings.Fields(rest)
	var user, system int64
	if len(fields) > 12 {
		fmt.Sscan(fields[11], &user)
		fmt.Sscan(fields[12], &system)
	}
	return time.Duration(user+system) * (time.Second / 100)
}

// peak is the most memory that was resident at once, in bytes; where /proc does not
// tell, what was obtained of the system.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return int64(s.Sys)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kb int64
	fmt.Sscan(rest, &kb)
	return kb << 10
}

// watchHeap writes a profile of the heap whenever a collection leaves more than any before,
// until stop is called.
func watchHeap(name string, stderr io.Writer) (stop func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		most := uint64(0)
		for {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
			metrics.Read(live)
			if now := live[0].Value.Uint64(); now > most+most/50 {
				most = now
				if err := writeHeap(name); err != nil {
					fmt.Fprintln(stderr, "growth: -heapprofile:", err)
					return
				}
			}
		}
	})
	return func() {
		close(done)
		wait.Wait()
	}
}

func writeHeap(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return pprof.Lookup("heap").WriteTo(file, 0)
}
