// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

var (
	// marked is a letter that is said to be the answer, opened one that opens it, and
	// bracketed one in brackets.
	marked    = regexp.MustCompile(`(?:\b(?i:answer|choice|option|choose|pick|select)(?i:\s+is)?|答案是?|选择?|选项)\s*[:=]?\s*[*"'(\[]*([A-D](?:[^\pL\pN]|\p{Han}|$)|[a-d]\W*$)`)
	opened    = regexp.MustCompile(`^[\s*"']*([A-Da-d])(?:\W*$|\s*[).:*]|\s*、\s*(?:[^A-D\s]|[A-D]\pL))`)
	bracketed = regexp.MustCompile(`[(\[]([A-D])[)\]]`)
	// alone is a capital letter that is no part of a word. An A before a word in small
	// letters is an article.
	alone   = regexp.MustCompile(`(?:^|[^\pL\pN#]|\p{Han})([A-D])(?:[^\pL\pN#']|\p{Han}|$)`)
	article = regexp.MustCompile(`\bA\s+\p{Ll}+`)
)

// ParseChoice reads the letter, A to D, that an answer chooses: the one it opens with,
// has in brackets or says to be the answer, else the one that stands alone in it. An
// answer that chooses several is none.
func ParseChoice(answer string) (string, bool) {
	answer = strings.TrimSpace(norm.NFKC.String(answer))
	found := make(map[string]bool)
	for _, of := range []*regexp.Regexp{marked, opened, bracketed} {
		add(found, of, answer)
	}
	if len(found) == 0 {
		add(found, alone, article.ReplaceAllStringFunc(answer, func(words string) string {
			if strings.HasSuffix(words, " and") || strings.HasSuffix(words, " or") {
				return words
			}
			return strings.ToLower(words)
		}))
	}
	if len(found) != 1 {
		return "", false
	}
	for letter := range found {
		return letter, true
	}
	return "", false
}

// add finds the letters of a pattern. Neighbours may share what parts them.
func add(found map[string]bool, of *regexp.Regexp, s string) {
	for at := 0; at < len(s); {
		m := of.FindStringSubmatchIndex(s[at:])
		if m == nil {
			return
		}
		found[strings.ToUpper(s[at+m[2]:at+m[2]+1])] = true
		at += m[2] + 1
		if of == opened {
			return
		}
	}
}
