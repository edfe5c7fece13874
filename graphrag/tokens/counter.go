// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"context"
	"math/bits"
	"sync"
	"unicode/utf8"
)

// Counter counts the tokens of a text, exactly as the tokenizer of cl100k_base does. Special tokens such as
// <|endoftext|> count as plain text, and a byte that is not valid UTF-8 counts as the character U+FFFD. It is
// safe for concurrent use.
type Counter struct {
	v     *vocabulary
	cache sync.Pool // pool of *cache
}

// Cl100k returns the counter of cl100k_base, the encoding of GPT-3.5, GPT-4, text-embedding-3, and the default
// of Microsoft GraphRAG. The first call loads the vocabulary, which is embedded; all calls return the same
// counter.
func Cl100k() *Counter { return cl100k() }

var cl100k = sync.OnceValue(func() *Counter {
	c := &Counter{v: load()}
	c.cache.New = func() any { return new(cache) }
	return c
})

// Count returns the number of tokens of s.
func (c *Counter) Count(s string) int {
	s = validated(s)
	words := c.cache.Get().(*cache)
	defer c.cache.Put(words)
	n := 0
	for i := 0; i < len(s); {
		end := c.v.pattern.next(s, i)
		n += words.count(c.v, s[i:end])
		i = end
	}
	return n
}

// appendEnds appends the byte offsets at which the tokens of s end, maybe inside a rune. s must be valid UTF-8.
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
		dst = words.split(ctx, dst, c.v, s[i:end], int32(i))
		i = end
	}
	return dst, ctx.Err()
}

// stride is the number of bytes between two checks of the context.
const stride = 1 << 18

// Starts appends the offsets at which the tokens of s begin; one inside a rune is moved to the beginning of the
// rune. The only error is the error of the context.
func (c *Counter) Starts(ctx context.Context, dst []int32, s string) ([]int32, error) {
	if dst == nil {
		dst = make([]int32, 0, len(s)/3+8)
	}
	valid := validated(s)
	dst, err := c.appendEnds(ctx, append(dst, 0), valid)
	if err != nil {
		return nil, err
	}
	dst = dst[:len(dst)-1] // no token begins at the last end
	if len(valid) == len(s) {
		for i, at := range dst {
			for !utf8.RuneStart(s[at]) {
				at--
			}
			dst[i] = at
		}
		return dst, nil
	}
	// Offsets in s and in its valid form advance together.
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

// validated returns s with each byte that is not valid UTF-8 replaced by U+FFFD.
func validated(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// cache stores the tokens of frequent words, so that each is looked up or merged once. Its size is fixed: a new
// word replaces the older one of two.
type cache struct {
	words [1 << 15][2]word
	ends  []int32 // memory for the ends of new words
}

// longest is the largest length of a cached word, in bytes.
const longest = 16

// word is a cached piece of text, as two numbers, with the ends of its tokens: 32 bytes, half a cache line,
// without a pointer for the garbage collector to follow.
type word struct {
	low, high uint64
	size, n   uint8
	ends      [14]uint8
}

// split appends the ends of the tokens of a piece to dst, as offsets to which base is added.
func (c *cache) split(ctx context.Context, dst []int32, v *vocabulary, piece string, base int32) []int32 {
	w := c.word(v, piece)
	if w == nil {
		return v.split(ctx, dst, piece, base)
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
	c.ends = v.split(context.Background(), c.ends[:0], piece, 0)
	return len(c.ends)
}

// word returns the cache entry of a piece, computed if there is none; nil for a piece that is too long.
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
	c.ends = v.split(context.Background(), c.ends[:0], piece, 0)
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

// numbers returns all bytes of a piece of 1 to 16, some of them twice: with its length they identify the piece.
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

const (
	// shortest is a length in bytes: shorter texts are counted as fast as they are looked up.
	shortest = 32
	// maxRemembered limits the cached texts, in bytes.
	maxRemembered = 16 << 20
)

// Within returns the longest prefix of a list whose items together cost at most the given number of tokens.
func Within[T any](list []T, tokens int, cost func(T) int) []T {
	for i, x := range list {
		if tokens -= cost(x); tokens < 0 {
			return list[:i:i]
		}
	}
	return list
}

// Remember returns a counter that caches the token counts of texts, since the same chunks, rows and sentences
// are counted for many questions. It caches up to 16 MiB of texts, then starts with an empty cache. It is safe
// for concurrent use if count is.
func Remember(count func(string) int) func(string) int {
	m := memory{lengths: make(map[string]int)}
	return func(s string) int {
		if len(s) < shortest {
			return count(s)
		}
		if n, ok := m.of(s); ok {
			return n
		}
		n := count(s)
		m.keep(s, n)
		return n
	}
}

// memory caches token counts by text.
type memory struct {
	mu      sync.Mutex
	lengths map[string]int
	bytes   int
}

func (m *memory) of(s string) (n int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok = m.lengths[s]
	return n, ok
}

func (m *memory) keep(s string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes += len(s); m.bytes > maxRemembered {
		clear(m.lengths)
		m.bytes = len(s)
	}
	m.lengths[s] = n
}
