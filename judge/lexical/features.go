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

// features are the parts of a statement that the lexical judge compares. They do not change, except for the
// marks of given parts.
type features struct {
	terms   []term   // sorted by hash, each once
	amounts []amount // numbers and dates
	names   []name
	poles   []pole
	roots   []uint64 // roots of the terms, sorted
	links   []link
	// letters are the first letters of the words in order, with a blank at the end of a clause, where acronyms
	// of common words, such as GDP, are looked up.
	letters string
	answer  int8 // +1 if the statement begins with yes, -1 if with no
}

// term is a word that is no stop word, identified by the hash of its stem.
type term struct {
	hash     uint64
	root     uint64 // hash of the first letters; not compared for parts of names
	weight   float32
	mask     uint8 // affirmed, denied or both
	given    bool  // the question contains the word too
	name     bool  // the word is part of a name
	decisive bool  // the word is a qualifier that an answer must not omit
}

// The bits of the masks in [term] and [pole].
const (
	affirmed = 1
	denied   = 2
)

// pole is a word of a group of antonyms: the word's side, and in mask the side meant, which a denial changes.
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

// negationReach is the number of words after a negation that it denies: verb, object and their attributes. In a
// long sentence the rest is not denied.
const negationReach = 4

// negationWindow limits the reach of a negation in words, stop words included.
const negationWindow = 12

// stemmer has the vocabulary of a judge: stems, and the antonyms.
type stemmer struct {
	words *text.Standard
	poles map[string]int8 // by stem: number of the group of antonyms, from 1, negative for its second side
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

	// for the present statement, by token
	denied, inName []bool
	relation       []uint64 // hash of the relation, if the token's name only identifies a relative, else 0
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

// negations marks the tokens that a negation denies.
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

// negator reports whether the token at i denies the words after it.
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

// term adds the word at token i to the terms of f, and to its poles if it is an antonym.
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

// sort sorts the terms and merges equal ones, which get the largest weight and the bits of all masks.
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

// name is a sequence of capitalised words.
type name struct {
	parts []namePart
	// initials is the hash of the first letters of the parts, as in an acronym; 0 if there is only one part.
	initials uint64
	// acronym is the word of a name that is one word of three or more capitals.
	acronym string
	strong  bool // not merely one capitalised word at the start of a statement
	country bool // the country of the place before it, as in "Bergen, Norway"
	given   bool // the question contains the name too

	first, last int // indices of the first and last token
}

type namePart struct {
	hash    uint64
	first   rune
	initial bool // the part is a single letter
}

// leastAcronym is the least length of an acronym of common words; a shorter one would match by chance.
const leastAcronym = 3

// names finds the names among the tokens that are no parts of dates and amounts.
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

// nameGap reports whether the text between two tokens may be within a name.
func nameGap(gap string) bool {
	return slices.Contains([]string{" ", "-", ".", ". ", "'", "’", "\u00a0"}, gap)
}

// hash returns a hash that equal forms of the word at token i share: the same stem, a demonym and its country,
// letters with and without accents. "Carrick's brother" is another person than Carrick and gets another hash.
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

// rootLetters is the number of first letters that words of one root share, as withdrew and withdrawal do, but
// not safe and safety.
const rootLetters = 5

// umlauts makes the spellings of umlauts equal: Mueller and Müller.
var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u", "ß", "ss")

// plainLetters removes the accents of a word.
func plainLetters(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return word
	}
	return strokes.Replace(runes.Remove(runes.In(unicode.Mn)).String(norm.NFD.String(word)))
}

// strokes replaces letters with strokes, which Unicode does not decompose into letter and accent.
var strokes = strings.NewReplacer("ø", "o", "ł", "l")

// token is one word of a statement: text[start:end], lower-cased in word.
type token struct {
	word, stem string
	start, end int
	upper      bool // the word begins with a capital letter
	digits     bool // the word begins with a digit
	stop       bool // the word is a stop word, and its own stem
	used       bool // the word is part of a date or an amount
}

// scan is a statement split into tokens, with the gaps between them.
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

// foldCountries makes the name of a country one token with one spelling, for "U.S." and "United States" alike.
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

// phrase joins words by underscores, as the tables of countries and units do.
func phrase(tokens []token) string {
	out := tokens[0].word
	for _, t := range tokens[1:] {
		out += "_" + t.word
	}
	return out
}

// letters returns the first letters of the tokens for features.letters.
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

// word returns the word of token i, "" if i is out of range.
func (s *scan) word(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.tokens[i].word
}

// use marks tokens first to last as parts of a date or an amount, and returns last.
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
	return s.text[min(from, to):to] // adjacent tokens may overlap (bigrams)
}

// joined reports whether a dash joins token i to the previous one.
func (s *scan) joined(i int) bool {
	dash := strings.TrimSpace(s.gap(i))
	return i > 0 && dash != "" && strings.Contains("- – — ‑", dash)
}

// near reports whether only blanks and the given marks separate token i from the previous one.
func (s *scan) near(i int, marks string) bool {
	return i > 0 && i < len(s.tokens) && strings.Trim(s.gap(i), " \t\n\u00a0\u202f"+marks) == ""
}

// wholeNumber reads digits as an integer; ok is false for other words, and for more than 15 digits.
func wholeNumber(word string) (n int, ok bool) {
	n, err := strconv.Atoi(word)
	return n, err == nil && len(word) <= 15 && word[0] >= '0'
}

// wholeIn reads an integer of at most the given digits; ok is false if it is not within least and most.
func wholeIn(word string, digits, least, most int) (n int, ok bool) {
	n, ok = wholeNumber(word)
	return n, ok && len(word) <= digits && n >= least && n <= most
}

// endings splits a word such as 17th or 1990s after its digits.
func endings(word string) (digits, rest string) {
	rest = strings.TrimLeft(word, "0123456789")
	return word[:len(word)-len(rest)], rest
}

func isOrdinalEnding(s string) bool { return s == "st" || s == "nd" || s == "rd" || s == "th" }

// clauseMark reports whether a gap holds punctuation that ends a clause.
func clauseMark(gap string) bool { return strings.ContainsAny(gap, ",;:.!?()[]–—") }
