// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"math"
	"slices"
)

// Products of 8-bit codes replace products of floats where less precision is enough. The value of a code is the
// code, less the code of zero, times the scale of its row (in the left factor) or of its column (in the right
// one): Jacob and others 2018, "Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference", section 2. Sums of codes are exact, and equal on all processors.

// Codes of columns are from -columnCode to columnCode, codes of rows from 0 to rowCode: the sum of two products
// fits into 16 bits, as AVX2 requires.
const (
	columnCode = 127
	rowCode    = 127
	codeStep   = 4 // number of codes multiplied in one step
)

// Codes is the right factor of a product, as 8-bit codes. It does not change after [Quantize].
type Codes struct {
	depth  int
	panels []int8    // laid out as by Pack, with codeStep codes of a column in place of one number
	sums   []int32   // by column: minus the sum of its codes
	scales []float32 // scale of each column
	even   []float32 // by column of the left factor: factor before quantization
}

// Quantize returns the codes of unpadded panels of [Pack], whose depth is a multiple of [Panel]. Peaks are the
// largest absolute values in the columns of the left factor: a factor for each column moves a part of its range
// to the weights (Xiao and others 2023, "SmoothQuant", equation 4, with α = 0.5). Without peaks all factors are
// 1.
func Quantize(panels []float32, depth int, peaks []float32) *Codes {
	n := len(panels) / depth
	q := &Codes{depth: depth, panels: make([]int8, n*depth), sums: make([]int32, n), scales: make([]float32, n)}
	q.even = slices.Repeat([]float32{1}, depth)
	for l, peak := range peaks {
		q.even[l] = evened(panels, depth, l, peak)
	}
	column := make([]float32, depth)
	for c := range n {
		for l := range column {
			column[l] = panels[at(c, l, depth)] / q.even[l]
		}
		least, most := bounds(column)
		q.scales[c] = max(-least, most, tiniest) / columnCode
		to := q.panels[c/Strip*Strip*depth+c%Strip*codeStep:]
		for l, x := range column {
			code := roundTo(x, 1/q.scales[c])
			to[l/codeStep*Strip*codeStep+l%codeStep] = int8(code)
			q.sums[c] -= code
		}
	}
	return q
}

// evened returns the factor for a column of the left factor: a power of two, so that products are exact.
func evened(panels []float32, depth, l int, peak float32) float32 {
	var row []float32
	for c := range len(panels) / depth {
		row = append(row, panels[at(c, l, depth)])
	}
	least, most := bounds(row)
	if weight := max(-least, most); weight > 0 && peak > 0 {
		return float32(math.Exp2(math.Round(math.Log2(float64(weight)/float64(peak)) / 2)))
	}
	return 1
}

// at returns the index in panels of the number at depth l of a column.
func at(column, l, depth int) int { return column/Strip*Strip*depth + l*Strip + column%Strip }

// Rows holds the codes of the left factor of a product; products reuse it. The zero value is ready for use.
type Rows struct {
	codes  []uint8
	scales []float32
	zeros  []int32
}

// Multiply writes a·b + bias to c, for all columns of b. a has rows rows without gaps, a positive multiple of
// [TileRows]; the rows of c are ldc apart.
func (r *Rows) Multiply(c, a []float32, b *Codes, bias []float32, rows, ldc int) {
	r.set(a, rows, b.even)
	for p := 0; p < len(b.scales); p += Panel {
		_, _ = c[(rows-1)*ldc+p+Panel-1], bias[p+Panel-1] // bounds check, which the assembly does not make
		codeKernels[0].multiply(c[p:], r, b, bias, p, ldc)
	}
}

func (r *Rows) set(a []float32, rows int, even []float32) {
	depth := len(even)
	if n := rows * depth; cap(r.codes) < n {
		r.codes = make([]uint8, n)
	}
	if cap(r.scales) < rows {
		r.scales, r.zeros = make([]float32, rows), make([]int32, rows)
	}
	r.codes, r.scales, r.zeros = r.codes[:rows*depth], r.scales[:rows], r.zeros[:rows]
	for i := range rows {
		r.scales[i], r.zeros[i] = codeKernels[0].quantize(r.codes[i*depth:(i+1)*depth], a[i*depth:(i+1)*depth], even)
	}
}

// codeKernel is an implementation of products of codes.
type codeKernel struct {
	name string
	// quantize writes the codes of a row, multiplied by even, and returns their scale and the code of zero.
	quantize func(out []uint8, x, even []float32) (scale float32, zero int32)
	// multiply computes [Rows.Multiply] for the panel that begins at column p; c begins there, too.
	multiply func(c []float32, a *Rows, b *Codes, bias []float32, p, ldc int)
}

// codeKernels are the kernels for codes that this processor can run, the fastest first.
var codeKernels = append(wideCodes(), codeKernel{"plain", quantizePlain, multiplyCodesPlain})

func quantizePlain(out []uint8, x, even []float32) (scale float32, zero int32) {
	var least, most float32
	for i, v := range x {
		least, most = min(least, v*even[i]), max(most, v*even[i])
	}
	scale, zero = steps(least, most)
	for i, v := range x {
		out[i] = uint8(min(max(roundTo(v*even[i], 1/scale)+zero, 0), math.MaxUint8))
	}
	return scale, zero
}

// steps returns the scale and the code of zero with which a row's codes cover the range from least to most.
func steps(least, most float32) (scale float32, zero int32) {
	scale = max(most-least, tiniest) / rowCode
	return scale, roundTo(-least, 1/scale)
}

// tiniest is the smallest range that codes cover.
const tiniest = 1e-20

func roundTo(x, scale float32) int32 { return int32(math.RoundToEven(float64(x * scale))) }

// bounds returns the minimum and the maximum of the numbers and 0.
func bounds(x []float32) (least, most float32) {
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	return least, most
}

func multiplyCodesPlain(c []float32, a *Rows, b *Codes, bias []float32, p, ldc int) {
	for r, scale := range a.scales {
		row := a.codes[r*b.depth : (r+1)*b.depth]
		for col := range Panel {
			column := b.panels[(p+col)/Strip*Strip*b.depth+col%Strip*codeStep:]
			sum := a.zeros[r] * b.sums[p+col]
			for l, x := range row {
				sum += int32(x) * int32(column[l/codeStep*Strip*codeStep+l%codeStep])
			}
			c[r*ldc+col] = float32(sum)*(scale*b.scales[p+col]) + bias[p+col]
		}
	}
}

// A call of [Multiply] computes a multiple of TileRows rows, for Panel columns. A panel contains depth rows of
// its first Strip columns, then depth rows of its other Strip columns.
const (
	TileRows = 12
	Panel    = 32
	Strip    = Panel / 2
)

// Pack copies columns, each of depth consecutive numbers, to panels, and pads the last panel with columns of
// zeros. It reuses the memory of panels if that suffices.
func Pack(panels, columns []float32, depth int) []float32 {
	n := len(columns) / depth
	size := Padded(n) * depth
	if cap(panels) < size {
		panels = make([]float32, size)
	}
	panels = panels[:size]
	clear(panels[n/Strip*Strip*depth:])
	for c := range n {
		to := panels[c/Strip*Strip*depth+c%Strip:]
		for l, x := range columns[c*depth : (c+1)*depth] {
			to[l*Strip] = x
		}
	}
	return panels
}

// Padded returns the number of columns in the panels for n columns.
func Padded(n int) int { return (n + Panel - 1) / Panel * Panel }

// multiplyPlain computes four columns at a time, as many as the compiler keeps in registers.
func multiplyPlain(c, a, b, bias []float32, rows, depth, ldc, lda int) {
	for r := range rows {
		row := a[r*lda : r*lda+depth]
		for col := 0; col < Panel; col += 4 {
			part := b[col/Strip*depth*Strip+col%Strip:]
			out := c[r*ldc+col:][:4]
			s0, s1, s2, s3 := bias[col], bias[col+1], bias[col+2], bias[col+3]
			for l, x := range row {
				p := part[l*Strip:][:4]
				s0 += x * p[0]
				s1 += x * p[1]
				s2 += x * p[2]
				s3 += x * p[3]
			}
			out[0], out[1], out[2], out[3] = s0, s1, s2, s3
		}
	}
}

// Multiply writes a·b + bias to c, for one panel b. a has rows rows of depth numbers, lda apart, and rows is a
// multiple of [TileRows]; the rows of c are ldc apart. Each element of c is summed in the same order, first the
// bias, whatever its row.
func Multiply(c, a, b, bias []float32, rows, depth, ldc, lda int) {
	if rows == 0 || depth == 0 {
		return
	}
	// Bounds check, which the assembly does not make.
	_, _, _, _ = c[(rows-1)*ldc+Panel-1], a[(rows-1)*lda+depth-1], b[Panel*depth-1], bias[Panel-1]
	kernels[0].multiply(c, a, b, bias, rows, depth, ldc, lda)
}

// kernel is an implementation of [Multiply].
type kernel struct {
	name     string
	multiply func(c, a, b, bias []float32, rows, depth, ldc, lda int)
}

// kernels are the kernels that this processor can run, the fastest first.
var kernels = append(wideKernels(), kernel{"plain", multiplyPlain})
