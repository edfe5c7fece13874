// SPDX-License-Identifier: Apache-2.0

package text

import (
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

// classTable has the class of every rune of the basic plane; the range tables of package unicode answer for the others.
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

// Joiners, and the marks of vowel length in kana, which Unicode counts to no script.
const (
	softHyphen     = '\u00AD'
	zeroWidthNon   = '\u200C'
	zeroWidthJoin  = '\u200D'
	kanaLong       = '\u30FC'
	kanaLongNarrow = '\uFF70'
	soundMark      = '\uFF9E' // narrow, behind the kana that it voices
	halfSoundMark  = '\uFF9F'
)

// The two tables of character classes, filled at their first use.
var (
	withMarks   = sync.OnceValue(func() *classTable { return newClassTable(true) })
	lettersOnly = sync.OnceValue(func() *classTable { return newClassTable(false) })
)

func newClassTable(marks bool) *classTable {
	t := &classTable{marks: marks}
	for r := range rune(len(t.plane)) {
		t.plane[r] = t.classify(r)
	}
	return t
}

// folding reports whether a word with the rune has to be folded: NFC may change
// the rune or join it to the one before, or [appendFolded] changes it.
func folding(r rune) bool {
	if '가' <= r && r <= '힣' || unicode.Is(unicode.Unified_Ideograph, r) {
		return false // most runes, which have one form: the table is made soon
	}
	lower := unicode.ToLower(r)
	s := string(lower)
	return !norm.NFC.PropertiesString(s).BoundaryBefore() || !norm.NFC.IsNormalString(s) || string(appendFolded(nil, lower)) != s
}

// classify answers from the range tables of package unicode.
func (t *classTable) classify(r rune) (c class) {
	switch {
	case t.marks && (r == softHyphen || r == zeroWidthNon || r == zeroWidthJoin):
		return joiner
	case t.marks && (r == soundMark || r == halfSoundMark || unicode.IsMark(r)):
		c = mark
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return separator
	case Unspaced(r): // also 〇
		c = unspaced
	default:
		c = letter
	}
	if t.marks && r >= utf8.RuneSelf && folding(r) {
		c |= folds
	}
	return c
}

// at decodes the rune at s[i] and its class. A byte that is not UTF-8 is a separator of size 1.
func (sc *scanner) at(s string, i int) (r rune, size int, c class) {
	r, size = utf8.DecodeRuneInString(s[i:])
	if int(r) < len(sc.classes.plane) {
		c = sc.classes.plane[r]
	} else {
		c = sc.classes.classify(r)
	}
	sc.folds = sc.folds || c >= folds
	return r, size, c &^ folds
}

// ascii maps the bytes of words to lower case, other ASCII to 0 and the bytes of longer runes to wide.
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

	word       []byte // the current word, lower-cased
	start, end int    // the current word's place in s

	pos    int  // where the next runes are
	paired bool // the character at pos was already part of a bigram
	folds  bool // the word has a rune with that class
}

// keepWord is the largest word buffer that is kept for the next scan.
const keepWord = 1 << 12

// scan returns a scanner at the beginning of a text.
func (a *Standard) scan(s string) *scanner {
	sc := a.scans.Get().(*scanner)
	sc.s, sc.classes, sc.bigrams = s, a.classes, !a.options.plain
	sc.pos, sc.paired, sc.folds = 0, false, false
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
		if ascii[s[i]] == 0 {
			i++
			continue
		}
		_, size, c := sc.at(s, i)
		switch {
		case c == unspaced && sc.bigrams:
			if sc.pair(s, i) {
				return true
			}
			i = sc.pos
		case c == letter || c == unspaced:
			sc.run(s, i)
			return true
		default:
			i += size
		}
	}
	sc.pos = i
	return false
}

// run reads the word that begins at s[i].
func (sc *scanner) run(s string, i int) {
	word := sc.word[:0]
	sc.start = i
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
	sc.finish()
}

// finish brings the word to its folded form.
func (sc *scanner) finish() {
	if sc.folds {
		sc.folds = false
		folded := make([]byte, 0, 2*len(sc.word))
		for _, r := range string(sc.word) {
			folded = appendFolded(folded, r)
		}
		sc.word = norm.NFC.Append(sc.word[:0], folded...)
	}
}

// pair reads the bigram that begins with the character at s[i], or the character alone where the run has no
// other. It returns false at the last character of a longer run, which was already yielded with the one before.
func (sc *scanner) pair(s string, i int) bool {
	sc.word, sc.start = sc.word[:0], i
	second := sc.character(s, i)
	sc.pos, sc.end = second, second
	alone := !sc.paired
	sc.paired = false
	if second < len(s) {
		if _, _, c := sc.at(s, second); c == unspaced {
			sc.end = sc.character(s, second)
			sc.paired, alone = true, true
		}
	}
	sc.finish()
	return alone
}

// character appends the rune at s[i] with the marks after it to the word, and returns where it ends.
func (sc *scanner) character(s string, i int) int {
	for first := true; i < len(s); first = false {
		r, size, c := sc.at(s, i)
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
