// SPDX-License-Identifier: Apache-2.0

package matrix

// A call of [Multiply] computes rows in multiples of TileRows, for Panel columns. A panel has
// depth rows of its first Strip columns, then depth rows of its second Strip.
const (
	TileRows = 12
	Panel    = 32
	Strip    = Panel / 2
)

// Pack lays out columns, each of depth consecutive numbers, as panels, with zeros for the
// missing columns of the last panel. It reuses the memory of panels if it suffices.
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

// Padded is the number of columns in the panels for n columns.
func Padded(n int) int { return (n + Panel - 1) / Panel * Panel }

// multiplyPlain sums up four columns at a time: as many as a compiler keeps in registers
// with their factors.
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

// Multiply writes a·b + bias to c, for one panel b. a has rows of depth numbers, lda apart,
// whose number is a multiple of [TileRows]; the rows of c are ldc apart. Each element of c is summed
// up from the bias and the first product to the last, wherever its row stands.
func Multiply(c, a, b, bias []float32, rows, depth, ldc, lda int) {
	if rows == 0 || depth == 0 {
		return
	}
	// The kernels do not check their bounds.
	_, _, _, _ = c[(rows-1)*ldc+Panel-1], a[(rows-1)*lda+depth-1], b[Panel*depth-1], bias[Panel-1]
	kernels[0].multiply(c, a, b, bias, rows, depth, ldc, lda)
}

// kernel is one implementation of [Multiply].
type kernel struct {
	name     string
	multiply func(c, a, b, bias []float32, rows, depth, ldc, lda int)
}

// kernels are the ones that this processor can run, the fastest first.
var kernels = append(wideKernels(), kernel{"plain", multiplyPlain})
