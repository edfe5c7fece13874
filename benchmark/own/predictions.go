// SPDX-License-Identifier: Apache-2.0

package own

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Predictions are answers of another program. The benchmark judges them like its own.
type Predictions struct {
	name     string
	answers  map[string]string            // question text → answer
	evidence map[string][]string          // question text → sources of the answer
	refused  map[string]bool              // question text → the answer is a refusal
	made     map[string]graphrag.Found    // question text → steps and usage
	pages    map[string]map[string]string // domain → name or URL of a page → ID of its document
}

// ErrGaps is wrapped by the error about predictions that lack some of the questions.
var ErrGaps = errors.New("no line for")

// ReadPredictions reads answers from JSON lines, a JSON array or one JSON object, in the shapes that the
// released evaluator accepts: each has a "question" and an answer under "pred_answer", "answer", "result"
// (with a "response") or "response". Questions are matched by their trimmed text.
//
// An optional "evidence" lists the sources of the answer, best first: names or URLs of pages, or chunks of a
// page as "name#number"; see [Predictions.Locate]. "steps", objects with a "kind" (such as search, read,
// find, turn), a "query", what was "found" and the "tokens" that were read, and a "usage" with
// "prompt_tokens", "completion_tokens", "provider_cached_tokens" and "llm_calls", give the row its costs.
// "refused" marks a refusal; without it [reader.IsRefusal] decides. A line of a worksheet ("worksheet")
// without an answer counts as none.
//
// Every question in want must have one answer (an empty one counts as wrong): duplicates, gaps and questions
// that the data set does not have are errors that name file and line. Questions that are not in want may be
// missing, and are then not asked; known reports whether the data set has a question.
func ReadPredictions(name, file string, r io.Reader, want []string, known func(query string) bool) (*Predictions, error) {
	p := &Predictions{name: name, answers: make(map[string]string), evidence: make(map[string][]string), refused: make(map[string]bool), made: make(map[string]graphrag.Found)}
	seen := make(map[string]int)
	var problems []error
	for l, err := range journal.ReadLines[map[string]json.RawMessage](r, journal.LineOptions{Name: file}) {
		if err != nil {
			problems = append(problems, err)
			continue
		}
		problem := func(format string, args ...any) {
			problems = append(problems, &journal.LineError{File: file, Line: l.Number, Err: fmt.Errorf(format, args...)})
		}
		query, answer, err := questionAndAnswer(l.Value)
		switch {
		case err != nil:
			problem("%w", err)
		case seen[query] > 0:
			problem("line %d asks the same question: %.80q", seen[query], query)
		case !known(query):
			problem("the data set does not have this question: %.80q", query)
		}
		if raw, ok := l.Value["evidence"]; ok && err == nil {
			var evidence []string
			if json.Unmarshal(raw, &evidence) != nil {
				problem(`"evidence" is not a list of texts`)
			}
			p.evidence[query] = append([]string{}, evidence...)
		}
		if raw, ok := l.Value["refused"]; ok && err == nil {
			var refused bool
			if json.Unmarshal(raw, &refused) != nil {
				problem(`"refused" is neither true nor false`)
			}
			p.refused[query] = refused
		}
		if made, found, ok := effort(l.Value); !ok {
			problem(`"steps" is not a list of {"kind", "query", "found", "tokens"}, or "usage" no object of numbers of 0 or more`)
		} else if found && err == nil {
			p.made[query] = made
		}
		seen[query] = l.Number
		if _, sheet := l.Value["worksheet"]; sheet && answer == "" {
			continue // a line of a worksheet without an answer
		}
		p.answers[query] = answer
	}
	if len(problems) == 0 {
		problems = p.gaps(file, want)
	}
	if err := journal.FirstErrors(problems, 10); err != nil {
		return nil, fmt.Errorf("own: predictions of %s: %w", name, err)
	}
	return p, nil
}

// effort reads the steps and the usage of an answer, and reports whether there are any and whether they are
// valid.
func effort(object map[string]json.RawMessage) (made graphrag.Found, found, ok bool) {
	for key, to := range map[string]any{"steps": &made.Steps, "usage": &made.Usage} {
		raw, given := object[key]
		if found = found || given; given && json.Unmarshal(raw, to) != nil {
			return made, found, false
		}
	}
	u := made.Usage
	least := min(u.Calls, u.PromptTokens, u.CompletionTokens, u.EmbeddedTokens, u.ProviderCached, u.PromptTokens-u.ProviderCached)
	for _, s := range made.Steps {
		least = min(least, s.Tokens)
	}
	if u.Tokens() > 0 {
		made.Usage.Calls = max(u.Calls, 1)
	}
	return made, found, least >= 0
}

func (p *Predictions) gaps(file string, want []string) []error {
	var missing []string
	for _, q := range want {
		if _, ok := p.answers[strings.TrimSpace(q)]; !ok {
			missing = append(missing, q)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []error{fmt.Errorf("%s: %w %d of %d questions, the first is %.80q; add lines with an empty answer where there is none",
		file, ErrGaps, len(missing), len(want), missing[0])}
}

// questionAndAnswer reads question and answer as the released evaluator does: the value of the first answer key
// that is present, even if it is empty.
func questionAndAnswer(object map[string]json.RawMessage) (query, answer string, err error) {
	if err := json.Unmarshal(object["question"], &query); err != nil || strings.TrimSpace(query) == "" {
		return "", "", errors.New(`no "question"`)
	}
	query = strings.TrimSpace(query)
	for _, key := range []string{"pred_answer", "answer", "result", "response"} {
		raw, ok := object[key]
		if !ok {
			continue
		}
		if key == "result" {
			var inner map[string]json.RawMessage
			if json.Unmarshal(raw, &inner) == nil && inner != nil {
				if raw, ok = inner["response"]; !ok {
					return query, "", errors.New(`"result" has no "response"`)
				}
			}
		}
		var text *string
		if err := json.Unmarshal(raw, &text); err != nil {
			return query, "", fmt.Errorf("%q is not a text", key)
		}
		if text != nil {
			answer = strings.TrimSpace(*text)
		}
		return query, answer, nil
	}
	return query, "", errors.New(`no answer: want one of "pred_answer", "answer", "result", "response"`)
}

// Entry makes a system that gives these answers. A digest of the answers is among its settings.
func (p *Predictions) Entry() benchmark.Entry {
	var lines []string
	for _, q := range slices.Sorted(maps.Keys(p.answers)) {
		lines = append(append(lines, q, p.answers[q]), p.evidence[q]...)
		if made, ok := p.made[q]; ok {
			lines = append(lines, fmt.Sprint(made.Steps, made.Usage))
		}
		if p.refused[q] {
			lines = append(lines, "refused")
		}
	}
	return benchmark.Entry{
		Name: p.name, Fixed: true, Foreign: true, Settings: map[string]any{"score " + p.name: record.Digest(lines...)},
		New: func(domain string) (benchmark.System, error) { return &predictedSystem{p, domain}, nil },
		Only: func(q graphrag.Question) bool {
			_, ok := p.answers[strings.TrimSpace(q.Text)]
			return ok
		},
	}
}

// Locate finds the pages of the evidence. A name that is no page of the question's domain is an error; in a
// domain without documents the evidence is ignored.
func (p *Predictions) Locate(set *benchmark.Dataset) error {
	if len(p.evidence) == 0 {
		return nil
	}
	p.pages = make(map[string]map[string]string)
	var problems []error
	for _, d := range set.Domains {
		pages := make(map[string]string)
		for doc, err := range d.Documents() {
			if err != nil {
				return err
			}
			pages[doc.ID] = doc.ID
			if doc.Source != "" {
				pages[doc.Source] = doc.ID
			}
		}
		if len(pages) == 0 {
			continue
		}
		p.pages[d.Name] = pages
		for _, it := range d.Items {
			for _, name := range p.evidence[strings.TrimSpace(it.Question.Text)] {
				if _, ok := locate(pages, name); !ok {
					problems = append(problems, fmt.Errorf("%.80q, the evidence for %.80q, is not a page of %s: want the name or the URL of one, or a chunk as name#number", name, it.Question.Text, d.Name))
				}
			}
		}
	}
	if err := journal.FirstErrors(problems, 5); err != nil {
		return fmt.Errorf("own: predictions of %s: %w", p.name, err)
	}
	return nil
}

// locate finds the document of a piece of evidence: the name or URL of a page, or the name of a chunk.
func locate(pages map[string]string, name string) (string, bool) {
	if id, ok := pages[name]; ok {
		return id, true
	}
	id, ok := pages[name[:max(strings.LastIndexByte(name, '#'), 0)]]
	return id, ok
}

// predictedSystem makes the predictions for one domain a system without an index.
type predictedSystem struct {
	*Predictions
	domain string
}

// Index builds nothing.
func (p *predictedSystem) Index(context.Context, iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	return graphrag.IndexStats{}, nil
}

// Answer looks the answer up.
func (p *predictedSystem) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	query := strings.TrimSpace(q.Text)
	answer, ok := p.answers[query]
	if !ok {
		return graphrag.Answer{}, fmt.Errorf("own: %s has no answer to %.80q", p.name, q.Text)
	}
	refused, told := p.refused[query]
	refused = refused || !told && reader.IsRefusal(query, answer)
	out := graphrag.Answer{Text: answer, Refused: refused, Found: p.made[query]}
	pages, located := p.pages[p.domain]
	if evidence, ok := p.evidence[query]; ok && located {
		out.Ranked = []graphrag.Hit{} // not nil, even if the evidence is empty
		for i, name := range evidence {
			page, _ := locate(pages, name)
			out.Ranked = append(out.Ranked, graphrag.Hit{Chunk: graphrag.Chunk{ID: name, Doc: page}, Score: -float64(i)})
		}
		out.Evidence = out.Ranked
	}
	return out, nil
}

// Close does nothing, since the answers are in memory.
func (p *predictedSystem) Close() error { return nil }
