// SPDX-License-Identifier: Apache-2.0

package cluster

import "math"

// top are the two best scores of a row and the index of the best, the lowest
// such index if there are several.
type top struct {
	first, second float32
	index         int32
}

// The length of the rows of a tile and of the columns of a panel is a multiple of laneWidth,
// padded with zeros.
const laneWidth = 4

// kernels are the inner loops. Those on float64 give the same bits everywhere;
// the scores, in float32, may be added up in any order.
type kernels struct {
	// A tile has height rows, a panel width centroids.
	height, width int
	// scores: out[r*len(offsets)+c] = offsets[c] + tile row r · centroid c.
	// Panel p holds the centroids from p*width on, component after component.
	// len(offsets) is a multiple of width.
	scores func(out, tile, panels, offsets []float32)
	// best finds the two best of each row of scores.
	best func(out []top, scores []float32)
	// distance is the sum of the squared differences, see distance8.
	distance func(x, y []float32) float64
	// add: sums[j] += row[j]. next is what will be added after it.
	add func(sums []float64, row, next []float32)
}

// portable are the kernels in plain Go.
func portable() kernels {
	return kernels{height: 2, width: 4, scores: scores2x4, best: best2, distance: distance8, add: addRow}
}

func scores2x4(out, tile, panels, offsets []float32) {
	dim := len(tile) / 2
	x, y := tile[:dim], tile[dim:]
	for c := 0; c < len(offsets); c += 4 {
		panel := panels[c*dim : (c+4)*dim]
		x0, x1, x2, x3 := offsets[c], offsets[c+1], offsets[c+2], offsets[c+3]
		y0, y1, y2, y3 := x0, x1, x2, x3
		for j, a := range x {
			b, p := y[j], panel[4*j:4*j+4:4*j+4]
			x0 += a * p[0]
			x1 += a * p[1]
			x2 += a * p[2]
			x3 += a * p[3]
			y0 += b * p[0]
			y1 += b * p[1]
			y2 += b * p[2]
			y3 += b * p[3]
		}
		copy(out[c:], []float32{x0, x1, x2, x3})
		copy(out[len(offsets)+c:], []float32{y0, y1, y2, y3})
	}
}

func best2(out []top, scores []float32) {
	n := len(scores) / len(out)
	for r := range out {
		t := top{first: float32(math.Inf(-1)), second: float32(math.Inf(-1))}
		for c, s := range scores[r*n : (r+1)*n] {
			if s > t.first {
				t = top{first: s, second: t.first, index: int32(c)}
			} else if s > t.second {
				t.second = s
			}
		}
		out[r] = t
	}
}

// distance8 defines the squared distance: eight sums, of every eighth component
// each, and then of these in pairs. Squares are rounded before they are added.
func distance8(x, y []float32) float64 {
	var s [8]float64
	y = y[:len(x)]
	for len(x) >= 8 {
		for j := range 8 {
			d := float64(x[j]) - float64(y[j])
			s[j] += float64(d * d)
		}
		x, y = x[8:], y[8:]
	}
	return distanceRest(&s, x, y)
}

// distanceRest adds the last components, fewer than eight, and all sums.
func distanceRest(s *[8]float64, x, y []float32) float64 {
	for j := range x {
		d := float64(x[j]) - float64(y[j])
		s[j] += float64(d * d)
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

func addRow(sums []float64, row, _ []float32) {
	sums = sums[:len(row)]
	for j, c := range row {
		sums[j] += float64(c)
	}
}

// norm returns the Euclidean length: squares of float32 are exact in float64
// and cannot overflow there.
func norm(v []float32) float64 {
	var s0, s1, s2, s3 float64
	for ; len(v) >= 4; v = v[4:] {
		s0 += float64(v[0]) * float64(v[0])
		s1 += float64(v[1]) * float64(v[1])
		s2 += float64(v[2]) * float64(v[2])
		s3 += float64(v[3]) * float64(v[3])
	}
	for _, c := range v {
		s0 += float64(c) * float64(c)
	}
	return math.Sqrt((s0 + s1) + (s2 + s3))
}

// ceil32 rounds up.
func ceil32(x float64) float32 {
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
