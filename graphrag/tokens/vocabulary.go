// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/tiktoken-go/tokenizer"
)

// vocabulary holds the tokens of an encoding: which bytes are a token, and in
// which order tokens merge (a smaller id merges first).
type vocabulary struct {
	pattern pattern
	seed    maphash.Seed
	slots   []slot // open addressing, a power of two, at most half full
	text    string // all tokens end to end
	at      []int32
	// pairs holds the ids of the tokens of two bytes, none where there is no
	// token: half of all lookups while merging are for them.
	pairs [1 << 16]int32
	// filter has a bit for the hash of each token. It fits the processor's cache
	// and answers nine in ten lookups of what is no token.
	filter [1 << 20 / 64]uint64
}

// slot is a place in the hash table of a vocabulary. id is -1 in empty ones.
type slot struct {
	tag uint32 // upper half of the hash
	id  int32
}

// load reads the vocabulary that the library has embedded, token by token.
func load(e tokenizer.Encoding) *vocabulary {
	codec, err := tokenizer.Get(e)
	if err != nil {
		panic(fmt.Sprintf("tokens: vocabulary %q, which is linked in: %v", e, err))
	}
	v := &vocabulary{
		pattern: pattern{table: basicPlane(), o200k: e == tokenizer.O200kBase},
		seed:    maphash.MakeSeed(),
	}
	var text strings.Builder
	for {
		v.at = append(v.at, int32(text.Len()))
		token, err := codec.Decode([]uint{uint(len(v.at) - 1)})
		if err != nil {
			break // the id after the last
		}
		text.WriteString(token)
	}
	v.text = text.String()
	tokens := len(v.at) - 1
	size := 1
	for size < 2*tokens {
		size *= 2
	}
	v.slots = make([]slot, size)
	for i := range v.slots {
		v.slots[i].id = -1
	}
	for id := range int32(tokens) {
		h := v.hash(v.token(id))
		i := int(h) & (size - 1)
		for v.slots[i].id >= 0 {
			i = (i + 1) & (size - 1)
		}
		v.slots[i] = slot{uint32(h >> 32), id}
		v.filter[h>>50] |= 1 << (h >> 44 & 63)
	}
	for i := range v.pairs {
		if v.pairs[i] = v.id(string([]byte{byte(i >> 8), byte(i)})); v.pairs[i] < 0 {
			v.pairs[i] = none
		}
	}
	for b := range 256 {
		if v.id(string([]byte{byte(b)})) < 0 {
			panic(fmt.Sprintf("tokens: vocabulary %q, which is linked in, lacks byte %#02x", e, b))
		}
	}
	return v
}

func (v *vocabulary) hash(s string) uint64 { return maphash.String(v.seed, s) }

func (v *vocabulary) token(id int32) string { return v.text[v.at[id]:v.at[id+1]] }

// id returns the id of a token, -1 if s is none.
func (v *vocabulary) id(s string) int32 {
	h := v.hash(s)
	if v.filter[h>>50]>>(h>>44&63)&1 == 0 {
		return -1
	}
	return v.find(s, h)
}

func (v *vocabulary) find(s string, h uint64) int32 {
	mask := len(v.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		at := v.slots[i]
		if at.id < 0 {
			return -1
		}
		if at.tag == uint32(h>>32) && v.token(at.id) == s {
			return at.id
		}
	}
}
