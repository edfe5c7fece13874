// SPDX-License-Identifier: Apache-2.0

package find

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// literal is a text in small letters that is looked for in any case. Each of its characters
// is one of ASCII, or has one form alone, so that every match has the same length; see
// [page].odd for the two letters of ASCII that have a third form.
type literal struct {
	text  string
	whole bool // the pattern is this text, and nothing else

	in   string // the text that is searched
	rare int    // offset in the literal of its byte that is rarest at the beginning of that text
	hit  int    // the last place that was found
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
		out[i] = literal{text: t}
		cased := strings.ToUpper(t) != t
		out[i].whole = re.Op == syntax.OpLiteral && (re.Flags&syntax.FoldCase != 0 || !cased) && strings.ToLower(string(re.Rune)) == t && !strings.Contains(t, "\n")
	}
	return out
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

// longest is the longest part of a literal whose characters are of ASCII or have one form.
func longest(runes []rune) string {
	best, run := "", ""
	for _, r := range runes {
		switch {
		case r < 0x80:
			run += strings.ToLower(string(r))
		case unicode.SimpleFold(r) == r:
			run += string(r)
		default:
			run = ""
		}
		if len(run) > len(best) {
			best = run
		}
	}
	return best
}

// near is how many bytes are searched for the rare byte in small before they are searched for its
// capital: without a bound each search of a page in capitals would run to its end. sample is how
// many bytes of a text are counted to find the rare byte.
const (
	near   = 1 << 10
	sample = 4 << 10
)

// begin begins a search.
func (l *literal) begin(text string) {
	l.in, l.hit = text, -1
	least := len(text) + 1
	for i := range len(l.text) {
		if n := strings.Count(text[:min(sample, len(text))], l.text[i:i+1]); n < least {
			l.rare, least = i, n
		}
	}
}

// from is the first place of the literal at or after another; the length of the text without
// one. Places are asked for in ascending order.
func (l *literal) from(at int) int {
	if l.hit >= at {
		return l.hit
	}
	small := l.text[l.rare]
	capital := small
	if 'a' <= small && small <= 'z' {
		capital -= 'a' - 'A'
	}
	last := l.text[len(l.text)-1]
	l.hit = len(l.in)
	for at += l.rare; at < len(l.in); {
		part := l.in[at:min(at+near, len(l.in))]
		n := strings.IndexByte(part, small)
		if n >= 0 {
			part = part[:n]
		}
		if capital != small {
			if c := strings.IndexByte(part, capital); c >= 0 {
				n = c
			}
		}
		if n < 0 {
			at += len(part)
			continue
		}
		start := at + n - l.rare
		end := start + len(l.text)
		if end <= len(l.in) && l.in[end-1]|0x20 == last|0x20 && strings.EqualFold(l.in[start:end], l.text) { // most differ in the last byte
			l.hit = start
			break
		}
		at += n + 1
	}
	return l.hit
}
