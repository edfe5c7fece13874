// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math"
	"slices"
)

// means keeps the sums of the clusters' vectors from update to update, so that only
// vectors that came or went are added or taken away. A centroid is defined by the sum in
// the order of the vectors; where what is known of a sum leaves open how a component
// of that centroid is rounded to float32, the vectors are added up again.
type means struct {
	vectors  []float32
	dim      int
	sums     []float64 // of each cluster, component after component
	off      []float64 // how far a component may be from the true sum
	in       []int32   // cluster whose sum has a vector, -1 for none
	moves    []move    // since the last update, by cluster
	starts   []int32   // where each cluster's moves begin
	greatest float64   // magnitude of a component of a vector
}

// move is a vector that came to a cluster or left it.
type move struct {
	row  int32
	came bool
}

func newMeans(vectors []float32, n, k, dim int) means {
	m := means{vectors: vectors, dim: dim, sums: make([]float64, k*dim), off: make([]float64, k), in: make([]int32, n), starts: make([]int32, k+1)}
	greatest := uint32(0) // magnitudes of floats are in the order of their bits
	for _, x := range vectors {
		greatest = max(greatest, math.Float32bits(x)&^(1<<31))
	}
	m.greatest = float64(math.Float32frombits(greatest))
	return m
}

// restart forgets all sums.
func (m *means) restart() {
	clear(m.sums)
	clear(m.off)
	for i := range m.in {
		m.in[i] = -1
	}
}

// collect lists the moves that lead to labels.
func (m *means) collect(labels []int32) {
	clear(m.starts)
	for i, c := range labels {
		if was := m.in[i]; was != c {
			m.starts[c+1]++
			if was >= 0 {
				m.starts[was+1]++
			}
		}
	}
	for c := range m.starts[1:] {
		m.starts[c+1] += m.starts[c]
	}
	next := slices.Clone(m.starts)
	m.moves = slices.Grow(m.moves[:0], int(m.starts[len(m.starts)-1]))[:m.starts[len(m.starts)-1]]
	for i, c := range labels {
		was := m.in[i]
		if was == c {
			continue
		}
		m.moves[next[c]] = move{int32(i), true}
		next[c]++
		if was >= 0 {
			m.moves[next[was]] = move{int32(i), false}
			next[was]++
		}
		m.in[i] = c
	}
}

// of returns the sum of a cluster.
func (m *means) of(c int) []float64 { return m.sums[c*m.dim : (c+1)*m.dim] }

func (m *means) row(i int) []float32 { return m.vectors[i*m.dim : (i+1)*m.dim] }

// sum brings the sum of a cluster up to date and tells whether it changed. What it knows
// of it is enough to round the mean.
func (m *means) sum(c int, members []int32, k kernels) bool {
	moves, sums := m.moves[m.starts[c]:m.starts[c+1]], m.of(c)
	if len(moves) == 0 {
		return false
	}
	if 2*len(moves) < len(members) {
		for at, v := range moves {
			next := m.row(int(moves[min(at+1, len(moves)-1)].row))
			if v.came {
				k.add(sums, m.row(int(v.row)), next)
			} else {
				k.subtract(sums, m.row(int(v.row)), next)
			}
		}
		// Each rounding is off by half a unit in the last place of no more than all of them.
		most := float64(len(members)+len(moves)) * m.greatest
		m.off[c] += float64(len(moves)) * 0x1p-53 * most
		if rounds(sums, len(members), m.off[c]+float64(len(members)+4)*0x1p-52*most) {
			return true
		}
	}
	clear(sums)
	for at, i := range members {
		k.add(sums, m.row(int(i)), m.row(int(members[min(at+1, len(members)-1)])))
	}
	m.off[c] = float64(len(members)) * 0x1p-53 * float64(len(members)) * m.greatest
	return true
}

// rounds tells whether sums that are off by so much have the same mean in float32.
func rounds(sums []float64, members int, off float64) bool {
	by := float64(members)
	for _, s := range sums {
		// As bits: 0 and -0 differ.
		if math.Float32bits(float32((s-off)/by)) != math.Float32bits(float32((s+off)/by)) {
			return false
		}
	}
	return true
}
