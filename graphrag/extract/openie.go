// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

// OpenIE extracts in two steps, as HippoRAG does (arXiv 2405.14831, section 3.3;
// the same in version 2): one call for the named entities of a passage, one for
// triples about them. There is no fixed set of types or relations.
//
// A passage whose entities cannot be had is not asked for triples; one whose
// triples cannot be had keeps its entities. Both are listed as problems.
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
	names, err := e.entities(ctx, "ner", passage(c))
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
	return e.entities(ctx, "ner_question", llm.Data{Label: "question", Text: question})
}

type namedEntities struct {
	Names *[]json.RawMessage `json:"named_entities"`
}

// Check implements what llm.Decode asks of replies.
func (n namedEntities) Check() error {
	if n.Names == nil {
		return errors.New(`the key "named_entities" is missing`)
	}
	return nil
}

func (e *OpenIE) entities(ctx context.Context, name string, text llm.Data) ([]string, error) {
	req, err := prompts.Request(StageEntities, name, nil, text)
	if err != nil {
		return nil, err
	}
	req.JSON = true
	found, _, err := llm.Decode[namedEntities](ctx, e.o.Model, req)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, raw := range *found.Names {
		if name := word(raw); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

type triples struct {
	Triples *[]json.RawMessage `json:"triples"`
}

// Check implements what llm.Decode asks of replies.
func (t triples) Check() error {
	if t.Triples == nil {
		return errors.New(`the key "triples" is missing`)
	}
	return nil
}

func (e *OpenIE) triples(ctx context.Context, text llm.Data, names []string, x *kg.Extraction) error {
	if names == nil {
		names = []string{}
	}
	list, err := json.Marshal(map[string][]string{"named_entities": names})
	if err != nil {
		return err
	}
	req, err := prompts.Request(StageTriples, "triples", map[string]any{"Entities": string(list)}, text)
	if err != nil {
		return err
	}
	req.JSON = true
	found, _, err := llm.Decode[triples](ctx, e.o.Model, req)
	if err != nil {
		return err
	}
	readTriples(*found.Triples, x)
	dropRepeated(x)
	return nil
}

// readTriples takes the lists of three.
func readTriples(found []json.RawMessage, x *kg.Extraction) {
	for _, raw := range found {
		t, err := readTriple(raw)
		if err != nil {
			problem(x, "record", string(raw), err.Error())
			continue
		}
		x.Facts = append(x.Facts, kg.Fact{Triple: t})
	}
}

// dropRepeated keeps each triple once: a model that repeats itself does not
// make a fact weigh more.
func dropRepeated(x *kg.Extraction) {
	seen := make(map[graphrag.Triple]bool, len(x.Facts))
	x.Facts = slices.DeleteFunc(x.Facts, func(f kg.Fact) bool {
		again := seen[f.Triple]
		seen[f.Triple] = true
		return again
	})
}

func readTriple(raw json.RawMessage) (graphrag.Triple, error) {
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return graphrag.Triple{}, errors.New("not a list of subject, relation and object")
	}
	if len(parts) != 3 {
		return graphrag.Triple{}, fmt.Errorf("a list of %d, not of subject, relation and object", len(parts))
	}
	t := graphrag.Triple{Head: word(parts[0]), Relation: word(parts[1]), Tail: word(parts[2])}
	if t.Head == "" || t.Tail == "" {
		return graphrag.Triple{}, errors.New("the subject or the object is empty")
	}
	return t, nil
}

// word reads a JSON string, number or truth value as a text; lists and objects
// are none.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	if text := strings.TrimSpace(string(raw)); text != "null" && !strings.ContainsAny(text[:min(1, len(text))], "[{") {
		return text
	}
	return ""
}
