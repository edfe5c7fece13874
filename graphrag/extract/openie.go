// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

// OpenIE extracts in two steps, as HippoRAG does (arXiv 2405.14831, section 3.3;
// the same in version 2): one call for the named entities of a passage, one for
// triples about them. Types and relations are open.
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

func (e *OpenIE) entities(ctx context.Context, name string, text llm.Data) ([]string, error) {
	req, err := prompts.Request(StageEntities, name, nil, text)
	if err != nil {
		return nil, err
	}
	found, _, err := llm.Decode[struct {
		Names []string `json:"named_entities"`
	}](ctx, e.o.Model, req)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range found.Names {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (e *OpenIE) triples(ctx context.Context, text llm.Data, names []string, x *kg.Extraction) error {
	if names == nil {
		names = []string{}
	}
	list, err := json.Marshal(map[string][]string{"named_entities": names})
	if err != nil {
		return err
	}
	req, err := prompts.Request(StageTriples, "triples", nil, text, llm.Data{Label: "entities", Text: string(list)})
	if err != nil {
		return err
	}
	found, _, err := llm.Decode[struct{ Triples []llm.Triple }](ctx, e.o.Model, req)
	if err != nil {
		return err
	}
	readTriples(found.Triples, x)
	dropRepeated(x)
	return nil
}

// readTriples adds the triples of three parts; others are problems.
func readTriples(found []llm.Triple, x *kg.Extraction) {
	for _, t := range found {
		if t.Fault != "" {
			problem(x, "record", t.Raw, t.Fault)
			continue
		}
		x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: t.Head, Relation: t.Relation, Tail: t.Tail}})
	}
}

// dropRepeated keeps each triple once: repetitions of a model must not raise the weight of
// a fact.
func dropRepeated(x *kg.Extraction) {
	seen := make(map[graphrag.Triple]bool, len(x.Facts))
	x.Facts = slices.DeleteFunc(x.Facts, func(f kg.Fact) bool {
		again := seen[f.Triple]
		seen[f.Triple] = true
		return again
	})
}

// word returns a JSON string, number or boolean as text, "" for lists and objects.
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

// Recorded is an [Extractor] that returns triples of an earlier extraction, so that they
// are not paid for again.
type Recorded struct {
	byText map[string]kg.Extraction
}

// ErrNotRecorded is wrapped by the errors for chunks without a record.
var ErrNotRecorded = errors.New("no extraction is recorded of this text")

// maxRecorded bounds the size of a file of records.
const maxRecorded = 1 << 30

// ReadOpenIE reads a result file of HippoRAG, of either version: an object with
// the list docs, each with its passage, extracted_entities and
// extracted_triples. The bare NaN that Python writes is accepted. A triple that
// does not have three parts is a problem of its passage; one that is recorded twice
// counts twice, as it does in HippoRAG.
func ReadOpenIE(r io.Reader) (*Recorded, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRecorded+1))
	if err == nil && len(data) > maxRecorded {
		err = fmt.Errorf("more than %d bytes", maxRecorded)
	}
	if err != nil {
		return nil, fmt.Errorf("extract: reading recorded triples: %w", err)
	}
	quoteNaN(data)
	var file struct {
		Docs *[]struct {
			Passage  string            `json:"passage"`
			Entities []json.RawMessage `json:"extracted_entities"`
			Triples  []llm.Triple      `json:"extracted_triples"`
		} `json:"docs"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("extract: recorded triples: %w", err)
	}
	if file.Docs == nil {
		return nil, errors.New(`extract: recorded triples: the key "docs" is missing: is this a HippoRAG OpenIE result file?`)
	}
	out := &Recorded{make(map[string]kg.Extraction, len(*file.Docs))}
	for i, d := range *file.Docs {
		if strings.TrimSpace(d.Passage) == "" {
			return nil, fmt.Errorf("extract: recorded triples: docs[%d] has no passage", i)
		}
		var x kg.Extraction
		for _, raw := range d.Entities {
			if name := word(raw); name != "" {
				x.Mentions = append(x.Mentions, kg.Mention{Name: name})
			}
		}
		readTriples(d.Triples, &x)
		out.byText[textKey(d.Passage)] = x
	}
	return out, nil
}

// EntitiesOnly returns the records without their triples.
func (r *Recorded) EntitiesOnly() *Recorded {
	out := &Recorded{make(map[string]kg.Extraction, len(r.byText))}
	for text, x := range r.byText {
		out.byText[text] = kg.Extraction{Mentions: x.Mentions}
	}
	return out
}

// Len returns the number of recorded texts.
func (r *Recorded) Len() int { return len(r.byText) }

// Extract implements [Extractor]. It finds a chunk by its text, with or without its title
// in front; white space is ignored.
func (r *Recorded) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("extract: %w", ctx.Err())
		}
		x, ok := r.byText[textKey(c.Text)]
		if !ok {
			x, ok = r.byText[textKey(c.Title+"\n"+c.Text)]
		}
		if !ok {
			return nil, fmt.Errorf("extract: chunk %s: %w", c.ID, ErrNotRecorded)
		}
		x.Chunk, x.Doc = c.ID, c.Doc
		x.Mentions = slices.Clone(x.Mentions)
		nameEnds(&x)
		out[i] = x
	}
	return out, nil
}

func textKey(s string) string { return strings.Join(strings.Fields(s), " ") }

// quoteNaN replaces the bare NaN and Infinity, which JSON does not have, by strings of the
// same length, in place.
func quoteNaN(data []byte) {
	text, escaped := false, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case escaped:
			escaped = false
		case text && c == '\\':
			escaped = true
		case c == '"':
			text = !text
		case text:
		case c == 'N' && bytes.HasPrefix(data[i:], []byte("NaN")):
			copy(data[i:], `"N"`)
			i += 2
		case c == 'I' && bytes.HasPrefix(data[i:], []byte("Infinity")):
			copy(data[i:], `"INFINI"`)
			if i > 0 && data[i-1] == '-' {
				data[i-1] = ' '
			}
			i += 7
		}
	}
}
