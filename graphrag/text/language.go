// SPDX-License-Identifier: Apache-2.0

package text

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

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

	"github.com/wildgraph/wildgraph/internal/display"
)

// A text is sampled in windows of windowBytes bytes, evenly distributed over it.
const (
	windowBytes = 256
	windows     = 4
)

// The votes of a question word and of a letter, where a stop word has 1; languages that have it share the vote.
// A language needs leastSure votes, about two stop words of its own.
const (
	askPart    = 2.0
	letterPart = 0.4
	leastSure  = 1.5
	leastAhead = 1.3 // times the votes of the second best
)

// LanguageOf returns the language of a text by its script and its stop words, or "" if these do not decide it.
// It reads at most a kilobyte, so its time does not depend on the length. Eight words of a sentence are usually
// enough; names and headings usually are not.
func LanguageOf(s string) Language {
	// A fast path for most texts, which have words that only English has.
	if s := s[:min(len(s), windowBytes)]; strings.Contains(s, " the ") && (strings.Contains(s, " and ") || strings.Contains(s, " of ") || strings.Contains(s, " to ")) {
		return English
	}
	var v votes
	asks := len(s) <= windowBytes && strings.ContainsAny(s, "?¿")
	if len(s) <= windows*windowBytes {
		v.read(s, asks)
		return v.most()
	}
	for i := range windows {
		at := i * (len(s) - windowBytes) / (windows - 1)
		v.read(strings.ToValidUTF8(s[at:at+windowBytes], " "), false)
	}
	return v.most()
}

// MainOf returns the most frequent language, given the number of texts of each, and [English] if there are none.
func MainOf(count map[Language]int) Language {
	most := English
	for _, l := range lexicons {
		if count[l.language] > count[most] {
			most = l.language
		}
	}
	return most
}

// votes counts the evidence for each language, in the order of lexicons.
type votes struct {
	of              [16]float64
	han, kana, kyrl int
	latin           int
}

// read counts the words and letters of a text.
func (v *votes) read(s string, asks bool) {
	known := stopLists()
	var room [32]byte
	word := room[:0]
	flush := func() {
		if e, ok := known.words[string(word)]; ok {
			part := 1.0
			if asks && e.asks != 0 {
				e.of, part = e.asks, askPart
			}
			v.add(e.of, part)
		}
		word = word[:0]
	}
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && ascii[r] == 0:
			flush()
		case r < utf8.RuneSelf:
			v.latin++
			word = append(word, ascii[r])
		default:
			if !unicode.IsLetter(r) {
				flush()
			} else {
				r = unicode.ToLower(r)
				word = utf8.AppendRune(word, r)
			}
			v.letter(r, known)
		}
	}
	flush()
}

// letter counts a letter above ASCII by its script, or for the languages that use it.
func (v *votes) letter(r rune, known stopList) {
	switch {
	case unicode.Is(unicode.Cyrillic, r):
		v.kyrl++
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		v.kana++
	case unicode.Is(unicode.Han, r):
		v.han++
	default:
		v.add(known.letters[r], letterPart)
	}
}

// add divides a vote among a set of languages.
func (v *votes) add(of uint16, part float64) {
	n := 0
	for l := range lexicons {
		n += int(of >> l & 1)
	}
	for l := range lexicons {
		if of>>l&1 != 0 {
			v.of[l] += part / float64(n)
		}
	}
}

// charactersOfWord is the number of Latin letters that count as much as a Chinese character.
const charactersOfWord = 3

// most returns the language with the most votes, "" if it has too few.
func (v *votes) most() Language {
	switch cjk := v.han + v.kana; {
	case charactersOfWord*cjk > v.latin+v.kyrl && 10*v.kana > v.han:
		return Japanese
	case charactersOfWord*cjk > v.latin+v.kyrl:
		return Chinese
	}
	best, next := 0, 0.0
	for i, x := range v.of[1:len(lexicons)] {
		if x > v.of[best] {
			best, next = i+1, v.of[best]
		} else {
			next = max(next, x)
		}
	}
	switch {
	case v.of[best] >= leastSure && v.of[best] >= leastAhead*next:
		return lexicons[best].language
	case v.kyrl > v.latin:
		return Russian
	}
	return ""
}

// stopList maps words and letters to sets of languages, a bit each.
type stopList struct {
	words   map[string]struct{ of, asks uint16 }
	letters map[rune]uint16
}

var stopLists = sync.OnceValue(func() stopList {
	list := stopList{make(map[string]struct{ of, asks uint16 }), make(map[rune]uint16)}
	for i, l := range lexicons {
		for _, w := range strings.Fields(l.words["asks"]) {
			e := list.words[w]
			e.of, e.asks = e.of|1<<i, e.asks|1<<i
			list.words[w] = e
		}
		for _, w := range strings.Fields(l.words["stop"]) {
			e := list.words[w]
			e.of |= 1 << i
			list.words[w] = e
		}
		for _, r := range l.words["letters"] {
			list.letters[r] |= 1 << i
		}
	}
	delete(list.words, "com") // it occurs in web addresses of all languages
	return list
})

// Language names the language whose stemmer and stop words are used.
type Language string

// The known languages. None has no stems and stop words; Chinese and Japanese are indexed by pairs of
// characters.
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

// languages returns the languages for which a [Standard] analyzer can be built, without Each.
func languages() []Language {
	out := make([]Language, 0, len(lexicons)+1)
	for _, l := range lexicons {
		out = append(out, l.language)
	}
	return append(out, None)
}

// lexicon has the word lists of one language, by their keys in the file.
type lexicon struct {
	language Language
	stem     func(*snowballstem.Env) bool // nil: words are not stemmed
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

// stemOf returns the stem of a word. The caller has removed stop words. Both spellings of ё are common, and are
// stemmed alike.
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

// keepsDouble reports whether a word is an inflected form of a word of three letters, such as add, egg or err:
// since Snowball 3 these keep their double consonant.
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

// lexicons has the lexicons in the order of the file.
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

// maxQuestionWords is the number of words that are read of a question: a longer text is a page rather than a
// question, and its beginning names the subject.
const maxQuestionWords = 256

// Wording is the content of a question by its words. The rules for Words are for English: in other languages
// Words is the question itself. Names are recognized by capitals (not in German) and digits.
type Wording struct {
	// Words are the words of the subject, without stop words and words such as "describe" or "specific", as
	// often as they occur, separated by blanks. A question that consists of such words alone keeps them.
	Words string
	// Names are the words with a capital, except the first word, and those with a digit; each once.
	Names string
	// Overview reports that a question asks for an overview of a subject, not for a fact.
	Overview bool
}

// ReadQuestion returns the wording of a question.
func ReadQuestion(question string) Wording {
	var about, all, names []string
	seen := make(map[string]bool)
	head := display.Head(question, maxQuestionBytes)
	overview, language := asksOverview(strings.TrimSpace(head)), LanguageOf(question)
	words, analyzer := 0, each().In(language)
	analyzer.Spans(question, func(word []byte, start, end int) {
		words++
		w := string(word)
		if _, ok := analyzer.Term(w); !ok || words > maxQuestionWords {
			return
		}
		all = append(all, w)
		if !asking[w] {
			about = append(about, w)
		}
		first, _ := utf8.DecodeRuneInString(question[start:])
		if name := words > 1 && unicode.IsUpper(first) && language != German || strings.ContainsFunc(w, unicode.IsDigit); name && !seen[w] {
			seen[w] = true
			names = append(names, w)
		}
	})
	switch {
	case language != English && language != "":
		about = []string{head}
	case len(about) == 0:
		about = all
	}
	return Wording{strings.Join(about, " "), strings.Join(names, " "), overview}
}

// asking are words that tell how to answer; they occur in pages on any subject.
var asking = set(`summarize summarise summary describe explain outline identify provide discuss give list
	include included including concerning regarding according based detail details detailed overview
	specific specifically key major main primary notable significant various respectively`)

func set(words string) map[string]bool {
	s := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		s[w] = true
	}
	return s
}

// Patterns of a question for an overview: of a whole subject, or of aspects that every subject has, such as
// causes and events.
var overviews = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^\W*(please )?(summari[sz]e|describe|outline|characteri[sz]e|recount|analy[sz]e|explain|trace|discuss|compare|list|give|provide|review|survey|sketch|tell)\b`),
	regexp.MustCompile(`(?i)\b(summari[sz]e|outline|summary of|overview of)\b`),
	regexp.MustCompile(`(?i)\bwhat (was|were|is|are) (some of )?the (main|key|major|overall|primary|principal|most|defining|significant|core|notable|general)\b`),
	regexp.MustCompile(`(?i)^\W*what (were|are) (some of )?the ([\w-]+ ){0,3}?(characteristics|features|consequences|controversies|circumstances|events|results|outcomes|principles|tenets|criticisms|aspects|effects|causes|reasons|factors|developments|impacts|moments|themes|achievements|challenges|differences|reactions|arguments|issues|views|positions)\b`),
	regexp.MustCompile(`(?i)^\W*what characteri[sz]e[sd]\b`),
	// The same for other languages.
	regexp.MustCompile(`(?i)^\PL*(?:(?:bitte|por favor|alsjeblieft|пожалуйста) )?(?:` + either("request") + `)`),
	regexp.MustCompile(`(?i)(?:^|\PL|\p{Han}|\p{Hiragana})(?:` + either("overview") + `)`),
}

// either returns a pattern of the words that lexicons have under a key.
func either(key string) string {
	var words []string
	for _, l := range lexicons {
		words = append(words, strings.Fields(l.words[key])...)
	}
	return strings.Join(words, "|")
}

// asksOverview reports whether the wording of a question asks for an overview.
func asksOverview(question string) bool {
	return slices.ContainsFunc(overviews, func(asks *regexp.Regexp) bool { return asks.MatchString(question) })
}

// maxQuestionBytes limits the part of a question whose wording is examined, in bytes.
const maxQuestionBytes = 4096
