// SPDX-License-Identifier: Apache-2.0

package bm25

import "hash/maphash"

// vocabulary numbers distinct strings in the order of their first appearance.
// It is a table with linear probing over one arena of bytes: looking up a word
// allocates nothing.
type vocabulary struct {
	seed  maphash.Seed
	table []slot // length a power of two, at most 3/4 full
	bytes []byte
	ends  []int // ends[i] is where string i ends in bytes
}

// slot is empty when its id is 0; otherwise it holds string id-1.
type slot struct {
	hash uint32
	id   uint32
}

func newVocabulary() *vocabulary {
	return &vocabulary{seed: maphash.MakeSeed(), table: make([]slot, 1<<10)}
}

func (v *vocabulary) len() int { return len(v.ends) }

// at returns string i; it must not be modified.
func (v *vocabulary) at(i int) []byte {
	start := 0
	if i > 0 {
		start = v.ends[i-1]
	}
	return v.bytes[start:v.ends[i]:v.ends[i]]
}

// find returns the number of a word.
func (v *vocabulary) find(word []byte) (id int, ok bool) {
	s := v.slot(uint32(maphash.Bytes(v.seed, word)), word)
	return int(s.id) - 1, s.id != 0
}

// add returns the number of a word, giving it the next one when it is new.
func (v *vocabulary) add(word []byte) (id int, added bool) {
	h := uint32(maphash.Bytes(v.seed, word))
	s := v.slot(h, word)
	if s.id != 0 {
		return int(s.id) - 1, false
	}
	v.bytes = append(v.bytes, word...)
	v.ends = append(v.ends, len(v.bytes))
	*s = slot{hash: h, id: uint32(len(v.ends))}
	if len(v.ends) > len(v.table)/4*3 {
		v.grow()
	}
	return len(v.ends) - 1, true
}

// slot returns where the word is, or the empty slot where it belongs.
func (v *vocabulary) slot(h uint32, word []byte) *slot {
	mask := uint32(len(v.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &v.table[i]
		if s.id == 0 || s.hash == h && string(v.at(int(s.id)-1)) == string(word) {
			return s
		}
	}
}

func (v *vocabulary) grow() {
	old := v.table
	v.table = make([]slot, 2*len(old))
	mask := uint32(len(v.table) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.hash & mask
		for v.table[i].id != 0 {
			i = (i + 1) & mask
		}
		v.table[i] = s
	}
}
