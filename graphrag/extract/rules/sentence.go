// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// sentence is a sentence of a chunk, cut into tokens.
type sentence struct {
	tokenizer
	lexicon *Lexicon
	text    string    // of the chunk
	span    text.Span // of the sentence
	mixed   bool      // captions and headings stand within it
}

func newSentence(l *Lexicon) sentence {
	return sentence{tokenizer: tokenizer{words: l.words, class: l.class}, lexicon: l}
}

// cut cuts a part of a text into tokens.
func (x *sentence) cut(s string, span text.Span) {
	x.text, x.span = s, span
	x.run(s, span.Start, span.End)
}

// open cuts a sentence into tokens and looks for captions and headings in it.
func (x *sentence) open(s string, span text.Span) {
	x.cut(s, span)
	x.mixed = false
	x.skipCaptions()
	for i := range x.tokens {
		if t := &x.tokens[i]; t.kind == markToken && (t.end-t.start > 4 || t.mark == '#') {
			x.mixed = true
			break
		}
	}
}

// skipCaptions turns the "Image 12:" that scrapers put before the text of an
// image into a mark.
func (x *sentence) skipCaptions() {
	z := x.tokens
	for i := 0; i+2 < len(z); i++ {
		if z[i+2].isMark(':') && z[i+1].kind == numberToken && z[i].kind == wordToken && strings.HasSuffix(x.word(i), "Image") {
			x.mixed = true
			for k := i; k < i+3; k++ {
				z[k] = token{start: z[k].start, end: z[k].end, kind: markToken, mark: markBullet, gap: z[k].gap}
			}
		}
	}
}

func (x *sentence) word(i int) string { return x.text[x.tokens[i].start:x.tokens[i].end] }

// lemma returns the base of the verb at token i.
func (x *sentence) lemma(i int) string {
	word := strings.ToLower(x.word(i))
	if base, ok := x.lexicon.tables.lemmas[word]; ok {
		return base
	}
	return word
}

// key is the hash of a name, under which [Lexicon.names] counts it: its words
// in lower case.
func (x *sentence) key(first, last int) uint64 {
	h := uint64(fnvOffset)
	for i := first; i < last; i++ {
		x.lower = appendLower(x.lower[:0], x.word(i))
		for _, c := range x.lower {
			h = (h ^ uint64(c)) * fnvPrime
		}
		h = (h ^ ' ') * fnvPrime
	}
	return h
}

// atStart reports whether token i stands where a capital means nothing: at the
// beginning of a sentence, a quotation, an item.
func (x *sentence) atStart(i int) bool {
	for i--; i >= 0; i-- {
		t := &x.tokens[i]
		if t.kind != markToken {
			return t.kind == numberToken && i == 0
		}
		switch t.mark {
		case markQuote, ':', '.', '!', '?', '[', ']', markBullet, '#', '>':
			return true
		case markApostrophe, '(':
		case markDash:
			return i == 0
		default:
			return i == 0
		}
	}
	return true
}

// lineBreak reports whether a name cannot go on from token i-1 to i: a short line
// ends between them.
func (x *sentence) lineBreak(i int) bool {
	if x.tokens[i].gap != newline {
		return false
	}
	end := int(x.tokens[i-1].end)
	return end-strings.LastIndexByte(x.text[:end], '\n') < shortLine ||
		strings.Count(x.text[end:x.tokens[i].start], "\n") > 1
}

// shortLine is the length, in bytes, under which a line is not taken for the
// wrapped line of a paragraph.
const shortLine = 40

// startsLine reports whether token i begins a line under a short one, such as a
// heading without marks.
func (x *sentence) startsLine(i int) bool {
	return i > 0 && i < len(x.tokens) && x.lineBreak(i)
}

// terminated reports whether the sentence ends as sentences do.
func (x *sentence) terminated() bool {
	tail := strings.TrimRight(x.span.In(x.text), " *_)]\"'”’»")
	r, _ := utf8.DecodeLastRuneInString(tail)
	return r == '.' || r == '!' || r == '?' || r == ':' || r == ';' || r == '…' || r == '。'
}

// isQuestion reports whether the sentence is a question.
func (x *sentence) isQuestion() bool {
	return strings.HasSuffix(strings.TrimRight(x.span.In(x.text), " *_)]\"'”’»"), "?")
}

func (x *sentence) hasHead(i, j int, c class) bool {
	for ; i < j; i++ {
		if x.tokens[i].is(c) {
			return true
		}
	}
	return false
}

// appendLower appends s in lower case, with straight apostrophes and hyphens.
func appendLower(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r {
		case '’', 'ʼ', '‘':
			dst = append(dst, '\'')
		case '‐', '‑', '–':
			dst = append(dst, '-')
		case '\u00AD', '\u200D', '\u200C':
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
	}
	return dst
}
