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

// Analyzer divides text into words and maps words to terms. Indexes and embedders accept any implementation,
// such as a tokenizer for another language; this package has [Standard]. It is safe for concurrent use.
type Analyzer interface {
	// Words yields the words of s in order, in lower case where the script has
	// one, until yield returns false. The slice is only valid until yield returns.
	Words(s string, yield func(word []byte) bool)
	// Term returns the term under which a word is indexed, or false if the word is left out.
	Term(word string) (term string, ok bool)
	// Name identifies the analyzer and everything on which its terms depend: equal names mean equal terms.
	// Index files store the name, and cannot be opened with another analyzer.
	Name() string
}

// Options choose how a [Standard] makes terms. The zero value is English:
// Porter2 stems, stop words dropped, bigrams for scripts without blanks.
type Options struct {
	// Language selects stemmer and stop words. Empty means [English]; [Each] selects the language of each text,
	// as [LanguageOf] returns it.
	Language Language
	// Otherwise is the language of texts whose language is unknown, if Language is Each; empty means English.
	Otherwise Language
	// NoStems keeps words as they are.
	NoStems bool

	plain bool // no pairs of characters, and no marks and joiners in words (see Plain)
}

// Standard is the [Analyzer] of this package. It never changes. An analyzer with the language Each treats
// single words as Options.Otherwise says; for a whole text use [Standard.For].
type Standard struct {
	options Options
	each    *sync.Map // cache of analyzers of single languages; nil if there is one language
	classes *classTable
	stop    map[string]bool
	stems   *memory    // nil: words are not stemmed
	scans   *sync.Pool // pool of *scanner
}

// New returns the analyzer for the options. The only error is an unknown language.
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

// newStandard returns an analyzer of one language; instead of Each it takes Otherwise.
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

// For returns the analyzer for the language of a text; an analyzer of one language returns itself.
func (a *Standard) For(s string) *Standard {
	if a.each == nil {
		return a
	}
	return a.In(LanguageOf(s))
}

// In returns the analyzer for a language; an analyzer of one language returns itself. The empty language means
// Options.Otherwise.
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

// Default returns the analyzer of the zero [Options]. All calls return the same one.
func Default() *Standard { return standard() }

var standard = sync.OnceValue(func() *Standard { return must(Options{}) })

// each returns the analyzer that takes the language of each text.
var each = sync.OnceValue(func() *Standard { return must(Options{Language: Each}) })

// Plain returns an analyzer without linguistics: words are lower-cased runs of letters and numbers, without
// stems, stop words and pairs of characters. They equal the matches of Python's [^\W_]+ in a lower-cased text,
// so that BM25 figures can be compared with other programs. All calls return the same analyzer.
func Plain() *Standard { return unadorned() }

var unadorned = sync.OnceValue(func() *Standard { return must(Options{Language: None, plain: true}) })

// must returns an analyzer for options that are valid.
func must(o Options) *Standard {
	a, err := New(o)
	if err != nil {
		panic(err)
	}
	return a
}

// Name implements [Analyzer]: it lists the options.
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

// Term returns the snowball stem of a word, or false when it is a stop word. The word must be lower-cased, as
// Words yields it. Words with a digit and words over 64 bytes (identifiers, encoded data) are not stemmed.
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

// mostStems is the number of cached stems at which the cache is emptied, about 20 MB.
const mostStems = 1 << 18

// of returns the stem of a word.
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

// FoldName returns a key that all spellings of an entity's name share: NFC, lower case, runs of white space and
// control characters as one blank, typographic quotes and dashes as their ASCII forms, and nothing at the ends
// that is not part of a name (blanks, commas, full stops, Markdown marks, quotes without a partner inside, a
// pair of quotes or brackets around the whole). Accents, inner punctuation and symbols such as the + of "C++"
// stay; full-width letters become narrow and narrow kana full-width. Invalid UTF-8 and invisible joiners are
// dropped. FoldName is idempotent; a name that consists of what is removed becomes "".
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
	return trimName(norm.NFC.String(string(b))) // again, since lower case may compose where upper case does not
}

// drop marks runes that are removed.
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

// narrow returns the ASCII character of a full-width form. Other characters that Unicode calls compatible (½,
// ²) mean something else and stay.
func narrow(r rune) rune {
	if '！' <= r && r <= '～' {
		return r - '！' + '!'
	}
	return r
}

// appendFolded appends a rune in lower case. It unifies spellings that differ by position in the word (ς) or in
// upper case only (ß).
func appendFolded(b []byte, r rune) []byte {
	switch r {
	case 'ς':
		r = 'σ'
	case 'ß':
		return append(b, "ss"...)
	}
	if '･' <= r && r <= halfSoundMark || 'ﬀ' <= r && r <= 'ﬆ' { // narrow kana and typographic ligatures
		return norm.NFKC.AppendString(b, string(r))
	}
	return utf8.AppendRune(b, narrow(r))
}

// loose are the characters that are trimmed from the ends of a name.
const loose = " '.,;:!?…*_-|•·¿¡。、，；：！？"

// pairs are removed if they enclose a whole name. Of the quotes, which follow the brackets, a single one is
// removed too if the name lacks its partner: "Weird Al" Yankovic keeps both.
var pairs = [...][2]string{{"(", ")"}, {"[", "]"}, {"{", "}"}, {"（", "）"}, {"【", "】"},
	{`"`, `"`}, {"「", "」"}, {"『", "』"}, {"《", "》"}}

const firstQuote = 5 // index of the first quotes in pairs

func trimName(s string) string {
	for inner, ok := s, true; ok; inner, ok = unwrap(s) {
		s = strings.Trim(inner, loose)
	}
	return s
}

// unwrap removes a pair that encloses all of s, or a quote at an end that has no partner in s.
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
		case begins: // its partner is inside
		case ends && !strings.Contains(body, p[0]):
			return body, true
		}
		if other, ok := strings.CutPrefix(s, p[1]); ok && p[0] != p[1] { // the closing quote comes first
			return other, true
		}
		if other, ok := strings.CutSuffix(s, p[0]); ok && p[0] != p[1] {
			return other, true
		}
	}
	return s, false
}

// List is a list of texts, each made when it is read, so that, for instance, passages under their titles need
// no second copy of the corpus in memory. It is safe for concurrent use.
type List struct {
	n  int
	at func(i int) string
}

// NewList returns a list of n texts, which at returns. at must always return the same texts, and be safe for
// concurrent use.
func NewList(n int, at func(i int) string) List { return List{n, at} }

// Strings returns a list of given texts.
func Strings(texts []string) List { return List{len(texts), func(i int) string { return texts[i] }} }

// Len returns the number of texts.
func (l List) Len() int { return l.n }

// At returns text i.
func (l List) At(i int) string { return l.at(i) }

// All yields the texts in their order.
func (l List) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range l.n {
			if !yield(l.at(i)) {
				return
			}
		}
	}
}
