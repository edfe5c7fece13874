// SPDX-License-Identifier: Apache-2.0

package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/norwegian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"
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

// russianStem is the stemmer of Snowball 2 with ё read as е, since both spellings are common.
func russianStem(word string) string {
	return russian.Stem(strings.ReplaceAll(word, "ё", "е"), true)
}

// frenchStem is the stemmer of Snowball 2, where ï and ë are vowels of their own, behind an
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

// The stop words: articles, pronouns, prepositions, conjunctions, auxiliaries
// and question words, which say little about what a text is about. Contractions
// appear as the pieces the apostrophe leaves ("don t", "l homme").
const (
	englishStop = `
a an the this that these those such
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves one
and or but nor if then than so as because while until though although whether
of at by for with about against between into through during before after above below to from up down in out on off over under
again further once here there
what which who whom whose when where why how
all any both each few more most other some no not only own same too very just also
am is are was were be been being have has had having do does did doing done
can could may might must shall should will would ought
s t d ll m re ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn ain`

	frenchStop = `
le la les l un une des du de d au aux ce cet cette ces
je j me m moi tu te t toi il elle on nous vous ils elles se s soi lui leur eux y en
mon ma mes ton ta tes son sa ses notre nos votre vos leurs
qui que qu quoi dont où quel quelle quels quelles lequel laquelle comment quand pourquoi combien
et ou mais ni or car donc si comme puis
à dans par pour sur avec sans sous entre vers chez depuis pendant avant après contre
ne n pas plus aussi très même mêmes tout toute tous toutes autre autres c ça cela ceci
être est suis es sommes êtes sont était étaient été étant sera seront serait fut furent soit
avoir ai as a avons avez ont avait avaient eu ayant aura auront aurait eut
fait faire peut peuvent doit`

	spanishStop = `
el la los las lo un una unos unas al del
yo me mí tú te ti él ella ello nosotros nosotras vosotros ellos ellas se sí nos os le les usted ustedes
mi mis tu tus su sus nuestro nuestra nuestros nuestras
este esta esto estos estas ese esa eso esos esas aquel aquella
que qué quien quién quienes cual cuál cuales cuáles cuando cuándo donde dónde como cómo cuanto cuánto porque
y e o u ni pero sino si no también más muy ya
a ante bajo con contra de desde durante en entre hacia hasta para por según sin sobre tras
ser es soy eres somos son era eran fue fueron sido siendo será sería sea
estar está están estaba estado haber ha he has han había habían hay hubo
todo toda todos todas otro otra otros otras mismo misma tanto`

	russianStop = `
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от меня
о из ему при когда даже ну ли если уже или ни быть был была были него до вас нибудь вам ведь там себя ей они тут где
есть надо ней для мы тебя их чем сам чтоб чтобы без будто чего раз тоже себе под будет тогда кто этот того потому этого
какой какая какие ним этом один мой тем нее неё сейчас куда зачем всех можно над об обо эту эти это эта этой
также который которая которое которые которых которой которого между через про`

	swedishStop = `
en ett den det de dem denna detta dessa
jag mig min mitt mina du dig din ditt dina han honom hans hon henne hennes vi oss vår vårt våra ni er ert era sig sin sitt sina man deras dess
och eller men att som om när där här då än så för av på i till från med utan under över vid mot mellan genom efter före hos åt ur in upp ut
vad vem vilken vilket vilka varför hur var vars
är var vara varit blir blev bli blivit har hade ha haft kan kunde ska skall skulle vill ville måste
inte ej icke också bara mycket alla allt all någon något några ingen inget inga samma annan andra själv nu sedan`

	norwegianStop = `
en ei et den det de dem denne dette disse
jeg meg min mitt mine du deg din ditt dine han ham hans hun henne hennes vi oss vår vårt våre dere deres seg sin sitt sine man dets
og eller men at som om når der her da enn så for av på i til fra med uten under over ved mot mellom gjennom etter før hos ut opp inn
hva hvem hvilken hvilket hvilke hvorfor hvordan hvor
er var være vært blir ble bli blitt har hadde ha hatt kan kunne skal skulle vil ville må måtte
ikke ikkje også bare mye alle alt all noen noe ingen intet samme annen andre selv nå siden å eg ein eit`
)

// memory caches the stems of words: the same words are in every index, and a stem takes a
// microsecond.
type memory struct {
	stem  func(word string) string
	mu    sync.RWMutex
	stems map[string]string
}

// mostStems is the number of cached stems at which the cache is emptied: about 20 MB.
const mostStems = 1 << 18

func newMemory(stem func(word string) string) *memory {
	return &memory{stem: stem, stems: make(map[string]string)}
}

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
