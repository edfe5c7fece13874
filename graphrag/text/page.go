// SPDX-License-Identifier: Apache-2.0

package text

import (
	"encoding/binary"
	"math/bits"
)

// page is a part of a text in lower case, and where its runs are: of letters, digits and
// bytes above ASCII, beside which nothing is in words.
type page struct {
	lower [pageBytes + inSlot]byte // words may be read beyond their end
	edges [pageBytes + 64]uint16   // where runs begin and end, in turn
	wide  [pageBytes/64 + 1]uint64 // the bytes above ASCII
}

// pageBytes fit the first cache, with the edges.
const pageBytes = 1 << 11

// read reads the beginning of a text: up to which byte, and how many edges are there. A run
// that goes on behind the page is left to the next one, unless it is all of this.
func (p *page) read(s string) (n, edges int) {
	last := uint64(0) // whether the byte before belongs to a run
	for n < min(len(s), pageBytes) {
		runs := p.block(s, n)
		for e := runs ^ (runs<<1 | last); e != 0; e &= e - 1 {
			p.edges[edges] = uint16(n + bits.TrailingZeros64(e))
			edges++
		}
		last = runs >> 63
		n += 64
	}
	switch n = min(n, len(s)); {
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

// block reads 64 bytes of a text from there on, or what is left, and returns which of them
// are in runs.
func (p *page) block(s string, at int) (runs uint64) {
	lower, wide := p.lower[at:at+64], uint64(0)
	if s = s[at:]; len(s) >= 64 {
		for i := 0; i < 64; i += 8 {
			eight, in, above := lowered(load64(s[i:]))
			binary.LittleEndian.PutUint64(lower[i:], eight)
			runs |= in << i
			wide |= above << i
		}
	} else {
		for i := 0; i < len(s); i += 8 {
			eight, in, above := lowered(loadLast(s[i:]))
			binary.LittleEndian.PutUint64(lower[i:], eight)
			runs |= in << i
			wide |= above << i
		}
	}
	p.wide[at/64] = wide
	return runs
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// loadLast is load64 where fewer bytes may be left.
func loadLast(s string) (eight uint64) {
	if len(s) >= 8 {
		return load64(s)
	}
	for i := range len(s) {
		eight |= uint64(s[i]) << (8 * i)
	}
	return eight
}

// lowered brings the letters of eight bytes to lower case, and tells in a bit for each which
// are in runs, and which of these are above ASCII.
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
