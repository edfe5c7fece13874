// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

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
