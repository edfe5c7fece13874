// SPDX-License-Identifier: Apache-2.0

package text

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// lowerBlocks is [lowerEights] for blocks of 64 bytes, which the processor may take 32 at once.
func lowerBlocks(lower []byte, s string, runs, wide []uint64) {
	if !cpu.X86.HasAVX2 || len(runs) == 0 {
		lowerEights(lower, s, runs, wide)
		return
	}
	_, _, _ = lower[64*len(runs)-1], s[64*len(runs)-1], wide[len(runs)-1]
	lower32(&lower[0], unsafe.StringData(s), &runs[0], &wide[0], len(runs))
}

//go:noescape
func lower32(lower, s *byte, runs, wide *uint64, blocks int)
