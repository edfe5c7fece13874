// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Encoding names a byte-pair encoding.
type Encoding string

// The encodings. The empty Encoding means Cl100k.
const (
	Cl100k Encoding = "cl100k_base" // GPT-3.5, GPT-4, text-embedding-3; GraphRAG's default
	O200k  Encoding = "o200k_base"  // GPT-4o and later
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

var (
	loadCl100k = sync.OnceValues(func() (*vocabulary, error) { return load(tokenizer.Cl100kBase) })
	loadO200k  = sync.OnceValues(func() (*vocabulary, error) { return load(tokenizer.O200kBase) })
)

// vocabularyOf returns the vocabulary of an encoding, loaded once.
func vocabularyOf(e Encoding) (*vocabulary, error) {
	switch e {
	case Cl100k, "":
		return loadCl100k()
	case O200k:
		return loadO200k()
	}
	return nil, fmt.Errorf("chunk: encoding %q is unknown: use %q or %q", e, Cl100k, O200k)
}

// load reads the vocabulary that the library has embedded, token by token.
func load(e tokenizer.Encoding) (*vocabulary, error) {
	codec, err := tokenizer.Get(e)
	if err != nil {
		return nil, fmt.Errorf("chunk: load vocabulary %q: %w", e, err)
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
			return nil, fmt.Errorf("chunk: vocabulary %q lacks byte %#02x", e, b)
		}
	}
	return v, nil
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
