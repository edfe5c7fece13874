// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Book is what a part of a data set is made of: passages with their names, the
// entities to hide, and questions about them.
type Book struct {
	Title string `json:"title"`
	// Language is the name of the part: eng, chs.
	Language string    `json:"language"`
	Passages []Passage `json:"passages"`
	Entities []Entity  `json:"entities"`
	// Questions with options become multiple choice, the others reversions.
	Questions []Draft `json:"questions"`
}

// Draft is a question before anything is hidden.
type Draft struct {
	Question string `json:"question"`
	// Options are the texts of A to D, and Answer the letter of the right one; without
	// options it is the answer in words.
	Options []string `json:"options,omitempty"`
	Answer  string   `json:"answer"`
	Hops    int      `json:"hops"`
	// Evidence are the IDs of the passages that hold the answer.
	Evidence []string `json:"evidence,omitempty"`
	Made     string   `json:"made,omitempty"`
}

// Raw is the book as it is, with its multiple-choice questions: what a model that
// remembers it is good at.
func (b Book) Raw() (Language, error) {
	return b.build(func(s string) (string, error) { return s, nil }, nil)
}

// Anonymized is the book with every name replaced, in passages and questions by one
// dictionary. A name that can still be read anywhere is an error that says where.
// Passages get numbers for IDs, which could tell the title.
func (b Book) Anonymized() (Language, error) {
	d, err := NewDictionary(b.Entities)
	if err != nil {
		return Language{}, err
	}
	var leaks []error
	l, err := b.build(func(s string) (string, error) {
		hidden, err := d.Anonymize(s)
		if names := d.Leaks(hidden); err == nil && len(names) > 0 {
			leaks = append(leaks, fmt.Errorf("%q can still be read in %.80q: list it among the aliases of its entity", names, hidden))
		}
		return hidden, err
	}, d)
	if err == nil && len(leaks) > 0 {
		err = fmt.Errorf("anonyrag: %s: %w", b.Title, joinSome(leaks))
	}
	return l, err
}

// build turns the book's texts into a part; d is nil of a raw one.
func (b Book) build(turn func(string) (string, error), d *Dictionary) (Language, error) {
	l := Language{Name: b.Language}
	var problems []error
	turned := func(s string) string {
		out, err := turn(s)
		problems = append(problems, err)
		return out
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
			continue // there is nothing to revert
		}
		q := QA{Format: Choice, Question: turned(draft.Question), Answer: draft.Answer, Hops: draft.Hops, Book: b.Title, Made: draft.Made}
		for _, o := range draft.Options {
			q.Options = append(q.Options, turned(o))
		}
		for _, id := range draft.Evidence {
			if ids[id] == "" {
				problems = append(problems, fmt.Errorf("question %d names the passage %q, which there is not", i+1, id))
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
	problems = slices.DeleteFunc(problems, func(err error) bool { return err == nil })
	if len(b.Passages) == 0 {
		problems = append(problems, errors.New("no passage"))
	}
	if len(problems) > 0 {
		return l, fmt.Errorf("anonyrag: %s: %w", b.Title, joinSome(problems))
	}
	return l, nil
}

// The task of a reversion: what stands before, between and behind question and answer.
var tasks = map[bool][4]string{
	false: {"The names of persons and places in this question and its answer were replaced by placeholders.\nQ: ", "\nA: ",
		"\nWork out from the context which name stood in the place of each placeholder. Write one line for each, in the form ", "name."},
	true: {"下面这段问答中的人名和地名已换成代号。\n问：", "\n答：", "\n请根据上下文推断每个代号代替的原名，每行一个，格式为 ", "原名。"},
}

// reversion asks for the names behind the placeholders of a question and its answer.
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
