// SPDX-License-Identifier: Apache-2.0

package find

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// literal is a text in small letters that is looked for in any case. Each of its characters
// is a letter of ASCII with one capital, or has one form alone, so that every match has the
// same length.
type literal struct {
	text  string
	rare  int  // the place of its rarest byte
	whole bool // the pattern is this text, and nothing else
	// skip, of a text without a rare byte, is by how many bytes one may go on at each byte
	// that stands where its last one should (Horspool 1980).
	skip *[256]byte
	// tail, if set, matches this text and what has to follow it, at the beginning of a line.
	tail *regexp.Regexp
}

// maxLiterals is how many alternatives are looked for one by one.
const maxLiterals = 8

// required are texts one of which every match of a pattern has; nil if there are none.
func required(pattern string) []literal {
	re, err := syntax.Parse("(?i)"+pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	re = re.Simplify()
	texts := parts(re)
	if len(texts) > maxLiterals {
		return nil
	}
	out := make([]literal, len(texts))
	for i, t := range texts {
		out[i] = literal{text: t, rare: rarest(t)}
		if n := len(t); n > 2 && n < 256 && strings.IndexByte(common, t[out[i].rare]) >= 0 {
			out[i].skip = skips(t)
		}
		cased := strings.ToUpper(t) != t
		out[i].whole = re.Op == syntax.OpLiteral && (re.Flags&syntax.FoldCase != 0 || !cased) && strings.ToLower(string(re.Rune)) == t && !strings.Contains(t, "\n")
	}
	if len(out) == 1 && re.Op == syntax.OpConcat {
		out[0].tail = tailOf(re, texts[0])
	}
	return out
}

// skips are by how many bytes a text may be moved on, by the byte at its last place.
func skips(text string) *[256]byte {
	var out [256]byte
	for i := range out {
		out[i] = byte(len(text))
	}
	for i := range len(text) {
		out[text[i]] = byte(len(text) - 1 - i)
		out[upper(text[i])] = byte(len(text) - 1 - i)
	}
	return &out
}

// tailOf is a concatenation from the part on that is a text.
func tailOf(re *syntax.Regexp, text string) *regexp.Regexp {
	for i, sub := range re.Sub {
		if sub.Op == syntax.OpLiteral && strings.ToLower(string(sub.Rune)) == text && i+1 < len(re.Sub) {
			rest := *re
			rest.Sub = re.Sub[i:]
			tail, _ := regexp.Compile("^(?:" + rest.String() + ")") // nil is no tail
			return tail
		}
	}
	return nil
}

// parts are texts one of which every match of an expression has; nil if there are none.
func parts(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if t := longest(re.Rune); t != "" {
			return []string{t}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return parts(re.Sub[0])
	case syntax.OpConcat: // those that are looked for fastest
		var best []string
		for _, sub := range re.Sub {
			if t := parts(sub); t != nil && (best == nil || shortest(t) > shortest(best)) {
				best = t
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			t := parts(sub)
			if t == nil {
				return nil
			}
			all = append(all, t...)
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest of some texts, less as they are more.
func shortest(texts []string) int {
	n := len(texts[0])
	for _, t := range texts {
		n = min(n, len(t))
	}
	return n - len(texts)
}

// longest is the longest part of a literal whose characters have one form, or two of ASCII:
// k and s have a third one.
func longest(runes []rune) string {
	best, run := "", ""
	for i := 0; i <= len(runes); i++ {
		if i < len(runes) {
			r := unicode.ToLower(runes[i])
			other := unicode.SimpleFold(r)
			if other == r || r < 0x80 && other < 0x80 && unicode.SimpleFold(other) == r {
				run += string(r)
				continue
			}
		}
		if len(run) > len(best) {
			best = run
		}
		run = ""
	}
	return best
}

// common are bytes of prose, the most frequent first; all others are rare.
const common = " etaoinsrhldcumfpgwyb,.vk-\n"

// rarest is the place of the byte of a text that prose has least.
func rarest(text string) int {
	best, place := -1, 0
	for i := range len(text) {
		rank := strings.IndexByte(common, text[i])
		if rank < 0 {
			rank = len(common)
			if text[i] >= 0x80 { // the first bytes of a script are in each of its letters
				rank = 1
			}
		}
		if rank > best {
			best, place = rank, i
		}
	}
	return place
}

// scan is a search for a literal from the beginning of a text to its end.
type scan struct {
	literal
	text         string // that is searched
	small, large int    // the next places of the rarest byte, as a small letter and as a capital
	hit          int    // the last place that was found, -1 before the first
	capital      byte   // of the rarest byte, or the same
}

// in begins a search.
func (l literal) in(text string) scan {
	s := scan{literal: l, text: text, hit: -1, small: -1, large: -1}
	b := l.text[l.rare]
	if s.capital = upper(b); s.capital == b {
		s.large = len(text)
	}
	return s
}

// upper is the capital of a letter of ASCII, and any other byte itself.
func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - ('a' - 'A')
	}
	return b
}

// from is the first place of the literal at or after another, the length of the text
// without one. Places are asked for in ascending order.
func (s *scan) from(at int) int {
	if s.hit >= at {
		return s.hit
	}
	if s.skip != nil {
		s.hit = s.jump(at)
		return s.hit
	}
	for low := at + s.rare; ; low++ {
		if s.small < low {
			s.small = index(s.text, low, s.literal.text[s.rare])
		}
		if s.large < low {
			s.large = index(s.text, low, s.capital)
		}
		low = min(s.small, s.large)
		if low >= len(s.text) {
			s.hit = len(s.text)
			return s.hit
		}
		if start := low - s.rare; start >= at && s.is(start) {
			s.hit = start
			return s.hit
		}
	}
}

// jump is from by skipping.
func (s *scan) jump(at int) int {
	text, skip, last := s.text, s.skip, len(s.literal.text)-1
	for i := at + last; i < len(text); i++ {
		for skip[text[i]] > 0 {
			if i += int(skip[text[i]]); i >= len(text) {
				return len(text)
			}
		}
		if s.is(i - last) {
			return i - last
		}
	}
	return len(text)
}

// index is the first place of a byte at or after another.
func index(text string, from int, b byte) int {
	if from >= len(text) {
		return len(text)
	}
	if n := strings.IndexByte(text[from:], b); n >= 0 {
		return from + n
	}
	return len(text)
}

// is tells whether the literal stands at a place.
func (s *scan) is(at int) bool {
	want := s.literal.text
	if at+len(want) > len(s.text) {
		return false
	}
	for i := range len(want) {
		c := s.text[at+i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}
