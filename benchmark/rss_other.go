// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package benchmark

import "runtime"

func resetPeakRSS() {}

// peakRSS is the memory the Go runtime got from the system, in MiB: an upper
// bound where the resident size cannot be read portably.
func peakRSS() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.Sys) / (1 << 20)
}
