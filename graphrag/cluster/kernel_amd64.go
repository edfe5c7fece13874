// SPDX-License-Identifier: Apache-2.0

package cluster

import "golang.org/x/sys/cpu"

// fastest returns the best kernels this processor can run.
func fastest() kernels {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return portable()
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI:
		return vnni()
	case cpu.X86.HasAVX512F:
		return avx512()
	}
	return avx2()
}

func avx2() kernels {
	return kernels{height: 6, width: 16, scores: scoresAVX2, best: bestAVX2, atLeast: atLeastRow, distance: distanceAVX2, add: addAVX2}
}

func avx512() kernels {
	k := avx2()
	k.height, k.width, k.scores, k.best, k.atLeast = 12, 32, scoresAVX512, bestAVX512, atLeastAVX512
	return k
}

func vnni() kernels {
	k := avx512()
	k.leastCoded, k.codeScores = 32, codeScoresVNNI
	return k
}

func scoresAVX2(out, tile, panels, offsets []float32) {
	const height, width = 6, 16
	dim := len(tile) / height
	for c := 0; c < len(offsets); c += width {
		scores6x16AVX2(&out[:height*len(offsets)][c], &tile[0], &panels[c*dim : (c+width)*dim][0], &offsets[c], dim, len(offsets))
	}
}

func scoresAVX512(out, tile, panels, offsets []float32) {
	const height, width = 12, 32
	dim := len(tile) / height
	for c := 0; c < len(offsets); c += width {
		scores12x32AVX512(&out[:height*len(offsets)][c], &tile[0], &panels[c*dim : (c+width)*dim][0], &offsets[c], dim, len(offsets))
	}
}

func codeScoresVNNI(out []float32, tile []int8, rows []coded, panels []uint8, steps, offsets []float32) {
	const height, width = 12, 32
	dim := len(tile) / height
	for c := 0; c < len(offsets); c += width {
		codeScores12x32VNNI(&out[:height*len(offsets)][c], &tile[0], &rows[:height][0], &panels[c*dim : (c+width)*dim][0], &steps[:len(offsets)][c], &offsets[c], dim, len(offsets))
	}
}

func bestAVX512(out []top, scores []float32) {
	n := len(scores) / len(out)
	best16AVX512(&out[0], &scores[:len(out)*n][0], len(out), n)
}

func atLeastAVX512(indices []int32, scores []float32, least float32) int {
	return atLeast16AVX512(&indices[:len(scores)+16][0], &scores[0], len(scores), least)
}

// largestFirst is the greatest magnitude of as many of the first components as it can take.
func largestFirst(row []float32) (done int, bits uint32) {
	if done = len(row) &^ 15; !cpu.X86.HasAVX512F || done == 0 {
		return 0, 0
	}
	return done, largest16AVX512(&row[0], done)
}

// codeFirst does what codeRest does for as many of the first components as it can, and
// returns how many, with the sum of their codes.
func codeFirst(code []int8, row []float32, step float32, squares *[8]float64) (done int, sum int32) {
	done = len(row) &^ 15
	if !cpu.X86.HasAVX512F || done == 0 {
		return 0, 0
	}
	var sums [16]int32
	code16AVX512(&code[:done][0], &row[0], done, float64(step), 1/step, squares, &sums)
	for _, s := range sums {
		sum += s
	}
	return done, sum
}

// lanes8 are the best scores of every eighth centroid.
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

// The assembly expects dim to be a multiple of laneWidth, n one of eight or sixteen, all
// positive.

//go:noescape
func scores12x32AVX512(out, tile, panel, offsets *float32, dim, stride int)

//go:noescape
func codeScores12x32VNNI(out *float32, tile *int8, rows *coded, panel *uint8, steps, offsets *float32, dim, stride int)

//go:noescape
func scores6x16AVX2(out, tile, panel, offsets *float32, dim, stride int)

//go:noescape
func best8AVX2(out *lanes8, scores *float32, n int)

//go:noescape
func code16AVX512(code *int8, row *float32, n int, step float64, inverse float32, squares *[8]float64, sums *[16]int32)

//go:noescape
func best16AVX512(out *top, scores *float32, rows, n int)

//go:noescape
func atLeast16AVX512(indices *int32, scores *float32, n int, least float32) (found int)

//go:noescape
func largest16AVX512(row *float32, n int) (bits uint32)

//go:noescape
func distance8AVX2(sums *[8]float64, x, y *float32, n int)

//go:noescape
func add8AVX2(sums *float64, row, next *float32, n int)
