// SPDX-License-Identifier: Apache-2.0

package bm25

import "golang.org/x/sys/cpu"

// available are the kernels this processor can run, the fastest first.
func available() []kernels {
	var all []kernels
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasPOPCNT {
		all = append(all, kernels{impacts: impactsAVX512, collect: collectAVX512, refine: refineAVX512, everywhere: true})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT {
		all = append(all, kernels{impacts: impactsAVX2, collect: collectAVX2, refine: refineAVX2, everywhere: true})
	}
	return append(all, portable())
}

func impactsAVX512(out []float32, docs []uint16, tfs []uint8, norms *[windowSize]float32, weight float32) bool {
	n := len(docs)
	return n == 0 || impacts16(&out[:n][0], &docs[0], &tfs[:n][0], &norms[0], n, weight)
}

func collectAVX512(c *candidates, sums, norms *[windowSize]float32, minimum float32) {
	c.n = collect64(&c.docs[0], &c.sums[0], &c.norms[0], &sums[0], &norms[0], windowSize, minimum)
}

func refineAVX512(c *candidates, read, kept int, column []uint8, r refinement) (int, int) {
	const word = 4 // bytes that are read for each frequency
	if len(column) < word {
		return refineCandidates(c, read, kept, column, r)
	}
	return refine16(&c.docs[0], &c.sums[0], &c.norms[0], read, kept, c.n, &column[0], len(column)-word, r.weight, r.rest, r.cutoff)
}

//go:noescape
func impacts16(out *float32, docs *uint16, tfs *uint8, norms *float32, n int, weight float32) bool

// The documents, sums and norms of candidates have room for lanes more than are written.

//go:noescape
func collect64(docs *uint16, candidateSums, candidateNorms, sums, norms *float32, n int, minimum float32) int

// A frequency is read as four bytes, those of the last documents from the limit on.

//go:noescape
func refine16(docs *uint16, sums, norms *float32, read, kept, n int, column *uint8, limit int, weight, rest, cutoff float32) (int, int)
