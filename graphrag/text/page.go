// SPDX-License-Identifier: Apache-2.0

package text

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// page is a part of a text in lower case, and where its runs are: of letters, digits and
// bytes above ASCII, beside which nothing is in words.
type page struct {
	lower [pageBytes + inSlot]byte // words may be read beyond their end
	edges [pageBytes + 1]uint16    // where runs begin and end, in turn
	runs  [pageBytes / 64]uint64   // the bytes in runs
	wide  [pageBytes / 64]uint64   // those above ASCII
}

// pageBytes fit the first cache, with the edges.
const pageBytes = 1 << 11

// read reads the beginning of a text: up to which byte, and how many edges are there. A run
// that goes on behind the page is left to the next one, unless it is all of this.
func (p *page) read(s string) (n, edges int) {
	n = min(len(s), pageBytes)
	blocks := n / 64
	lowerBlocks(p.lower[:], s, p.runs[:blocks], p.wide[:blocks])
	if blocks < (n+63)/64 {
		var last [64]byte
		copy(last[:], s[64*blocks:])
		lowerEights(p.lower[64*blocks:], unsafe.String(&last[0], len(last)), p.runs[blocks:blocks+1], p.wide[blocks:])
		blocks++
	}
	before := uint64(0) // whether the byte before belongs to a run
	for i, runs := range p.runs[:blocks] {
		for e := runs ^ (runs<<1 | before); e != 0; e &= e - 1 {
			p.edges[edges] = uint16(64*i + bits.TrailingZeros64(e))
			edges++
		}
		before = runs >> 63
	}
	switch {
	case edges&1 == 0:
	case n == len(s):
		p.edges[edges] = uint16(n)
		edges++
	default:
		edges--
		n = int(p.edges[edges])
	}
	return n, edges
}

// lowerEights brings blocks of 64 bytes to lower case, and tells in a bit for each byte which
// are in runs, and which of these are above ASCII.
func lowerEights(lower []byte, s string, runs, wide []uint64) {
	for b := range runs {
		from, to := s[64*b:64*b+64], lower[64*b:64*b+64]
		runs[b], wide[b] = 0, 0
		for i := 0; i < 64; i += 8 {
			eight, in, above := lowered(load64(from[i:]))
			binary.LittleEndian.PutUint64(to[i:], eight)
			runs[b] |= in << i
			wide[b] |= above << i
		}
	}
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// lowered is [lowerEights] for eight bytes.
func lowered(eight uint64) (lower, runs, wide uint64) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	x := eight &^ high
	y := x | 0x20*ones
	letters := (y + (0x80-'a')*ones) &^ (y + (0x7f-'z')*ones) &^ eight & high
	digits := (x + (0x80-'0')*ones) &^ (x + (0x7f-'9')*ones) & high
	return eight | letters>>2, bitOfEach(letters | digits | eight&high), bitOfEach(eight & high)
}

// bitOfEach gathers the highest bits of eight bytes.
func bitOfEach(high uint64) uint64 { return high >> 7 * 0x0102040810204080 >> 56 }

// above reports whether a part of the page has a byte above ASCII.
func (p *page) above(from, to int) bool {
	for w := from >> 6; w <= (to-1)>>6; w++ {
		m := p.wide[w]
		if m == 0 {
			continue
		}
		if w == from>>6 {
			m = m >> (from & 63) << (from & 63)
		}
		if w == (to-1)>>6 {
			m <<= 63 - (to-1)&63
		}
		if m != 0 {
			return true
		}
	}
	return false
}
