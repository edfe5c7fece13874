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
	basic(func(c rune) { t.plane[c] = letter }, unicode.L, unicode.N)
	basic(func(c rune) {
		if t.plane[c] == letter {
			t.plane[c] = unspaced
		}
	}, unspacedScripts...)
	t.plane[kanaLong], t.plane[kanaLongNarrow] = unspaced, unspaced
	if !marks {
		return t
	}
	basic(func(c rune) { t.plane[c] = mark }, unicode.M)
	t.plane[soundMark], t.plane[halfSoundMark] = mark, mark
	for c := rune(utf8.RuneSelf); c < 1<<16; c++ {
		if t.plane[c] != separator && folding(c) {
			t.plane[c] |= folds
		}
	}
	for _, c := range []rune{softHyphen, zeroWidthNon, zeroWidthJoin} {
		t.plane[c] = joiner
	}
	return t
}

// basic calls do for the runes of tables that are in the basic plane.
func basic(do func(rune), tables ...*unicode.RangeTable) {
	for _, table := range tables {
		for _, r := range table.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				do(c)
			}
		}
	}
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

// scanner walks over the words of a text: page by page, and rune by rune where runs have
// any above ASCII.
type scanner struct {
	s       string
	classes *classTable
	bigrams bool

	word       []byte // the current word, lower-cased
	start, end int    // the current word's place in s

	page
	base, turn  int // where the page begins in s, and the next one
	edge, edges int // of the page: the next, and how many there are

	pos, limit int    // where the runes are that come next
	runes      []byte // the last word of runes
	paired     bool   // the character at pos was already part of a bigram
	folds      bool   // the word has a rune with that class
}

// keepWord is the largest word buffer that is kept for the next scan.
const keepWord = 1 << 12

func (a *Standard) scan(s string) *scanner {
	sc := a.scans.Get().(*scanner)
	sc.begin(a, s)
	return sc
}

// begin prepares for a text.
func (sc *scanner) begin(a *Standard, s string) {
	sc.s, sc.classes, sc.bigrams = s, a.classes, !a.options.NoBigrams
	sc.base, sc.turn, sc.edge, sc.edges = 0, 0, 0, 0
	sc.pos, sc.limit, sc.paired, sc.folds = 0, 0, false, false
}

func (a *Standard) release(sc *scanner) {
	sc.s, sc.word = "", nil
	if cap(sc.runes) <= keepWord {
		a.scans.Put(sc)
	}
}

// next moves to the next word.
func (sc *scanner) next() bool {
	for {
		if sc.pos < sc.limit && sc.nextOfRunes() {
			return true
		}
		if sc.edge == sc.edges {
			if !sc.turnPage() {
				return false
			}
			continue
		}
		from, to := int(sc.page.edges[sc.edge]), int(sc.page.edges[sc.edge+1])
		sc.edge += 2
		sc.start, sc.end = sc.base+from, sc.base+to
		if sc.above(from, to) {
			sc.pos, sc.limit = sc.start, sc.end
			continue
		}
		sc.word = sc.lower[from:to]
		return true
	}
}

// turnPage reads the next page. Of a run that is longer the runes come next.
func (sc *scanner) turnPage() bool {
	if sc.turn == len(sc.s) {
		return false
	}
	n, edges := sc.read(sc.s[sc.turn:])
	sc.base, sc.edge, sc.edges = sc.turn, 0, edges
	if n == 0 {
		for n = pageBytes; sc.base+n < len(sc.s) && ascii[sc.s[sc.base+n]] != 0; n++ {
		}
		sc.pos, sc.limit = sc.base, sc.base+n
	}
	sc.turn = sc.base + n
	return true
}

// nextOfRunes moves to the next word before the limit.
func (sc *scanner) nextOfRunes() bool {
	s, i := sc.s[:sc.limit], sc.pos
	for i < len(s) {
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
	word := sc.runes[:0]
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
	sc.runes, sc.end, sc.pos = word, i, i
	sc.finish()
}

// finish brings the word of runes to its folded form.
func (sc *scanner) finish() {
	if sc.folds {
		sc.folds = false
		folded := make([]byte, 0, 2*len(sc.runes))
		for _, r := range string(sc.runes) {
			folded = appendFolded(folded, r)
		}
		sc.runes = norm.NFC.Append(sc.runes[:0], folded...)
	}
	sc.word = sc.runes
}

// pair reads the bigram that begins with the character at s[i], or the
// character alone where the run has no other. It returns false at the last
// character of a longer run, which was already yielded with the one before.
func (sc *scanner) pair(s string, i int) bool {
	sc.runes, sc.start = sc.runes[:0], i
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

// character appends the rune at s[i] with the marks after it to the word, and
// returns where it ends.
func (sc *scanner) character(s string, i int) int {
	for first := true; i < len(s); first = false {
		r, size, c := sc.at(s, i)
		if !first && c != mark && c != joiner {
			break
		}
		if c != joiner {
			sc.runes = utf8.AppendRune(sc.runes, unicode.ToLower(r))
		}
		i += size
	}
	return i
}
