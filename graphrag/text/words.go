// SPDX-License-Identifier: Apache-2.0

package text

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class tells what a rune does to words.
type class uint8

const (
	separator class = iota // ends a word
	letter                 // letters and numbers: begins and continues one
	mark                   // combining: continues one
	joiner                 // invisible: continues one and is dropped
	unspaced               // letter of a script that puts no blanks

	folds class = 1 << 7 // with any of them: the word may not be in its folded form
)

// classTable holds the class of every rune of the basic plane; the range
// tables of package unicode answer for the others.
type classTable struct {
	plane [1 << 16]class
	marks bool // marks and joiners are known; otherwise they are separators
}

// Unspaced reports whether a rune belongs to a script without blanks between
// words, or to Hangul, whose particles are attached to the nouns.
func Unspaced(r rune) bool {
	return r >= firstUnspaced && (r == kanaLong || r == kanaLongNarrow || unicode.In(r, unspacedScripts...))
}

const firstUnspaced = 0x0E00 // Thai

var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// Joiners, and the marks of vowel length in kana, which Unicode counts to no
// script.
const (
	softHyphen     = '\u00AD'
	zeroWidthNon   = '\u200C'
	zeroWidthJoin  = '\u200D'
	kanaLong       = '\u30FC'
	kanaLongNarrow = '\uFF70'
	soundMark      = '\uFF9E' // narrow, behind the kana that it voices
	halfSoundMark  = '\uFF9F'
)

// The two tables, filled when they are first asked for.
var (
	withMarks   = sync.OnceValue(func() *classTable { return newClassTable(true) })
	lettersOnly = sync.OnceValue(func() *classTable { return newClassTable(false) })
)

func newClassTable(marks bool) *classTable {
	t := &classTable{marks: marks}
	for _, set := range []*unicode.RangeTable{unicode.L, unicode.N, unicode.M} {
		for _, r := range set.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				if t.plane[c] = t.classify(c); marks && c >= utf8.RuneSelf && folding(c) {
					t.plane[c] |= folds
				}
			}
		}
	}
	for _, c := range []rune{softHyphen, zeroWidthNon, zeroWidthJoin} {
		if marks {
			t.plane[c] = joiner
		}
	}
	return t
}

// folding reports whether a word with the rune has to be folded: NFC may change
// the rune or join it to the one before, or [appendFolded] changes it.
func folding(r rune) bool {
	s := string(unicode.ToLower(r))
	return !norm.NFC.PropertiesString(s).BoundaryBefore() || !norm.NFC.IsNormalString(s) || string(appendFolded(nil, unicode.ToLower(r))) != s
}

// classify answers from the range tables of package unicode.
func (t *classTable) classify(r rune) class {
	switch {
	case t.marks && (r == soundMark || r == halfSoundMark):
		return mark
	case unicode.IsLetter(r), unicode.IsNumber(r):
		if Unspaced(r) { // also 〇
			return unspaced
		}
		return letter
	case t.marks && unicode.IsMark(r):
		return mark
	}
	return separator
}

// at decodes the rune at s[i] and its class. A byte that is not UTF-8 is a
// separator of size 1.
func (sc *scanner) at(s string, i int) (r rune, size int, c class) {
	r, size = utf8.DecodeRuneInString(s[i:])
	if r >= 1<<16 {
		c = sc.classes.classify(r)
		sc.folds = sc.folds || sc.classes.marks && c != separator && folding(r)
		return r, size, c
	}
	if c = sc.classes.plane[r]; c >= folds {
		sc.folds = true
		c -= folds
	}
	return r, size, c
}

// ascii maps the bytes of words to lower case, other ASCII to 0 and the bytes
// of longer runes to wide.
var ascii = func() (t [256]byte) {
	for c := range t {
		switch {
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'z':
			t[c] = byte(c)
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		case c >= utf8.RuneSelf:
			t[c] = wide
		}
	}
	return t
}()

const wide = 0xFF

// scanner walks over the words of a text.
type scanner struct {
	s       string
	classes *classTable
	bigrams bool

	pos        int    // where to go on
	word       []byte // the current word, lower-cased
	start, end int    // the current word's place in s
	paired     bool   // the character at pos was already part of a bigram
	folds      bool   // the word has a rune with that class
}

// keepWord is the largest word buffer that is kept for the next scan.
const keepWord = 1 << 12

func (a *Standard) scan(s string) *scanner {
	sc := a.scans.Get().(*scanner)
	*sc = scanner{s: s, classes: a.classes, bigrams: !a.options.NoBigrams, word: sc.word}
	return sc
}

func (a *Standard) release(sc *scanner) {
	sc.s = ""
	if cap(sc.word) <= keepWord {
		a.scans.Put(sc)
	}
}

// next moves to the next word.
func (sc *scanner) next() bool {
	s, i := sc.s, sc.pos
	for i < len(s) {
		switch b := ascii[s[i]]; b {
		case 0:
			i++
		case wide:
			_, size, c := sc.at(s, i)
			switch {
			case c == unspaced && sc.bigrams:
				if sc.pair(i) {
					return true
				}
				i = sc.pos
			case c == letter || c == unspaced:
				sc.run(i)
				return true
			default:
				i += size
			}
		default:
			sc.run(i)
			return true
		}
	}
	sc.pos = i
	return false
}

// run reads the word that begins at s[i].
func (sc *scanner) run(i int) {
	s, word := sc.s, sc.word[:0]
	sc.start = i
	for len(s)-i >= 8 {
		eight, n := wordBytes(load64(s[i:]))
		word = binary.LittleEndian.AppendUint64(word, eight)[:len(word)+n]
		if i += n; n < 8 {
			break
		}
	}
	for i < len(s) {
		b := ascii[s[i]]
		if b == wide {
			sc.runWide(i, word)
			return
		}
		if b == 0 {
			break
		}
		word = append(word, b)
		i++
	}
	sc.word, sc.end, sc.pos = word, i, i
}

// wordBytes brings the letters and digits at the beginning of eight bytes to lower case,
// and tells how many they are: all eight at once, with the highest bit of each byte as
// its answer.
func wordBytes(eight uint64) (lower uint64, n int) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	x := eight &^ high
	y := x | 0x20*ones
	letters := (y + (0x80-'a')*ones) &^ (y + (0x7f-'z')*ones) & high
	digits := (x + (0x80-'0')*ones) &^ (x + (0x7f-'9')*ones) & high
	other := ^(letters|digits)&high | eight&high
	return eight | letters>>2, bits.TrailingZeros64(other) / 8
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// runWide goes on with a word where it has a rune above ASCII.
func (sc *scanner) runWide(i int, word []byte) {
	s := sc.s
	for i < len(s) {
		b := ascii[s[i]]
		if b == 0 {
			break
		}
		if b != wide {
			word = append(word, b)
			i++
			continue
		}
		r, size, c := sc.at(s, i)
		if c == separator || c == unspaced && sc.bigrams {
			break
		}
		if c != joiner {
			word = utf8.AppendRune(word, unicode.ToLower(r))
		}
		i += size
	}
	sc.word, sc.end, sc.pos = word, i, i
	if sc.folds {
		sc.fold()
	}
}

// fold brings the word to its folded form.
func (sc *scanner) fold() {
	sc.folds = false
	folded := make([]byte, 0, 2*len(sc.word))
	for _, r := range string(sc.word) {
		folded = appendFolded(folded, r)
	}
	sc.word = norm.NFC.Append(sc.word[:0], folded...)
}

// pair reads the bigram that begins with the character at s[i], or the
// character alone where the run has no other. It returns false at the last
// character of a longer run, which was already yielded with the one before.
func (sc *scanner) pair(i int) bool {
	sc.word, sc.start = sc.word[:0], i
	second := sc.character(i)
	sc.pos, sc.end = second, second
	if second < len(sc.s) {
		if _, _, c := sc.at(sc.s, second); c == unspaced {
			sc.end = sc.character(second)
			if sc.folds {
				sc.fold()
			}
			sc.paired = true
			return true
		}
	}
	if sc.folds {
		sc.fold()
	}
	alone := !sc.paired
	sc.paired = false
	return alone
}

// character appends the rune at s[i] with the marks after it to the word, and
// returns where it ends.
func (sc *scanner) character(i int) int {
	for first := true; i < len(sc.s); first = false {
		r, size, c := sc.at(sc.s, i)
		if !first && c != mark && c != joiner {
			break
		}
		if c != joiner {
			sc.word = utf8.AppendRune(sc.word, unicode.ToLower(r))
		}
		i += size
	}
	return i
}
