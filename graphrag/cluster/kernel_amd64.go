// SPDX-License-Identifier: Apache-2.0

package cluster

import "golang.org/x/sys/cpu"

// fastest returns the best kernels for this processor. AVX-512, and products of int8 codes,
// made no whole run with RAPTOR noticeably faster.
func fastest() kernels {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		return kernels{height: 6, width: 16, scores: scoresAVX2, best: bestAVX2, distance: distanceAVX2, add: addAVX2}
	}
	return portable()
}

func scoresAVX2(out, tile, panels, offsets []float32) {
	const height, width = 6, 16
	dim := len(tile) / height
	for c := 0; c < len(offsets); c += width {
		scores6x16AVX2(&out[:height*len(offsets)][c], &tile[0], &panels[c*dim : (c+width)*dim][0], &offsets[c], dim, len(offsets))
	}
}

// lanes8 has the best scores of every eighth centroid.
type lanes8 struct {
	first, second [8]float32
	index         [8]int32
}

func bestAVX2(out []top, scores []float32) {
	n := len(scores) / len(out)
	var lanes lanes8
	for r := range out {
		best8AVX2(&lanes, &scores[r*n : (r+1)*n][0], n)
		t := top{first: lanes.first[0], second: lanes.second[0], index: lanes.index[0]}
		for j := 1; j < 8; j++ {
			switch s, c := lanes.first[j], lanes.index[j]; {
			case s > t.first:
				t = top{first: s, second: max(t.first, lanes.second[j]), index: c}
			case s == t.first:
				t.second, t.index = s, min(t.index, c)
			default:
				t.second = max(t.second, s)
			}
		}
		out[r] = t
	}
}

func distanceAVX2(x, y []float32) float64 {
	var s [8]float64
	whole := len(x) &^ 7
	if whole > 0 {
		distance8AVX2(&s, &x[0], &y[:whole][0], whole)
	}
	return distanceRest(&s, x[whole:], y[whole:len(x)])
}

func addAVX2(sums []float64, row, next []float32) {
	whole := len(row) &^ 7
	if whole > 0 {
		add8AVX2(&sums[:whole][0], &row[0], &next[:whole][0], whole)
	}
	addRow(sums[whole:], row[whole:], next[whole:])
}

// The assembly expects dim to be a multiple of laneWidth and n one of eight, both positive.

//go:noescape
func scores6x16AVX2(out, tile, panel, offsets *float32, dim, stride int)

//go:noescape
func best8AVX2(out *lanes8, scores *float32, n int)

//go:noescape
func distance8AVX2(sums *[8]float64, x, y *float32, n int)

//go:noescape
func add8AVX2(sums *float64, row, next *float32, n int)
