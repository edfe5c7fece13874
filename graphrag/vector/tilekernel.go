// SPDX-License-Identifier: Apache-2.0

package vector

import "encoding/binary"

const (
	// tileRows are multiplied by many queries while they are in the first cache: 64 rows
	// of 384 codes fill 24 kB.
	tileRows = 64
	// tileQueries by four registers of sixteen rows are as many sums as there are
	// registers for.
	tileQueries = 6
)

// probe is what a tile is asked for a query: rows i with
// float32(sum-offset)·(step·scale[i]) + rest[i] ≥ want.
type probe struct {
	offset     int32 // 128 times the sum of its bytes
	step, want float32
}

// tileBounds are the scales of the rows of a tile, and behind them the rests.
type tileBounds [2 * tileRows]float32

// packRows is in plain Go: tileRows rows, four codes of each in turn, lifted by 128 so
// that they have no sign.
func packRows(tile []uint8, codes []int8, dim int) {
	for i := range tileRows {
		for j, c := range codes[i*dim : (i+1)*dim] {
			tile[j/4*4*tileRows+4*i+j%4] = uint8(c) ^ 0x80
		}
	}
}

// tileGroups is in plain Go: masks of the rows that each query wants, see [probe].
func tileGroups(masks []uint64, tile []uint8, bounds *tileBounds, queries []int8, probes []probe, dim int) {
	for q, p := range probes {
		masks[q] = 0
		bytes := queries[q/tileQueries*tileQueries*dim+q%tileQueries*4:]
		for i := range tileRows {
			sum := -p.offset
			for j := 0; j < dim; j += 4 {
				word := binary.LittleEndian.Uint32(tile[j*tileRows+4*i:])
				for _, c := range bytes[j*tileQueries:][:4] {
					sum += int32(word&0xff) * int32(c)
					word >>= 8
				}
			}
			if float32(float32(sum)*float32(p.step*bounds[i]))+bounds[tileRows+i] >= p.want {
				masks[q] |= 1 << i
			}
		}
	}
}
