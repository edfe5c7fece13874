// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("anonyrag", promptFiles)

// StageQuestions of calls in accounts.
const StageQuestions = "write questions"

// MadeByModel marks questions that a model wrote, see [QA.Made].
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

// entityType returns the type of placeholder for an extractor's type, "" if such entities are not hidden.
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
		return nil, nil, fmt.Errorf("anonyrag: %w", err)
	}
	said, _, err := replies.Decode[struct{ Questions []questionReply }](ctx, m, req)
	if llm.OfOneReply(err) {
		return nil, []string{err.Error()}, nil
	} else if err != nil {
		return nil, nil, fmt.Errorf("anonyrag: questions: %w", err)
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
		return d, errors.New("want question, answer, hops from 1 on, and passages")
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

// Unsolved drops the questions that are answered correctly without context: ask puts a question to a system
// without the corpus, j judges the answer. Questions without an answer or verdict stay. Both are called
// concurrently.
func Unsolved(ctx context.Context, l Language, ask func(context.Context, graphrag.Question) (graphrag.Answer, error), j judge.Judge) (Language, error) {
	items := Dataset("", l).Domains[0].Items
	solved := make([]bool, len(items))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(filteredAtOnce)
	for i, it := range items {
		group.Go(func() (err error) {
			solved[i], err = solves(gctx, it, ask, j)
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

// filteredAtOnce is the number of concurrent questions.
const filteredAtOnce = 8

func solves(ctx context.Context, it benchmark.Item, ask func(context.Context, graphrag.Question) (graphrag.Answer, error), j judge.Judge) (bool, error) {
	a, err := ask(ctx, it.Question)
	if llm.OfOneReply(err) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	v, err := j.Fact(ctx, judge.Case{
		Question: it.Question.Text, Answer: a.Text, Refused: a.Refused, Type: it.Type, Reference: it.Reference, Aliases: it.Aliases,
	})
	return v.State == judge.Scored && v.Value == 1, err
}
