// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"bytes"
	"os"
	"strconv"
)

// resetPeakRSS starts a new peak, if the kernel permits it. Otherwise the peak covers the whole process.
func resetPeakRSS() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakRSS returns the largest resident memory since the last reset, in MiB, or 0 if it is unknown.
func peakRSS() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseFloat(string(fields[0]), 64)
	return kib / 1024
}
