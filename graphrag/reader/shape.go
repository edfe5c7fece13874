// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shape is what kinds of answers a text can hold, one bit each.
type shape uint8

const (
	hasNumber shape = 1 << iota
	hasDate
	hasName // a capital letter inside the text
	hasMoney
)

// wanted returns the shapes any of which answers a question; 0 if none is asked for.
func wanted(question string) shape {
	q := " " + strings.ToLower(strings.Join(strings.FieldsFunc(question, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}), " ")) + " "
	has := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(q, " "+p+" ") })
	}
	in := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(q, p) })
	}
	var s shape
	if has("when", "what year", "which year", "what date", "which date", "what month", "what day", "which day", "which days", "what time") || in("什么时候", "哪一年", "哪年", "何时", "几点") {
		s |= hasDate
	}
	money := has("cost", "costs", "price", "pay", "paid", "fee", "spent", "how much is", "how much are", "financial", "net worth", "valuation") || in("多少钱", "价格")
	if money {
		s |= hasMoney
	} else if has("how many", "how much", "how long", "how old", "how far", "how large", "how big", "how deep", "how tall", "how high", "how often", "how heavy",
		"what number", "number of", "phone number", "percentage", "percent", "proportion", "what share", "score", "scoreline", "amount", "population", "what range", "figure", "toll", "what size", "estimated size") || in("多少", "多久", "多长", "多高", "几个", "几天", "电话") {
		s |= hasNumber
	}
	if has("who", "whom", "whose", "which person", "which country", "which team", "which company", "what city", "which city") || in("是谁", "谁的") {
		s |= hasName
	}
	return s
}

// wordShapes are the shapes of words as they are written in English.
var wordShapes = func() map[string]shape {
	out := make(map[string]shape)
	for s, words := range map[shape]string{
		hasMoney: "euro euros dollar dollars pound pounds pence penny cent cents yen yuan francs free eur usd gbp",
		hasDate: "january february march april may june july august september october november december " +
			"monday tuesday wednesday thursday friday saturday sunday mondays tuesdays thursdays fridays saturdays sundays mon tue wed thu fri sat sun " +
			"noon midnight today tomorrow yesterday weekly daily pm am",
		hasNumber: "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen twenty thirty forty fifty " +
			"hundred thousand million billion once twice dozen half second none nothing",
		hasNumber | hasDate: "first third fourth fifth sixth seventh eighth ninth tenth",
	} {
		for _, word := range strings.Fields(words) {
			out[word] = s
		}
	}
	return out
}()

// longestShape is the length in bytes of the longest of these words.
const longestShape = 9

// shows tells whether a text has any of the shapes.
func shows(s string, want shape) bool {
	if want == 0 {
		return false
	}
	if want&hasMoney != 0 && strings.ContainsAny(s, "€$£¥元") {
		return true
	}
	first := true
	for word := range strings.FieldsSeq(s) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		if word != "" && shapeOf(word, first)&want != 0 {
			return true
		}
		first = false
	}
	return false
}

// shapeOf returns the shapes of a word; the first one of a text has a capital letter
// anyway.
func shapeOf(word string, first bool) shape {
	begin, _ := utf8.DecodeRuneInString(word)
	digits := 0
	for _, r := range word {
		if unicode.IsNumber(r) {
			digits++
		}
	}
	switch {
	case digits > 0 && digits == len(word) && digits == 4 && (word[0] == '1' || word[0] == '2'), digits > 0 && strings.Contains(word, ":"):
		return hasDate | hasNumber
	case digits > 0 && strings.ContainsAny(word, "年月日点"):
		return hasNumber | hasDate
	case digits > 0:
		return hasNumber
	case unicode.Is(unicode.Han, begin):
		out := hasName
		if strings.ContainsAny(word, "一二两三四五六七八九十百千万") {
			out |= hasNumber
		}
		if strings.ContainsAny(word, "年月日周") {
			out |= hasDate
		}
		return out
	}
	var out shape
	if !first && unicode.IsUpper(begin) {
		out = hasName
	}
	if len(word) > longestShape {
		return out
	}
	var lower [longestShape]byte
	n := copy(lower[:], word)
	for i, c := range lower[:n] {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	known, ok := wordShapes[string(lower[:n])]
	if !ok && n > len("day") && string(lower[n-len("day"):n]) == "day" {
		known = hasDate
	}
	return out | known
}
