// SPDX-License-Identifier: Apache-2.0

package short

import (
	"slices"
	"strings"
)

// Contains reports whether a gold answer stands in the answer, word for word, after
// [Normalize]. A gold answer without a word stands in none.
func Contains(given string, golds ...string) bool {
	text := " " + Normalize(given) + " "
	return slices.ContainsFunc(golds, func(g string) bool {
		g = Normalize(g)
		return g != "" && strings.Contains(text, " "+g+" ")
	})
}

// RougeL is the F-measure of ROUGE-L: the harmonic mean of the longest common
// subsequence's shares of the words of both texts. 0 if either has none.
func RougeL(given, gold string) float64 {
	a, b := tokens(given), tokens(gold)
	lcs := common(a, b)
	if lcs == 0 {
		return 0
	}
	return 2 * float64(lcs) / float64(len(a)+len(b))
}

// maxTokens is how much of a text ROUGE-L reads: an answer has hundreds of words, and
// the time grows with the product of both.
const maxTokens = 5000

// tokens are the lower-cased runs of a-z and 0-9 of a text, as the package rouge_score
// takes them.
func tokens(s string) []string {
	all := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return all[:min(len(all), maxTokens)]
}

// common is the length of the longest common subsequence.
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

// Choice scores an answer that names choices. One, and true or false, is right when
// nothing but the gold choice is named. Of a selection the gold choices score 1, some
// of them and no other 0.5. An answer that names none scores 0: the released script
// gives an empty selection the half of a subset.
func Choice(given, gold string, several bool) float64 {
	want, named := named(gold), named(given)
	switch {
	case len(named) == 0:
		return 0
	case slices.Equal(named, want):
		return 1
	case several && !slices.ContainsFunc(named, func(n string) bool { return !slices.Contains(want, n) }):
		return 0.5
	}
	return 0
}

// named reads the choices that an answer names, sorted: letters from A on, run
// together or parted, or true or false. What follows a letter and a mark, such as
// "B. The heap", is the text of the choice; sentences name none.
func named(s string) []string {
	s = strings.TrimSpace(s)
	if at := strings.LastIndex(strings.ToLower(s), "answer:"); at >= 0 {
		s = strings.TrimSpace(s[at+len("answer:"):])
	}
	s, _, _ = strings.Cut(s, "\n")
	s = strings.Trim(s, " \t.*`\"'")
	if word := strings.ToLower(strings.TrimRight(s, ".!")); word == "true" || word == "false" {
		return []string{word}
	}
	var out []string
	add := func(letters string) {
		for _, r := range letters {
			if !slices.Contains(out, string(r)) {
				out = append(out, string(r))
			}
		}
		slices.Sort(out)
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ,;/&", r) })
	for i, w := range words {
		letters := strings.Trim(w, "().:[]")
		switch {
		case letters == "and" && i > 0:
		case !isChoice(letters):
			if len(out) == 1 && i == 1 && marked(words[0]) { // "B. The heap"
				return out
			}
			return nil
		default:
			add(letters)
		}
	}
	return out
}

// marked reports whether a letter is set off from what follows: "B.", "(B)", "B:".
func marked(word string) bool { return strings.ContainsAny(word, ").:]") }

// isChoice reports whether a word is made of letters of choices.
func isChoice(w string) bool {
	return w != "" && len(w) <= 26 && strings.Trim(w, "ABCDEFGHIJ") == ""
}
