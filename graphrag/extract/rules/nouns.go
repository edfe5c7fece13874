// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// MayBeNoun reports whether a word, in lower case, may be a noun or a name: English
// words of a closed class, adverbs, and forms of verbs and of adjectives that the tables
// know are none, nor what ends like an adverb or the past of a verb. It stands in for
// a tagger of parts of speech and does not look at the words around.
func MayBeNoun(word string) bool {
	l := tableLexicon()
	c := l.class[l.words[word]]
	switch {
	case c&(noun|thing|role|kin|place|given|unit) != 0:
		return true
	case c != 0:
		return c&(function|adverb|anyVerb|modifier) == 0
	}
	return !strings.HasSuffix(word, "ly") && !(len(word) > 4 && strings.HasSuffix(word, "ed"))
}
