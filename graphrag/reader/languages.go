// SPDX-License-Identifier: Apache-2.0

package reader

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

//go:embed wordings.txt
var wordingText string

// wording is how a language asks, and how its answers look: phrases by key, parted by commas, stems of
// words that ask, shapes of words, and the numbers from 0 to 12 of the words that have them.
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
				panic(err) // a language of package text
			}
			for _, term := range a.Terms(words) {
				w.asking[term] = true
			}
		}
	})
	return out
})

// entries calls each with the lines "key: value" of a text and the language in brackets above them. Lines that
// begin with # are comments.
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

// numeralsOf are the numbers that a text writes as words of a language, "#3" of three, or of any language if it
// is not known. A word beside another one of numbers is a part of a larger number.
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

// has reports whether a question, folded, has one of the phrases of a key: whole words where the
// language parts them.
func (w *wording) has(folds, key string) bool {
	for p := range strings.SplitSeq(w.phrases[key], ", ") {
		if p != "" && (strings.Contains(folds, " "+p+" ") || strings.ContainsFunc(p, text.Unspaced) && strings.Contains(folds, p)) {
			return true
		}
	}
	return false
}

// wanted is [wanted] in the language.
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

// folded are the words of a question in lower case, with a blank before and behind each.
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

// spoken is the language that evidence is read in: the language of the question, or of the evidence if
// the question has no sign of one.
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
