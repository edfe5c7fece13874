// SPDX-License-Identifier: Apache-2.0

package bm25

import "golang.org/x/sys/cpu"

// available returns the kernels that this processor can run, the fastest first. AVX-512 was no faster than AVX2
// on the questions of WildGraphBench.
func available() []kernels {
	if cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT {
		return []kernels{{impacts: impactsAVX2, collect: collectAVX2, refine: refineAVX2, everywhere: true}, portable()}
	}
	return []kernels{portable()}
}

// setLanes holds, for each set of eight lanes, the permutation that moves the lanes of the set to the front.
var setLanes = func() (numbers [256][8]uint8) {
	for set := range numbers {
		n := 0
		for lane := range uint8(8) {
			if set>>lane&1 != 0 {
				numbers[set][n] = lane
				n++
			}
		}
	}
	return numbers
}()

func impactsAVX2(out []float32, docs []uint16, tfs []uint8, norms *[windowSize]float32, weight float32) bool {
	n := len(docs) &^ 7
	fit := n == 0 || impacts8(&out[:n][0], &docs[0], &tfs[:n][0], &norms[0], n, weight)
	return impactsOf(out[n:], docs[n:], tfs[n:], norms, weight) && fit
}

func collectAVX2(c *candidates, sums, norms *[windowSize]float32, minimum float32) {
	c.n = collect32(&c.docs[0], &c.sums[0], &c.norms[0], &sums[0], &norms[0], &setLanes, windowSize, minimum)
}

func refineAVX2(c *candidates, read, kept int, column []uint8, r refinement) (int, int) {
	if len(column) > 0 {
		read, kept = refine8(&c.docs[0], &c.sums[0], &c.norms[0], read, kept, c.n, &column[0], len(column), &setLanes, r.weight, r.rest, r.cutoff)
	}
	return refineCandidates(c, read, kept, column, r)
}

//go:noescape
func impacts8(out *float32, docs *uint16, tfs *uint8, norms *float32, n int, weight float32) bool

//go:noescape
func collect32(docs *uint16, candidateSums, candidateNorms, sums, norms *float32, laneTable *[256][8]uint8, n int, minimum float32) int

//go:noescape
func refine8(docs *uint16, sums, norms *float32, read, kept, n int, column *uint8, length int, laneTable *[256][8]uint8, weight, rest, cutoff float32) (int, int)
