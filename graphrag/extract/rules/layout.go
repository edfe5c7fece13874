// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// layout is what a piece of a page is.
type layout uint8

const (
	page         layout = iota // belongs to the page: menus, banners, share buttons
	fragment                   // headlines, items of lists, cells, references: capitals mean little
	foreignProse               // sentences of another language
	prose                      // English sentences
	inquiry                    // a question of a user
)

// reader reads one chunk after the other, sentence by sentence. It keeps its
// buffers.
type reader struct {
	tokenizer
	lexicon  *Lexicon
	gazette  *gazetteer
	text     string // of the chunk
	span     text.Span
	entities []entity
	owner    []int32 // by token: number of the entity it is part of + 1
	offices  []office
	cut      bool // the chunk was cut out of a longer text

	facts    []fact
	aliases  []alias
	subjects []int
	phrase   []byte
	patched  bool // captions and headings stand within the sentence
	learning bool // the names of the corpus are not known yet
	hedged   bool // the sentence reports what somebody said
}

func (x *reader) init(l *Lexicon) {
	x.lexicon, x.words, x.class = l, l.words, l.class
}

func (x *reader) reset(s string) { x.text = s }

// sharedLine tells whether the line at which a sentence begins stands in
// several documents.
func (x *reader) sharedLine(at int) bool {
	if len(x.lexicon.lines) == 0 {
		return false
	}
	start := strings.LastIndexByte(x.text[:at], '\n') + 1
	line, _, _ := strings.Cut(x.text[start:], "\n")
	return x.lexicon.lines[hashLine(strings.TrimSpace(line))]
}

// sentence is a sentence of a chunk, and what it is.
type sentence struct {
	text.Span
	layout layout
}

// sentences returns the sentences of the text, but for those that belong to the
// page.
func (x *reader) sentences() []sentence {
	spans := text.Sentences(x.text)
	out := make([]sentence, 0, len(spans))
	for _, span := range spans {
		x.open(span)
		if k := x.layout(); k != page {
			out = append(out, sentence{span, k})
		}
	}
	return out
}

// open cuts a sentence into tokens.
func (x *reader) open(span text.Span) {
	x.span = span
	x.run(x.text, span.Start, span.End)
	x.patched = false
	x.skipCaptions()
	for i := range x.tokens {
		if t := &x.tokens[i]; t.kind == markToken && (t.end-t.start > 4 || t.mark == '#') {
			x.patched = true
			break
		}
	}
}

// layout says what the open sentence is. It looks at the tables alone, so that
// it is the same before and after the corpus was learned.
func (x *reader) layout() layout {
	var words, small, functions, verbs, numbers, single, alien int
	banner := len(x.tokens) > 0 && x.tokens[0].kind == markToken
	for i := range x.tokens {
		t := &x.tokens[i]
		banner = banner || t.is(pageWord)
		switch t.kind {
		case wordToken:
			words++
			if t.small() {
				small++
			}
			if t.is(function) {
				functions++
			}
			if t.small() && t.is(formOfBe|formOfHave|formOfDo|modal|anyVerb) || looksPast(x.text, t) {
				verbs++
			}
			if t.has(initials) && t.has(dotted) && !t.has(upperOnly) {
				single++
			}
			if t.has(foreign) {
				alien++
			}
		case numberToken:
			numbers++
		case unspacedToken:
			alien++
		}
	}
	switch {
	case len(x.tokens) == 0:
		return page
	case banner && words < 40 && x.belongsToPage():
		return page
	case 2*alien > words:
		if words >= 5 && 2*small >= words {
			return foreignProse
		}
		return fragment
	case words < 5 || 2*numbers > words || single > 2, words > 60 && 5*small < 3*words:
		return fragment
	case 6*functions >= words && verbs > 0 && 4*small >= words && (2*small > words && words >= 12 || x.terminated()):
		return prose
	case german(x.tokens) > 1:
		return fragment
	case 10*functions < words && 4*small >= 3*words && words >= 6 && x.terminated():
		return foreignProse
	}
	return fragment
}

// german counts the words of German, whose nouns all have capitals.
func german(z []token) int {
	n := 0
	for i := range z {
		if z[i].is(germanWord) && z[i].small() {
			n++
		}
	}
	return n
}

// looksPast tells whether a word in small letters ends like the past of a
// regular verb.
func looksPast(s string, t *token) bool {
	return t.kind == wordToken && t.class == 0 && t.end-t.start > 4 && t.small() && strings.HasSuffix(s[t.start:t.end], "ed")
}

// terminated tells whether the sentence ends as sentences do.
func (x *reader) terminated() bool {
	tail := strings.TrimRight(x.span.In(x.text), " *_)]\"'”’»")
	r, _ := utf8.DecodeLastRuneInString(tail)
	return r == '.' || r == '!' || r == '?' || r == ':' || r == ';' || r == '…' || r == '。'
}

// skipCaptions turns the "Image 12:" that scrapers put before the text of an
// image into a mark.
func (x *reader) skipCaptions() {
	z := x.tokens
	for i := 0; i+2 < len(z); i++ {
		if z[i+2].isMark(':') && z[i+1].kind == numberToken && z[i].kind == wordToken && strings.HasSuffix(x.word(i), "Image") {
			x.patched = true
			for k := i; k < i+3; k++ {
				z[k] = token{start: z[k].start, end: z[k].end, kind: markToken, mark: markBullet, gap: z[k].gap}
			}
		}
	}
}

// belongsToPage looks the sentence up in the phrases of buttons and banners.
func (x *reader) belongsToPage() bool {
	first := x.tokens[0].start
	x.lower = appendLower(x.lower[:0], x.text[first:min(x.span.End, int(first)+300)])
	for _, phrase := range x.lexicon.tables.starts {
		if len(phrase) <= len(x.lower) && phrase[0] == x.lower[0] && string(x.lower[:len(phrase)]) == phrase {
			return true
		}
	}
	for _, phrase := range x.lexicon.tables.anywhere {
		if i := bytes.IndexByte(x.lower, phrase[0]); i >= 0 && bytes.Contains(x.lower[i:], phrase) {
			return true
		}
	}
	return false
}

// opens tells whether token i stands where a capital means nothing: at the
// beginning of a sentence, a quotation, an item.
func (x *reader) opens(i int) bool {
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

// hashLine is FNV-1a over the bytes of a line.
func hashLine(s string) uint64 {
	h := uint64(fnvOffset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)
