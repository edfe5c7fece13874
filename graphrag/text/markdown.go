// SPDX-License-Identifier: Apache-2.0

package text

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// StripLinks returns s without what a reader of the page does not see of its links, and the mapping back to s:
//
//	[text](target "title")   →  text
//	![alt](target)           →  alt
//	[[12]](target)           →  nothing: a citation mark
//	<https://example.org>    →  nothing
//	https://example.org/a    →  nothing, and so for http, ftp and www.
//
// Everything else stays byte for byte. If s has no link, clean is s itself. Targets may hold balanced parentheses (up to
// 32 deep, as in CommonMark) and no white space, links may nest, and unbalanced marks are left alone. Invalid UTF-8 is
// text. The time is linear in len(s). Where removing a link uncovers another, it goes over the text up to four times.
func StripLinks(s string) (clean string, m Mapping) {
	clean = s
	for range maxStrips {
		kept := keptSpans(clean)
		if kept == nil {
			break
		}
		var b strings.Builder
		b.Grow(len(clean))
		for _, p := range kept {
			b.WriteString(p.In(clean))
		}
		clean = b.String()
		m = m.compose(NewMapping(kept), len(clean))
	}
	return clean, m
}

// maxStrips limits the passes of StripLinks over a text. Real pages need one, and a second that finds nothing.
const maxStrips = 4

// Mapping maps offsets in a text to offsets in its source. It is a list of anchors: the bytes from Text on
// equal those from Source on, up to the next anchor. Both offsets ascend. The zero value maps every offset to
// itself. It is safe for concurrent use while no anchor is added.
type Mapping []anchor

// anchor is a pair of equivalent offsets in a text and in its source.
type anchor struct{ Text, Source int }

// NewMapping returns the mapping of a text that consists of the kept parts of its source, which are in
// ascending order.
func NewMapping(kept []Span) Mapping {
	m := make(Mapping, 0, len(kept))
	at := 0
	for _, p := range kept {
		m.Add(at, p.Start)
		at += p.End - p.Start
	}
	return m
}

// Add appends an anchor, unless the last one implies it. An anchor at the same offset replaces the last one.
func (m *Mapping) Add(at, source int) {
	if n := len(*m); n > 0 {
		switch last := &(*m)[n-1]; {
		case last.Text == at:
			last.Source = source
			return
		case at-last.Text == source-last.Source:
			return
		}
	}
	*m = append(*m, anchor{at, source})
}

// after returns the number of anchors up to an offset of the text.
func (m Mapping) after(offset int) int {
	return sort.Search(len(m), func(i int) bool { return m[i].Text > offset })
}

// Source returns the offset in the source of the byte at an offset in the text. Larger offsets in the text
// never have smaller ones in the source.
func (m Mapping) Source(offset int) int {
	i := m.after(offset)
	switch {
	case len(m) == 0:
		return offset
	case i == 0:
		return m[0].Source
	}
	at := m[i-1].Source + offset - m[i-1].Text
	if i < len(m) && m[i].Source >= m[i-1].Source {
		at = min(at, m[i].Source)
	}
	return at
}

// Span returns the part of the source from the first to the last byte of a part of the text. It includes what
// was removed between them, but not what was removed around them.
func (m Mapping) Span(p Span) Span {
	if p.Start >= p.End {
		at := m.Source(p.Start)
		return Span{at, at}
	}
	return Span{m.Source(p.Start), m.Source(p.End-1) + 1}
}

// compose returns the mapping that applies next and then m, for a text of n bytes.
func (m Mapping) compose(next Mapping, n int) Mapping {
	if m == nil {
		return next
	}
	var out Mapping
	for i, a := range next {
		end := n
		if i+1 < len(next) {
			end = next[i+1].Text
		}
		from, to := a.Source, a.Source+end-a.Text
		out.Add(a.Text, m.Source(from))
		for j := m.after(from); j < len(m) && m[j].Text < to; j++ {
			out.Add(a.Text+m[j].Text-from, m[j].Source)
		}
	}
	return out
}

// linkBytes marks the bytes at which a part to strip may begin or end.
var linkBytes = [256]bool{'[': true, ']': true, '\\': true, '<': true, ':': true, 'w': true, 'W': true}

// keptSpans returns the parts of s that are kept, nil if nothing is stripped.
func keptSpans(s string) []Span {
	var open []Span // opening brackets that may begin a link, with the ! of an image
	var cuts []Span // parts to strip: of links, and whole URLs
	done := 0       // end of the last cut
	for i := 0; i < len(s); {
		end := i + 1
		switch c := s[i]; {
		case !linkBytes[c]:
		case c == '\\':
			end++
		case c == '[' && i > 0 && s[i-1] == '!':
			open = append(open, Span{i - 1, end})
		case c == '[':
			open = append(open, Span{i, end})
		case c == ']' && len(open) > 0:
			b := open[len(open)-1]
			open = open[:len(open)-1]
			after := targetEnd(s, i+1)
			if after == 0 {
				break
			}
			if link := s[b.End:i]; len(link) <= len(`\[1234\]`) && citation.MatchString(link) {
				cuts = append(cuts, Span{b.Start, after})
			} else {
				cuts = append(cuts, b, Span{i, after})
			}
			end, done = after, after
		case c == '<':
			if n := autolink(s[i:]); n > 0 {
				end, done = i+n, i+n
				cuts = append(cuts, Span{i, end})
			}
		case c != ']':
			if p, ok := bareURL(s, i, done); ok {
				cuts = append(cuts, p)
				end, done = p.End, p.End
			}
		}
		i = end
	}
	return without(s, cuts)
}

// without returns the parts of s that remain without the cuts, nil if there are no cuts.
func without(s string, cuts []Span) []Span {
	if len(cuts) == 0 {
		return nil
	}
	slices.SortFunc(cuts, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	kept := make([]Span, 0, len(cuts))
	at := 0
	for _, p := range append(cuts, Span{len(s), len(s)}) {
		if p.Start > at {
			kept = append(kept, Span{at, p.Start})
		}
		at = max(at, p.End)
	}
	return kept
}

// targetEnd returns the offset after "(target)" or `(target "title")` at i; 0 if there is none.
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

// maxDepth is the deepest nesting of parentheses in a link target. The limit keeps a million repetitions of
// `[](` linear; cmark has the same limit.
const maxDepth = 32

// titleEnd returns the offset after the optional title and the closing parenthesis at i; 0 if there is none.
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

// hasScheme reports whether s begins with the scheme of a URL that is stripped.
func hasScheme(s string) bool { return scheme.MatchString(s[:min(len(s), len("https://"))]) }

var (
	citation = regexp.MustCompile(`^\\?\[(?:\d{1,5}|\d{1,4}\\)\]$`)
	scheme   = regexp.MustCompile(`(?i)^(?:https?|ftp)://`)
)

// autolink returns the length of <https://…> at the beginning of s; 0 if there is none.
func autolink(s string) int {
	if !hasScheme(s[1:]) {
		return 0
	}
	end := 1 + strings.IndexFunc(s[1:], func(r rune) bool { return r <= ' ' || r == '<' || r == '>' })
	if end == 0 || s[end] != '>' {
		return 0
	}
	return end + 1
}

// bareURL returns the URL whose colon, or whose "www.", is at i and which begins at done or later.
func bareURL(s string, i, done int) (Span, bool) {
	start := i
	if s[i] == ':' {
		if !strings.HasPrefix(s[i:], "://") {
			return Span{}, false
		}
		for start > done && i-start < len("https") && isASCIILetter(s[start-1]) {
			start--
		}
		// "xhttp://" is no URL, but "seehttps://" on careless pages contains one.
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

// urlEnd returns the end of the URL that contains offset i. Punctuation at its end belongs to the sentence, as
// does a closing parenthesis that the URL does not open.
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
