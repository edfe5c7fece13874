// SPDX-License-Identifier: Apache-2.0

package tokens

import "math/bits"

// cache remembers how frequent words fall into tokens, so that each is looked
// up or merged once. Its size is fixed, a new word takes the place of the older
// one of two.
type cache struct {
	words [1 << 15][2]word
	ends  []int32 // room for words that are new
}

// longest is the length in bytes of the longest word that is remembered.
const longest = 16

// word is a piece, as two numbers, and where its tokens end: 32 bytes, half a cache line,
// and no pointer for the garbage collector to follow.
type word struct {
	low, high uint64
	size, n   uint8
	ends      [14]uint8
}

// split appends the ends of the tokens of a piece to dst, counted from base.
func (c *cache) split(dst []int32, v *vocabulary, piece string, base int32) []int32 {
	w := c.word(v, piece)
	if w == nil {
		return v.split(dst, piece, base)
	}
	for _, end := range w.ends[:w.n] {
		dst = append(dst, base+int32(end))
	}
	return dst
}

// count returns the number of tokens of a piece.
func (c *cache) count(v *vocabulary, piece string) int {
	if w := c.word(v, piece); w != nil {
		return int(w.n)
	}
	c.ends = v.split(c.ends[:0], piece, 0)
	return len(c.ends)
}

// word returns what is remembered of a piece, which it looks up if it is new; nil of one
// that is too long.
func (c *cache) word(v *vocabulary, piece string) *word {
	if len(piece) > longest {
		return nil
	}
	low, high := numbers(piece)
	size := uint8(len(piece))
	h, l := bits.Mul64(low^uint64(size)^0x9e3779b97f4a7c15, high^0xe7037ed1a0b428db)
	pair := &c.words[(h^l)%uint64(len(c.words))]
	for i := range pair {
		if w := &pair[i]; w.low == low && w.high == high && w.size == size {
			return w
		}
	}
	c.ends = v.split(c.ends[:0], piece, 0)
	if len(c.ends) > len(pair[0].ends) {
		return nil
	}
	pair[1] = pair[0]
	w := &pair[0]
	*w = word{low: low, high: high, size: size, n: uint8(len(c.ends))}
	for i, end := range c.ends {
		w.ends[i] = uint8(end)
	}
	return w
}

// numbers holds all bytes of a piece of 1 to 16, some of them twice: with its length they
// tell it from all others.
func numbers(s string) (low, high uint64) {
	switch n := len(s); {
	case n >= 8:
		return load64(s), load64(s[n-8:])
	case n >= 4:
		return load32(s) | load32(s[n-4:])<<32, 0
	default:
		return uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16, 0
	}
}

func load64(s string) uint64 { return load32(s) | load32(s[4:])<<32 }

func load32(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}
