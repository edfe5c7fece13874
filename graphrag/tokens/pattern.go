// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// A class is what the split patterns of the encodings need to know of a
// character. No character has two.
type class uint8

const (
	other    class = iota // symbols, punctuation, controls, unassigned
	newline               // \r \n
	space                 // the rest of \s
	number                // \p{N}
	upper                 // \p{Lu} \p{Lt}
	lower                 // \p{Ll}
	caseless              // \p{Lm} \p{Lo}
	mark                  // \p{M}
)

// A set is a union of classes, one bit each.
type set uint8

func (c class) in(s set) bool { return s>>c&1 != 0 }

const (
	spaces  set = 1<<newline | 1<<space
	letters set = 1<<upper | 1<<lower | 1<<caseless
	heads   set = 1<<upper | 1<<caseless | 1<<mark // o200k: the first part of a word
	tails   set = 1<<lower | 1<<caseless | 1<<mark // o200k: the rest of a word
	prefix  set = 1<<other | 1<<space | 1<<mark    // [^\r\n\p{L}\p{N}]
	symbols set = 1<<other | 1<<mark               // [^\s\p{L}\p{N}]
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
	case unicode.Is(unicode.Ll, r):
		return lower
	case unicode.Is(unicode.Lu, r) || unicode.Is(unicode.Lt, r):
		return upper
	case unicode.Is(unicode.L, r):
		return caseless
	case unicode.Is(unicode.M, r):
		return mark
	}
	return other
}

// basicPlane has the classes of the first 65,536 characters.
var basicPlane = sync.OnceValue(func() *[1 << 16]class {
	table := new([1 << 16]class)
	for r := range table {
		table[r] = classify(rune(r))
	}
	return table
})

// pattern cuts text into the pieces within which an encoding merges bytes to
// tokens. It does what the regular expression of the encoding does, as a
// scanner: same pieces, in linear time, without backtracking.
type pattern struct {
	table *[1 << 16]class
	o200k bool
}

// class returns the class and length of the character at i; length 0 at the
// end of s.
func (p pattern) class(s string, i int) (class, int) {
	if i >= len(s) {
		return other, 0
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
//	cl100k: (?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?\p{L}+
//	o200k:  [^\r\n\p{L}\p{N}]? and a word in one of two cases, see word
//	both:   \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//
// (o200k also takes slashes after symbols.)
func (p pattern) next(s string, i int) int {
	c, n := p.class(s, i)
	if !p.o200k {
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
	} else if end := p.cased(s, i, n, c); end > i {
		return end
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

// symbols returns the end of [^\s\p{L}\p{N}]+[\r\n]*, whose first character
// ends at i.
func (p pattern) symbols(s string, i int) int {
	i = p.run(s, i, symbols)
	for i < len(s) && (s[i] == '\r' || s[i] == '\n' || p.o200k && s[i] == '/') {
		i++
	}
	return i
}

// blank returns the end of \s*[\r\n]+ | \s+(?!\S) | \s+ at i: white space up
// to its last line break; if it has none, all of it but the last character,
// which goes with the word after it.
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

// cased returns the end of an o200k word at i, with or without a first
// character, of class c and n bytes, that is neither letter nor digit:
//
//	[^\r\n\p{L}\p{N}]? [heads]* [tails]+ (contraction)?
//	[^\r\n\p{L}\p{N}]? [heads]+ [tails]* (contraction)?
//
// Each pattern is tried first with that character, then without. The result
// is i if none of them fits.
func (p pattern) cased(s string, i, n int, c class) int {
	starts := [2]int{i + n, i}
	from := starts[:]
	if !c.in(prefix) {
		from = starts[1:]
	}
	for _, start := range from {
		if end := p.word(s, start); end > start {
			return contraction(s, end)
		}
	}
	for _, start := range from {
		if end := p.run(s, start, heads); end > start {
			return contraction(s, end)
		}
	}
	return i
}

// word returns the end of [heads]*[tails]+ at i, or i. Characters that are
// both go to the heads, unless the tails would be left with nothing.
func (p pattern) word(s string, i int) int {
	end, both := i, i // both: the end of the last character that can be a tail
	for end < len(s) {
		c, n := p.class(s, end)
		if !c.in(heads) {
			if c == lower {
				return p.run(s, end, tails)
			}
			break
		}
		end += n
		if c.in(tails) {
			both = end
		}
	}
	return both
}

// contraction returns the end of 's, 't, 're, 've, 'm, 'll or 'd at i, in
// either case, or i.
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
