// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Entity is a name to hide, with everything else that the same thing is called.
type Entity struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Type is in capital letters: PERSON, LOCATION.
	Type string `json:"type"`
}

// names are all that the entity is called.
func (e Entity) names() []string { return append([]string{e.Name}, e.Aliases...) }

// Dictionary gives every entity a placeholder, [TYPE#n], numbered for each type in the
// order of the entities. It is safe for concurrent use.
type Dictionary struct {
	entities []Entity
	holders  []string          // of the entities, without brackets
	place    map[string]int    // placeholder → entity
	byFirst  map[rune][]hidden // names by their first character, longest first
	byFolded map[rune][]hidden // the same by its compatible form, in small letters
	written  *regexp.Regexp    // what looks like a placeholder of the dictionary
}

// hidden is a name of an entity.
type hidden struct {
	name   string
	entity int
}

var typeName = regexp.MustCompile(`^[A-Z]+$`)

// NewDictionary checks the entities. A name that stands for two of them, or that looks
// like a placeholder, is an error: nobody could tell what is meant.
func NewDictionary(entities []Entity) (*Dictionary, error) {
	d := &Dictionary{entities: slices.Clone(entities), place: make(map[string]int), byFirst: make(map[rune][]hidden), byFolded: make(map[rune][]hidden)}
	var problems []error
	counts, owner := make(map[string]int), make(map[string]int)
	var types []string
	for i, e := range entities {
		if !typeName.MatchString(e.Type) {
			problems = append(problems, fmt.Errorf("the type of %q is %q, want capital letters such as PERSON", e.Name, e.Type))
			continue
		}
		if counts[e.Type]++; counts[e.Type] == 1 {
			types = append(types, e.Type)
		}
		holder := fmt.Sprintf("%s#%d", e.Type, counts[e.Type])
		d.holders = append(d.holders, holder)
		d.place[holder] = i
		for _, name := range e.names() {
			other, taken := owner[name]
			switch {
			case strings.TrimSpace(name) != name || name == "" || !utf8.ValidString(name):
				problems = append(problems, fmt.Errorf("%q, a name of %s, is empty, has blanks at its ends, or is not valid UTF-8", name, holder))
			case anyPlaceholder.MatchString(fold(name)):
				problems = append(problems, fmt.Errorf("%q, a name of %s, looks like a placeholder", name, holder))
			case taken && other != i:
				problems = append(problems, fmt.Errorf("%q is a name of both %q and %q: leave it to one", name, entities[other].Name, e.Name))
			case !taken:
				owner[name] = i
				first, _ := utf8.DecodeRuneInString(name)
				d.byFirst[first] = append(d.byFirst[first], hidden{name, i})
				first = unicode.ToLower(firstRune(norm.NFKC.String(name)))
				d.byFolded[first] = append(d.byFolded[first], hidden{name, i})
			}
		}
	}
	if len(entities) == 0 {
		problems = append(problems, errors.New("no entity to hide"))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("anonyrag: dictionary: %w", joinSome(problems))
	}
	for _, names := range d.byFirst {
		slices.SortStableFunc(names, func(a, b hidden) int { return len(b.name) - len(a.name) })
	}
	d.written = regexp.MustCompile(`(?i)(?:` + strings.Join(types, "|") + `)#[0-9]+`)
	return d, nil
}

// Anonymize replaces every name by the placeholder of its entity, from left to right
// and the longest first. A name in letters that stand between blanks is replaced as a
// whole word; in scripts without blanks, such as Han, wherever it stands. A text that
// holds what looks like a placeholder of the dictionary is refused.
func (d *Dictionary) Anonymize(text string) (string, error) {
	if at := d.written.FindString(norm.NFKC.String(text)); at != "" {
		return "", fmt.Errorf("anonyrag: the text holds %q, which would be taken for a placeholder: rename it, or give the entities another type", at)
	}
	if !utf8.ValidString(text) {
		return "", errors.New("anonyrag: the text is not valid UTF-8")
	}
	var b strings.Builder
	done := 0
	for at, r := range text {
		if at < done {
			continue
		}
		for _, h := range d.byFirst[r] {
			if strings.HasPrefix(text[at:], h.name) && whole(text, at, at+len(h.name)) {
				b.WriteString(text[done:at] + "[" + d.holders[h.entity] + "]")
				done = at + len(h.name)
				break
			}
		}
	}
	return b.String() + text[done:], nil
}

// Entity is the one that a placeholder, without brackets, stands for.
func (d *Dictionary) Entity(placeholder string) (Entity, bool) {
	i, ok := d.place[placeholder]
	if !ok {
		return Entity{}, false
	}
	return d.entities[i], true
}

// Leaks are the names that can still be read in a text, each once and in the order of
// the entities: as they are, in capitals or another form of their characters, or with
// an s behind them. A word in small letters is no name that has capitals.
func (d *Dictionary) Leaks(text string) []string {
	shown := strings.Join(strings.Fields(norm.NFKC.String(text)), " ")
	found := make(map[hidden]bool)
	for at, r := range shown {
		for _, h := range d.byFolded[unicode.ToLower(r)] {
			name := norm.NFKC.String(h.name)
			n := foldedPrefix(shown[at:], name)
			if n < 0 || startsUpper(name) && !unicode.IsUpper(r) {
				continue
			}
			end := at + n
			if spaced(lastRune(name)) && strings.HasPrefix(strings.ToLower(shown[end:]), "s") && !whole(shown, at, end) {
				end++
			}
			if whole(shown, at, end) {
				found[h] = true
			}
		}
	}
	var out []string
	for i, e := range d.entities {
		for _, name := range e.names() {
			if found[hidden{name, i}] {
				out = append(out, name)
			}
		}
	}
	return out
}

// foldedPrefix is the length of what a text begins with that is the name but for
// capitals, -1 if it does not.
func foldedPrefix(text, name string) int {
	at := 0
	for _, want := range name {
		r, n := utf8.DecodeRuneInString(text[at:])
		if n == 0 || unicode.ToLower(r) != unicode.ToLower(want) {
			return -1
		}
		at += n
	}
	return at
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// whole tells whether text[from:to] neither begins nor ends inside a word.
func whole(text string, from, to int) bool {
	before, after := lastRune(text[:from]), firstRune(text[to:])
	return (!spaced(firstRune(text[from:])) || !spaced(before)) && (!spaced(lastRune(text[:to])) || !spaced(after) && !unicode.Is(unicode.Mn, after))
}

func firstRune(s string) rune {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ' '
	}
	return r
}

func lastRune(s string) rune {
	r, n := utf8.DecodeLastRuneInString(s)
	if n == 0 {
		return ' '
	}
	return r
}

// spaced tells whether a character is a part of words between which there are blanks.
func spaced(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// fold is how names and values are compared: compatible forms of characters, in small
// letters, blanks as one.
func fold(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
}

// joinSome joins errors, the first few in full.
func joinSome(problems []error) error {
	const most = 8
	if n := len(problems); n > most {
		problems = append(problems[:most:most], fmt.Errorf("… and %d more problems", n-most))
	}
	return errors.Join(problems...)
}
