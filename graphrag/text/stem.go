// SPDX-License-Identifier: Apache-2.0

package text

import (
	"slices"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/norwegian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"
)

// Language names the language whose stemmer and stop words are used.
type Language string

// The languages with a snowball stemmer, and None, which has neither stems
// nor stop words.
const (
	English   Language = "english"
	French    Language = "french"
	Spanish   Language = "spanish"
	Russian   Language = "russian"
	Swedish   Language = "swedish"
	Norwegian Language = "norwegian"
	None      Language = "none"
)

// Languages returns all languages a [Standard] analyzer can be built for.
func Languages() []Language {
	return []Language{English, French, Spanish, Russian, Swedish, Norwegian, None}
}

// words of one language.
type lexiconOf struct {
	stem func(word string) string // nil: no stems
	stop string                   // stop words, parted by white space
}

func lexicon(l Language) (lexiconOf, bool) {
	switch l {
	case English:
		return lexiconOf{snowball(english.Stem), englishStop}, true
	case French:
		return lexiconOf{frenchStem, frenchStop}, true
	case Spanish:
		return lexiconOf{snowball(spanish.Stem), spanishStop}, true
	case Russian:
		return lexiconOf{russianStem, russianStop}, true
	case Swedish:
		return lexiconOf{snowball(swedish.Stem), swedishStop}, true
	case Norwegian:
		return lexiconOf{snowball(norwegian.Stem), norwegianStop}, true
	case None:
		return lexiconOf{}, true
	}
	return lexiconOf{}, false
}

// snowball adapts a stemmer: what is a stop word was decided before, so
// whatever comes is stemmed.
func snowball(stem func(string, bool) string) func(string) string {
	return func(word string) string { return stem(word, true) }
}

// russianStem is that of Snowball 2: ё is written е as often as not.
func russianStem(word string) string {
	return russian.Stem(strings.ReplaceAll(word, "ё", "е"), true)
}

// frenchStem is that of Snowball 2, where ï and ë are vowels of their own, behind an
// h while the word is stemmed: archaïque is no word in -aïque.
func frenchStem(word string) string {
	var put strings.Builder
	var at []int // where an h was put
	for _, r := range word {
		switch r {
		case 'ï':
			at = append(at, put.Len())
			put.WriteString("hi")
		case 'ë':
			at = append(at, put.Len())
			put.WriteString("he")
		default:
			put.WriteRune(r)
		}
	}
	if len(at) == 0 {
		return french.Stem(word, true)
	}
	marked := put.String()
	stem := french.Stem(marked, true)
	if last := at[len(at)-1]; last == len(stem)-1 && !nounEnding(marked[last+1:]) {
		return french.Stem(word, true) // an ending of verbs is not taken off behind it: haïr
	}
	for _, i := range slices.Backward(at) {
		if i >= len(stem) || stem[i] != 'h' {
			continue
		}
		vowel := "" // of an h that is left alone
		rest := stem[i+1:]
		switch {
		case strings.HasPrefix(rest, "i"):
			vowel, rest = "ï", rest[1:]
		case strings.HasPrefix(rest, "e"):
			vowel, rest = "ë", rest[1:]
		}
		stem = stem[:i] + vowel + rest
	}
	return stem
}

func nounEnding(s string) bool {
	return strings.HasPrefix(s, "iqu") || strings.HasPrefix(s, "ism") || strings.HasPrefix(s, "ist") || strings.HasPrefix(s, "e")
}

func (l lexiconOf) stopWords() map[string]struct{} {
	words := strings.Fields(l.stop)
	set := make(map[string]struct{}, len(words))
	for _, w := range words {
		set[w] = struct{}{}
	}
	return set
}

// maxStem is the longest word that is stemmed, in bytes. The longest words of
// natural languages are about half of it.
const maxStem = 64

// stemmable reports whether a stemmer has any business with the word.
func stemmable(word string) bool {
	if len(word) > maxStem {
		return false
	}
	for _, r := range word {
		if unicode.IsNumber(r) {
			return false
		}
	}
	return true
}

// StopWords returns the stop words of a language, in no particular order;
// none for [None] and for languages that are not known.
func StopWords(l Language) []string {
	lex, _ := lexicon(l)
	return strings.Fields(lex.stop)
}
