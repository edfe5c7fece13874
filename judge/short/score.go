// SPDX-License-Identifier: Apache-2.0

package short

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// ErrGolds is wrapped by errors about a number of gold answers that the script does not take: none, or several.
var ErrGolds = errors.New("wrong number of gold answers")

// Score has the figures of one answer, or means of figures. All are in 0..1.
type Score struct {
	EM        float64 `json:"em"`
	F1        float64 `json:"f1"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// Score compares a prediction with the gold answers of a question.
//
// EM is 1 if the prediction equals a gold answer after normalization. F1, precision and recall count common
// words, each as often as both texts have it. With several gold answers EM and F1 are the best ones; precision
// and recall belong to the first gold answer with the best F1, under TwoWiki they are the best ones too.
//
// The error wraps [ErrGolds] if there is no gold answer, except under SQuAD2, where the question then has no
// answer, or if there are several under HotpotQA.
func (p Script) Score(prediction string, golds []string) (Score, error) {
	if !p.valid() {
		return Score{}, fmt.Errorf("short: score: %v: no such script", p)
	}
	r := &byScript[p]
	switch {
	case len(golds) == 0 && !r.emptyGoldsDropped:
		return Score{}, fmt.Errorf("short: score: %w: there is none, %v needs at least one", ErrGolds, p)
	case len(golds) > 1 && r.oneGold:
		return Score{}, fmt.Errorf("short: score: %w: there are %d, %v takes one: use 2wiki or mrqa", ErrGolds, len(golds), p)
	}
	var sides []side
	for _, g := range golds {
		if gold := newSide(g); !r.emptyGoldsDropped || gold.text != "" {
			sides = append(sides, gold)
		}
	}
	if len(sides) == 0 {
		sides = []side{{}}
	}
	pred := newSide(prediction)
	var best Score
	for i, gold := range sides {
		s := r.compare(pred, gold)
		em := max(best.EM, s.EM)
		switch {
		case r.apart:
			best.F1, best.Precision, best.Recall = max(best.F1, s.F1), max(best.Precision, s.Precision), max(best.Recall, s.Recall)
		case i == 0 || s.F1 > best.F1:
			best = s
		}
		best.EM = em
	}
	return best, nil
}

// side is one of two answers being compared.
type side struct {
	text  string // the answer after [Normalize]
	words []string
}

func newSide(s string) side {
	text := Normalize(s)
	return side{text, strings.Fields(text)}
}

func (s side) yesNo() bool { return s.text == "yes" || s.text == "no" || s.text == "noanswer" }

func (r *scriptRules) compare(pred, gold side) Score {
	equal := pred.text == gold.text
	var s Score
	if equal {
		s.EM = 1
	}
	switch {
	case len(pred.words) == 0 || len(gold.words) == 0:
		if equal && r.emptyAgrees {
			s.F1, s.Precision, s.Recall = 1, 1, 1
		}
		return s
	case r.strictYesNo && !equal && (pred.yesNo() || gold.yesNo()):
		return s
	}
	same := shared(pred.words, gold.words)
	if same == 0 {
		return s
	}
	s.Precision = float64(same) / float64(len(pred.words))
	s.Recall = float64(same) / float64(len(gold.words))
	s.F1 = judge.HarmonicMean(s.Precision, s.Recall)
	return s
}

// shared returns the number of words that two lists have in common, repeated words included.
func shared(a, b []string) (n int) {
	left := make(map[string]int)
	for _, w := range a {
		left[w]++
	}
	for _, w := range b {
		if left[w]--; left[w] >= 0 {
			n++
		}
	}
	return n
}

// Script is the evaluation script of a data set; the table in the package comment compares them.
type Script uint8

// The scripts.
const (
	SQuAD1   Script = iota // evaluate-v1.1.py of SQuAD 1.1
	SQuAD2                 // evaluate-v2.0.py of SQuAD 2.0, without no-answer probabilities
	HotpotQA               // hotpot_evaluate_v1.py, the answer part
	TwoWiki                // 2wikimultihop_evaluate_v1.1.py, the answer part
	MuSiQue                // evaluate_v1.0.py of MuSiQue, the answer part
	MRQA                   // mrqa_official_eval.py; also HippoRAG's qa_eval.py
)

// scriptRules are the rules in which the scripts differ.
type scriptRules struct {
	name string
	// emptyAgrees gives two empty answers the F1 1.
	emptyAgrees bool
	// emptyGoldsDropped ignores empty gold answers if there are others; without any gold answer the empty
	// answer is right.
	emptyGoldsDropped bool
	// strictYesNo makes F1 0 if one of the two answers is yes, no or noanswer and the other differs.
	strictYesNo bool
	// oneGold allows a single gold answer only.
	oneGold bool
	// apart takes F1, precision and recall each from the gold answer where it is best.
	apart bool
}

// byScript has the rules of each Script.
var byScript = [...]scriptRules{
	SQuAD1:   {name: "squad1"},
	SQuAD2:   {name: "squad2", emptyAgrees: true, emptyGoldsDropped: true},
	HotpotQA: {name: "hotpot", strictYesNo: true, oneGold: true},
	TwoWiki:  {name: "2wiki", strictYesNo: true, apart: true},
	MuSiQue:  {name: "musique", emptyAgrees: true},
	MRQA:     {name: "mrqa"},
}

// String returns the name of the script, as in "f1/hotpot".
func (p Script) String() string {
	if !p.valid() {
		return "script(" + strconv.Itoa(int(p)) + ")"
	}
	return byScript[p].name
}

func (p Script) valid() bool { return int(p) < len(byScript) }

// Contains reports whether the answer contains a gold answer, word for word, after [Normalize]. Gold answers
// that are then empty are ignored.
func Contains(given string, golds ...string) bool {
	text := " " + Normalize(given) + " "
	return slices.ContainsFunc(golds, func(g string) bool {
		g = Normalize(g)
		return g != "" && strings.Contains(text, " "+g+" ")
	})
}

// RougeL returns the F-measure of ROUGE-L: the length of the longest common subsequence of words, divided by
// the number of words of each text; of the two shares the harmonic mean, 0 if a text has no words.
func RougeL(given, gold string) float64 {
	a, b := tokens(given), tokens(gold)
	lcs := common(a, b)
	if lcs == 0 {
		return 0
	}
	return 2 * float64(lcs) / float64(len(a)+len(b))
}

// maxTokens limits the words of a text for ROUGE-L: answers have hundreds, and the time grows with the product
// of the two numbers of words.
const maxTokens = 5000

// tokens returns the lower-cased runs of a-z and 0-9 of a text, as the package rouge_score does.
func tokens(s string) []string {
	all := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return all[:min(len(all), maxTokens)]
}

// common returns the length of the longest common subsequence of two lists of words.
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

// Choice scores an answer that names choices. It is 1 if the answer chooses exactly the gold choices, or true
// or false, and if several may be right 0.5 if it chooses some of them and no others. An answer without a
// choice scores 0, unlike in the released script, which gives it 0.5.
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

// choicesOf returns the choices, sorted, of a text that has nothing else: letters from A to J, adjacent or
// separated, or true or false. In "B. The heap" the text after the letter and its mark is the text of the
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

// small matches a lower-case letter that is a choice: alone, or with a mark before the text of the choice.
var small = regexp.MustCompile(`^[(\[]?[a-j](?:[.):\]]*$|[.):\]]\s)`)

// otherMarked matches the letter and mark of a further choice in a text.
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

// chosen returns the choices of a model's answer, sorted. It looks for letters alone, in a box or a tag, in the
// last clause with a word such as "answer", before a reason, and at the end. Denied choices and alternatives
// ("A or B") are ignored.
func chosen(given string) []string {
	text := norm.NFKC.String(replies.Unwrap(given, ""))
	for _, m := range wrapped.FindAllStringSubmatch(text, -1) {
		if inner := m[1] + m[2] + m[3]; m[2] != "" || choicesOf(inner) != nil {
			text = inner
		}
	}
	text = strings.TrimSpace(strings.NewReplacer("*", "", "`", "", "$", "").Replace(text))
	for range 2 { // twice, for the characters on both sides of a letter
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

// undeniedLetters returns the letters of a clause that it does not deny, sorted, and none if the clause has
// alternatives; some reports whether there are letters at all.
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
				continue // the article "A", not a choice
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
// The result equals the one of the data sets' Python scripts, character by character. Where Go's own functions
// differ, Python's rules apply: word boundaries and letters are Unicode, lower case is the full mapping ("İ"
// becomes two code points, a final "Σ" becomes "ς"), U+001C to U+001F are spaces, and dashes or quotation marks
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

// wordRun matches the same texts as \w+ of Python's re module.
var wordRun = regexp.MustCompile(`[\p{L}\p{N}_]+`)

// isPunct reports whether a character is in Python's string.punctuation.
func isPunct(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

// isFinal reports the condition Final_Sigma of the Unicode Standard, section 3.13, for a letter between two
// texts: a cased letter precedes it and none follows, case-ignorable characters aside.
func isFinal(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, isCaseIgnorable))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, isCaseIgnorable))
	return isCased(last) && !isCased(next)
}

// isCased reports the property Cased of the Unicode Standard.
func isCased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) ||
		unicode.In(r, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable reports the property Case_Ignorable: the categories below and the characters whose Word_Break
// is MidLetter, MidNumLet or Single_Quote.
func isCaseIgnorable(r rune) bool {
	return strings.ContainsRune("'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a", r) ||
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
