// SPDX-License-Identifier: Apache-2.0

package judgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/judge/internal/protocol"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Grader is a model that answers the prompts of the judges by rules, for tests of programs that judge by model.
// Its verdicts on control items are right. A nil function answers no.
type Grader struct {
	// Fact reports whether a candidate states the reference.
	Fact func(reference, candidate string) bool
	// Statements splits an answer into statements.
	Statements func(answer string) []string
	// Same reports whether a predicted statement is equivalent to the gold one.
	Same func(gold, predicted string) bool
	// Together returns the indices of the statements in a list that together state a statement, for the joint
	// profile; if it is nil, these are the statements for which Same is true.
	Together func(statement string, list []string) []int
	// Holds reports whether a text supports a statement.
	Holds func(text, statement string) bool
	// Concerns reports whether a statement is relevant to a question, for the LiveRAG judge.
	Concerns func(question, statement string) bool
}

var _ llm.Model = Grader{}

// Name implements [llm.Model].
func (Grader) Name() string { return "grader" }

// Generate implements [llm.Model].
func (g Grader) Generate(_ context.Context, r llm.Request) (llm.Reply, error) {
	text, ok := g.Reply(r)
	if !ok {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrBadRequest, Err: errors.New("judgetest: this is no prompt of a judge")}
	}
	return llm.Reply{Text: text, Finish: llm.FinishStop, Usage: llm.Usage{Calls: 1, PromptTokens: 10}}, nil
}

// Reply returns the text of the reply, and false if the request is not from a judge.
func (g Grader) Reply(r llm.Request) (string, bool) {
	if len(r.Messages) == 0 {
		return "", false
	}
	var prompt string // the first user message
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == llm.User {
			prompt = m.Text
		}
	}
	results := g.Results(prompt)
	if results == nil {
		return "", false
	}
	reply := map[string]any{"results": results}
	if of := listNumber.FindStringSubmatch(prompt); of != nil {
		reply["number"] = of[1]
	}
	b, err := json.Marshal(reply)
	return string(b), err == nil
}

// Result is a verdict in a reply, on the item ID.
type Result struct {
	ID         string    `json:"id"`
	Reason     string    `json:"reason,omitempty"`
	Score      *int      `json:"score,omitempty"`
	Gold       *[]string `json:"gold,omitempty"`
	By         *[]string `json:"by,omitempty"`
	Statements *[]string `json:"statements,omitempty"`
}

// Results returns the verdicts on all items of a prompt, nil if it is not from a judge.
func (g Grader) Results(prompt string) []Result {
	parts := readParts(prompt)
	switch {
	case parts == nil:
		return nil
	case taskID.MatchString(prompt):
		id := taskID.FindStringSubmatch(prompt)[1]
		found := []string{}
		if g.Statements != nil {
			found = append(found, g.Statements(parts.text("answer"))...)
		}
		return []Result{{ID: id, Statements: &found}}
	case listNumber.MatchString(prompt):
		return g.comparisons(parts, listNumber.FindStringSubmatch(prompt)[2])
	case parts.has("gold"):
		return g.matches(parts)
	case parts.has("statements"):
		return g.support(parts)
	case parts.has("candidate"):
		return g.grades(parts)
	case parts.has("statement"):
		return g.relevance(parts)
	}
	return nil
}

var (
	announced = regexp.MustCompile(`marks that carry the code\s+([0-9a-f]{16})`)
	taskID    = regexp.MustCompile(`(?m)^The id of this task is (\S+)\. `)
	// listNumber matches the end of the joint profile's prompt for two lists.
	listNumber = regexp.MustCompile(`(?m)^The number of the lists is ([0-9]{6})\. Give a verdict on (.*)\.$`)
)

// comparisons returns the verdicts on each list's statements by the statements of the other list.
func (g Grader) comparisons(parts promptParts, asked string) []Result {
	goldIDs, gold := entries(parts.text("gold"))
	ids, predicted := entries(parts.text("predicted"))
	var out []Result
	each := func(ofIDs, of, listIDs, list []string, same func(statement, other string) bool) {
		for i, statement := range of {
			if only, ok := strings.CutSuffix(asked, " and on no other"); ok && !slices.Contains(strings.Split(only, ", "), ofIDs[i]) {
				continue
			}
			by := []string{}
			for _, k := range g.together(statement, list, same) {
				by = append(by, listIDs[k])
			}
			out = append(out, Result{ID: ofIDs[i], By: &by})
		}
	}
	each(goldIDs, gold, ids, predicted, g.same)
	each(ids, predicted, goldIDs, gold, func(p, s string) bool { return g.same(s, p) })
	return out
}

func (g Grader) together(statement string, list []string, same func(statement, other string) bool) []int {
	if _, is := canary(statement); g.Together != nil && !is {
		return g.Together(statement, list)
	}
	var out []int
	for k, other := range list {
		if same(statement, other) {
			out = append(out, k)
		}
	}
	return out
}

// same reports whether a predicted statement states a gold one; the verdicts on control items are fixed.
func (g Grader) same(gold, predicted string) bool {
	if c, is := canary(gold); is {
		return gold == c.Fact && predicted == c.Restated
	}
	return g.Same != nil && g.Same(gold, predicted)
}

func (g Grader) grades(parts promptParts) []Result {
	var out []Result
	for i, p := range parts {
		if p.label != "question" || i+2 >= len(parts) {
			continue
		}
		reference, candidate := parts[i+1].text, parts[i+2].text
		ok := g.Fact != nil && g.Fact(reference, candidate)
		if c, is := canary(reference); is {
			ok = candidate == c.Restated
		}
		out = append(out, Result{ID: strings.TrimPrefix(p.above, "Task "), Reason: "by rule", Score: score(ok)})
	}
	return out
}

func (g Grader) relevance(parts promptParts) []Result {
	var out []Result
	for i := 0; i+1 < len(parts); i += 2 {
		question, statement := parts[i].text, parts[i+1].text
		ok := g.Concerns != nil && g.Concerns(question, statement)
		if c, is := canary(statement); is {
			ok = question == c.Question
		}
		out = append(out, Result{ID: strings.TrimPrefix(parts[i].above, "Task "), Score: score(ok)})
	}
	return out
}

func (g Grader) matches(parts promptParts) []Result {
	goldIDs, gold := entries(parts.text("gold"))
	ids, predicted := entries(parts.text("predicted"))
	out := make([]Result, len(ids))
	for i, p := range predicted {
		met := []string{}
		for k, s := range gold {
			if g.same(s, p) {
				met = append(met, goldIDs[k])
			}
		}
		out[i] = Result{ID: ids[i], Gold: &met}
	}
	return out
}

func (g Grader) support(parts promptParts) []Result {
	var texts []string
	for _, p := range parts {
		if strings.HasPrefix(p.label, "passage ") {
			texts = append(texts, p.text)
		}
	}
	text := strings.Join(texts, "\n\n")
	ids, statements := entries(parts.text("statements"))
	out := make([]Result, len(ids))
	for i, s := range statements {
		ok := g.Holds != nil && g.Holds(text, s)
		if c, is := canary(s); is {
			ok = s == c.Restated
		}
		out[i] = Result{ID: ids[i], Score: score(ok)}
	}
	return out
}

func score(ok bool) *int {
	n := map[bool]int{true: 1}[ok]
	return &n
}

// canary returns the control item to which a statement belongs, if any.
func canary(s string) (protocol.Canary, bool) {
	for _, c := range protocol.Canaries() {
		if s == c.Fact || s == c.Restated || s == c.Falsehood {
			return c, true
		}
	}
	return protocol.Canary{}, false
}

// promptPart is one text between marks, with the line above it.
type promptPart struct{ above, label, text string }

type promptParts []promptPart

// readParts returns the texts between the marks that the prompt announces. Other marks belong to the texts.
func readParts(prompt string) promptParts {
	code := announced.FindStringSubmatch(prompt)
	if code == nil {
		return nil
	}
	var out promptParts
	above := ""
	rows := strings.Split(prompt, "\n")
	for i := 0; i < len(rows); i++ {
		label, ok := strings.CutPrefix(rows[i], "["+code[1]+" ")
		end := slices.Index(rows[i:], "[/"+code[1]+" "+label)
		if !ok || end < 0 {
			above = rows[i]
			continue
		}
		out = append(out, promptPart{above, strings.TrimSuffix(label, "]"), strings.Join(rows[i+1:i+end], "\n")})
		i += end
	}
	return out
}

func (p promptParts) has(label string) bool {
	return slices.ContainsFunc(p, func(x promptPart) bool { return x.label == label })
}

func (p promptParts) text(label string) string {
	for _, x := range p {
		if x.label == label {
			return x.text
		}
	}
	return ""
}

// entries reads a list of lines "id: statement".
func entries(list string) (ids, texts []string) {
	for row := range strings.SplitSeq(list, "\n") {
		id, text, _ := strings.Cut(row, ": ")
		ids, texts = append(ids, id), append(texts, text)
	}
	return ids, texts
}

// ReadCases reads cases from JSON lines, with the keys of the files of questions in docs/own-data.md:
//
//	{"id": "7", "question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}
//	{"question": "How do otters sleep?", "statements": ["They hold hands.", "They float."], "share": 0.5}
//	{"question": "What does the owner earn?", "unanswerable": true}
//	{"question": "When was it built?", "answer": "In 1890.", "never": ["It was built in 1891."], "grounded": true}
//
// The keys become [States], [Cites], [Covers] (with the share, or 1 without one), [Refuses], [Never] and
// [Grounded]. name is the name of the file in errors, which give the line and its fault.
func ReadCases(r io.Reader, name string) ([]Case, error) {
	type line struct {
		ID, Question, Answer             string
		Aliases, Statements, Gold, Never []string
		Share                            *float64
		Unanswerable, Grounded           bool
		Type                             any // keys that other readers of the file use
		Where                            any
	}
	var out []Case
	for l, err := range journal.ReadLines[json.RawMessage](r, journal.LineOptions{Name: name}) {
		if err != nil {
			return nil, fmt.Errorf("judgetest: read the cases: %w", err)
		}
		var v line
		keys := json.NewDecoder(bytes.NewReader(l.Value))
		keys.DisallowUnknownFields()
		if err := keys.Decode(&v); err != nil {
			return nil, fmt.Errorf("judgetest: %s, line %d: %w", name, l.Number, err)
		}
		c := Case{Name: v.ID, Question: v.Question}
		if v.Answer != "" {
			c.Checks = append(c.Checks, States(v.Answer, v.Aliases...))
		}
		if v.Statements != nil {
			share := 1.0
			if v.Share != nil {
				share = *v.Share
			}
			c.Checks = append(c.Checks, Covers(share, v.Statements...))
		}
		if v.Unanswerable {
			c.Checks = append(c.Checks, Refuses())
		}
		if v.Gold != nil {
			c.Checks = append(c.Checks, Cites(v.Gold...))
		}
		if v.Never != nil {
			c.Checks = append(c.Checks, Never(v.Never...))
		}
		if v.Grounded {
			c.Checks = append(c.Checks, Grounded())
		}
		if len(c.Checks) == 0 {
			return nil, fmt.Errorf("judgetest: %s, line %d: nothing to check: want an answer, statements, gold, never, grounded or unanswerable", name, l.Number)
		}
		out = append(out, c)
	}
	return out, nil
}
