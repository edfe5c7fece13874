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
		n += words.count(c.v, s[i:end])
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
