// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"context"
	"encoding/json"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
)

// extraction returns the extraction from chunks: by a model within a schema; without a model by the kit's
// rules, within a schema if one is given; with NoSchema by the kit.
func extraction(k kit.Kit, o Options) func() (kit.Extraction, error) {
	if o.NoSchema || k.Triples == nil || k.IndexModel == nil && o.Schema == nil {
		return k.Triples
	}
	return func() (kit.Extraction, error) {
		b := bounded{o: extract.SchemaOptions{Mode: o.Mode}, model: k.IndexModel, seed: o.Schema}
		if !o.FixedSchema {
			e := o.Expansion
			if e.Link == nil {
				e.Link = k.Link
			}
			b.o.Expand = &e
		}
		if k.IndexModel == nil {
			free, err := k.Triples()
			if err != nil {
				return free, err
			}
			b.o.By = free.Extractor
		} else {
			b.o.ModelOptions = extract.ModelOptions{Model: k.IndexModel, Verify: true}
		}
		_, err := b.by(general) // reports bad options before indexing
		if o.Schema != nil {
			_, err = b.by(*o.Schema)
		}
		// The schema depends on the whole corpus.
		return kit.Extraction{Extractor: b, Whole: true}, err
	}
}

// bounded extracts by a schema that is given or made from the chunks.
type bounded struct {
	o     extract.SchemaOptions
	model llm.Model
	seed  *extract.Schema
}

// Extract implements extract.Extractor.
func (b bounded) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	seed, unmade, err := b.schema(ctx, chunks)
	if err != nil {
		return nil, err
	}
	by, err := b.by(seed)
	if err != nil {
		return nil, err
	}
	found, grown, err := by.Grow(ctx, chunks)
	if err != nil {
		return nil, err
	}
	schema, err := json.Marshal(grown)
	kit.Bound(ctx, schema)
	if err == nil && unmade != nil && len(found) > 0 {
		found[0].Problems = append(found[0].Problems, kg.Problem{Kind: "schema", Reason: "a general schema replaces the schema of this corpus: " + unmade.Error()})
	}
	return found, err
}

func (b bounded) by(s extract.Schema) (*extract.BySchema, error) {
	b.o.Schema = s
	return extract.NewBySchema(b.o)
}

// schema returns the seed. unmade is the reason if it was not made from the corpus.
func (b bounded) schema(ctx context.Context, chunks []graphrag.Chunk) (s extract.Schema, unmade, err error) {
	if b.seed != nil {
		return *b.seed, nil, nil
	}
	s, err = extract.Induce(ctx, b.model, chunks)
	switch {
	case llm.OfOneReply(err):
		return general, err, nil
	case err == nil && len(s.EntityTypes) == 0: // the chunks are empty
		return general, nil, nil
	}
	return s, nil, err
}

// general is the schema for a corpus whose schema could not be made.
var general = extract.Schema{
	EntityTypes: items("person", "organization", "place", "event", "work", "product", "date", "quantity", "concept"),
	Relations: items("part_of", "located_in", "member_of", "works_for", "founded_by", "created_by", "owned_by", "related_by_family", "married_to",
		"born_in", "died_in", "took_part_in", "happened_in", "followed_by", "caused_by", "used_for", "known_as"),
	Attributes: items("date_of_birth", "date_of_death", "occupation", "nationality", "start_date", "end_date", "size", "number", "description"),
}

func items(names ...string) []extract.SchemaItem {
	out := make([]extract.SchemaItem, len(names))
	for i, n := range names {
		out[i].Name = n
	}
	return out
}
