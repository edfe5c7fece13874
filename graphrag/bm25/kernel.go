// SPDX-License-Identifier: Apache-2.0

package bm25

import "slices"

// kernels are the inner loops of a search for one kind of processor. All give equal bits.
type kernels struct {
	// impacts writes what each posting of a list adds to a score. It returns false if
	// a frequency does not fit its byte: then that impact is wrong.
	impacts func(out []float32, docs []uint16, tfs []uint8, norms *[windowSize]float32, weight float32) bool
	// collect makes candidates of the documents whose sum is at least the minimum, which
	// is above 0, and sets all sums to 0.
	collect func(c *candidates, sums, norms *[windowSize]float32, minimum float32)
	// refine adds a term to the sums of the candidates from the given one on, and keeps
	// those that reach the cutoff with what the rest may add. It stops before a group with
	// a frequency that does not fit its byte, and returns how many it has read and kept.
	refine func(c *candidates, read, kept int, column []uint8, r refinement) (int, int)
	// everywhere tells that collect over a whole window costs less than reading some hundred scattered sums.
	everywhere bool
}

// refinement holds the arguments of adding a term to candidates.
type refinement struct{ weight, rest, cutoff float32 }

var fast = available()[0]

func portable() kernels {
	return kernels{impacts: impactsOf, collect: collectSums, refine: refineCandidates}
}

// lanes is the number of candidates that are refined at once.
const lanes = 16

// candidates are documents of a window that may be among the best, with their sums and
// norms. The slices have room for lanes more elements.
type candidates struct {
	n     int
	docs  []uint16
	sums  []float32
	norms []float32
}

func newCandidates(most int) candidates {
	most += lanes
	return candidates{docs: make([]uint16, most), sums: make([]float32, most), norms: make([]float32, most)}
}

func (c *candidates) add(doc uint16, sum, norm float32) {
	c.docs[c.n], c.sums[c.n], c.norms[c.n] = doc, sum, norm
	c.n++
}

func impactsOf(out []float32, docs []uint16, tfs []uint8, norms *[windowSize]float32, weight float32) bool {
	tfs, out = tfs[:len(docs)], out[:len(docs)]
	for i, d := range docs {
		out[i] = weight * saturation(float32(tfs[i]), norms[d&(windowSize-1)])
	}
	return !slices.Contains(tfs, largeTF)
}

func collectSums(c *candidates, sums, norms *[windowSize]float32, minimum float32) {
	c.n = 0
	for d, sum := range sums {
		if sum >= minimum {
			c.add(uint16(d), sum, norms[d])
		}
	}
	clear(sums[:])
}

func refineCandidates(c *candidates, read, kept int, column []uint8, r refinement) (int, int) {
	var tfs [lanes]uint8
	for read < c.n {
		group := c.docs[read:min(read+lanes, c.n)]
		for i, d := range group {
			if tfs[i] = 0; int(d) < len(column) {
				tfs[i] = column[d]
			}
			if tfs[i] == largeTF {
				return read, kept
			}
		}
		for _, tf := range tfs[:len(group)] {
			kept = c.refine(read, kept, float32(tf), r)
			read++
		}
	}
	return read, kept
}

// refine adds a term to one candidate and keeps it if it is one still.
func (c *candidates) refine(read, kept int, tf float32, r refinement) int {
	sum := c.sums[read] + r.weight*saturation(tf, c.norms[read])
	if sum+r.rest >= r.cutoff {
		c.docs[kept], c.sums[kept], c.norms[kept] = c.docs[read], sum, c.norms[read]
		kept++
	}
	return kept
}
