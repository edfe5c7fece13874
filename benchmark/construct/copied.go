// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// questionFault returns why a question cannot be used, in a sentence for the model that wrote it, and the
// words concerned, or "". It copies a run of words from the statements or the sentence, reveals a number of a
// summary's statements, or has a pronoun and no name. The length is checked elsewhere.
func questionFault(question string, d Draft) (reason, words string) {
	if len(question) > maxQuestion*utf8.UTFMax {
		return "", ""
	}
	var said []string
	if d.Type != wildgraph.Summary {
		said = append(said, plainText(d.Triples[0].Sentence))
	}
	for _, t := range d.Triples {
		said = append(said, t.Statement)
	}
	grams, numbers := make(map[string]bool), make(map[string]bool)
	for _, s := range said {
		all, _ := wordsOf(s)
		for i := range all {
			grams[strings.Join(all[i:min(i+gram, len(all))], " ")] = true
			numbers[all[i]] = d.Type == wildgraph.Summary && unicode.IsDigit(rune(all[i][0]))
		}
	}
	asked, at := wordsOf(question)
	kinds := kindsOf(question, d, languages.In(text.LanguageOf(strings.Join(said, " "))))
	for i, w := range asked {
		if numbers[w] && kinds[i] != ofTitle {
			return "It gives away a number of the statements.", w
		}
	}
	for from := 0; from+gram <= len(asked); from++ {
		to := from
		for to+gram <= len(asked) && grams[strings.Join(asked[to:to+gram], " ")] {
			to++
		}
		if to > from && copies(asked[from:to+gram-1], kinds[from:]) {
			return "Words of it stand in a row in the statement or its sentence.", question[at[from][0]:at[to+gram-2][1]]
		}
		from = max(from, to-1)
	}
	return unnamed(question, kinds, at)
}

// pronoun matches a pronoun as the subject of a question.
var pronoun = regexp.MustCompile(`(?i)\b(?:(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would) (?:she|he|they|her|his|their)|(?:does|did|has|had) (?:it|its))\b`)

// unnamed returns the fault of a question without a name whose pronoun has at most one noun before it: with
// two, the pronoun may refer to the first.
func unnamed(question string, kinds []int, at [][]int) (reason, words string) {
	p := pronoun.FindStringIndex(question)
	if p == nil {
		return "", ""
	}
	before := 0
	for i, k := range kinds {
		if k >= ofName {
			return "", ""
		} else if k == ofText && at[i][1] < p[0] {
			before++
		}
	}
	if before > 1 {
		return "", ""
	}
	return "Whoever reads it alone does not know whom or what its pronoun means.", question[p[0]:p[1]]
}

// Shared words count in halves: a word two, a character of a script without blanks one.
const (
	gram      = 4 // words in a row
	leastRun  = 8 // of a copy
	leastSaid = 6 // outside of names, if it contains a stop word
)

// copies reports whether a run of shared words is more than a noun phrase with a name: without names, titles
// and articles it has three words with a stop word among them, or four. Stop words at the end do not count.
func copies(run []string, kinds []int) bool {
	all, content, stops, last := 0, 0, 0, 0
	for i, w := range run {
		half := 2
		if r, _ := utf8.DecodeRuneInString(w); text.Unspaced(r) {
			half = 1
		}
		switch all += half; kinds[i] {
		case ofText:
			content, stops, last = content+half, stops+last, 0
		case ofStop:
			last += half
		case ofName, ofTitle:
			stops, last = stops+last, 0
		}
	}
	return all >= leastRun && content > 0 && (content >= leastRun || stops > 0 && content+stops >= leastSaid)
}

// Kinds of words in a question.
const (
	ofText  = iota
	ofStop  // a stop word
	ofJoint // an article, or a connector in a name
	ofName  // a name or a number
	ofTitle // a word of the article's title or of the section's
)

// wordPattern matches words; in scripts without blanks, single characters.
var wordPattern = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]|(?:[^\P{L}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]|\p{N}|\p{M})+`)

// wordsOf splits a text into words in lower case, with their byte offsets.
func wordsOf(s string) (folded []string, at [][]int) {
	at = wordPattern.FindAllStringIndex(s, -1)
	for _, span := range at {
		folded = append(folded, strings.ToLower(s[span[0]:span[1]]))
	}
	return folded, at
}

// joining lists articles, conjunctions, and prepositions of the genitive.
const joining = ` and or und oder et ou y e ed och og en и the a an of s l d le la les un une de du des el los las una del di il lo gli della dei der die das den dem ein eine einer eines het een van ett av `

// languages has the stop words of each language.
var languages, _ = text.New(text.Options{Language: text.Each})

// kindsOf classifies the words of a question.
func kindsOf(question string, d Draft, in *text.Standard) []int {
	title := make(map[string]bool)
	words, _ := wordsOf(d.Title + " " + strings.Join(d.Path, " "))
	for _, w := range words {
		if t, content := in.Term(w); content {
			title[t] = true
		}
	}
	words, at := wordsOf(question)
	out := make([]int, len(words))
	last := -gram // name in capitals
	for i, w := range words {
		r, _ := utf8.DecodeRuneInString(question[at[i][0]:])
		term, content := in.Term(w)
		switch {
		case title[term] && content:
			out[i] = ofTitle
		case unicode.IsUpper(r) && i > 0, unicode.IsNumber(r), unicode.Is(unicode.Katakana, r):
			out[i] = ofName
		case strings.Contains(joining, " "+w+" "):
			out[i] = ofJoint
		case !content && !text.Unspaced(r):
			out[i] = ofStop
		}
		switch {
		case unicode.IsUpper(r) && i > 0:
			for ; last >= 0 && i-last < gram && last < i-1; last++ {
				out[last+1] = ofJoint
			}
			last = i
		case out[i] != ofStop && out[i] != ofJoint:
			last = -gram
		}
	}
	return out
}
