// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"sync"
)

// Options choose how an [Analyzer] makes terms. The zero value is English:
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
	// that words hold letters and numbers only.
	NoMarks bool
}

// Analyzer turns text into words and words into terms. It is immutable and
// safe for concurrent use.
type Analyzer struct {
	options Options
	classes *classTable
	stop    map[string]struct{}
	stem    func(word string) string
	scans   *sync.Pool // of *scanner
}

// New returns the analyzer for the options. The one error is an unknown
// language.
func New(o Options) (*Analyzer, error) {
	if o.Language == "" {
		o.Language = English
	}
	l, ok := lexicon(o.Language)
	if !ok {
		return nil, fmt.Errorf("text: new analyzer: unknown language %q: use one of %v", o.Language, Languages())
	}
	a := &Analyzer{options: o, classes: withMarks(), scans: &sync.Pool{New: func() any { return new(scanner) }}}
	if o.NoMarks {
		a.classes = lettersOnly()
	}
	if !o.NoStems {
		a.stem = l.stem
	}
	if !o.NoStopWords {
		a.stop = l.stopWords()
	}
	return a, nil
}

// Default returns the analyzer of the zero [Options].
func Default() *Analyzer { return must(Options{}) }

// Plain returns the analyzer without linguistics: lower-cased runs of letters
// and numbers and nothing else, no stems, no stop words, no bigrams. It is what
// Python's [^\W_]+ finds in a lower-cased text, and the common ground on which
// BM25 figures are compared.
func Plain() *Analyzer { return must(Options{Language: None, NoBigrams: true, NoMarks: true}) }

// must builds from options that are known to be valid.
func must(o Options) *Analyzer {
	a, err := New(o)
	if err != nil {
		panic(err)
	}
	return a
}

// Options returns what the analyzer was built with, the language filled in.
// An index stores them to analyse its queries in the same way later.
func (a *Analyzer) Options() Options { return a.options }

// Words yields the lower-cased words of s in order. The slice is only valid
// until yield returns. Words allocates nothing.
func (a *Analyzer) Words(s string, yield func(word []byte)) {
	sc := a.scan(s)
	for sc.next() {
		yield(sc.word)
	}
	a.release(sc)
}

// Spans yields the words of s like [Analyzer.Words], each with its place in
// the source: s[start:end] is what the word was made of. Spans are ascending;
// they overlap only where a run of characters is yielded as bigrams.
func (a *Analyzer) Spans(s string, yield func(word []byte, start, end int)) {
	sc := a.scan(s)
	for sc.next() {
		yield(sc.word, sc.start, sc.end)
	}
	a.release(sc)
}

// Term returns the term a word is indexed under, or false when it is a stop
// word. The word must be lower-cased, as Words yields it. Words with a digit
// and words over 64 bytes (identifiers, encoded data) are not stemmed.
func (a *Analyzer) Term(word string) (term string, ok bool) {
	if _, stop := a.stop[word]; stop || word == "" {
		return "", false
	}
	if a.stem == nil || !stemmable(word) {
		return word, true
	}
	if term = a.stem(word); term == "" {
		return word, true
	}
	return term, true
}

// Terms returns the terms of s in order, with repetitions.
func (a *Analyzer) Terms(s string) []string {
	var terms []string
	a.Words(s, func(word []byte) {
		if t, ok := a.Term(string(word)); ok {
			terms = append(terms, t)
		}
	})
	return terms
}
