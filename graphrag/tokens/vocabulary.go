// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"compress/flate"
	"container/heap"
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"sync"
	"unicode"
	"unicode/utf8"
)

// vocabulary has the tokens of cl100k_base: the bytes of each, and the order in which tokens merge (a smaller
// id merges first).
type vocabulary struct {
	pattern pattern
	ids     map[string]int32
}

// packed has the tokens in the order of their ids, each after a byte with its length, packed by DEFLATE.
// TestVocabulary writes them from github.com/tiktoken-go/tokenizer, which has them as Go maps, slow to compile.
//
//go:embed cl100k_base
var packed []byte

// load reads the vocabulary.
func load() *vocabulary {
	v := &vocabulary{pattern: pattern{table: basicPlane()}, ids: make(map[string]int32, 1<<17)}
	all, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic(fmt.Sprintf("tokens: the vocabulary, which is linked in: %v", err))
	}
	for rest := string(all); rest != ""; {
		end := 1 + int(rest[0])
		v.ids[rest[1:end]] = int32(len(v.ids))
		rest = rest[end:]
	}
	return v
}

// rank returns the rank at which s is merged to a token, none if s is not a token.
func (v *vocabulary) rank(s string) int32 {
	if id, ok := v.ids[s]; ok {
		return id
	}
	return none
}

// none is the rank of neighbours that cannot be merged.
const none = math.MaxInt32

// shortPiece is the length in bytes up to which the best pair to merge is found by a search of all pairs:
// quadratic, but without a data structure. Longer pieces are rare and use a heap.
const shortPiece = 64

// split appends the ends of the tokens of a piece to dst, as offsets to which base is added. If ctx ends during
// a long piece, the ends are invalid.
func (v *vocabulary) split(ctx context.Context, dst []int32, piece string, base int32) []int32 {
	if v.rank(piece) != none {
		return append(dst, base+int32(len(piece)))
	}
	return v.merge(ctx, dst, piece, base)
}

// merge appends the ends of the tokens of a piece to dst, as offsets to which base is added. Neighbours are
// merged in the order of the rank of the merged token, equal ranks from left to right, until no two neighbours
// form a token.
func (v *vocabulary) merge(ctx context.Context, dst []int32, piece string, base int32) []int32 {
	if len(piece) > shortPiece {
		return v.mergeLong(ctx, dst, piece, base)
	}
	// Part i is from start[i] to start[i+1]-1; rank[i] is the rank of parts i and i+1 merged.
	var start, rank [shortPiece + 1]int32
	n := len(piece)
	pair := func(i int) int32 {
		if i < 0 || i+2 > n {
			return none
		}
		return v.rank(piece[start[i]:start[i+2]])
	}
	for i := range n + 1 {
		start[i] = int32(i)
	}
	for i := range n {
		rank[i] = pair(i)
	}
	for {
		best := 0
		for i := 1; i < n; i++ {
			if rank[i] < rank[best] {
				best = i
			}
		}
		if rank[best] == none {
			break
		}
		copy(start[best+1:n], start[best+2:n+1])
		copy(rank[best+1:n-1], rank[best+2:n])
		n--
		rank[best] = pair(best)
		if best > 0 {
			rank[best-1] = pair(best - 1)
		}
	}
	for i := 1; i <= n; i++ {
		dst = append(dst, base+start[i])
	}
	return dst
}

// candidate is a merge that was possible when it was found: the parts from start to end form a token of the
// rank.
type candidate struct{ rank, start, end int32 }

// candidates is a heap with the next merge on top.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	return c[i].rank < c[j].rank || c[i].rank == c[j].rank && c[i].start < c[j].start
}
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := len(*c) - 1
	x := (*c)[last]
	*c = (*c)[:last]
	return x
}

// mergeLong does the same as merge in O(n log n).
func (v *vocabulary) mergeLong(ctx context.Context, dst []int32, piece string, base int32) []int32 {
	n := int32(len(piece))
	// Parts are linked by their start offsets; the entry at n ends the list.
	looks := 0
	ended := func() bool { looks++; return looks%(stride>>4) == 0 && ctx.Err() != nil }
	next, prev := make([]int32, n+1), make([]int32, n+1)
	for i := range n + 1 {
		if next[i], prev[i] = i+1, i-1; ended() {
			return dst
		}
	}
	open := make(candidates, 0, n)
	offer := func(start int32) {
		if start < 0 || next[start] >= n {
			return
		}
		end := next[next[start]]
		if rank := v.rank(piece[start:end]); rank != none {
			heap.Push(&open, candidate{rank, start, end})
		}
	}
	for i := range n {
		if offer(i); ended() {
			return dst
		}
	}
	const gone = -2
	for len(open) > 0 {
		if ended() {
			return dst
		}
		c := heap.Pop(&open).(candidate)
		middle := next[c.start]
		if middle == gone || middle >= n || next[middle] != c.end {
			continue // one of its parts was merged with another one
		}
		next[c.start], prev[c.end] = c.end, c.start
		next[middle] = gone
		offer(c.start)
		offer(prev[c.start])
	}
	for i := next[0]; ; i = next[i] {
		dst = append(dst, base+i)
		if i == n {
			return dst
		}
	}
}

// A class is the property of a character that the split pattern tests. Every character has one.
type class uint8

const (
	symbol  class = iota // punctuation, marks, controls, unassigned
	newline              // \r \n
	space                // white space other than \r and \n
	number               // \p{N}
	letter               // \p{L}
)

// A set is a union of classes, one bit each.
type set uint8

func (c class) in(s set) bool { return s>>c&1 != 0 }

const (
	spaces  set = 1<<newline | 1<<space
	letters set = 1 << letter
	prefix  set = 1<<symbol | 1<<space // [^\r\n\p{L}\p{N}]
	symbols set = 1 << symbol          // [^\s\p{L}\p{N}]
)

// classify returns the class of a character by the Unicode tables.
func classify(r rune) class {
	switch {
	case r == '\n' || r == '\r':
		return newline
	case unicode.IsSpace(r):
		return space
	case unicode.Is(unicode.N, r):
		return number
	case unicode.Is(unicode.L, r):
		return letter
	}
	return symbol
}

// basicPlane has the classes of the first 65,536 characters.
var basicPlane = sync.OnceValue(func() *[1 << 16]class {
	table := new([1 << 16]class)
	for r := range table {
		table[r] = classify(rune(r))
	}
	return table
})

// pattern cuts text into the pieces within which bytes are merged to tokens. It is a scanner with the same
// result as the regular expression of cl100k_base, in linear time and without backtracking.
type pattern struct {
	table *[1 << 16]class
}

// class returns the class and the length of the character at i. The end of s is U+FFFD, a symbol, of length 0.
func (p pattern) class(s string, i int) (class, int) {
	if i < len(s) && s[i] < utf8.RuneSelf {
		return p.table[s[i]], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r < 1<<16 {
		return p.table[r], n
	}
	return classify(r), n
}

// run returns the offset after the run of characters from i on that are in the set.
func (p pattern) run(s string, i int, in set) int {
	for i < len(s) {
		c, n := p.table[s[i]], 1
		if s[i] >= utf8.RuneSelf {
			c, n = p.class(s, i)
		}
		if !c.in(in) {
			return i
		}
		i += n
	}
	return i
}

// next returns the end of the piece that begins at i < len(s).
//
// The patterns are, in order of preference:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
func (p pattern) next(s string, i int) int {
	c, n := p.class(s, i)
	if s[i] == '\'' {
		if end := contraction(s, i); end > i {
			return end
		}
	}
	if c.in(letters) {
		return p.run(s, i+n, letters)
	}
	if c.in(prefix) {
		if end := p.run(s, i+n, letters); end > i+n {
			return end
		}
	}
	switch {
	case c == number:
		for end, digits := i+n, 1; ; digits++ {
			c, n := p.class(s, end)
			if n == 0 || c != number || digits == 3 {
				return end
			}
			end += n
		}
	case c.in(symbols):
		return p.symbols(s, i+n)
	case s[i] == ' ':
		if c, n := p.class(s, i+1); n > 0 && c.in(symbols) {
			return p.symbols(s, i+1+n)
		}
	}
	return p.blank(s, i)
}

// symbols returns the end of a match of [^\s\p{L}\p{N}]+[\r\n]*, whose first character ends at i.
func (p pattern) symbols(s string, i int) int {
	i = p.run(s, i, symbols)
	for i < len(s) && (s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}

// blank returns the end of a match of \s*[\r\n]+ | \s+(?!\S) | \s+ at i: white space up to its last line break;
// without a line break all of it except the last character, which belongs to the word after it.
func (p pattern) blank(s string, i int) int {
	last, lineBreak := i, 0 // start of the last character, end of the last line break
	end := i
	for end < len(s) {
		c, n := p.class(s, end)
		if !c.in(spaces) {
			break
		}
		last = end
		end += n
		if c == newline {
			lineBreak = end
		}
	}
	switch {
	case lineBreak > 0:
		return lineBreak
	case end == len(s) || last == i:
		return end
	}
	return last
}

// contraction returns the end of 's, 't, 're, 've, 'm, 'll or 'd at i, in either case; i if there is none.
func contraction(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if i+2 < len(s) && s[i+2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if i+2 < len(s) && s[i+2]|0x20 == 'l' {
			return i + 3
		}
	}
	return i
}
