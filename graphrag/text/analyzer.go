// SPDX-License-Identifier: Apache-2.0

package text

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Analyzer turns text into words and words into terms. Indexes and embedders take any, for tokenizers of
// other languages; [Standard] is the one of this package. It is safe for concurrent use.
type Analyzer interface {
	// Words yields the words of s in order, in lower case where the script has
	// one, until yield returns false. The slice is only valid until yield returns.
	Words(s string, yield func(word []byte) bool)
	// Term returns the term a word is indexed under, or false when it is to be left out.
	Term(word string) (term string, ok bool)
	// Name identifies the analyzer and all that its terms depend on: equal names, equal
	// terms. Index files store it, and refuse another one.
	Name() string
}

// Options choose how a [Standard] makes terms. The zero value is English:
// Porter2 stems, stop words dropped, bigrams for scripts without blanks.
type Options struct {
	// Language selects stemmer and stop words; empty means [English], and [Each] those
	// of each text's own language, as [LanguageOf] tells it.
	Language Language
	// Otherwise is the language of texts that do not tell theirs, where Language is Each; empty means English.
	Otherwise Language
	// NoStems keeps words as they are.
	NoStems bool

	plain bool // no bigrams, nor marks and joiners in words, see [Plain]
}

// Standard is the [Analyzer] of this package. It never changes. One for every language makes terms of
// single words as Options.Otherwise says: who has their text asks [Standard.For].
type Standard struct {
	options Options
	each    *sync.Map // of the analyzers of single languages, made when they are needed; nil: one language
	classes *classTable
	stop    map[string]bool
	stems   *memory    // nil: no stems
	scans   *sync.Pool // of *scanner
}

// New returns the analyzer for the options. The one error is an unknown language.
func New(o Options) (*Standard, error) {
	o.Language, o.Otherwise = cmp.Or(o.Language, English), cmp.Or(o.Otherwise, English)
	for _, name := range []Language{o.Language, o.Otherwise} {
		if _, ok := lexiconOf(name); !ok && (name != Each || o.Otherwise == Each) {
			return nil, fmt.Errorf("text: new analyzer: unknown language %q: use one of %v", name, languages())
		}
	}
	if o.Language != Each {
		return newStandard(o), nil
	}
	a := *newStandard(o)
	a.each = new(sync.Map)
	return &a, nil
}

// newStandard makes an analyzer of one language, of Otherwise if that is Each.
func newStandard(o Options) *Standard {
	language := o.Language
	if language == Each {
		language = o.Otherwise
	}
	l, _ := lexiconOf(language)
	a := &Standard{options: o, classes: withMarks(), stop: l.stopWords(), scans: &sync.Pool{New: func() any { return new(scanner) }}}
	if o.plain {
		a.classes = lettersOnly()
	}
	if !o.NoStems && l.stem != nil {
		a.stems = &memory{stem: l.stemOf, stems: make(map[string]string)}
	}
	return a
}

// For returns the analyzer for the language of a text, itself if it is for one language.
func (a *Standard) For(s string) *Standard {
	if a.each == nil {
		return a
	}
	return a.In(LanguageOf(s))
}

// In returns the analyzer for a language, itself if it is for one language. The empty language means Options.Otherwise.
func (a *Standard) In(l Language) *Standard {
	if a.each == nil {
		return a
	}
	o := a.options
	o.Language = cmp.Or(l, o.Otherwise)
	in, ok := a.each.Load(o.Language)
	if !ok {
		in, _ = a.each.LoadOrStore(o.Language, newStandard(o))
	}
	return in.(*Standard)
}

// Default returns the analyzer of the zero [Options], the same one each time.
func Default() *Standard { return standard() }

var standard = sync.OnceValue(func() *Standard { return must(Options{}) })

// each is the analyzer for every language.
var each = sync.OnceValue(func() *Standard { return must(Options{Language: Each}) })

// Plain returns the analyzer without linguistics: lower-cased runs of letters and numbers and nothing else,
// no stems, no stop words, no bigrams. It is what Python's [^\W_]+ finds in a lower-cased text, and the
// common ground on which BM25 figures are compared. It is the same one each time.
func Plain() *Standard { return unadorned() }

var unadorned = sync.OnceValue(func() *Standard { return must(Options{Language: None, plain: true}) })

// must builds from options that are known to be valid.
func must(o Options) *Standard {
	a, err := New(o)
	if err != nil {
		panic(err)
	}
	return a
}

// Name spells out the options.
func (a *Standard) Name() string {
	name := string(a.options.Language)
	if a.each != nil {
		name += ", else " + string(a.options.Otherwise)
	}
	if a.options.NoStems {
		name += ", no stems"
	}
	if a.options.plain {
		name += ", no bigrams, no marks"
	}
	return name
}

// Words yields the lower-cased words of s in order, until yield returns false.
// The slice is only valid until yield returns. Words allocates nothing.
func (a *Standard) Words(s string, yield func(word []byte) bool) {
	sc := a.scan(s)
	for sc.next() && yield(sc.word) {
	}
	a.release(sc)
}

// Spans yields the words of s like [Analyzer.Words], each with its place in the source: s[start:end] is what the
// word was made of. Spans are ascending; they overlap only where a run of characters is yielded as bigrams.
func (a *Standard) Spans(s string, yield func(word []byte, start, end int)) {
	sc := a.scan(s)
	for sc.next() {
		yield(sc.word, sc.start, sc.end)
	}
	a.release(sc)
}

// Term returns the snowball stem of a word, or false when it is a stop word. The
// word must be lower-cased, as Words yields it. Words with a digit
// and words over 64 bytes (identifiers, encoded data) are not stemmed.
func (a *Standard) Term(word string) (term string, ok bool) {
	if a.stop[word] || word == "" {
		return "", false
	}
	if a.stems != nil && len(word) <= maxStem && !strings.ContainsFunc(word, unicode.IsNumber) {
		return cmp.Or(a.stems.of(word), word), true
	}
	return word, true
}

// Terms returns the terms of s in order, with repetitions, in the language of s.
func (a *Standard) Terms(s string) []string {
	var terms []string
	a = a.For(s)
	a.Words(s, func(word []byte) bool {
		if t, ok := a.Term(string(word)); ok {
			terms = append(terms, t)
		}
		return true
	})
	return terms
}

// maxStem is the longest word that is stemmed, in bytes. The longest words of natural languages are about half of it.
const maxStem = 64

// memory caches the stems of words: the same words are in every index, and a stem takes a microsecond.
type memory struct {
	stem  func(word string) string
	mu    sync.RWMutex
	stems map[string]string
}

// mostStems is the number of cached stems at which the cache is emptied: about 20 MB.
const mostStems = 1 << 18

// of is the stem of a word.
func (m *memory) of(word string) string {
	m.mu.RLock()
	stem, ok := m.stems[word]
	m.mu.RUnlock()
	if ok {
		return stem
	}
	stem = m.stem(word)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.stems) == mostStems {
		clear(m.stems)
	}
	m.stems[strings.Clone(word)] = strings.Clone(stem)
	return stem
}

// FoldName returns the key under which the spellings of one entity's name meet: NFC, lower case, runs of white
// space and control characters as one blank, typographic quotes and dashes as their ASCII forms, and nothing at
// the ends that is not part of a name (blanks, commas, full stops, markdown marks, quotes without a partner
// inside, a pair of quotes or brackets around the whole). Accents, inner punctuation and symbols such as the + of
// "C++" stay; full-width letters are narrow and narrow kana full ones. Invalid UTF-8 and invisible joiners are
// dropped. FoldName is idempotent; a name of nothing but punctuation folds to "".
func FoldName(s string) string {
	s = norm.NFC.String(s)
	b := make([]byte, 0, len(s))
	blank := false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r = foldRune(r); {
		case r == drop || r == utf8.RuneError && size == 1:
		case r == ' ':
			blank = true
		default:
			if blank && len(b) > 0 {
				b = append(b, ' ')
			}
			blank = false
			b = appendFolded(b, r)
		}
	}
	return trimName(norm.NFC.String(string(b))) // lower case may compose where upper case does not
}

// drop marks runes that vanish.
const drop = -1

func foldRune(r rune) rune {
	switch r = narrow(r); r {
	case softHyphen, '\u200B', zeroWidthNon, zeroWidthJoin, '\u2060', '\uFEFF':
		return drop
	case '‘', '’', '‚', '‛', '′', '`', '´', 'ʼ':
		return '\''
	case '“', '”', '„', '‟', '″', '«', '»':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	}
	if unicode.IsSpace(r) || unicode.IsControl(r) {
		return ' '
	}
	return unicode.ToLower(r)
}

// narrow returns the ASCII character of a full-width form. Other characters that
// Unicode calls compatible (½, ²) say something else and stay.
func narrow(r rune) rune {
	if '！' <= r && r <= '～' {
		return r - '！' + '!'
	}
	return r
}

// appendFolded appends a rune in lower case such that spellings meet which differ
// in the place within a word (ς) or in upper case only (ß).
func appendFolded(b []byte, r rune) []byte {
	switch r {
	case 'ς':
		r = 'σ'
	case 'ß':
		return append(b, "ss"...)
	}
	if '･' <= r && r <= halfSoundMark || 'ﬀ' <= r && r <= 'ﬆ' { // narrow kana, ligatures of print
		return norm.NFKC.AppendString(b, string(r))
	}
	return utf8.AppendRune(b, narrow(r))
}

// loose are the characters that are trimmed from the ends of a name.
const loose = " '.,;:!?…*_-|•·¿¡。、，；：！？"

// pairs are taken off when they enclose a whole name; of quotes, which are those after the brackets, also one
// if the name lacks the other: "Weird Al" Yankovic keeps both.
var pairs = [...][2]string{{"(", ")"}, {"[", "]"}, {"{", "}"}, {"（", "）"}, {"【", "】"},
	{`"`, `"`}, {"「", "」"}, {"『", "』"}, {"《", "》"}}

const firstQuote = 5 // in pairs

func trimName(s string) string {
	for inner, ok := s, true; ok; inner, ok = unwrap(s) {
		s = strings.Trim(inner, loose)
	}
	return s
}

// unwrap takes off a pair around all of s, or a quote at an end that has no partner in s.
func unwrap(s string) (string, bool) {
	for i, p := range pairs {
		inner, begins := strings.CutPrefix(s, p[0])
		body, ends := strings.CutSuffix(inner, p[1])
		switch {
		case begins && ends && !strings.Contains(body, p[0]) && !strings.Contains(body, p[1]):
			return body, true
		case i < firstQuote:
			continue
		case begins && !strings.Contains(inner, p[1]):
			return inner, true
		case begins: // its partner stands inside
		case ends && !strings.Contains(body, p[0]):
			return body, true
		}
		if other, ok := strings.CutPrefix(s, p[1]); ok && p[0] != p[1] { // the wrong way round
			return other, true
		}
		if other, ok := strings.CutSuffix(s, p[0]); ok && p[0] != p[1] {
			return other, true
		}
	}
	return s, false
}

// List is a list of texts, each made when it is read: the passages of a corpus under their
// titles are no second corpus in memory. It is safe for concurrent use.
type List struct {
	n  int
	at func(i int) string
}

// NewList is the list of n texts that at returns, the same ones whenever it is called, also
// by several goroutines at once.
func NewList(n int, at func(i int) string) List { return List{n, at} }

// Strings is the list of texts that are there.
func Strings(texts []string) List { return List{len(texts), func(i int) string { return texts[i] }} }

// Len is the number of texts.
func (l List) Len() int { return l.n }

// At is a text.
func (l List) At(i int) string { return l.at(i) }

// All are the texts in their order.
func (l List) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range l.n {
			if !yield(l.at(i)) {
				return
			}
		}
	}
}
