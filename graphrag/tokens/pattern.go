// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// A class is what the split pattern needs to know of a character. No character has two.
type class uint8

const (
	symbol  class = iota // punctuation, marks, controls, unassigned
	newline              // \r \n
	space                // the rest of \s
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

// classify looks a character up in the Unicode tables.
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

// pattern cuts text into the pieces within which bytes merge to tokens. It does what the regular expression
// of cl100k_base does, as a scanner: same pieces, in linear time, without backtracking.
type pattern struct {
	table *[1 << 16]class
}

// class returns the class and length of the character at i; length 0 at the end of s.
func (p pattern) class(s string, i int) (class, int) {
	if i >= len(s) {
		return symbol, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return p.table[c], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r < 1<<16 {
		return p.table[r], n
	}
	return classify(r), n
}

// run returns the offset after the characters at i that are in the set.
func (p pattern) run(s string, i int, in set) int {
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if !p.table[c].in(in) {
				return i
			}
			i++
			continue
		}
		c, n := p.class(s, i)
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

// symbols returns the end of [^\s\p{L}\p{N}]+[\r\n]*, whose first character ends at i.
func (p pattern) symbols(s string, i int) int {
	i = p.run(s, i, symbols)
	for i < len(s) && (s[i] == '\r' || s[i] == '\n') {
		i++
	}
	return i
}

// blank returns the end of \s*[\r\n]+ | \s+(?!\S) | \s+ at i: white space up to its last line break; if it
// has none, all of it but the last character, which goes with the word after it.
func (p pattern) blank(s string, i int) int {
	last, lineBreak := i, 0 // where the last character begins, and the last break ends
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

// contraction returns the end of 's, 't, 're, 've, 'm, 'll or 'd at i, in either case, or i.
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
