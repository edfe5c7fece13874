// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// Counter counts the tokens of a text, exactly as the tokenizer of its encoding
// does. Special tokens such as <|endoftext|> are plain text, and a
// byte that is not valid UTF-8 counts like the character U+FFFD. It is safe
// for concurrent use.
type Counter struct {
	name  string
	v     *vocabulary
	cache sync.Pool // of *cache
}

var (
	cl100k = sync.OnceValue(func() *Counter { return newCounter(tokenizer.Cl100kBase) })
	o200k  = sync.OnceValue(func() *Counter { return newCounter(tokenizer.O200kBase) })
)

// Cl100k is the counter of cl100k_base: GPT-3.5, GPT-4, text-embedding-3, and the
// default of Microsoft GraphRAG. The first call loads the vocabulary, which is
// embedded and takes about 0.1 s; all calls share one counter.
func Cl100k() *Counter { return cl100k() }

// O200k is the counter of o200k_base: GPT-4o and later. See [Cl100k].
func O200k() *Counter { return o200k() }

func newCounter(e tokenizer.Encoding) *Counter {
	c := &Counter{name: string(e), v: load(e)}
	c.cache.New = func() any { return new(cache) }
	return c
}

// Name is that of the encoding, "cl100k_base" or "o200k_base".
func (c *Counter) Name() string { return c.name }

// Count returns the number of tokens of s.
func (c *Counter) Count(s string) int {
	s = validated(s)
	words := c.cache.Get().(*cache)
	defer c.cache.Put(words)
	n := 0
	for i := 0; i < len(s); {
		end := c.v.pattern.next(s, i)
		words.ends = words.split(words.ends[:0], c.v, s[i:end], 0)
		n += len(words.ends)
		i = end
	}
	return n
}

// appendEnds appends the byte offsets at which the tokens of s end. They may
// lie inside a rune. s is valid UTF-8.
func (c *Counter) appendEnds(ctx context.Context, dst []int32, s string) ([]int32, error) {
	words := c.cache.Get().(*cache)
	defer c.cache.Put(words)
	for i, look := 0, 0; i < len(s); {
		if i >= look {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			look = i + stride
		}
		end := c.v.pattern.next(s, i)
		dst = words.split(dst, c.v, s[i:end], int32(i))
		i = end
	}
	return dst, nil
}

// stride is the number of bytes between two looks at the context.
const stride = 1 << 18

// Starts appends the offsets at which the tokens of s begin, moved to the
// beginning of the rune they fall in. The one error is the context's.
func (c *Counter) Starts(ctx context.Context, dst []int32, s string) ([]int32, error) {
	if dst == nil {
		dst = make([]int32, 0, len(s)/3+8)
	}
	valid := validated(s)
	dst, err := c.appendEnds(ctx, append(dst, 0), valid)
	if err != nil {
		return nil, err
	}
	dst = dst[:len(dst)-1] // the last end begins no token
	if len(valid) == len(s) {
		for i, at := range dst {
			for !utf8.RuneStart(s[at]) {
				at--
			}
			dst[i] = at
		}
		return dst, nil
	}
	// Walk s and its valid form side by side.
	at, validAt := 0, 0
	for i, start := range dst {
		for at < len(s) {
			r, n := utf8.DecodeRuneInString(s[at:])
			if validAt+utf8.RuneLen(r) > int(start) {
				break
			}
			validAt += utf8.RuneLen(r)
			at += n
		}
		dst[i] = int32(at)
	}
	return dst, nil
}

// validated returns s with each byte that is not valid UTF-8 replaced by
// U+FFFD.
func validated(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// cache remembers how frequent words fall into tokens, so that each is looked
// up or merged once. Its size is fixed, a new word takes the place of an older
// one.
type cache struct {
	words [1 << 15]word
	ends  []int32 // room for Count
}

// word is a piece and where its tokens end: 32 bytes, half a cache line, and
// no pointer for the garbage collector to follow.
type word struct {
	text [21]byte
	size uint8
	ends [9]uint8
	n    uint8
}

// split appends the ends of the tokens of a piece to dst, counted from base.
func (c *cache) split(dst []int32, v *vocabulary, piece string, base int32) []int32 {
	h := v.hash(piece)
	var w *word
	if len(piece) <= len(w.text) {
		w = &c.words[h%uint64(len(c.words))]
		if string(w.text[:w.size]) == piece {
			for _, end := range w.ends[:w.n] {
				dst = append(dst, base+int32(end))
			}
			return dst
		}
	}
	old := len(dst)
	if v.find(piece, h) >= 0 {
		dst = append(dst, base+int32(len(piece)))
	} else {
		dst = v.merge(dst, piece, base)
	}
	if tokens := dst[old:]; w != nil && len(tokens) <= len(w.ends) {
		w.size = uint8(copy(w.text[:], piece))
		w.n = uint8(len(tokens))
		for i, end := range tokens {
			w.ends[i] = uint8(end - base)
		}
	}
	return dst
}
