// SPDX-License-Identifier: Apache-2.0

package text

import (
	_ "embed"
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// Language names the language whose stemmer and stop words are used.
type Language string

// The languages that are known, and None, which has neither stems nor stop words.
// Chinese and Japanese have pairs of characters instead of stems.
const (
	English    Language = "english"
	German     Language = "german"
	French     Language = "french"
	Spanish    Language = "spanish"
	Italian    Language = "italian"
	Portuguese Language = "portuguese"
	Dutch      Language = "dutch"
	Swedish    Language = "swedish"
	Norwegian  Language = "norwegian"
	Russian    Language = "russian"
	Chinese    Language = "chinese"
	Japanese   Language = "japanese"
	None       Language = "none"

	// Each selects the language of each text.
	Each Language = "each"
)

// Languages returns the single languages a [Standard] analyzer can be built for.
func Languages() []Language {
	out := make([]Language, 0, len(lexicons)+1)
	for _, l := range lexicons {
		out = append(out, l.language)
	}
	return append(out, None)
}

// lexicon has the words of one language, by their keys in the file.
type lexicon struct {
	language Language
	stem     func(*snowballstem.Env) bool // nil: no stems
	words    map[string]string
}

func lexiconOf(of Language) (lexicon, bool) {
	for _, l := range lexicons {
		if l.language == of {
			return l, true
		}
	}
	return lexicon{}, of == None
}

func (l lexicon) stopWords() map[string]bool { return set(l.words["asks"] + " " + l.words["stop"]) }

// stemOf is the stem of a word. What is a stop word was decided before, so whatever comes
// is stemmed. Both spellings of ё are common, and stemmed as one.
func (l lexicon) stemOf(word string) string {
	if l.language == Russian {
		word = strings.ReplaceAll(word, "ё", "е")
	}
	if l.language == English && keepsDouble(word) {
		return word[:3]
	}
	env := snowballstem.NewEnv(word)
	l.stem(env)
	return env.Current()
}

// keepsDouble reports whether a word is one of three letters, such as add, egg and err, behind which
// something stands: since Snowball 3 they keep their double consonant.
func keepsDouble(word string) bool {
	if len(word) < 5 || word[1] != word[2] || strings.IndexByte("aeo", word[0]) < 0 || strings.IndexByte("bdfgmnprt", word[1]) < 0 {
		return false
	}
	switch word[3:] {
	case "ed", "edly", "ing", "ingly", "ings":
		return true
	}
	return false
}

// lexicons has the lexicons of the file, in its order.
var lexicons = readLexicons(lexiconFile)

//go:embed lexicons.txt
var lexiconFile string

var stemmers = map[Language]func(*snowballstem.Env) bool{
	English: english.Stem, German: german.Stem, French: french.Stem, Spanish: spanish.Stem, Italian: italian.Stem, Portuguese: portuguese.Stem,
	Dutch: dutch.Stem, Swedish: swedish.Stem, Norwegian: norwegian.Stem, Russian: russian.Stem,
}

func readLexicons(file string) (out []lexicon) {
	for line := range strings.Lines(file) {
		key, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name, ok := strings.CutPrefix(key, "["); ok {
			language := Language(strings.TrimSuffix(name, "]"))
			out = append(out, lexicon{language, stemmers[language], make(map[string]string)})
		} else if len(out) > 0 {
			of := out[len(out)-1].words
			of[key] = strings.TrimSpace(of[key] + " " + words)
		}
	}
	return out
}
