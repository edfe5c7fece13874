// SPDX-License-Identifier: Apache-2.0

package text

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"unicode"
)

// Analyzer turns text into words and words into terms; [Standard] is the one of this package. It is safe for concurrent
// use.
type Analyzer interface {
	// Words yields the words of s in order, in lower case, until yield returns false. The slice is valid until then.
	Words(s string, yield func(word []byte) bool)
	// Term returns the term a word is indexed under, or false when it is to be left out.
	Term(word string) (term string, ok bool)
	// Name identifies the analyzer: equal names, equal terms. Index files store it, and refuse another one.
	Name() string
}

// Options of a [Standard]. The zero value is English: Porter2 stems, no stop words, bigrams without blanks.
type Options struct {
	// Language selects stemmer and stop words; empty means [English], [Each] the ones of each text, see [LanguageOf].
	Language Language
	// Otherwise is the language of texts that do not tell theirs, where Language is Each; empty means English.
	Otherwise Language
	// NoStems keeps words as they are.
	NoStems bool

	plain bool // no bigrams, nor marks and joiners in words, see [Plain]
}

// Standard is the [Analyzer] of this package. Of every language, words alone are of Options.Otherwise: see [Standard.For].
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

// Plain returns the analyzer of lower-cased runs of letters and numbers, without stems, stop words and bigrams:
// Python's [^\W_]+ in a lower-cased text, the common ground of BM25 figures. It is the same one each time.
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

// Words yields the lower-cased words of s in order, until yield returns false, without allocation, see [Analyzer].
func (a *Standard) Words(s string, yield func(word []byte) bool) {
	sc := a.scan(s)
	for sc.next() && yield(sc.word) {
	}
	a.release(sc)
}

// Spans yields the words of s like [Analyzer.Words] with their places: ascending, overlapping only where they are bigrams.
func (a *Standard) Spans(s string, yield func(word []byte, start, end int)) {
	sc := a.scan(s)
	for sc.next() {
		yield(sc.word, sc.start, sc.end)
	}
	a.release(sc)
}

// Term returns the stem of a word in lower case, or false of a stop word. With a digit or over 64 bytes it is the word.
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
