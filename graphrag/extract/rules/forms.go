// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"
)

// loadVerbs makes the forms of the verbs.
func (t *tables) loadVerbs() {
	for key, value := range entries("verbs.txt") {
		switch key {
		case "regular":
			for _, base := range strings.Fields(value) {
				past := pastOf(base)
				t.verb(base, past, past)
			}
		case "irregular":
			for forms := range strings.SplitSeq(value, ";") {
				if f := strings.Fields(forms); len(f) == 3 {
					t.verb(f[0], f[1], f[2])
				}
			}
		default: // a property of verbs that were listed before
			for _, base := range strings.Fields(value) {
				for _, form := range []string{base, thirdOf(base), pastOf(base), ingOf(base)} {
					t.classes[form] |= classNames[key]
				}
				for form, of := range t.lemmas {
					if of == base {
						t.classes[form] |= classNames[key]
					}
				}
			}
		}
	}
}

func (t *tables) verb(base, past, participle string) {
	t.form(base, base, verbBase)
	t.form(thirdOf(base), base, verbS)
	t.form(past, base, verbPast)
	t.form(participle, base, verbParticiple)
	t.form(ingOf(base), base, verbIng)
}

func (t *tables) form(form, base string, c class) {
	t.classes[form] |= c
	if _, ok := t.lemmas[form]; !ok {
		t.lemmas[form] = base
	}
}

// thirdOf returns the form of a verb with he, she or it.
func thirdOf(base string) string {
	switch {
	case base == "have":
		return "has"
	case hasSuffix(base, "s", "sh", "ch", "x", "z", "o"):
		return base + "es"
	case endsInConsonantY(base):
		return base[:len(base)-1] + "ies"
	}
	return base + "s"
}

func pastOf(base string) string {
	switch {
	case strings.HasSuffix(base, "e"):
		return base + "d"
	case endsInConsonantY(base):
		return base[:len(base)-1] + "ied"
	case doubles(base):
		return base + base[len(base)-1:] + "ed"
	}
	return base + "ed"
}

func ingOf(base string) string {
	switch {
	case strings.HasSuffix(base, "ie"):
		return base[:len(base)-2] + "ying"
	case strings.HasSuffix(base, "e") && !hasSuffix(base, "ee", "ye", "oe"):
		return base[:len(base)-1] + "ing"
	case doubles(base):
		return base + base[len(base)-1:] + "ing"
	}
	return base + "ing"
}

func isVowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

func endsInConsonantY(s string) bool {
	return len(s) > 1 && s[len(s)-1] == 'y' && !isVowel(s[len(s)-2])
}

// doubles reports whether the last consonant is doubled before -ed and -ing:
// after one short vowel in a word of one syllable, and in a few longer words.
func doubles(s string) bool {
	n := len(s)
	if n < 3 || isVowel(s[n-1]) || hasSuffix(s, "w", "x", "y") || !isVowel(s[n-2]) || isVowel(s[n-3]) {
		return false
	}
	vowels := 0
	for i := range n {
		if isVowel(s[i]) {
			vowels++
		}
	}
	switch s {
	case "admit", "commit", "permit", "submit", "expel", "compel", "control", "patrol", "refer", "prefer", "transfer",
		"occur", "begin", "regret", "outrun", "forget", "cancel", "travel", "label":
		return true
	}
	return vowels == 1
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}
