// SPDX-License-Identifier: Apache-2.0

package short

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/wildgraph/wildgraph/llm/replies"
)

// Contains reports whether the answer contains a gold answer, word for word, after [Normalize]. Gold answers
// without a word are ignored.
func Contains(given string, golds ...string) bool {
	text := " " + Normalize(given) + " "
	return slices.ContainsFunc(golds, func(g string) bool {
		g = Normalize(g)
		return g != "" && strings.Contains(text, " "+g+" ")
	})
}

// RougeL returns the F-measure of ROUGE-L: the harmonic mean of the longest common subsequence's shares of
// the words of both texts, 0 if either has none.
func RougeL(given, gold string) float64 {
	a, b := tokens(given), tokens(gold)
	lcs := common(a, b)
	if lcs == 0 {
		return 0
	}
	return 2 * float64(lcs) / float64(len(a)+len(b))
}

// maxTokens limits the words of a text for ROUGE-L: an answer has hundreds, and the time grows with the
// product of both.
const maxTokens = 5000

// tokens returns the lower-cased runs of a-z and 0-9 of a text, as the package rouge_score does.
func tokens(s string) []string {
	all := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return all[:min(len(all), maxTokens)]
}

// common returns the length of the longest common subsequence.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		corner := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = corner + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			corner = above
		}
	}
	return row[len(b)]
}

// Choice scores an answer that names choices. A single choice, or true or false, is right if the answer
// chooses it alone. Of several, the gold choices score 1, some of them and no other 0.5. An answer without a
// choice scores 0: the released script gives an empty selection the half of a subset.
func Choice(given, gold string, several bool) float64 {
	want, got := choicesOf(gold), chosen(given)
	switch {
	case len(got) == 0:
		return 0
	case slices.Equal(got, want):
		return 1
	case several && !slices.ContainsFunc(got, func(n string) bool { return !slices.Contains(want, n) }):
		return 0.5
	}
	return 0
}

// choicesOf reads the choices of a text without anything else, sorted: letters from A on, adjacent or
// separated, or true or false. The text after a letter and a mark, such as "B. The heap", is the text of the
// choice.
func choicesOf(s string) []string {
	if at := strings.LastIndex(strings.ToLower(s), "answer:"); at >= 0 {
		s = s[at+len("answer:"):]
	}
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = strings.Trim(s, " \t.*`\"'")
	if word := strings.ToLower(strings.TrimRight(s, ".!")); word == "true" || word == "false" {
		return []string{word}
	}
	s = small.ReplaceAllStringFunc(s, strings.ToUpper)
	var out []string
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ,;/&", r) })
	for i, w := range words {
		letters := strings.Trim(w, "().:[]")
		switch {
		case letters == "and" && i > 0:
		case letters == "" || strings.Trim(letters, "ABCDEFGHIJ") != "":
			if i == 1 && len(out) == 1 && strings.ContainsAny(words[0], ").:]") && !otherMarked.MatchString(s[len(words[0]):]) { // "B. The heap"
				return out
			}
			return nil
		default:
			out = append(out, strings.Split(letters, "")...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// small matches a lower-case letter alone, or with a mark before the text of its choice.
var small = regexp.MustCompile(`^[(\[]?[a-j](?:[.):\]]*$|[.):\]]\s)`)

// otherMarked matches a letter that begins the text of another choice.
var otherMarked = regexp.MustCompile(`(?:^|\s)\(?[A-J][).:]\s`)

var (
	wrapped   = regexp.MustCompile(`(?is)\\boxed\{(?:\\text\w*\{)?([^{}]*)\}|<answer>(.*?)</answer>|【([^】]*)】`)
	bordered  = regexp.MustCompile(`([\p{Han}\p{Hiragana}\p{Katakana}])([A-J])|([A-J])([\p{Han}\p{Hiragana}\p{Katakana}])`)
	clauseEnd = regexp.MustCompile(`[.!?]\s|[;\n。！？；]`)
	declaring = regexp.MustCompile(`(?i)answer|option|choice|choose|\b(?:correct|right)\b|antwort|lösung|réponse|respuesta|risposta|resposta|ответ|答案|[选選]|正解`)
	leading   = regexp.MustCompile(`^\W*([A-J])\W*(?:,| [-–—] | (?:because|since|as|for)\b)`)
	reasoning = regexp.MustCompile(`(?i)(?:\b(?:because|since|while|whereas|weil|denn|porque|parce)\b|因为).*`)
	denying   = regexp.MustCompile(`(?i)^(?:not|never|cannot|neither|nor|wrong|false|incorrect|between|out|nicht|kein|keine|pas|не|\pL+n['’]t)$|不`)
)

// chosen reads the choices of an answer, sorted, in the forms of models: only letters, a box or a tag around
// them, the last clause that names the answer, a letter before a reason, or one at the end. Denied choices
// and alternatives are ignored.
func chosen(given string) []string {
	text := norm.NFKC.String(replies.Unwrap(given, ""))
	for _, m := range wrapped.FindAllStringSubmatch(text, -1) {
		if inner := m[1] + m[2] + m[3]; m[2] != "" || choicesOf(inner) != nil {
			text = inner
		}
	}
	text = strings.TrimSpace(strings.NewReplacer("*", "", "`", "", "$", "").Replace(text))
	for range 2 { // on either side of a letter
		text = bordered.ReplaceAllString(text, "$1$3 $2$4")
	}
	if out := choicesOf(text); out != nil {
		return out
	}
	clauses := clauseEnd.Split(strings.TrimRight(text, " .!"), -1)
	for _, c := range slices.Backward(clauses) {
		if out, some := undeniedLetters(c); some && declaring.MatchString(c) {
			return out
		}
	}
	if m := leading.FindStringSubmatch(text); m != nil {
		return m[1:]
	}
	last := clauses[len(clauses)-1]
	if out, _ := undeniedLetters(last); len(out) == 1 && strings.HasSuffix(strings.TrimRight(last, " )]\"'"), out[0]) {
		return out
	}
	said := strings.FieldsFunc(strings.ToLower(last), func(r rune) bool { return !unicode.IsLetter(r) })
	yes, no := slices.Contains(said, "true"), slices.Contains(said, "false")
	switch denied := slices.Contains(said, "not"); {
	case yes == no:
		return nil
	case yes != denied:
		return []string{"true"}
	}
	return []string{"false"}
}

// undeniedLetters returns the letters of a clause that are not denied, sorted, none of alternatives; some
// reports whether there are letters at all.
func undeniedLetters(clause string) (out []string, some bool) {
	words := strings.FieldsFunc(reasoning.ReplaceAllString(clause, ""), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
	denied, either := false, false
	for i, w := range words {
		last, next := i == len(words)-1, ""
		if !last {
			next = words[i+1]
		}
		switch {
		case len(w) == 1 && (w >= "A" && w <= "J" && w != "I" || last && w >= "a" && w <= "j"):
			if w == "A" && !last && len(next) > 1 && !slices.Contains([]string{"is", "are", "and", "or", "but", "as"}, next) {
				continue // an article
			}
			if some = true; !denied {
				out = append(out, strings.ToUpper(w))
			}
		case slices.Contains([]string{"or", "either", "oder", "ou", "или", "或"}, strings.ToLower(w)):
			either = true
		case slices.Contains([]string{"but", "leaving", "leaves", "sondern", "mais", "sino", "而是"}, strings.ToLower(w)), declaring.MatchString(w):
			denied = false
		case denying.MatchString(w):
			if denied = true; w == "wrong" || w == "false" || w == "incorrect" || next == "" {
				out = nil // "A is wrong"
			}
		}
	}
	if either {
		return nil, some
	}
	slices.Sort(out)
	return slices.Compact(out), some
}

// Normalize returns the form of an answer that is compared: lower case, without the 32 ASCII punctuation
// characters, without the words a, an and the, and with one space between words.
//
// It equals the Python scripts of the data sets, character by character. Where Go's own functions differ,
// Python's rules apply: word boundaries and letters are Unicode, lower case is the full mapping ("İ" becomes
// two code points, a final "Σ" becomes "ς"), U+001C to U+001F are spaces, and dashes or quotation marks
// outside ASCII stay. Punctuation is removed without a gap: "Eiffel-Tower" is one word.
//
// A byte that is not valid UTF-8 is read as U+FFFD.
func Normalize(s string) string {
	var lower strings.Builder
	for i, r := range s {
		switch {
		case isPunct(r):
		case r == 'İ':
			lower.WriteString("i\u0307")
		case r == 'Σ' && isFinal(s[:i], s[i+len("Σ"):]):
			lower.WriteRune('ς')
		default:
			lower.WriteRune(unicode.ToLower(r))
		}
	}
	s = wordRun.ReplaceAllStringFunc(lower.String(), func(word string) string {
		if word == "a" || word == "an" || word == "the" {
			return " "
		}
		return word
	})
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }), " ")
}

// wordRun equals \w+ of Python's re module.
var wordRun = regexp.MustCompile(`[\p{L}\p{N}_]+`)

// isPunct reports membership in Python's string.punctuation.
func isPunct(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

// isFinal is the condition Final_Sigma of the Unicode Standard, section 3.13, for the letter between two
// texts: a cased letter before it, none after it, ignoring case-ignorable characters.
func isFinal(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, isCaseIgnorable))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, isCaseIgnorable))
	return isCased(last) && !isCased(next)
}

// isCased is the property Cased of the Unicode Standard.
func isCased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) ||
		unicode.In(r, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable is the property Case_Ignorable: the categories below and the
// characters that break words as MidLetter, MidNumLet or Single_Quote.
func isCaseIgnorable(r rune) bool {
	return strings.ContainsRune("'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a", r) ||
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
