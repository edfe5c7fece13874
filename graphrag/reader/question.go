// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	_ "embed"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxTerms is the number of distinct terms of a question that are used, one bit each. Of a longer question only
// the first ones are used.
const maxTerms = 63

// set is a set of the question's terms.
type set uint64

func (s set) count() int { return bits.OnesCount64(uint64(s)) }

// first returns the lowest term of a non-empty set.
func (s set) first() int { return bits.TrailingZeros64(uint64(s)) }

// inquiry is an analyzed question. Its terms have the lowest numbers of the lexicon.
type inquiry struct {
	text    string
	terms   int             // number of terms
	names   set             // terms of names: words with capital letters or digits
	named   map[string]bool // words of names in lower case
	weak    set             // terms of the wording of questions, such as "name" or "list"
	want    shape
	defined *regexp.Regexp    // matches a definition of the subject, if one is asked for
	yesNo   bool              // it is to be answered by yes or no
	shapes  map[string]shape  // shapes of words of its language; English ones are known
	weight  [maxTerms]float64 // weight of each term for ranking
	total   float64
}

// weakPart is the weight of a word such as "name" or "list" in the confidence.
const weakPart = 0.3

// asking are stems of words that many questions and few answers contain. They have a lower weight, but not 0,
// since a stem may also be the word asked for: "mean" the verb and "mean" the value.
var asking = strings.Fields(`accord regard concern specif describ explain identifi mean call name use usual happen tell give
	kind type sort exact main primari certain list state provid find get know much mani long old far
	does did do has have had was were is are been will would can could should must may
	cost price pay paid spend spent day year month date time number city countri person team compani
	answer question reason way thing summar overview relat involv includ particular respect`)

// hanziAsking are characters that ask in Chinese questions.
const hanziAsking = "是谁的什么吗呢哪里有了在几何怎样多少为如能可以我你们请被和与或及个位吧啊这那于从到将把由"

// newQuestion analyzes a question and numbers its terms.
func newQuestion(s string, l *lexicon, language text.Language) *inquiry {
	q := &inquiry{text: s, defined: definition(s, language), want: wordings()[text.English].wanted(s) | wordings()[text.Chinese].wanted(s), yesNo: asksYesNo(s)}
	w := wordings()[language]
	if language == text.English || language == text.Chinese {
		w = nil // the rules for English and Chinese are in this file
	}
	if w != nil {
		q.want, q.yesNo, q.shapes = w.wanted(s), w.begins(s, "yes"), w.shapes
	}
	q.named = capitalized(s, language != text.German)
	l.known.analyzer.Words(s, func(word []byte) bool {
		if unspacedAsking(string(word), language) {
			return true
		}
		id := -1 // a stop word has no number
		if known := l.known.number(word); known >= 0 {
			id = int(l.place(known))
		}
		if id < 0 || id >= maxTerms {
			return id < maxTerms
		}
		q.terms = max(q.terms, id+1)
		if q.named[string(word)] {
			q.names |= 1 << id
		}
		if term := l.known.term(l.met[id]); w != nil && w.asking[term] || w == nil && slices.Contains(asking, term) {
			q.weak |= 1 << id
		}
		return true
	})
	return q
}

// unspacedAsking reports whether a word contains a character of hanziAsking or, in Japanese, hiragana, of which
// particles and endings consist.
func unspacedAsking(word string, language text.Language) bool {
	if language == text.Japanese {
		return strings.ContainsAny(word, "誰何") || strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) })
	}
	return strings.ContainsAny(word, hanziAsking)
}

// capitalized returns words of a question in lower case: those with a digit and, if capital letters mark names
// in its language, those with a capital letter except the first word.
func capitalized(s string, names bool) map[string]bool {
	out := make(map[string]bool)
	for i, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if strings.IndexFunc(w, unicode.IsNumber) >= 0 || names && i > 0 && strings.IndexFunc(w, unicode.IsUpper) >= 0 {
			out[strings.ToLower(w)] = true
		}
	}
	return out
}

// usual is the number of candidates from which the weight of a term is computed: it is fixed, so that the
// weight does not depend on how many candidates were found.
const usual = 1000

// common reports whether a text has a word of the question's names only in lower case: "a privilege" is not
// "Privilege".
func (q *inquiry) common(s string) bool {
	for w := range q.named {
		first, n := utf8.DecodeRuneInString(w)
		if up := unicode.ToUpper(first); up != first && strings.Contains(s, w) && !strings.Contains(s, string(up)+w[n:]) {
			return true
		}
	}
	return false
}

// weigh sets the weights of the terms by the number of candidates that contain each.
func (q *inquiry) weigh(df *[maxTerms]int) {
	q.total = 0
	for t := range q.terms {
		w := rarity(float64(min(df[t], usual)), usual)
		if q.names&(1<<t) != 0 {
			w *= namePart
		}
		q.weight[t] = w
		q.total += w
	}
}

// of returns the weight of a set of terms for ranking.
func (q *inquiry) of(s set) float64 {
	sum := 0.0
	for ; s != 0; s &= s - 1 {
		sum += q.weight[s.first()]
	}
	return sum
}

// plain returns the weight of a set of terms for the confidence: 1 for each, weakPart for words that ask, such
// as "which".
func (q *inquiry) plain(s set) float64 {
	return float64((s &^ q.weak).count()) + weakPart*float64((s&q.weak).count())
}

// asksYesNo reports whether a question is to be answered by yes or no.
func asksYesNo(question string) bool {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(question)), " ")
	return slices.Contains(strings.Fields("is are was were do does did can could may must should will would has have had"), first) ||
		strings.ContainsAny(question, "吗")
}

// shape is a set of kinds of values that a text contains, such as a date or a name.
type shape uint8

const (
	hasNumber shape = 1 << iota
	hasDate
	hasName // a capital letter, except in the first word
	hasMoney
)

// shows reports whether a text has one of the wanted shapes.
func (q *inquiry) shows(s string) bool {
	want := q.want
	if want == 0 {
		return false
	}
	if want&hasMoney != 0 && strings.ContainsAny(s, "€$£¥元円") {
		return true
	}
	var before shape // shape of the word before
	first := true
	for word := range strings.FieldsSeq(s) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		is := shapeOf(word, first)
		if q.shapes != nil {
			is |= q.shapes[strings.ToLower(word)]
		}
		if is&^hasName == hasDate && before == hasNumber || is == hasNumber && before&^hasName == hasDate && len(word) <= len("31") {
			before, is = 0, (is|before)&^hasNumber // "12 March" is no count
		}
		if before&want != 0 {
			return true
		}
		first, before = false, is
	}
	return before&want != 0
}

// shapeOf returns the shapes of a word. The capital letter of the first word of a text has no meaning.
func shapeOf(word string, first bool) shape {
	begin, _ := utf8.DecodeRuneInString(word)
	digits := 0
	for _, r := range word {
		if unicode.IsNumber(r) {
			digits++
		}
	}
	switch {
	case digits == 4 && len(word) == 4 && (word[0] == '1' || word[0] == '2'):
		return hasDate
	case digits > 0 && strings.ContainsAny(word, ":年月日点"):
		return hasDate | hasNumber
	case digits > 0 && unicode.IsNumber(begin):
		return hasNumber
	case text.Unspaced(begin):
		out := hasName
		if strings.ContainsAny(word, "一二两三四五六七八九十百千万") {
			out |= hasNumber
		}
		if strings.ContainsAny(word, "年月日周時曜点") {
			out |= hasDate
		}
		return out
	}
	var out shape
	if !first && unicode.IsUpper(begin) {
		out = hasName
	}
	lower := strings.ToLower(word)
	known := wordings()[text.English].shapes[lower]
	if known == 0 && len(lower) > len("day") && strings.HasSuffix(lower, "day") {
		known = hasDate
	}
	return out | known
}

// topic is the subject of a sentence, to which the pronouns of the next English sentence may refer. An empty
// part is unknown: then a pronoun refers to nothing.
type topic struct {
	thing, person string // the topics that "it" and "they", and "he" and "she" refer to
	shown         string // text from the sentence or heading that names the topic to the last sentence
	from          int    // offset of shown, -1 for a heading
	links         int    // number of sentences since the one that names it
}

// maxLinks is the largest number of sentences between a pronoun and the subject to which it refers.
const maxLinks = 2

// Patterns for the parts of a sentence. The subject ends before an auxiliary verb, a preposition,
// a relative pronoun, a word with the ending of a verb, a comma or a parenthesis.
const auxiliary = `(?:is|are|was|were|has|had|have|can|could|will|would|may|might|must|should|does|did|became)`

var (
	adverbial = `(?:In|On|At|After|Before|Since|From|By|During|Until|While|When|For|As|With)`
	standIn   = regexp.MustCompile(`^(?:` + adverbial + `(?: \S+){0,7}?(?:,| \d+) |(?:Then|Later|Since then) )?([Ii]t|[Hh]e|[Ss]he|[Tt]hey)\b|^(?:This|These) ` + auxiliary + `\b`)
	subject   = regexp.MustCompile(`^((?:(?:The|An?|Its|Their|His|Her) )?\S+?(?: \S+?){0,6}?)(?: (` + auxiliary + `) | (?:that|which|who|whose|where|when|in|on|at|by|from|to|with|near|under|between|into|as) | \p{Ll}{2,}(?:s|ed) |,| \()`)
	starts    = regexp.MustCompile(`^\d*` + adverbial + `\b`)
	fullName  = regexp.MustCompile(`\p{Lu}[\p{L}.’'-]*(?: (?:de |van |von )?\p{Lu}[\p{L}’'-]*)+`)
	nameForm  = regexp.MustCompile(` \p{Lu}`)
	owned     = regexp.MustCompile(`^(?:Its|Their|His|Her) `)

	// In "it is clear that", "it was in 1995 that" and "it takes" the pronoun refers to nothing.
	expletive = regexp.MustCompile(`\b[Ii]t (?:(?:is|was|has been|seem\w*|appear\w*|t[ao]kes?)\b(?: [\w-]+){0,4} (?:that|whether|as if)\b|(?:is|was) (?:not |un)?(?:clear|important|possible|likely|necessary|true|hard|easy|difficult|time)\b|(?:takes|took)\b)`)
)

// pronoun returns the pronoun that is the subject of a sentence, "" if there is none.
func pronoun(sentence string) string {
	m := standIn.FindStringSubmatch(sentence)
	if m == nil || expletive.MatchString(sentence) {
		return ""
	}
	return strings.ToLower(cmp.Or(m[1], "it"))
}

// newTopic returns the topic of a sentence whose subject is not a pronoun.
func newTopic(sentence string, from int) topic {
	m := subject.FindStringSubmatch(sentence)
	untold := m != nil && m[2] == "" && !strings.Contains(m[1], " ")                                                  // "Old walls lean" has the ending too early
	if m == nil || untold || starts.MatchString(sentence) || !strings.ContainsAny(sentence[len(sentence)-1:], ".!") { // or a caption
		return topic{}
	}
	t := topic{thing: m[1], shown: sentence, from: from}
	names := fullName.FindAllString(strings.TrimPrefix(sentence, "The "), 2)
	switch named := nameForm.MatchString(m[1]); {
	case len(names) == 1:
		t.person = names[0]
	case len(names) == 0 && named:
		t.person = t.thing
	case !named && owned.MatchString(sentence):
		return topic{} // "Its water is brown. It": the water, or the lake
	}
	if len(names) > 0 && strings.HasPrefix(sentence, names[0]) && m[2] == "" {
		t.thing = "" // "Edmund Carrick drew a bridge. It"
	}
	return t
}

// next returns the topic after a sentence, and the words to which the pronoun that is its subject refers.
func (t topic) next(sentence string, from int) (after topic, stands string) {
	p := pronoun(sentence)
	if p == "" {
		return newTopic(sentence, from), ""
	}
	if stands = t.thing; p == "he" || p == "she" {
		stands = t.person
	}
	if stands == "" || t.links == maxLinks {
		return topic{}, ""
	}
	after = topic{thing: t.thing, person: t.person, shown: t.shown + " " + sentence, from: t.from, links: t.links + 1}
	if t.from < 0 {
		after.shown, after.from = sentence, from
	}
	if names := fullName.FindAllString(sentence, 2); stands == t.thing && len(names) == 1 {
		after.person = names[0]
	}
	return after, stands
}

//go:embed wordings.txt
var wordingText string

// wording describes how questions are asked in a language and how answers look: lists of phrases by key, stems
// of words that ask, shapes of words, and words for the numbers from 0 to 12.
type wording struct {
	phrases  map[string]string
	asking   map[string]bool
	shapes   map[string]shape
	numerals map[string]int
}

var wordings = sync.OnceValue(func() map[text.Language]*wording {
	out := make(map[text.Language]*wording)
	entries(wordingText, func(language, key, words string) {
		w := out[text.Language(language)]
		if w == nil {
			w = &wording{make(map[string]string), make(map[string]bool), make(map[string]shape), make(map[string]int)}
			out[text.Language(language)] = w
		}
		w.phrases[key] = words
		for i, list := range strings.Split(words, ", ") {
			for word := range strings.SplitSeq(list, "|") {
				switch key {
				case "numerals":
					if w.numerals[word] = i; i > 1 {
						w.shapes[word] |= hasNumber
					}
				case "dates", "numbers", "coins":
					w.shapes[word] |= map[string]shape{"dates": hasDate, "numbers": hasNumber, "coins": hasMoney}[key]
				}
			}
		}
		if key == "asking" {
			a, err := text.New(text.Options{Language: text.Language(language)})
			if err != nil {
				panic(err) // the file names a language that package text does not know
			}
			for _, term := range a.Terms(words) {
				w.asking[term] = true
			}
		}
	})
	return out
})

// entries calls each with every line "key: value" of a text and the language, which is in brackets above it.
// Lines that begin with # are comments.
func entries(s string, each func(language, key, value string)) {
	language := ""
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, ": ")
		if strings.HasPrefix(line, "[") {
			language = strings.Trim(line, "[]")
		} else if ok && line[0] != '#' {
			each(language, key, value)
		}
	}
}

// numeralsOf returns the numbers that a text writes as words of a language, such as "#3" for three; of all
// languages if it is unknown. A word next to another number word is part of a larger number and is left out.
func numeralsOf(s string, language text.Language) (out []string) {
	w := wordings()[language]
	if w == nil {
		for _, l := range slices.Sorted(maps.Keys(wordings())) {
			out = append(out, numeralsOf(s, l)...)
		}
		return out
	}
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && r != '-' || text.Unspaced(r) && !strings.ContainsRune("〇零一二两兩三四五六七八九十百千万萬亿億", r)
	})
	part := func(i int) bool {
		if i < 0 || i >= len(words) {
			return false
		}
		_, numeral := w.numerals[words[i]]
		return !numeral && w.shapes[words[i]]&hasNumber != 0
	}
	for i, word := range words {
		if n, ok := w.numerals[word]; ok && !part(i-1) && !part(i+1) {
			out = append(out, "#"+strings.TrimLeft(strconv.Itoa(n), "0"))
		}
	}
	return out
}

// has reports whether a question, in the form that folded returns, contains a phrase of a key: as whole words,
// if the language separates words.
func (w *wording) has(folds, key string) bool {
	for p := range strings.SplitSeq(w.phrases[key], ", ") {
		if p != "" && (strings.Contains(folds, " "+p+" ") || strings.ContainsFunc(p, text.Unspaced) && strings.Contains(folds, p)) {
			return true
		}
	}
	return false
}

// wanted returns the shapes that a question asks for.
func (w *wording) wanted(words string) (s shape) {
	asked := folded(words)
	if w.has(asked, "date") {
		s |= hasDate
	}
	if w.has(asked, "money") {
		s |= hasMoney
	} else if w.has(asked, "number") {
		s |= hasNumber
	}
	if w.has(asked, "name") {
		s |= hasName
	}
	return s
}

// folded returns the words of a question in lower case, with a blank before and after each.
func folded(words string) string {
	return " " + strings.ToLower(strings.Join(strings.FieldsFunc(words, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}), " ")) + " "
}

// begins reports whether a question begins with one of the words of a key.
func (w *wording) begins(words, key string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(folded(words)), " ")
	return w.has(" "+first+" ", key)
}

// spoken returns the language in which evidence is read: the language of the question, or, if it cannot be
// recognized, of most of the evidence.
func spoken(asked string, evidence []graphrag.Hit) text.Language {
	if l := text.LanguageOf(asked); l != "" {
		return l
	}
	count := make(map[text.Language]int)
	for _, h := range evidence {
		count[text.LanguageOf(h.Chunk.Text)]++
	}
	return text.MainOf(count)
}
