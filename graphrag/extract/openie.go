// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// OpenIE extracts in two steps, as HippoRAG does (arXiv 2405.14831, section 3.3; the same in version 2):
// one call for the named entities of a passage, one for triples about them. Types and relations are open.
//
// If the first call fails, the second is not made; if the second fails, the entities
// stay. Both are listed as problems.
type OpenIE struct{ o ModelOptions }

// NewOpenIE returns the extractor.
func NewOpenIE(o ModelOptions) (*OpenIE, error) {
	checks := opt.Checks{Of: "extract"}
	o.check(&checks)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return &OpenIE{o}, nil
}

// Extract implements [Extractor]. It makes two calls per chunk.
func (e *OpenIE) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	return e.o.each(ctx, chunks, e.chunk)
}

func (e *OpenIE) chunk(ctx context.Context, c graphrag.Chunk, x *kg.Extraction) error {
	names, err := e.entities(ctx, "ner", passage(c), x)
	if err != nil {
		return err
	}
	for _, n := range names {
		x.Mentions = append(x.Mentions, kg.Mention{Name: n})
	}
	return e.triples(ctx, passage(c), names, x)
}

// Question returns the named entities of a question: one call.
func (e *OpenIE) Question(ctx context.Context, question string) ([]string, error) {
	return e.entities(ctx, "ner_question", prompts.Data{Label: "question", Text: question}, &kg.Extraction{})
}

func (e *OpenIE) entities(ctx context.Context, name string, text prompts.Data, x *kg.Extraction) ([]string, error) {
	req, err := templates.Request(ctx, StageEntities, name, nil, text)
	if err != nil {
		return nil, err
	}
	found, err := decode[struct {
		Names []string `json:"named_entities"`
	}](ctx, e.o.Model, req, x)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range found.Names {
		parts := strings.FieldsFunc(name, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
		if strings.Contains(text.Text, name) || slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text.Text, strings.TrimSpace(p)) }) {
			parts = []string{name} // it is one name, or not of the text at all
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part != "" {
				names = append(names, part)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (e *OpenIE) triples(ctx context.Context, text prompts.Data, names []string, x *kg.Extraction) error {
	if names == nil {
		names = []string{}
	}
	list, err := json.Marshal(map[string][]string{"named_entities": names})
	if err != nil {
		return err
	}
	req, err := templates.Request(ctx, StageTriples, "triples", nil, text, prompts.Data{Label: "entities", Text: string(list)})
	if err != nil {
		return err
	}
	found, err := decode[struct{ Triples []replies.Triple }](ctx, e.o.Model, req, x)
	if err != nil {
		return err
	}
	readTriples(found.Triples, names, x)
	dropRepeated(x)
	return nil
}

// readTriples adds the triples. One of more than three parts is cut to three, and of a
// sentence the names at both ends are the subject and the object; others are problems.
func readTriples(found []replies.Triple, names []string, x *kg.Extraction) {
	for _, t := range found {
		if t.Fault != "" && t.Tail == "" {
			t.Head, t.Relation, t.Tail = sentence(strings.Trim(t.Raw, `" .`), names)
		}
		if t.Head == "" || t.Tail == "" || t.Fault != "" && t.Relation == "" {
			problem(x, "record", t.Raw, t.Fault)
			continue
		}
		x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: t.Head, Relation: t.Relation, Tail: t.Tail}})
	}
}

// sentence returns the longest names at both ends of a sentence, and the words between them.
func sentence(text string, names []string) (head, relation, tail string) {
	for _, n := range names {
		if strings.HasPrefix(text, n+" ") && len(n) > len(head) {
			head = n
		}
		if strings.HasSuffix(text, " "+n) && len(n) > len(tail) {
			tail = n
		}
	}
	if len(head)+len(tail)+2 >= len(text) || head == "" || tail == "" {
		return "", "", ""
	}
	return head, strings.TrimSpace(text[len(head) : len(text)-len(tail)]), tail
}

// dropRepeated keeps each fact and mention once: repetitions of a model must not raise the weight of a fact.
func dropRepeated(x *kg.Extraction) {
	seen := make(map[[6]string]int)
	again := func(key ...string) bool {
		var k [6]string
		copy(k[:], key)
		seen[k]++
		return seen[k] > 1
	}
	x.Facts = slices.DeleteFunc(x.Facts, func(f kg.Fact) bool {
		return again(f.Head, f.Relation, f.Tail, f.Description, strings.Join(f.Keywords, sep), strconv.FormatFloat(f.Weight, 'g', -1, 64))
	})
	clear(seen)
	x.Mentions = slices.DeleteFunc(x.Mentions, func(m kg.Mention) bool {
		return m.Span == (kg.Span{}) && again(m.Name, m.Type, m.Description)
	})
}
