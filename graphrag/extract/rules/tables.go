// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed tables/*.txt
var tableFiles embed.FS

// class is the classes of a word in the tables: a set of bits.
type class uint64

const (
	determiner class = 1 << iota
	preposition
	conjunction
	pronoun
	relative
	interrogative
	formOfBe
	formOfHave
	formOfDo
	modal
	negation
	adverb
	connector
	joining
	month
	weekday
	scale
	unit
	honorific
	role
	kin
	royal
	thing
	modifier
	organizationHead
	placeHead
	eventHead
	workHead
	part
	noname
	chrome
	place
	demonym
	given
	verbBase
	verbS
	verbPast
	verbParticiple
	verbIng
	report
	germanWord
	boilerplateWord // begins a phrase of page.txt
)

// function are the words that hold a sentence together: never a name, and the sign that a text is English prose.
const function = determiner | preposition | conjunction | pronoun | relative | interrogative |
	formOfBe | formOfHave | formOfDo | modal | negation

// noun are the classes of words that are nouns where a verb could be, too.
const noun = role | kin | unit | scale

// anyHead are the nouns that tell what kind of thing a name names.
const anyHead = organizationHead | placeHead | eventHead | workHead

const finite = verbS | verbPast

const anyVerb = verbBase | verbS | verbPast | verbParticiple | verbIng

// classNames are the classes as the table files call them, in the order of their bits.
var classNames = strings.Fields("determiner preposition conjunction pronoun relative question be have do modal negation adverb connector joining month weekday " +
	"scale unit honorific role kin royal thing modifier organization place event work part noname chrome - demonym given verb verb-s past participle verb-ing report german")

// tables are the closed lists of the package.
type tables struct {
	words    []string // words of classes, sorted
	classes  map[string]class
	places   []string // names of places, as they are written
	regions  int      // how many of them, from the first, contain others
	starts   [][]byte // openings of lines that are no text
	anywhere [][]byte // phrases of lines that are no text
}

// loadTables reads the embedded lists, once.
var loadTables = sync.OnceValue(func() *tables {
	t := &tables{classes: map[string]class{}}
	for _, name := range []string{"closed.txt", "names.txt", "verbs.txt"} {
		for key, value := range entries(name) {
			bit := slices.Index(classNames, key)
			if bit < 0 {
				panic(fmt.Sprintf("rules: tables/%s has an unknown class %q", name, key))
			}
			t.add(1<<bit, value)
		}
	}
	for key, value := range entries("places.txt") {
		if key != "-" {
			t.places = append(t.places, key)
		}
		t.add(demonym, value)
	}
	for key, value := range entries("more_places.txt") { // regions come first
		for _, word := range strings.Fields(value) {
			t.places = append(t.places, strings.ReplaceAll(word, "_", " "))
		}
		if key == "region" {
			t.regions = len(t.places)
		}
	}
	for _, name := range t.places {
		if !strings.Contains(name, " ") {
			t.classes[strings.ToLower(name)] |= place
		}
	}
	for _, line := range tableLines("given.txt") {
		t.add(given, line)
	}
	for key, value := range entries("page.txt") {
		for phrase := range strings.SplitSeq(value, ";") {
			phrase = strings.TrimSpace(phrase)
			first, _, _ := strings.Cut(phrase, " ")
			t.add(boilerplateWord, strings.Trim(first, ":;"))
			if key == "starts" {
				t.starts = append(t.starts, []byte(phrase))
			} else {
				t.anywhere = append(t.anywhere, []byte(phrase))
			}
		}
	}
	for word := range t.classes {
		t.words = append(t.words, word)
	}
	slices.Sort(t.words)
	return t
})

func (t *tables) add(c class, words string) {
	for _, word := range strings.Fields(words) {
		t.classes[strings.ToLower(word)] |= c
	}
}

// tableLines returns the lines of an embedded table that are not empty or a comment.
func tableLines(name string) []string {
	data, err := tableFiles.ReadFile("tables/" + name)
	if err != nil {
		panic("rules: " + err.Error()) // the file is embedded in the binary
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}

// entries yields the "key: value" lines of an embedded table.
func entries(name string) func(yield func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for _, line := range tableLines(name) {
			key, value, _ := strings.Cut(line, ":")
			if !yield(strings.TrimSpace(key), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}
