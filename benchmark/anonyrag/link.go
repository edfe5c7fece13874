// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// titles precede names and are not part of them.
var titles = strings.Fields("mr mrs miss ms dr sir lady lord captain capt colonel major general lieutenant sergeant admiral " +
	"professor prof father brother sister mother uncle aunt king queen prince princess count countess duke duchess saint st the")

// untitled splits a name into its title, "" without one, and the words after it.
func untitled(name string) (title string, words []string) {
	words = strings.Fields(name)
	for len(words) > 1 && slices.Contains(titles, strings.ToLower(strings.TrimSuffix(words[0], "."))) {
		title, words = strings.ToLower(strings.TrimSuffix(words[0], ".")), words[1:]
	}
	return title, words
}

// surname returns the last word of a person's full name, or of one with a title, if it identifies a person:
// three letters or more, the first a capital; "" otherwise.
func surname(e Entity, name string) string {
	title, words := untitled(name)
	if e.Type != person || title == "" && (len(words) < 2 || name != e.Name) {
		return ""
	}
	last := words[len(words)-1]
	if utf8.RuneCountInString(last) < 3 || !unicode.IsUpper(firstRune(last)) || strings.ContainsFunc(last, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '’' && r != '\'' }) {
		return ""
	}
	return last
}

const person, location = "PERSON", "LOCATION"

// Linked merges entities that are the same person, judged by their names: "Ahab" and "Captain Ahab", "Silver"
// and "Long John Silver", 悟空 and 孙悟空. Ambiguous names, names with different titles, and places are not merged.
// Surnames become aliases, or entities of their own if two persons share one.
func Linked(entities []Entity) []Entity {
	var out []Entity
	owner := make([]int, len(entities)) // index of the entity of which entity i is an alias, or i
	for i := range entities {
		owner[i] = i
		if fuller := fullerOf(entities, i); oneOf(entities, fuller) {
			owner[i] = fuller[0]
		}
	}
	at := make(map[int]int)
	for i, e := range entities {
		if owner[i] == i {
			at[i] = len(out)
			e.Aliases = slices.Clone(e.Aliases)
			out = append(out, e)
		}
	}
	for i, e := range entities {
		root := i
		for owner[root] != root {
			root = owner[root]
		}
		if root != i {
			to := &out[at[root]]
			to.Aliases = append(to.Aliases, e.names()...)
		}
	}
	return withSurnames(out)
}

// fullerOf returns the persons whose name, without its title, begins or ends with the name of entity i and is
// longer. Of two equal names the first counts as longer.
func fullerOf(entities []Entity, i int) (found []int) {
	e := entities[i]
	title, words := untitled(e.Name)
	short := strings.Join(words, " ")
	for j, other := range entities {
		otherTitle, otherWords := untitled(other.Name)
		long := strings.Join(otherWords, " ")
		if i == j || e.Type != person || other.Type != person || title != "" && otherTitle != "" && title != otherTitle {
			continue
		}
		same := fold(short) == fold(long) && (len(other.Name) > len(e.Name) || len(other.Name) == len(e.Name) && j < i)
		part := len(otherWords) > len(words) && (strings.HasSuffix(long, " "+short) || strings.HasPrefix(long, short+" "))
		han := !spaced(firstRune(short)) && utf8.RuneCountInString(short) > 1 && len(long) > len(short) && strings.HasSuffix(long, short)
		if same || part || han {
			found = append(found, j)
		}
	}
	return found
}

// oneOf reports whether entities have the same name, apart from titles, and no two different titles.
func oneOf(entities []Entity, which []int) bool {
	title, name := "", ""
	for n, i := range which {
		t, words := untitled(entities[i].Name)
		folded := fold(strings.Join(words, " "))
		if n > 0 && folded != name || title != "" && t != "" && t != title {
			return false
		}
		name = folded
		if t != "" {
			title = t
		}
	}
	return len(which) > 0
}

// withSurnames adds the surnames of persons, except surnames that are names of entities already.
func withSurnames(entities []Entity) []Entity {
	known, owners := make(map[string]bool), make(map[string][]int)
	var order []string
	for i, e := range entities {
		for _, name := range e.names() {
			known[name] = true
			if s := surname(e, name); s != "" && !slices.Contains(owners[s], i) {
				order, owners[s] = append(order, s), append(owners[s], i)
			}
		}
	}
	for _, s := range order {
		switch of := owners[s]; {
		case known[s]:
		case len(of) == 1:
			entities[of[0]].Aliases = append(entities[of[0]].Aliases, s)
		default:
			entities = append(entities, Entity{Name: s, Type: person})
		}
		known[s] = true
	}
	return entities
}

// StageLink names the stage of the calls of [LinkedByModel] in usage figures.
const StageLink = "link names"

// LinkedByModel lets a model merge entities, in one call that shows their names. Groups of several types or
// with unknown names are ignored; an unusable reply leaves the entities unchanged.
func LinkedByModel(ctx context.Context, m llm.Model, entities []Entity) ([]Entity, error) {
	var shown []string
	for _, e := range entities {
		shown = append(shown, e.Type+": "+strings.Join(e.names(), " / "))
	}
	req, err := templates.Request(ctx, StageLink, "link", nil, prompts.Data{Label: "names", Rows: shown, Prefix: "N", First: 1})
	if err != nil {
		return nil, fmt.Errorf("anonyrag: the prompt that merges names: %w", err)
	}
	said, _, err := replies.Decode[struct{ Same [][]int }](ctx, m, req)
	if llm.OfOneReply(err) {
		return entities, nil
	} else if err != nil {
		return nil, fmt.Errorf("anonyrag: merging names: %w", err)
	}
	gone := make(map[int]bool)
	out := slices.Clone(entities)
	for _, group := range said.Same {
		usable := len(group) > 1
		for i, n := range group {
			usable = usable && n >= 1 && n <= len(out) && !gone[n-1] && out[n-1].Type == out[group[0]-1].Type && !slices.Contains(group[:i], n)
		}
		if !usable {
			continue
		}
		to := &out[group[0]-1]
		to.Aliases = slices.Clone(to.Aliases)
		for _, n := range group {
			if gone[n-1] = true; n != group[0] {
				to.Aliases = append(to.Aliases, out[n-1].names()...)
				out[n-1].Name = ""
			}
		}
	}
	return slices.DeleteFunc(out, func(e Entity) bool { return e.Name == "" }), nil
}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("anonyrag", promptFiles)

// StageQuestions names the stage of the calls of [ByModel] in usage figures.
const StageQuestions = "write questions"

// MadeByModel is the value of [QA.Made] for questions that a model wrote.
const MadeByModel = "model"

// EntitiesOf returns the persons and places in extractions, in the order of their first mention. A name with
// several types gets the most frequent one.
func EntitiesOf(extractions []kg.Extraction) []Entity {
	types := make(map[string]map[string]int)
	var order []string
	for _, x := range extractions {
		for _, m := range x.Mentions {
			kind := entityType(m.Type)
			name := strings.TrimSpace(m.Name)
			if kind == "" || name == "" || anyPlaceholder.MatchString(name) {
				continue
			}
			if types[name] == nil {
				types[name] = make(map[string]int)
				order = append(order, name)
			}
			types[name][kind]++
		}
	}
	var out []Entity
	for _, name := range order {
		e := Entity{Name: name, Type: person}
		if types[name][location] > types[name][person] {
			e.Type = location
		}
		out = append(out, e)
	}
	return out
}

// entityType returns the type in placeholders for a type of the extractor, "" if such entities are not hidden.
func entityType(s string) string {
	s = strings.ToLower(s)
	for _, t := range []struct{ word, kind string }{{"person", person}, {"人", person}, {"location", location}, {"place", location}, {"geo", location}, {"地", location}} {
		if strings.Contains(s, t.word) {
			return t.kind
		}
	}
	return ""
}

// questionReply is one question in a model's reply.
type questionReply struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Answer   string   `json:"answer"`
	Hops     int      `json:"hops"`
	Passages []int    `json:"passages"`
}

// ByModel lets a model write up to n questions over passages, half of them multiple choice, in the style of
// the seeds: questions of other data sets. Complete questions are used; faults describes the others. The
// questions contain the names in the passages: [Book.Anonymized] hides them in both.
func ByModel(ctx context.Context, m llm.Model, passages []Passage, seeds []string, n int) (drafts []Draft, faults []string, err error) {
	data := []prompts.Data{{Label: "seeds", Rows: seeds, Prefix: "S", First: 1}}
	for i, p := range passages {
		data = append(data, prompts.Data{Label: fmt.Sprintf("passage %d", i+1), Text: prompts.Printable(p.Text)})
	}
	req, err := templates.Request(ctx, StageQuestions, "questions", map[string]any{"N": n}, data...)
	if err != nil {
		return nil, nil, fmt.Errorf("anonyrag: the prompt for questions: %w", err)
	}
	said, _, err := replies.Decode[struct{ Questions []questionReply }](ctx, m, req)
	if llm.OfOneReply(err) {
		return nil, []string{err.Error()}, nil
	} else if err != nil {
		return nil, nil, fmt.Errorf("anonyrag: writing questions: %w", err)
	}
	for i, w := range said.Questions {
		d, err := w.draft(passages)
		switch {
		case len(drafts) == n:
		case err != nil:
			faults = append(faults, fmt.Sprintf("question %d: %v", i+1, err))
		default:
			drafts = append(drafts, d)
		}
	}
	return drafts, faults, nil
}

// draft checks a question.
func (w questionReply) draft(passages []Passage) (Draft, error) {
	d := Draft{Question: strings.TrimSpace(w.Question), Options: w.Options, Answer: strings.TrimSpace(w.Answer), Hops: w.Hops, Made: MadeByModel}
	if d.Question == "" || d.Answer == "" || d.Hops < 1 || len(w.Passages) == 0 {
		return d, errors.New("want a question with an answer, a number of hops from 1 on, and numbers of passages")
	}
	for _, n := range w.Passages {
		if n < 1 || n > len(passages) {
			return d, fmt.Errorf("there is no passage %d", n)
		}
		d.Evidence = append(d.Evidence, passages[n-1].ID)
	}
	if len(d.Options) == 0 {
		return d, nil
	}
	seen := make(map[string]bool)
	for _, o := range d.Options {
		seen[fold(o)] = true
	}
	letter, ok := ParseChoice(d.Answer)
	if len(d.Options) != 4 || len(seen) != 4 || seen[""] || !ok {
		return d, errors.New("want four options that differ, and the letter of one")
	}
	d.Answer = letter
	return d, nil
}

// Unsolved drops the questions that a system answers correctly without the corpus: ask lets that system answer,
// j judges the answer. Questions without an answer or verdict stay. Both are called concurrently.
func Unsolved(ctx context.Context, l Language, ask func(context.Context, graphrag.Question) (graphrag.Answer, error), j judge.Judge) (Language, error) {
	items := Dataset("", l).Domains[0].Items
	solved := make([]bool, len(items))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(filteredAtOnce)
	for i, it := range items {
		group.Go(func() error {
			a, err := ask(ctx, it.Question)
			if llm.OfOneReply(err) {
				return nil
			} else if err != nil {
				return err
			}
			v, err := j.Fact(ctx, judge.Case{
				Question: it.Question.Text, Answer: a.Text, Refused: a.Refused, Type: it.Type, Reference: it.Reference, Aliases: it.Aliases,
			})
			solved[i] = v.State == judge.Scored && v.Value == 1
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return l, fmt.Errorf("anonyrag: zero-shot filter: %w", err)
	}
	var kept []QA
	for i, q := range l.QA {
		if !solved[i] {
			kept = append(kept, q)
		}
	}
	l.QA = kept
	return l, nil
}

// filteredAtOnce is the number of questions that [Unsolved] asks concurrently.
const filteredAtOnce = 8
