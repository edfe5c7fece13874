// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math"
	"slices"
)

// codeSlabs are the rows as int8, each with its own scale:
// row ≈ scale · code, and the length of the difference is at most rest.
type codeSlabs struct {
	values  slabs[int8] // padded like Index.rows
	bounds  slabs[bound]
	longest float64 // longest rest
}

type bound struct {
	scale float32
	rest  float32
}

const maxCode = 127

// set computes the code of row i.
func (c *codeSlabs) set(i int, row []float32) {
	limits := codeRow(c.values.part(i, 1), row)
	c.bounds.part(i, 1)[0] = limits
	c.longest = max(c.longest, float64(limits.rest))
}

// codeRow writes the code of a row. Whatever the rounding does to scale and code, rest
// is measured against what was really stored.
func codeRow(code []int8, row []float32) bound {
	step := float32(largest(row) / maxCode)
	squares := 0.0
	for j, v := range row {
		q := 0.0
		if step > 0 {
			q = math.RoundToEven(float64(v) / float64(step))
			q = min(maxCode, max(-maxCode, q))
		}
		code[j] = int8(q)
		rest := float64(v) - q*float64(step)
		squares += rest * rest
	}
	// A little more than measured covers the rounding of the measurement.
	rest := math.Sqrt(squares) * (1 + 0x1p-20)
	return bound{scale: step, rest: ceil32(rest)}
}

// queryCode is a query as int16: unit ≈ step·words, where unit is the query scaled to
// length 1, and rest the length of the difference.
type queryCode struct {
	words      []int16
	step, rest float64
}

// set computes the code of a query. The words are as large as they may be for every sum
// of products with int8 codes to fit in an int32.
func (c *queryCode) set(query []float32, length float64) {
	c.words = slices.Grow(c.words[:0], len(query))[:len(query)]
	limit := float64(min(math.MaxInt16, math.MaxInt32/(maxCode*len(query))))
	c.step = largest(query) / length / limit
	squares := 0.0
	for j, v := range query {
		unit := float64(v) / length
		q := math.RoundToEven(unit / c.step)
		q = min(limit, max(-limit, q))
		c.words[j] = int16(q)
		squares += (unit - q*c.step) * (unit - q*c.step)
	}
	c.rest = math.Sqrt(squares) * (1 + 0x1p-20)
}

// codeError bounds, for a unit query, how far an estimate from the codes can be from the score, without the
// part that differs from row to row, Cauchy–Schwarz on the rest of the row. It contains the part of the
// query that its code loses (rest), and the rounding of the float32 arithmetic in [Index.scanCodes] and of
// the score: seven roundings on magnitudes of at most twice reach. The last terms are the rounding near
// zero of the estimates and of the scores, which use the query at its own length.
func codeError(rest, longestRow, longestRest, length float64) float64 {
	reach := (1 + rest) * (longestRow + longestRest)
	return rest*(longestRow+longestRest) + 16*0x1p-24*reach + 0x1p-118 + 0x1p-148/length
}

// floatError bounds how far the sum of a float kernel can be from the score: dim/8 additions and at most 16
// more roundings on magnitudes of at most |row|·|query| (Higham, "Accuracy and Stability of Numerical
// Algorithms", section 3.1), and what is lost near zero.
func floatError(dim int, longestRow, length float64) float64 {
	return longestRow*length*float64(dim/8+24)*0x1p-24*1.01 + float64(dim+8)*0x1p-149
}

// largest returns the largest magnitude.
func largest(v []float32) float64 {
	m := 0.0
	for _, c := range v {
		m = max(m, math.Abs(float64(c)))
	}
	return m
}

// ceil32 rounds up.
func ceil32(x float64) float32 {
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

// norm returns the Euclidean length: squares of float32 are exact in float64 and cannot overflow there.
func norm(v []float32) float64 {
	sum := 0.0
	for _, c := range v {
		sum += float64(c) * float64(c)
	}
	return math.Sqrt(sum)
}

// Cosine is the cosine of the angle between two vectors, the same bits on every machine. It is 0 if one of
// them has no length or they have not as many components.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	dot, aa, bb := 0.0, 0.0, 0.0
	for i, x := range a {
		x, y := float64(x), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// scale divides v by length, unless that is 0.
func scale(v []float32, length float64) {
	if length == 0 {
		return
	}
	for i, c := range v {
		v[i] = float32(float64(c) / length)
	}
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
