// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package benchmark

import "runtime"

func resetPeakRSS() {}

// peakRSS returns the memory that the Go runtime obtained, in MiB: an upper bound of the resident size.
func peakRSS() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys) / (1 << 20)
}
