// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// sentence is a sentence of a chunk, cut into tokens.
type sentence struct {
	tokenizer
	lexicon *lexicon
	text    string    // text of the whole chunk
	span    text.Span // bytes of the sentence in text
	mixed   bool      // the sentence contains captions or headings
	asked   []uint32  // lexicon entries looked up since the last call of answers
}

func newSentence(l *lexicon) sentence {
	return sentence{tokenizer: tokenizer{words: l.words, class: l.class}, lexicon: l}
}

// cut cuts a part of a text into tokens.
func (x *sentence) cut(s string, span text.Span) {
	x.text, x.span = s, span
	x.run(s, span.Start, span.End)
}

// open cuts a sentence into tokens and looks for captions and headings in it. The
// "Image 12:" that scrapers put before the text of an image becomes a mark.
func (x *sentence) open(s string, span text.Span) {
	x.cut(s, span)
	x.mixed = false
	z := x.tokens
	for i := range z {
		if i+2 < len(z) && z[i].kind == wordToken && z[i+1].kind == numberToken && z[i+2].isMark(':') && strings.HasSuffix(x.word(i), "Image") {
			x.mixed = true
			for k := i; k < i+3; k++ {
				z[k] = token{start: z[k].start, end: z[k].end, kind: markToken, mark: markBullet, gap: z[k].gap}
			}
		}
		x.mixed = x.mixed || z[i].kind == markToken && (z[i].end-z[i].start > 4 || z[i].mark == '#')
	}
}

func (x *sentence) word(i int) string { return x.text[x.tokens[i].start:x.tokens[i].end] }

// wordIs reports whether there is a token i and it is one of the words.
func (x *sentence) wordIs(i int, words ...string) bool {
	return i >= 0 && i < len(x.tokens) && slices.Contains(words, x.word(i))
}

// key returns the hash of the name from token first up to last, in lower case: its key in the lexicon.
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

// atStart reports whether the word at token i has its capital perhaps only from its position: at the start of a
// sentence, a quotation or a list item.
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
		default:
			return i == 0
		}
	}
	return true
}

// shortLine is the length, in bytes, under which a line is not taken for the wrapped line of a paragraph.
const shortLine = 40

// lineBreak reports whether a short line or a paragraph ends between the tokens i-1 and i: no name crosses it.
func (x *sentence) lineBreak(i int) bool {
	if x.tokens[i].gap != newline {
		return false
	}
	end := int(x.tokens[i-1].end)
	return end-strings.LastIndexByte(x.text[:end], '\n') < shortLine ||
		strings.Count(x.text[end:x.tokens[i].start], "\n") > 1
}

// tail returns the sentence without the quotes, brackets and blanks at its end.
func (x *sentence) tail() string { return strings.TrimRight(x.span.In(x.text), " *_)]\"'”’»") }

// terminated reports whether the sentence ends with a mark such as a full stop or a question mark.
func (x *sentence) terminated() bool {
	r, _ := utf8.DecodeLastRuneInString(x.tail())
	return strings.ContainsRune(".!?:;…。", r)
}

// hasHead reports whether one of the tokens from i up to j has the class c.
func (x *sentence) hasHead(i, j int, c class) bool {
	for ; i < j; i++ {
		if x.tokens[i].is(c) {
			return true
		}
	}
	return false
}

// layout is the kind of a sentence on a page.
type layout uint8

const (
	boilerplate  layout = iota // menus, banners, share buttons
	fragment                   // headlines, list items, table cells, references: capitals mean little
	foreignProse               // sentences in a language other than English
	prose                      // English sentences
	query                      // the question of a user
)

// layout returns the kind of the current sentence. It uses the tables alone, not what was learned from the
// corpus, so it is the same in all passes.
func (x *sentence) layout() layout {
	if len(x.tokens) == 0 {
		return boilerplate
	}
	n := x.countTokens()
	switch {
	case (n.banner || x.tokens[0].kind == markToken) && n.words < 40 && x.isBoilerplate():
		return boilerplate
	case 2*n.foreign > n.words:
		if n.words >= 5 && 2*n.small >= n.words {
			return foreignProse
		}
		return fragment
	case n.words < 5 || 2*n.numbers > n.words || n.initials > 2, n.words > 60 && 5*n.small < 3*n.words:
		return fragment
	case 6*n.functions >= n.words && n.verbs > 0 && 4*n.small >= n.words && (2*n.small > n.words && n.words >= 12 || x.terminated()):
		return prose
	case n.german < 2 && 10*n.functions < n.words && 4*n.small >= 3*n.words && n.words >= 6 && x.terminated():
		return foreignProse
	}
	return fragment
}

// census counts the kinds of tokens of a sentence.
type census struct {
	words, small, functions, verbs, initials int
	numbers, foreign                         int
	german                                   int  // German words: German capitalizes all nouns
	banner                                   bool // whether a word begins a phrase of a button or banner
}

func (x *sentence) countTokens() (n census) {
	count := func(yes bool, of *int) {
		if yes {
			*of++
		}
	}
	for i := range x.tokens {
		t := &x.tokens[i]
		n.banner = n.banner || t.is(boilerplateWord)
		count(t.kind == numberToken, &n.numbers)
		count(t.kind == unspacedToken || t.isWord() && t.has(foreign), &n.foreign)
		if t.isWord() {
			n.words++
			count(t.lower(), &n.small)
			count(t.lower() && t.is(germanWord), &n.german)
			count(t.is(function), &n.functions)
			count(t.lower() && t.is(formOfBe|formOfHave|formOfDo|modal|anyVerb) || looksPast(x.text, t), &n.verbs)
			count(t.has(initials) && t.has(dotted) && !t.has(upperOnly), &n.initials)
		}
	}
	return n
}

// isBoilerplate reports whether the sentence begins with or contains a known phrase of buttons and banners.
func (x *sentence) isBoilerplate() bool {
	first := x.tokens[0].start
	x.lower = appendLower(x.lower[:0], x.text[first:min(x.span.End, int(first)+300)])
	return slices.ContainsFunc(x.lexicon.tables.starts, func(phrase []byte) bool { return bytes.HasPrefix(x.lower, phrase) }) ||
		slices.ContainsFunc(x.lexicon.tables.anywhere, func(phrase []byte) bool { return bytes.Contains(x.lower, phrase) })
}

// segment is a sentence of a chunk with its layout.
type segment struct {
	text.Span
	layout layout
}

// segments returns the sentences of a text except boilerplate, and calls do while each is the current one.
func (x *sentence) segments(s string, do func(layout)) []segment {
	spans := text.Sentences(s)
	out := make([]segment, 0, len(spans))
	for _, span := range spans {
		x.open(s, span)
		if k := x.layout(); k != boilerplate {
			out = append(out, segment{span, k})
			do(k)
		}
	}
	return out
}

// appendLower appends s in lower case, with straight apostrophes and hyphens.
func appendLower(dst []byte, s string) []byte {
	for _, r := range s {
		switch r {
		case '’', 'ʼ', '‘':
			r = '\''
		case '‐', '‑', '–':
			r = '-'
		case '\u00AD', '\u200D', '\u200C':
			continue
		}
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		} else if r >= utf8.RuneSelf {
			r = unicode.ToLower(r)
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

//go:embed tables/*.txt
var tableFiles embed.FS

// class is a set of bits: the classes that the tables give to a word.
type class uint64

const (
	determiner class = 1 << iota
	preposition
	conjunction
	pronoun
	relative
	interrogative
	formOfBe
	formOfHave
	formOfDo
	modal
	negation
	adverb
	connector
	joining
	month
	weekday
	scale
	unit
	honorific
	role
	kin
	royal
	thing
	modifier
	organizationHead
	placeHead
	eventHead
	workHead
	part
	noname
	chrome
	place
	demonym
	given
	verbBase
	verbS
	verbPast
	verbParticiple
	verbIng
	report
	germanWord
	boilerplateWord // the first word of a phrase in page.txt
)

// function is the set of function words: they are never names, and show that a text is English prose.
const function = determiner | preposition | conjunction | pronoun | relative | interrogative |
	formOfBe | formOfHave | formOfDo | modal | negation

// noun is the set of nouns that a verb pattern could take for verbs.
const noun = role | kin | unit | scale

// anyHead is the set of nouns that say of which kind a named thing is: "University", "River", "War".
const anyHead = organizationHead | placeHead | eventHead | workHead

const finite = verbS | verbPast

const anyVerb = verbBase | verbS | verbPast | verbParticiple | verbIng

// classNames are the names of the classes in the table files, in the order of their bits.
var classNames = strings.Fields("determiner preposition conjunction pronoun relative question be have do modal negation adverb connector joining month weekday " +
	"scale unit honorific role kin royal thing modifier organization place event work part noname chrome - demonym given verb verb-s past participle verb-ing report german")

// tables are the word lists of the package, read from its table files.
type tables struct {
	words    []string // all words that have a class, sorted
	classes  map[string]class
	places   []string // place names, in their original spelling
	regions  int      // number of places, from the first, that contain other places
	starts   [][]byte // beginnings of lines that are boilerplate
	anywhere [][]byte // phrases that make a line boilerplate anywhere in it
}

// loadTables parses the embedded table files, once.
var loadTables = sync.OnceValue(func() *tables {
	t := &tables{classes: map[string]class{}}
	for _, name := range []string{"closed.txt", "names.txt", "verbs.txt"} {
		for key, value := range entries(name) {
			bit := slices.Index(classNames, key)
			if bit < 0 {
				panic(fmt.Sprintf("rules: tables/%s has an unknown class %q", name, key))
			}
			t.add(1<<bit, value)
		}
	}
	for key, value := range entries("places.txt") {
		if key != "-" {
			t.places = append(t.places, key)
		}
		t.add(demonym, value)
	}
	for key, value := range entries("more_places.txt") { // this file lists regions before other places
		for _, word := range strings.Fields(value) {
			t.places = append(t.places, strings.ReplaceAll(word, "_", " "))
		}
		if key == "region" {
			t.regions = len(t.places)
		}
	}
	for _, name := range t.places {
		if !strings.Contains(name, " ") {
			t.classes[strings.ToLower(name)] |= place
		}
	}
	for _, line := range tableLines("given.txt") {
		t.add(given, line)
	}
	for key, value := range entries("page.txt") {
		for phrase := range strings.SplitSeq(value, ";") {
			phrase = strings.TrimSpace(phrase)
			first, _, _ := strings.Cut(phrase, " ")
			t.add(boilerplateWord, strings.Trim(first, ":;"))
			if key == "starts" {
				t.starts = append(t.starts, []byte(phrase))
			} else {
				t.anywhere = append(t.anywhere, []byte(phrase))
			}
		}
	}
	for word := range t.classes {
		t.words = append(t.words, word)
	}
	slices.Sort(t.words)
	return t
})

func (t *tables) add(c class, words string) {
	for _, word := range strings.Fields(words) {
		t.classes[strings.ToLower(word)] |= c
	}
}

// tableLines returns the lines of an embedded table file without empty lines and comments.
func tableLines(name string) []string {
	data, err := tableFiles.ReadFile("tables/" + name)
	if err != nil {
		panic("rules: " + err.Error()) // cannot happen: the file is embedded
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}

// entries yields the "key: value" lines of an embedded table file.
func entries(name string) func(yield func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for _, line := range tableLines(name) {
			key, value, _ := strings.Cut(line, ":")
			if !yield(strings.TrimSpace(key), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}
