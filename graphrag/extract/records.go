// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Format is the form in which a model writes the records of its reply.
type Format string

const (
	// Tuples is the format of Microsoft GraphRAG: ("entity"<|>NAME<|>TYPE<|>DESCRIPTION) and
	// ("relationship"<|>SOURCE<|>TARGET<|>DESCRIPTION<|>STRENGTH), with ## between records.
	Tuples Format = "tuples"
	// Lines is the format of LightRAG: entity<|#|>name<|#|>type<|#|>description and
	// relation<|#|>source<|#|>target<|#|>keywords<|#|>description.
	Lines Format = "lines"
	// Objects is the format of Fast-GraphRAG: a JSON object of entities, relationships, and relationships that
	// the model missed at first.
	Objects Format = "objects"
)

// Default entity types of the formats.
var (
	// from graphrag/config/defaults.py of microsoft/graphrag 3.1.2
	tupleTypes = []string{"organization", "person", "geo", "event"}
	// from lightrag/constants.py of LightRAG 1.5.7
	lineTypes = []string{"Person", "Creature", "Organization", "Location", "Event", "Concept", "Method", "Content", "Data", "Artifact", "NaturalObject"}
)

// RecordOptions for [NewRecords].
type RecordOptions struct {
	ModelOptions
	// Format is Tuples if empty.
	Format Format
	// Types are the entity types to look for; the default is the list of the program that the format is from.
	// The format Objects has no default.
	Types []string
	// Domain describes the texts and the questions that matter (Fast-GraphRAG's "domain"). Language is the
	// language of descriptions, by default the language of each passage; names are not translated.
	Domain, Language string
	// Gleanings is the most requests for records that the model has missed: 0 for the default of the format (1
	// for Tuples and Lines, none for Objects), [graphrag.Off] for none. Lines makes at most one.
	Gleanings int
	// AlwaysGlean asks for missed records even if the model marks its reply as complete, as the published
	// programs do. This takes about two thirds of the extraction's tokens and finds an eighth of its records.
	AlwaysGlean bool
}

// records is the extractor of [NewRecords].
type records struct{ o RecordOptions }

// NewRecords returns an extractor of typed entities and described relations, which asks again for missed
// records ("gleaning", From Local to Global, arXiv 2404.16130, section 3.1.2): one call per chunk, and at most
// two more for each gleaning. Each record is parsed by itself, so a malformed one does not spoil the rest.
func NewRecords(o RecordOptions) (Extractor, error) {
	o.Format = cmp.Or(o.Format, Tuples)
	checks := opt.Checks{Of: "extract"}
	o.check(&checks)
	checks.Want(slices.Contains([]Format{Tuples, Lines, Objects}, o.Format), "Format", o.Format, "tuples, lines or objects")
	opt.Min(&checks, "Gleanings", o.Gleanings, graphrag.Off)
	checks.Want(o.Format != Objects || len(o.Types) > 0, "Types", "empty", "the entity types of the domain, which the format objects needs")
	if err := checks.Err(); err != nil {
		return nil, err
	}
	switch {
	case o.Gleanings == graphrag.Off, o.Gleanings == 0 && o.Format == Objects:
		o.Gleanings = 0
	case o.Gleanings == 0, o.Format == Lines:
		o.Gleanings = 1
	}
	if len(o.Types) == 0 && o.Format == Tuples {
		o.Types = tupleTypes
	} else if len(o.Types) == 0 {
		o.Types = lineTypes
	}
	o.Types = slices.Clone(o.Types)
	return &records{o}, nil
}

// Extract implements [Extractor].
func (r *records) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	return r.o.each(ctx, chunks, r.chunk)
}

func (r *records) chunk(ctx context.Context, c graphrag.Chunk, x *kg.Extraction) error {
	answers, err := r.ask(ctx, c)
	for round, a := range answers {
		var said kg.Extraction
		r.read(a, &said)
		if round > 0 && r.o.Format == Lines {
			mergeGleaned(x, &said)
		}
		x.Mentions, x.Facts = append(x.Mentions, said.Mentions...), append(x.Facts, said.Facts...)
		x.Attributes, x.Problems = append(x.Attributes, said.Attributes...), append(x.Problems, said.Problems...)
	}
	dropRepeated(x)
	if llm.OfOneReply(err) && len(answers) > 0 {
		problem(x, "record", c.Text, "the rest of the records: "+err.Error())
		return nil
	}
	return err
}

// read adds the records of a reply to an extraction.
func (r *records) read(answer string, x *kg.Extraction) {
	if r.o.Format != Objects {
		readRecords(answer, r.o.Format, x)
	} else if !readValue(inJSON(answer), r.o.Types, x) {
		problem(x, "record", answer, "no JSON object with entities or relationships in the reply")
	}
}

// ask returns the replies of all rounds for a chunk. If nothing can be read from the first reply, the model is
// asked once more with the fault named. If a later round fails, the replies before it are used.
func (r *records) ask(ctx context.Context, c graphrag.Chunk) ([]string, error) {
	req, err := templates.Request(ctx, StageRecords, string(r.o.Format), map[string]any{
		"Types": strings.Join(r.o.Types, ", "), "Domain": r.o.Domain, "Language": r.o.Language,
	}, passage(c))
	if err != nil {
		return nil, err
	}
	if r.o.Format == Objects {
		req.Schema, req.SchemaName = replies.Schema[objects](), StageRecords
	}
	var answers []string
	again := false
	for round := 0; ; round++ {
		reply, err := r.o.Model.Generate(ctx, req)
		if err != nil {
			return append(answers, r.wholePart(err)...), err
		}
		var said kg.Extraction
		if round == 0 {
			r.read(reply.Text, &said)
		}
		lost := len(said.Problems) > 0 && len(said.Mentions)+len(said.Facts) == 0
		if lost && !again {
			again, round = true, -1
			req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.Assistant, Text: display.Beginning(reply.Text)},
				llm.Message{Role: llm.User, Text: fmt.Sprintf(otherForm, said.Problems[0].Reason)})
			continue
		}
		answers = append(answers, reply.Text)
		if lost || round == r.o.Gleanings || !r.o.AlwaysGlean && complete(reply.Text) {
			return answers, nil
		}
		req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.Assistant, Text: reply.Text})
		if round > 0 && r.o.AlwaysGlean {
			ask := req
			ask.Messages, ask.Schema = append(slices.Clip(req.Messages), llm.Message{Role: llm.User, Text: anyMore}), nil
			reply, err := r.o.Model.Generate(ctx, ask)
			if err != nil || !strings.HasPrefix(strings.ToUpper(strings.TrimSpace(reply.Text)), "Y") {
				return answers, err
			}
		}
		req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.User, Text: moreRecords})
		req.Stage = StageGlean
	}
}

// wholePart returns the readable part of a truncated reply: its complete lines, or complete values of its JSON.
func (r *records) wholePart(err error) []string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return nil
	}
	for _, part := range []string{e.Partial[:max(0, strings.LastIndexByte(e.Partial, '\n'))], wholeValues(e.Partial)} {
		var said kg.Extraction
		if r.read(part, &said); len(said.Mentions)+len(said.Facts) > 0 {
			return []string{part}
		}
	}
	return nil
}

const (
	otherForm   = "That reply does not have the form asked for (%s). Write what you found in exactly the form shown in the instructions, with its marks between the fields, and end as told there."
	moreRecords = "Look at the passage again. Are there entities or relations that you have not written? If so, write those, in the same form, and none that you have written before, and end as before. If not, reply <|COMPLETE|> alone."
	anyMore     = "Are entities or relations of the passage still missing? Answer Y or N, one letter."
)

// mergeGleaned removes duplicates between a first reply and its gleaning: for each key it keeps the records of
// the reply whose first description is longer, or, if equal, the first reply's (LightRAG, operate.py,
// extract_entities). Records that one reply repeats about a name or pair all remain.
func mergeGleaned(before, gleaned *kg.Extraction) {
	fold := kg.FoldUnicode.Key
	dropShorter(&before.Mentions, &gleaned.Mentions, func(m kg.Mention) (string, string) { return fold(m.Name), m.Description })
	dropShorter(&before.Facts, &gleaned.Facts, func(f kg.Fact) (string, string) {
		return fold(f.Head) + sep + fold(f.Tail), f.Description
	})
}

func dropShorter[T any](before, gleaned *[]T, of func(T) (key, description string)) {
	first := func(list []T) map[string]int {
		lengths := make(map[string]int)
		for _, x := range list {
			key, description := of(x)
			if _, ok := lengths[key]; !ok {
				lengths[key] = len(description)
			}
		}
		return lengths
	}
	old, later := first(*before), first(*gleaned)
	longer := func(key string) bool {
		n, ok := old[key]
		return !ok || later[key] > n
	}
	*before = slices.DeleteFunc(*before, func(x T) bool { key, _ := of(x); _, ok := later[key]; return ok && longer(key) })
	*gleaned = slices.DeleteFunc(*gleaned, func(x T) bool { key, _ := of(x); return !longer(key) })
}
