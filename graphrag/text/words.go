// SPDX-License-Identifier: Apache-2.0

package text

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/unicode/norm"
)

// class says how a rune divides or continues words.
type class uint8

const (
	separator class = iota // ends a word
	letter                 // a letter or number: begins or continues a word
	mark                   // a combining mark: continues a word
	joiner                 // an invisible joiner: continues a word and is dropped
	unspaced               // a letter of a script without blanks between words

	folds class = 1 << 7 // a flag: a word with such a rune may have to be folded
)

// classTable has the class of every rune of the basic plane; other runes are classified by the tables of
// package unicode.
type classTable struct {
	plane [1 << 16]class
	marks bool // false: marks and joiners are separators
}

// Unspaced reports whether a rune belongs to a script without blanks between
// words, or to Hangul, whose particles are attached to the nouns.
func Unspaced(r rune) bool {
	return r >= firstUnspaced && (r == kanaLong || r == kanaLongNarrow || unicode.In(r, unspacedScripts...))
}

const firstUnspaced = 0x0E00 // first letters of Thai

var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// Joiners, and the marks of vowel length in kana, which Unicode does not assign to a script.
const (
	softHyphen     = '\u00AD'
	zeroWidthNon   = '\u200C'
	zeroWidthJoin  = '\u200D'
	kanaLong       = '\u30FC'
	kanaLongNarrow = '\uFF70'
	soundMark      = '\uFF9E' // narrow, after the kana that it voices
	halfSoundMark  = '\uFF9F'
)

// The tables of character classes with and without marks, filled at their first use.
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

// folding reports whether a word with the rune has to be folded: NFC may change the rune or join it with the
// one before, or [appendFolded] changes it.
func folding(r rune) bool {
	if '가' <= r && r <= '힣' || unicode.Is(unicode.Unified_Ideograph, r) {
		return false // a fast path: most runes of the table have one form
	}
	lower := unicode.ToLower(r)
	s := string(lower)
	return !norm.NFC.PropertiesString(s).BoundaryBefore() || !norm.NFC.IsNormalString(s) || string(appendFolded(nil, lower)) != s
}

// classify returns the class of a rune by the tables of package unicode.
func (t *classTable) classify(r rune) (c class) {
	switch {
	case t.marks && (r == softHyphen || r == zeroWidthNon || r == zeroWidthJoin):
		return joiner
	case t.marks && (r == soundMark || r == halfSoundMark || unicode.IsMark(r)):
		c = mark
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return separator
	case Unspaced(r): // includes 〇, which is a number
		c = unspaced
	default:
		c = letter
	}
	if t.marks && r >= utf8.RuneSelf && folding(r) {
		c |= folds
	}
	return c
}

// at decodes the rune at s[i] and returns its class. A byte that is not UTF-8 is a separator of size 1.
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

// ascii maps ASCII letters to lower case and digits to themselves, other ASCII bytes to 0, and the bytes of
// longer runes to wide.
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

// scanner reads the words of a text: page by page, and rune by rune in runs with bytes above ASCII.
type scanner struct {
	s       string
	classes *classTable
	bigrams bool

	word       []byte // current word in lower case
	start, end int    // span of the current word in s

	page
	base, turn  int // offset in s of the page, and of the next one
	edge, edges int // index of the next edge of the page, and number of edges

	pos, limit int    // span in s of the runes to read next
	runes      []byte // last word that was read by runes
	paired     bool   // the character at pos was the second one of a pair
	folds      bool   // the word has a rune of class folds
}

// keepWord is the largest capacity of a word buffer that is reused for another scan.
const keepWord = 1 << 12

// Words yields the lower-cased words of s in order, until yield returns false. The slice is valid until yield
// returns. Words allocates only for words that have to be folded, such as those that are not in NFC.
func (a *Standard) Words(s string, yield func(word []byte) bool) {
	sc := a.scan(s)
	for sc.next() && yield(sc.word) {
	}
	a.release(sc)
}

// Spans yields the words of s as [Analyzer.Words] does, each with its span in the source, s[start:end]. Spans
// are ascending; they overlap only where a run of characters is yielded as pairs.
func (a *Standard) Spans(s string, yield func(word []byte, start, end int)) {
	sc := a.scan(s)
	for sc.next() {
		yield(sc.word, sc.start, sc.end)
	}
	a.release(sc)
}

// scan returns a scanner at the beginning of a text.
func (a *Standard) scan(s string) *scanner {
	sc := a.scans.Get().(*scanner)
	sc.s, sc.classes, sc.bigrams = s, a.classes, !a.options.plain
	sc.base, sc.turn, sc.edge, sc.edges = 0, 0, 0, 0
	sc.pos, sc.limit, sc.paired, sc.folds = 0, 0, false, false
	return sc
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

// turnPage reads the next page. If a run is longer than a page, its runes are read next.
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

// nextOfRunes moves to the next word before the limit, rune by rune.
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

// finish folds the word that was read by runes, if necessary.
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

// pair reads the pair of characters that begins at s[i], or the character alone if its run has no other. It
// returns false at the last character of a longer run, which was already yielded with the one before.
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

// character appends the rune at s[i] and the marks after it to the word, and returns the offset after them.
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

// page is a part of a text in lower case, and the positions of its runs: of letters, digits and bytes above
// ASCII. Words consist of bytes in runs only.
type page struct {
	lower [pageBytes + inSlot]byte // room for reading beyond the last word
	edges [pageBytes + 1]uint16    // offsets of begin and end of the runs, alternately
	runs  [pageBytes / 64]uint64   // a bit for each byte in a run
	wide  [pageBytes / 64]uint64   // a bit for each byte above ASCII
}

// pageBytes is chosen so that a page with its edges fits the first-level cache.
const pageBytes = 1 << 11

// read reads the beginning of a text and returns its number of bytes and of edges. A run that
// extends beyond the page is left to the next one, unless it fills the page.
func (p *page) read(s string) (n, edges int) {
	n = min(len(s), pageBytes)
	blocks := n / 64
	lowerEights(p.lower[:], s, p.runs[:blocks], p.wide[:blocks])
	if blocks < (n+63)/64 {
		var last [64]byte
		copy(last[:], s[64*blocks:])
		lowerEights(p.lower[64*blocks:], unsafe.String(&last[0], len(last)), p.runs[blocks:blocks+1], p.wide[blocks:])
		blocks++
	}
	before := uint64(0) // 1 if the byte before is in a run
	for i, runs := range p.runs[:blocks] {
		for e := runs ^ (runs<<1 | before); e != 0; e &= e - 1 {
			p.edges[edges] = uint16(64*i + bits.TrailingZeros64(e))
			edges++
		}
		before = runs >> 63
	}
	switch {
	case edges&1 == 0:
	case n == len(s):
		p.edges[edges] = uint16(n)
		edges++
	default:
		edges--
		n = int(p.edges[edges])
	}
	return n, edges
}

// lowerEights writes blocks of 64 bytes in lower case. It sets a bit of runs for each byte in a run, and a bit
// of wides for each byte above ASCII.
func lowerEights(lower []byte, s string, runs, wides []uint64) {
	for b := range runs {
		from, to := s[64*b:64*b+64], lower[64*b:64*b+64]
		runs[b], wides[b] = 0, 0
		for i := 0; i < 64; i += 8 {
			eight, in, above := lowered(load64(from[i:]))
			binary.LittleEndian.PutUint64(to[i:], eight)
			runs[b] |= in << i
			wides[b] |= above << i
		}
	}
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// lowered does what lowerEights does, for eight bytes.
func lowered(eight uint64) (lower, runs, wides uint64) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	x := eight &^ high
	y := x | 0x20*ones
	letters := (y + (0x80-'a')*ones) &^ (y + (0x7f-'z')*ones) &^ eight & high
	digits := (x + (0x80-'0')*ones) &^ (x + (0x7f-'9')*ones) & high
	return eight | letters>>2, bitOfEach(letters | digits | eight&high), bitOfEach(eight & high)
}

// bitOfEach moves the highest bit of each of eight bytes into one byte.
func bitOfEach(high uint64) uint64 { return high >> 7 * 0x0102040810204080 >> 56 }

// above reports whether a part of the page has bytes above ASCII.
func (p *page) above(from, to int) bool {
	for w := from >> 6; w <= (to-1)>>6; w++ {
		m := p.wide[w]
		if m == 0 {
			continue
		}
		if w == from>>6 {
			m = m >> (from & 63) << (from & 63)
		}
		if w == (to-1)>>6 {
			m <<= 63 - (to-1)&63
		}
		if m != 0 {
			return true
		}
	}
	return false
}
