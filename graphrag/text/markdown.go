// SPDX-License-Identifier: Apache-2.0

package text

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// StripLinks returns s without what a reader of the page does not see of its
// links, and the mapping back to s:
//
//	[text](target "title")   →  text
//	![alt](target)           →  alt
//	[[12]](target)           →  nothing: a citation mark
//	<https://example.org>    →  nothing
//	https://example.org/a    →  nothing, and so for http, ftp and www.
//
// Everything else stays byte for byte; nothing is added. On the pages of
// WildGraphBench about a third of all characters go. If s has no link, clean
// is s itself.
//
// Targets may hold balanced parentheses (up to 32 deep, as in CommonMark) and
// no white space, links may nest, and unbalanced marks are left alone.
// Invalid UTF-8 is text. The time is linear in len(s). Text in which removing
// a link uncovers another is gone over again, up to four times in all, so that
// stripping what is clean changes nothing, short of text built to need more.
func StripLinks(s string) (clean string, m Mapping) {
	clean = s
	for range maxStrips {
		kept := keptSpans(clean)
		if kept == nil {
			break
		}
		var b strings.Builder
		b.Grow(length(kept))
		for _, p := range kept {
			b.WriteString(p.In(clean))
		}
		clean = b.String()
		m = m.Compose(NewMapping(kept), len(clean))
	}
	return clean, m
}

// length is the sum of the lengths of the spans.
func length(spans []Span) (n int) {
	for _, p := range spans {
		n += p.End - p.Start
	}
	return n
}

// maxStrips bounds the passes of StripLinks over a text. Real pages need one
// pass and a second that finds nothing.
const maxStrips = 4

// Mapping leads from offsets in a cleaned text to offsets in its source. The
// zero value maps every offset to itself. A Mapping is never changed and safe
// for concurrent use.
type Mapping struct {
	clean, source []int // starts of the kept pieces, both rising
}

// NewMapping returns the mapping of a text that was cleaned by leaving out all but
// the kept pieces of its source, which are in ascending order.
func NewMapping(kept []Span) Mapping {
	m := Mapping{clean: make([]int, 0, len(kept)), source: make([]int, 0, len(kept))}
	at := 0
	for _, p := range kept {
		m.add(at, p.Start)
		at += p.End - p.Start
	}
	return m
}

// Source returns the offset in the source of the byte at offset in the
// cleaned text. It rises with offset.
func (m Mapping) Source(offset int) int {
	i := sort.SearchInts(m.clean, offset+1) - 1
	if i < 0 {
		return offset
	}
	return m.source[i] + offset - m.clean[i]
}

// Span returns the piece of the source that goes from the first to the last
// byte of a piece of the cleaned text. What was cut out between them is
// inside, what was cut out around them is not.
func (m Mapping) Span(p Span) Span {
	if p.Start >= p.End {
		at := m.Source(p.Start)
		return Span{at, at}
	}
	return Span{m.Source(p.Start), m.Source(p.End-1) + 1}
}

func (m *Mapping) add(clean, source int) {
	m.clean = append(m.clean, clean)
	m.source = append(m.source, source)
}

// Compose returns the mapping that goes through next and then m, for a text
// of n bytes.
func (m Mapping) Compose(next Mapping, n int) Mapping {
	if m.clean == nil {
		return next
	}
	var out Mapping
	for i, start := range next.clean {
		end := n
		if i+1 < len(next.clean) {
			end = next.clean[i+1]
		}
		from, to := next.source[i], next.source[i]+end-start
		out.add(start, m.Source(from))
		for j := sort.SearchInts(m.clean, from+1); j < len(m.clean) && m.clean[j] < to; j++ {
			out.add(start+m.clean[j]-from, m.source[j])
		}
	}
	return out
}

// bracket is an opening bracket that may turn out to begin a link.
type bracket struct {
	at, size int // size is 2 with the ! of an image
	link     bool
}

// linkBytes marks the bytes at which something to strip may begin or end.
var linkBytes = [256]bool{'[': true, ']': true, '\\': true, '<': true, ':': true, 'w': true, 'W': true}

// keptSpans returns the pieces of s that are not to be stripped, nil if
// nothing is.
func keptSpans(s string) []Span {
	var brackets []bracket // in order of place
	var open []int         // those not closed yet
	var cuts []Span        // closing parts of links and whole URLs, in order
	for i := 0; i < len(s); {
		c := s[i]
		if !linkBytes[c] {
			i++
			continue
		}
		end := i + 1
		switch c {
		case '\\':
			end++
		case '[':
			b := bracket{at: i, size: 1}
			if i > 0 && s[i-1] == '!' {
				b = bracket{at: i - 1, size: 2}
			}
			open = append(open, len(brackets))
			brackets = append(brackets, b)
		case ']':
			if len(open) == 0 {
				break
			}
			b := &brackets[open[len(open)-1]]
			open = open[:len(open)-1]
			after := targetEnd(s, i+1)
			if after == 0 {
				break
			}
			if isCitation(s[b.at+b.size : i]) {
				cuts = append(cuts, Span{b.at, after})
			} else {
				b.link = true
				cuts = append(cuts, Span{i, after})
			}
			end = after
		case '<':
			if n := autolink(s[i:]); n > 0 {
				end = i + n
				cuts = append(cuts, Span{i, end})
			}
		default:
			done := 0
			if len(cuts) > 0 {
				done = cuts[len(cuts)-1].End
			}
			if p, ok := bareURL(s, i, done); ok {
				cuts = append(cuts, p)
				end = p.End
			}
		}
		i = end
	}
	if len(cuts) == 0 {
		return nil
	}
	return without(s, cuts, brackets)
}

// without returns what is left of s after taking out the cuts and the opening
// brackets of links.
func without(s string, cuts []Span, brackets []bracket) []Span {
	kept := make([]Span, 0, 2*len(cuts))
	at := 0
	cut := func(start, end int) {
		if start > at {
			kept = append(kept, Span{at, start})
		}
		at = max(at, end)
	}
	for _, b := range brackets {
		if !b.link {
			continue
		}
		for len(cuts) > 0 && cuts[0].Start < b.at {
			cut(cuts[0].Start, cuts[0].End)
			cuts = cuts[1:]
		}
		cut(b.at, b.at+b.size)
	}
	for _, p := range cuts {
		cut(p.Start, p.End)
	}
	cut(len(s), len(s))
	return kept
}

// targetEnd returns the offset after "(target)" or `(target "title")` at i,
// 0 if there is none.
func targetEnd(s string, i int) int {
	if i >= len(s) || s[i] != '(' {
		return 0
	}
	i = skipBlanks(s, i+1)
	if i < len(s) && s[i] == '<' {
		n := strings.IndexAny(s[i+1:], "<>\n")
		if n < 0 || s[i+1+n] != '>' {
			return 0
		}
		return titleEnd(s, i+n+2)
	}
	for depth := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] > ' ':
			i++
		case c == '(':
			if depth++; depth > maxDepth {
				return 0
			}
		case c == ')':
			if depth == 0 {
				return i + 1
			}
			depth--
		case c == ' ' || c == '\t':
			if depth > 0 {
				return 0
			}
			return titleEnd(s, i)
		case c < ' ':
			return 0
		}
	}
	return 0
}

// maxDepth is the deepest nesting of parentheses in a link target. The bound
// keeps `[](` times a million linear; cmark has the same one.
const maxDepth = 32

// titleEnd returns the offset after the optional title and the closing
// parenthesis at i, else 0.
func titleEnd(s string, i int) int {
	i = skipBlanks(s, i)
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		n := strings.IndexAny(s[i+1:], s[i:i+1]+"\n")
		if n < 0 || s[i+1+n] == '\n' {
			return 0
		}
		i = skipBlanks(s, i+n+2)
	}
	if i < len(s) && s[i] == ')' {
		return i + 1
	}
	return 0
}

// skipBlanks returns the offset after at most maxDepth blanks at i.
func skipBlanks(s string, i int) int {
	for n := 0; n < maxDepth && i < len(s) && (s[i] == ' ' || s[i] == '\t'); n++ {
		i++
	}
	return i
}

// isCitation reports whether the text of a link is a number in brackets: [12]
// or \[12\].
func isCitation(s string) bool {
	s = strings.TrimPrefix(s, `\`)
	if len(s) < 3 || len(s) > 7 || s[0] != '[' || s[len(s)-1] != ']' {
		return false
	}
	digits := strings.TrimSuffix(s[1:len(s)-1], `\`)
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// autolink returns the length of <https://…> at the beginning of s, else 0.
func autolink(s string) int {
	if !hasScheme(s[1:]) {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '>':
			return i + 1
		case c <= ' ' || c == '<':
			return 0
		}
	}
	return 0
}

// hasScheme reports whether s begins with a scheme that is stripped.
func hasScheme(s string) bool {
	for _, scheme := range []string{"http://", "https://", "ftp://"} {
		if len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// bareURL finds the URL whose colon, or whose "www.", is at i and which
// begins at done or later.
func bareURL(s string, i, done int) (Span, bool) {
	start := i
	if s[i] == ':' {
		if !strings.HasPrefix(s[i:], "://") {
			return Span{}, false
		}
		for start > done && i-start < len("https") && isASCIILetter(s[start-1]) {
			start--
		}
		// "xhttp://" is no link, but "seehttps://" in sloppy pages is one.
		for start < i && !hasScheme(s[start:]) {
			start++
		}
		if start == i {
			return Span{}, false
		}
	} else if len(s) < i+5 || !strings.EqualFold(s[i:i+4], "www.") || s[i+4] <= ' ' ||
		i > done && isASCIILetter(s[i-1]) {
		return Span{}, false
	}
	end := urlEnd(s, i+3)
	return Span{start, end}, end > i+4 || s[i] == ':'
}

// urlEnd returns the end of the URL that contains position i. Punctuation at its
// end belongs to the sentence, as does a parenthesis it did not open.
func urlEnd(s string, i int) int {
	start, depth := i, 0
scan:
	for i < len(s) {
		switch c := s[i]; {
		case c <= ' ', c == 0x7f, strings.IndexByte("<>\"`|[]{}^\\", c) >= 0:
			break scan
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				break scan
			}
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError || unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.Is(unicode.Han, r) {
				break scan
			}
			i += n
			continue
		}
		i++
	}
	for i > start && strings.IndexByte(".,;:!?'*_", s[i-1]) >= 0 {
		i--
	}
	return i
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
