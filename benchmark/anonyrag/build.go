// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/wildgraph/wildgraph/llm/journal"
)

// Book is the source of a part of a data set: named passages, the entities to hide, and questions.
type Book struct {
	Title string `json:"title"`
	// Language is the name of the part in the data set: eng, chs.
	Language string    `json:"language"`
	Passages []Passage `json:"passages"`
	Entities []Entity  `json:"entities"`
	// Questions with options become multiple choice, questions without options become reversions.
	Questions []Draft `json:"questions"`
}

// Draft is a question with its original names.
type Draft struct {
	Question string `json:"question"`
	// Options are the texts of the options A to D, and Answer the letter of the right one. Without options
	// Answer is the answer itself.
	Options []string `json:"options,omitempty"`
	Answer  string   `json:"answer"`
	Hops    int      `json:"hops"`
	// Evidence are the IDs of the passages that hold the answer.
	Evidence []string `json:"evidence,omitempty"`
	Made     string   `json:"made,omitempty"`
}

// Raw returns the book with its original names, and the multiple-choice questions. A model that remembers the
// book answers these well.
func (b Book) Raw() (Language, error) { return b.build(nil) }

// Anonymized returns the book with every name replaced by its placeholder, in passages and questions. A name
// that can still be read is an error with its place. Passages get numbers as IDs, since their own could contain
// the title.
func (b Book) Anonymized() (Language, error) {
	d, err := NewDictionary(b.Entities)
	if err != nil {
		return Language{}, err
	}
	return b.build(d)
}

// build makes a part of a data set from the book. With a nil dictionary the original names stay.
func (b Book) build(d *Dictionary) (Language, error) {
	l := Language{Name: b.Language}
	var problems, leaks []error
	turned := func(s string) string {
		if d == nil {
			return s
		}
		hidden, err := d.Anonymize(s)
		if err != nil {
			problems = append(problems, err)
		} else if names := d.Leaks(hidden); len(names) > 0 {
			leaks = append(leaks, fmt.Errorf("%q can still be read in %.80q: list it among the aliases of its entity", names, hidden))
		}
		return hidden
	}
	ids := make(map[string]string)
	for i, p := range b.Passages {
		id := fmt.Sprintf("%s-%04d", b.Language, i+1)
		if ids[p.ID] != "" {
			problems = append(problems, fmt.Errorf("two passages have the ID %q", p.ID))
		}
		ids[p.ID] = id
		l.Corpus = append(l.Corpus, Passage{ID: id, Title: turned(p.Title), Text: turned(p.Text)})
	}
	for i, draft := range b.Questions {
		if len(draft.Options) == 0 && d == nil {
			continue // a reversion needs placeholders
		}
		q := QA{Format: Choice, Question: turned(draft.Question), Answer: draft.Answer, Hops: draft.Hops, Book: b.Title, Made: draft.Made}
		for _, o := range draft.Options {
			q.Options = append(q.Options, turned(o))
		}
		for _, id := range draft.Evidence {
			if ids[id] == "" {
				problems = append(problems, fmt.Errorf("question %d names the passage %q, which the book does not have", i+1, id))
			}
			q.Evidence = append(q.Evidence, ids[id])
		}
		if len(draft.Options) == 0 {
			q = d.reversion(q, q.Question, turned(draft.Answer), b.Language)
		}
		if err := q.check(); err != nil {
			problems = append(problems, fmt.Errorf("question %d, %.60q: %w", i+1, draft.Question, err))
		}
		l.QA = append(l.QA, q)
	}
	if len(b.Passages) == 0 {
		problems = append(problems, errors.New("the book has no passage"))
	}
	if len(problems) == 0 {
		problems = leaks
	}
	if len(problems) > 0 {
		return l, fmt.Errorf("anonyrag: %s: %w", b.Title, journal.FirstErrors(problems, maxProblems))
	}
	return l, nil
}

// The parts of the instruction of a reversion, in English (false) and Chinese (true): the text before the
// question, between question and answer, after the answer, and after the first placeholder.
var tasks = map[bool][4]string{
	false: {"The names of persons and places in this question and its answer were replaced by placeholders.\nQ: ", "\nA: ",
		"\nWork out from the context which name stood in the place of each placeholder. Write one line for each, in the form ", "name; whatever else you write stands in lines of its own."},
	true: {"下面这段问答中的人名和地名已换成代号。\n问：", "\n答：", "\n请根据上下文推断每个代号代替的原名，每行一个，格式为 ", "原名；其他内容另起一行。"},
}

// reversion makes a question for the names behind the placeholders of a question and its answer.
func (d *Dictionary) reversion(q QA, question, answer, language string) QA {
	q.Format, q.Answer = Reversion, ""
	var gold []string
	for _, holder := range anyPlaceholder.FindAllString(question+"\n"+answer, -1) {
		e, ok := d.Entity(holder)
		line := holder + "——" + e.Name
		if !ok || slices.Contains(gold, line) {
			continue
		}
		gold = append(gold, line)
		for _, alias := range e.Aliases {
			q.Aliases = append(q.Aliases, holder+"——"+alias)
		}
	}
	if len(gold) > 0 {
		holder, _, _ := strings.Cut(gold[0], "——")
		task := tasks[chinese(language)]
		q.Question = task[0] + question + task[1] + answer + task[2] + holder + "——" + task[3]
	}
	q.Answer = strings.Join(gold, "\n")
	return q
}

// Entity is a name to hide, with all other names of the same entity.
type Entity struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	// Type is in capital letters: PERSON, LOCATION.
	Type string `json:"type"`
}

// names returns all names of the entity.
func (e Entity) names() []string { return append([]string{e.Name}, e.Aliases...) }

// Dictionary gives every entity a placeholder, [TYPE#n], numbered by type in the order of the entities. It is
// safe for concurrent use.
type Dictionary struct {
	entities []Entity
	holders  []string       // placeholders of the entities, without brackets
	place    map[string]int // placeholder → index of its entity
	owner    map[string]int // name → index of its entity
	names    []string       // all names, the longest first
	written  *regexp.Regexp // matches any text that looks like a placeholder of the dictionary
}

var typeName = regexp.MustCompile(`^[A-Z]+$`)

// NewDictionary checks the entities. A name of two entities, or one that looks like a placeholder, is an
// error: it would be ambiguous.
func NewDictionary(entities []Entity) (*Dictionary, error) {
	d := &Dictionary{entities: slices.Clone(entities), place: make(map[string]int), owner: make(map[string]int)}
	var problems []error
	counts := make(map[string]int)
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
			other, taken := d.owner[name]
			switch {
			case strings.TrimSpace(name) != name || name == "" || !utf8.ValidString(name):
				problems = append(problems, fmt.Errorf("%q, a name of %s, is empty, has blanks at its ends, or is not valid UTF-8", name, holder))
			case anyPlaceholder.MatchString(fold(name)):
				problems = append(problems, fmt.Errorf("%q, a name of %s, looks like a placeholder", name, holder))
			case taken && other != i:
				problems = append(problems, fmt.Errorf("%q is a name of both %q and %q: remove it from one", name, entities[other].Name, e.Name))
			default:
				d.owner[name] = i
			}
		}
	}
	if len(entities) == 0 {
		problems = append(problems, errors.New("no entity to hide"))
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("anonyrag: dictionary: %w", journal.FirstErrors(problems, maxProblems))
	}
	d.names = slices.SortedFunc(maps.Keys(d.owner), func(a, b string) int { return len(b) - len(a) })
	d.written = regexp.MustCompile(`(?i)(?:` + strings.Join(types, "|") + `)#[0-9]+`)
	return d, nil
}

// Anonymize replaces every name by the placeholder of its entity, from left to right and the longest first.
// Names in scripts with blanks are replaced as whole words; in scripts without, such as Han, everywhere. A
// text that contains what looks like a placeholder of the dictionary is an error.
func (d *Dictionary) Anonymize(text string) (string, error) {
	if at := d.written.FindString(norm.NFKC.String(text)); at != "" {
		return "", fmt.Errorf("anonyrag: the text holds %q, which would be taken for a placeholder: rename it, or give the entities another type", at)
	}
	if !utf8.ValidString(text) {
		return "", errors.New("anonyrag: the text is not valid UTF-8")
	}
	var b strings.Builder
	done := 0
	for at := range text {
		if at < done {
			continue
		}
		for _, name := range d.names {
			if strings.HasPrefix(text[at:], name) && whole(text, at, at+len(name)) {
				b.WriteString(text[done:at] + "[" + d.holders[d.owner[name]] + "]")
				done = at + len(name)
				break
			}
		}
	}
	return b.String() + text[done:], nil
}

// Entity returns the entity of a placeholder, written without brackets.
func (d *Dictionary) Entity(placeholder string) (Entity, bool) {
	if i, ok := d.place[placeholder]; ok {
		return d.entities[i], true
	}
	return Entity{}, false
}

// Leaks lists the names that can still be read in a text, each once and in the order of the entities: as they
// are, in capitals, in another form of their characters, or with an s after them; for persons also their
// surnames, with or without a title.
func (d *Dictionary) Leaks(text string) []string {
	shown := strings.Join(strings.Fields(norm.NFKC.String(text)), " ")
	var out []string
	for _, e := range d.entities {
		forms := e.names()
		for _, name := range e.names() {
			s := surname(e, name)
			if _, named := d.owner[s]; s != "" && !named {
				forms = append(forms, s)
			}
		}
		for _, name := range forms {
			if slices.Contains(out, name) {
				continue
			}
			plain := norm.NFKC.String(name)
			if readable(shown, plain) || readable(shown, strings.ToUpper(plain)) {
				out = append(out, name)
			}
		}
	}
	return out
}

// readable reports whether a text contains a name as a whole word, or with an s after it.
func readable(text, name string) bool {
	for at := 0; ; at++ {
		next := strings.Index(text[at:], name)
		if next < 0 {
			return false
		}
		at += next
		end := at + len(name)
		if whole(text, at, end) || spaced(lastRune(name)) && strings.HasPrefix(strings.ToLower(text[end:]), "s") && whole(text, at, end+1) {
			return true
		}
	}
}

// whole reports whether text[from:to] neither begins nor ends inside a word.
func whole(text string, from, to int) bool {
	before, after := lastRune(text[:from]), firstRune(text[to:])
	return (!spaced(firstRune(text[from:])) || !spaced(before)) && (!spaced(lastRune(text[:to])) || !spaced(after) && !unicode.Is(unicode.Mn, after))
}

func firstRune(s string) rune { r, _ := utf8.DecodeRuneInString(s); return r }

func lastRune(s string) rune { r, _ := utf8.DecodeLastRuneInString(s); return r }

// spaced reports whether a character is of a script that separates words by blanks.
func spaced(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// maxProblems is the largest number of problems of a book that an error lists.
const maxProblems = 8

// fold returns the form in which texts are compared: compatible characters, lower case, single blanks.
func fold(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
}
