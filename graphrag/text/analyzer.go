// SPDX-License-Identifier: Apache-2.0

package text

import (
	"cmp"
	"fmt"
	"sync"
)

// Analyzer turns text into words and words into terms. Indexes and embedders take
// any, so that a tokenizer for another language can be brought along; [Standard]
// is that of this package. It is safe for concurrent use.
type Analyzer interface {
	// Words yields the words of s in order, in lower case where the script has
	// one, until yield returns false. The slice is only valid until yield returns.
	Words(s string, yield func(word []byte) bool)
	// Term returns the term a word is indexed under, or false when it is to be
	// left out.
	Term(word string) (term string, ok bool)
	// Name stands for the analyzer and all that its terms depend on: equal names,
	// equal terms. Files of indexes keep it, to refuse another one.
	Name() string
}

// Options choose how a [Standard] makes terms. The zero value is English:
// Porter2 stems, stop words dropped, bigrams for scripts without blanks.
type Options struct {
	// Language selects stemmer and stop words; empty means [English].
	Language Language
	// NoStems keeps words as they are.
	NoStems bool
	// NoStopWords keeps the function words of the language.
	NoStopWords bool
	// NoBigrams treats the letters of scripts without blanks (Chinese, Thai,
	// …) like all others: a run of them is one word.
	NoBigrams bool
	// NoMarks makes separators of combining marks and invisible joiners, so
	// that words hold letters and numbers only, each as it is but for its case.
	NoMarks bool
}

// Standard is the [Analyzer] of this package. It never changes.
type Standard struct {
	options Options
	classes *classTable
	stop    map[string]struct{}
	stems   *memory    // nil: no stems
	scans   *sync.Pool // of *scanner
}

// New returns the analyzer for the options. The one error is an unknown
// language.
func New(o Options) (*Standard, error) {
	if o.Language == "" {
		o.Language = English
	}
	l, ok := lexicon(o.Language)
	if !ok {
		return nil, fmt.Errorf("text: new analyzer: unknown language %q: use one of %v", o.Language, Languages())
	}
	a := &Standard{options: o, classes: withMarks(), scans: &sync.Pool{New: func() any { return new(scanner) }}}
	if o.NoMarks {
		a.classes = lettersOnly()
	}
	if !o.NoStopWords {
		a.stop = l.stopWords()
	}
	if !o.NoStems && l.stem != nil {
		a.stems = newMemory(func(word string) string { return stemOf(l, a.stop, word) })
	}
	return a, nil
}

// Default returns the analyzer of the zero [Options], the same one each time.
func Default() *Standard { return standard() }

var standard = sync.OnceValue(func() *Standard { return must(Options{}) })

// Plain returns the analyzer without linguistics: lower-cased runs of letters
// and numbers and nothing else, no stems, no stop words, no bigrams. It is what
// Python's [^\W_]+ finds in a lower-cased text, and the common ground on which
// BM25 figures are compared. It is the same one each time.
func Plain() *Standard { return unadorned() }

var unadorned = sync.OnceValue(func() *Standard { return must(Options{Language: None, NoBigrams: true, NoMarks: true}) })

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
	for _, o := range []struct {
		is   bool
		name string
	}{{a.options.NoStems, "stems"}, {a.options.NoStopWords, "stop words"}, {a.options.NoBigrams, "bigrams"}, {a.options.NoMarks, "marks"}} {
		if o.is {
			name += ", no " + o.name
		}
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

// Spans yields the words of s like [Analyzer.Words], each with its place in
// the source: s[start:end] is what the word was made of. Spans are ascending;
// they overlap only where a run of characters is yielded as bigrams.
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
	if a.stems != nil && stemmable(word) {
		term = a.stems.of(word)
		return term, term != ""
	}
	if _, stop := a.stop[word]; stop || word == "" {
		return "", false
	}
	return word, true
}

// stemOf is the stem of a word, nothing of a stop word.
func stemOf(l lexiconOf, stop map[string]struct{}, word string) string {
	if _, ok := stop[word]; ok || word == "" {
		return ""
	}
	return cmp.Or(l.stem(word), word)
}

// Terms returns the terms of s in order, with repetitions.
func (a *Standard) Terms(s string) []string {
	var terms []string
	a.Words(s, func(word []byte) bool {
		if t, ok := a.Term(string(word)); ok {
			terms = append(terms, t)
		}
		return true
	})
	return terms
}
