// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/runes"
	"golang.org/x/text/unicode/norm"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// features are the parts of a statement that the lexical judge compares. They are constant, except for the
// marks of given parts.
type features struct {
	terms   []term   // sorted by hash, each once
	amounts []amount // and dates
	names   []name
	poles   []pole
	roots   []uint64 // of the terms, sorted
	links   []link
	// letters are the first letters of the words in order, with a blank at the end of a clause: acronyms of
	// common words (GDP) are found in it.
	letters string
	answer  int8 // +1 for a statement that begins with yes, -1 with no
}

// term is a word other than a stop word, by the hash of its stem.
type term struct {
	hash     uint64
	root     uint64 // hash of the word's beginning, for words alone
	weight   float32
	mask     uint8 // affirmed, denied or both
	given    bool  // the question says it too
	name     bool  // part of a name
	decisive bool  // a colour or another qualifier
}

// The bits of a mask.
const (
	affirmed = 1
	denied   = 2
)

// pole is one side of a pair of antonyms: the word, and the side that is meant if it is denied.
type pole struct {
	group int8
	word  uint8
	mask  uint8
}

// The weights of words, names and numbers. Names, numbers and dates determine the subject of a statement, so
// each counts as much as two words.
const (
	wordWeight   = 1.0
	nameWeight   = 2.0
	numberWeight = 2.0
)

// negationReach is the number of words that a negation denies: verb, object and their attributes. Long
// sentences deny only their beginning.
const negationReach = 4

// negationWindow limits the reach including stop words.
const negationWindow = 12

// stemmer is the vocabulary of a judge: stems, and the sides of antonyms.
type stemmer struct {
	words *text.Standard
	poles map[string]int8 // stem → ±(group+1)
}

func newStemmer() *stemmer {
	s := &stemmer{text.Default(), make(map[string]int8)}
	for i, group := range antonymGroups {
		plus, minus, _ := strings.Cut(group, "|")
		for side, words := range []string{plus, minus} {
			for _, w := range strings.Fields(words) {
				s.poles[s.stem(w)] = int8((1 - 2*side) * (i + 1))
			}
		}
	}
	return s
}

func (s *stemmer) stem(word string) string {
	if t, ok := s.words.Term(word); ok {
		return t
	}
	return word
}

// reader computes features. It is not safe for concurrent use.
type reader struct {
	scan
	lang *stemmer

	// per statement, by token
	denied, inName []bool
	relation       []uint64 // hash of the relation whose owner the token names, or 0
}

// read computes the features of a statement.
func (r *reader) read(statement string) features {
	r.scan.read(r.lang.words, plainNumbers(statement))
	var f features
	for _, d := range r.dates() {
		f.amounts = append(f.amounts, amount{date: d, dim: dated})
	}
	f.amounts = append(f.amounts, r.amounts()...)
	r.negations()
	r.relations()
	r.inName = make([]bool, len(r.tokens))
	f.names = r.names()
	f.links = r.links(f.names)
	for i := range r.tokens {
		r.term(&f, i)
	}
	f.sort()
	f.letters = r.letters()
	f.answer = answers[r.word(0)]
	return f
}

// negations marks the denied tokens.
func (r *reader) negations() {
	r.denied = make([]bool, len(r.tokens))
	for i := range r.tokens {
		if !r.negator(i) {
			continue
		}
		for k, left := i+1, negationReach; k < min(len(r.tokens), i+negationWindow) && left > 0; k++ {
			if clauseMark(r.gap(k)) {
				break
			}
			r.denied[k] = true
			if !r.tokens[k].stop {
				left--
			}
		}
	}
}

// negator reports whether the token at i denies the following ones.
func (r *reader) negator(i int) bool {
	switch w := r.word(i); {
	case w == "t":
		g := r.gap(i)
		return (g == "'" || g == "’") && (strings.HasSuffix(r.word(i-1), "n"))
	case w == "no" && i == 0 && clauseMark(r.gap(1)): // "No, it was …" answers
		return false
	case negators[w]:
		return !notNegating[r.word(i+1)]
	case negatorsBefore[w]:
		return r.word(i+1) == "to"
	}
	return false
}

// term adds the token at i.
func (r *reader) term(f *features, i int) {
	t := r.tokens[i]
	if t.used || negators[t.word] || negatorsBefore[t.word] && r.word(i+1) == "to" {
		return
	}
	mask := uint8(affirmed)
	if r.denied[i] {
		mask = denied
	}
	group := r.lang.poles[t.stem]
	if group == 0 && t.stop && !r.inName[i] || r.word(i+1) == "t" {
		return
	}
	if group != 0 {
		word, side := uint8(affirmed), mask
		if group < 0 {
			group, word, side = -group, denied, affirmed+denied-mask
		}
		f.poles = append(f.poles, pole{group, word, side})
	}
	weight := float32(wordWeight)
	if r.inName[i] {
		weight = nameWeight
	}
	root := plainLetters(t.stem)
	root = root[:min(len(root), rootLetters)]
	f.terms = append(f.terms, term{hash: r.hash(i), root: hashOf(root) ^ r.relation[i], weight: weight, mask: mask, name: r.inName[i], decisive: decisive[t.word] && (i == 0 || !r.inName[i])})
}

// sort orders the terms and merges equal ones, with the largest weight and all bits.
func (f *features) sort() {
	slices.SortFunc(f.terms, func(a, b term) int { return cmp.Compare(a.hash, b.hash) })
	kept := f.terms[:0]
	for _, t := range f.terms {
		if n := len(kept); n > 0 && kept[n-1].hash == t.hash {
			p := &kept[n-1]
			p.weight, p.mask, p.name = max(p.weight, t.weight), p.mask|t.mask, p.name || t.name
			continue
		}
		kept = append(kept, t)
	}
	f.terms = kept
	f.roots = make([]uint64, len(kept))
	for i, t := range kept {
		f.roots[i] = t.root
	}
	slices.Sort(f.roots)
}

// join merges the features of several statements.
func join(all []features) features {
	var f features
	for _, g := range all {
		f.terms = append(f.terms, g.terms...)
		f.amounts = append(f.amounts, g.amounts...)
		f.names = append(f.names, g.names...)
		f.poles = append(f.poles, g.poles...)
		f.links = append(f.links, g.links...)
		f.letters += " " + g.letters
	}
	f.sort()
	return f
}

// hashOf returns the 64-bit FNV-1a hash, which is the same in every process.
func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s)
	return h.Sum64()
}

// name is a span of capitalised words.
type name struct {
	parts []namePart
	// initials is the hash of the first letters, as in an acronym; 0 with fewer than two parts.
	initials uint64
	// acronym is the word of a name of three or more capitals.
	acronym string
	strong  bool // not only the capital at the start of a sentence
	country bool // tells where the place before it lies: Bergen, Norway
	given   bool // the question says it too

	first, last int // tokens
}

type namePart struct {
	hash    uint64
	first   rune
	initial bool // a single letter
}

// leastAcronym is the least length of an acronym of common words; any words would match a shorter one.
const leastAcronym = 3

// names finds the names among the tokens outside of dates and amounts.
func (r *reader) names() (found []name) {
	for i := 0; i < len(r.tokens); i++ {
		if !r.nameWord(i) {
			continue
		}
		last := i
		for k := i; k < len(r.tokens); k++ {
			if k > i && !nameGap(r.gap(k)) {
				break
			}
			if r.nameWord(k) {
				last = k
			} else if !nameJoints[r.word(k)] || k-last > 2 {
				break
			}
		}
		n := name{strong: i > 0 || last > i, first: i, last: last}
		n.country = i == last && isCountry[r.word(i)] && r.gap(i) == ", " && len(found) > 0 && found[len(found)-1].last == i-1 &&
			!isCountry[r.word(i-1)] && r.word(i+1) != "and"
		var acronym []byte
		for k := i; k <= last; k++ {
			if !r.nameWord(k) {
				continue
			}
			first, size := utf8.DecodeRuneInString(r.word(k))
			n.parts = append(n.parts, namePart{hash: r.hash(k), first: first, initial: len(r.word(k)) == size})
			acronym = utf8.AppendRune(acronym, first)
			r.inName[k] = true
		}
		if len(n.parts) > 1 {
			n.initials = hashOf(string(acronym))
		} else if w := r.word(i); len(w) >= leastAcronym && r.text[r.tokens[i].start:r.tokens[i].end] == strings.ToUpper(w) {
			n.acronym = w
		}
		found = append(found, n)
		i = last
	}
	return found
}

// nameWord reports whether the token at i may be part of a name.
func (r *reader) nameWord(i int) bool {
	t := &r.tokens[i]
	return t.upper && !t.used && !t.stop
}

// nameGap reports whether a gap may be part of a name.
func nameGap(gap string) bool {
	return slices.Contains([]string{" ", "-", ".", ". ", "'", "’", "\u00a0"}, gap)
}

// hash folds the forms of the word at i: stems, demonyms to countries, letters without accents. "Carrick's
// brother" is another person than Carrick and gets another hash.
func (r *reader) hash(i int) uint64 {
	t := &r.tokens[i]
	if to, ok := demonymOf[t.word]; ok {
		return hashOf(r.lang.stem(to))
	}
	w := plainLetters(t.stem)
	if t.upper {
		w = umlauts.Replace(w)
	}
	return hashOf(w) ^ r.relation[i]
}

// rootLetters is the number of letters that words of one root share: safe and safety do not, withdrew and
// withdrawal do.
const rootLetters = 5

// umlauts folds the spellings of umlauts: Mueller and Müller.
var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u", "ß", "ss")

// plainLetters removes the accents of a word.
func plainLetters(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return word
	}
	return strokes.Replace(runes.Remove(runes.In(unicode.Mn)).String(norm.NFD.String(word)))
}

// strokes folds letters with strokes, which have no accents.
var strokes = strings.NewReplacer("ø", "o", "ł", "l")

// token is one word of a statement: text[start:end], lower-cased in word.
type token struct {
	word, stem string
	start, end int
	upper      bool // begins with a capital
	digits     bool // begins with a digit
	stop       bool // a stop word; its stem is the word
	used       bool // part of a date or an amount
}

// scan is a statement cut into words, with the gaps between them.
type scan struct {
	text   string
	tokens []token
}

func (s *scan) read(a *text.Standard, statement string) {
	s.text, s.tokens = statement, s.tokens[:0]
	a.Spans(statement, func(word []byte, start, end int) {
		r, _ := utf8.DecodeRuneInString(statement[start:])
		w := string(word)
		stem, ok := a.Term(w)
		if !ok {
			stem = w
		}
		s.tokens = append(s.tokens, token{
			word: w, stem: stem, stop: !ok, start: start, end: end,
			upper: unicode.IsUpper(r), digits: word[0] >= '0' && word[0] <= '9',
		})
	})
	s.foldCountries(a)
}

// foldCountries merges the names of a country into one token: "U.S." and "United States".
func (s *scan) foldCountries(a *text.Standard) {
	kept := s.tokens[:0]
	for i := 0; i < len(s.tokens); i++ {
		t := s.tokens[i]
		for n := min(longestCountry, len(s.tokens)-i); n > 0 && t.upper && countryStarts[t.word]; n-- {
			last := s.tokens[i+n-1]
			country, ok := countries[phrase(s.tokens[i:i+n])]
			if short := last.end-t.start < len("u s s r")+2; !ok || !last.upper || short && strings.ContainsFunc(s.text[t.start:last.end], unicode.IsLower) {
				continue
			}
			t.word, t.stem, t.end, t.stop = country, country, last.end, false
			if stem, ok := a.Term(country); ok {
				t.stem = stem
			}
			i += n - 1
			break
		}
		kept = append(kept, t)
	}
	s.tokens = kept
}

// phrase joins words as in the tables of countries and units.
func phrase(tokens []token) string {
	out := tokens[0].word
	for _, t := range tokens[1:] {
		out += "_" + t.word
	}
	return out
}

// letters returns the first letters of the words; see features.letters.
func (s *scan) letters() string {
	var b strings.Builder
	for i, t := range s.tokens {
		if clauseMark(s.gap(i)) {
			b.WriteByte(' ')
		}
		r, _ := utf8.DecodeRuneInString(t.word)
		b.WriteRune(r)
	}
	return b.String()
}

// word returns the token at i, or "" outside.
func (s *scan) word(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.tokens[i].word
}

// use marks tokens as parts of a date or an amount, and returns the last.
func (s *scan) use(first, last int) int {
	for k := first; k <= last && k < len(s.tokens); k++ {
		s.tokens[k].used = true
	}
	return last
}

// gap returns the text between token i and the previous one.
func (s *scan) gap(i int) string {
	from, to := 0, len(s.text)
	if i < 0 || i > len(s.tokens) {
		return ""
	}
	if i > 0 {
		from = s.tokens[i-1].end
	}
	if i < len(s.tokens) {
		to = s.tokens[i].start
	}
	return s.text[min(from, to):to] // bigrams overlap
}

// joined reports whether a dash joins token i to the one before.
func (s *scan) joined(i int) bool {
	dash := strings.TrimSpace(s.gap(i))
	return i > 0 && dash != "" && strings.Contains("- – — ‑", dash)
}

// near reports whether only blanks and the given marks separate token i from the previous one.
func (s *scan) near(i int, marks string) bool {
	return i > 0 && i < len(s.tokens) && strings.Trim(s.gap(i), " \t\n\u00a0\u202f"+marks) == ""
}

// wholeNumber reads digits as an integer; ok is false for anything else, and for too many digits.
func wholeNumber(word string) (n int, ok bool) {
	n, err := strconv.Atoi(word)
	return n, err == nil && len(word) <= 15 && word[0] >= '0'
}

// wholeIn reads at most some digits as an integer within bounds.
func wholeIn(word string, digits, least, most int) (n int, ok bool) {
	n, ok = wholeNumber(word)
	return n, ok && len(word) <= digits && n >= least && n <= most
}

// endings splits a token like 17th or 1990s after its digits.
func endings(word string) (digits, rest string) {
	rest = strings.TrimLeft(word, "0123456789")
	return word[:len(word)-len(rest)], rest
}

func isOrdinalEnding(s string) bool { return s == "st" || s == "nd" || s == "rd" || s == "th" }

// clauseMark reports whether a gap holds punctuation that ends a clause.
func clauseMark(gap string) bool { return strings.ContainsAny(gap, ",;:.!?()[]–—") }
