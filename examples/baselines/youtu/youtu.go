// SPDX-License-Identifier: Apache-2.0

// Package youtu is Youtu-GraphRAG (Dong and others 2025, arXiv 2508.19855): one schema bounds the
// extraction and the decomposition of questions; communities of entities with similar relations and
// meaning make a tree of knowledge over the facts; the sub-queries of a question search by entity, fact,
// community and path, and an agent reflects on the results and searches again.
package youtu

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/llm"
)

// The names of the system in reports, with its agent and without (the paper's ablation, table 3).
const (
	Name        = "youtu"
	NameNoAgent = "youtu-noagent"
)

// Infos describe the system with its agent and without.
var Infos = []kit.Info{
	kit.InfoOf(kit.Info{
		Name: Name, Source: "Dong and others 2025", Paper: "arXiv 2508.19855",
		Costs: "1 a chunk, 1 for the schema, 1 per five communities; up to 12 to search", Calls: kit.Calls{Chunk: 1, Question: 3, Once: 2}, // a question: decomposition, draft, reflection; once: schema, names of communities
	}, Options{}, New),
	kit.InfoOf(kit.Info{
		Name: NameNoAgent, Source: "Dong and others 2025", Paper: "arXiv 2508.19855",
		Costs: "the same; 1 to search", Calls: kit.Calls{Chunk: 1, Question: 1, Once: 2},
	}, Options{NoAgent: true}, New),
}

// Variants describe the system with a part left out, for ablations.
var Variants = []kit.Info{
	kit.InfoOf(kit.Info{Name: Name + "-nocommunity", Source: "Dong and others 2025"}, Options{NoCommunities: true}, New),
	kit.InfoOf(kit.Info{Name: Name + "-noschema", Source: "Dong and others 2025", NoSchema: true}, Options{NoSchema: true}, New),
}

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	o = o.Defaults()
	o.check(&c)
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []string{"Find", "Embed", "Link"}}
	if o.NoAgent {
		f.Name = NameNoAgent
	}
	f.Problems = c.Err()
	f.ExtractBy(o.Extract, extraction(k, o))
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

const (
	// DefaultFacts is the number of facts read for a question without a K: the paper's "top-20".
	DefaultFacts = 20
	// DefaultCommunities is the largest number of communities; the closest are merged. Naming 64 takes less than the
	// 10,000 tokens that the paper states for any data set. The authors' program keeps 100 and drops other entities.
	DefaultCommunities = 64
	// DefaultPathCost is subtracted from the score of a path for each edge, so that among paths with equal
	// facts the shorter one is better. It is ours.
	DefaultPathCost = 0.1
)

// The kinds of derived texts.
const (
	kindFact      = "fact"
	kindCommunity = "community"
)

// Options of the system. The zero value has the paper's settings, or the program's where the paper gives none.
type Options struct {
	kit.Common `source:"ours"`
	// Extract, when set, is used in place of the extraction by a schema.
	Extract extract.Extractor
	// Schema is the schema at the start. If it is nil, a model makes one from a sample of the corpus; without a
	// model the kit's rules extract without a schema. Mode says what happens to names outside the schema.
	Schema *extract.Schema    `source:"the paper, equation 1"`
	Mode   extract.SchemaMode `source:"the paper, equation 2"`
	// Expansion has the conditions under which the schema grows; with FixedSchema it does not grow.
	Expansion   extract.Expansion `source:"ours: the paper gives no value"`
	FixedSchema bool              `source:"the paper, equation 3"`
	// Communities has the options of communities, at most DefaultCommunities, Paths the options of paths.
	Communities perception.Options `source:"the paper, section 3.2"`
	Paths       graph.PathOptions  `source:"ours: the paper gives no value"`
	// Facts is the number of facts read; 0 means the K of the question.
	Facts int `min:"0" source:"the paper, tables 1 and 2"`
	// SubQueries is the largest number of sub-queries of a question, Steps of reflections; 0 means the default
	// of each. Tokens is the budget of all reflections on a question; 0 means none.
	SubQueries, Steps int `min:"0" source:"its program"`
	Tokens            int `min:"0" source:"ours"`
	// NoAgent, NoCommunities and NoSchema leave a part out, as in the paper's table 3: they search once, make
	// no level above the facts, or extract without a schema. NoMemberOf leaves communities out of the paths'
	// graph.
	NoAgent, NoCommunities, NoSchema bool `source:"the paper, table 3"`
	NoMemberOf                       bool `source:"the paper, section 3.2.1"`
	// Without is the name of a route that is left out: entities, facts, communities or paths.
	Without string `source:"the paper, equation 10"`
}

// Defaults returns the options with zero values replaced by their defaults.
func (o Options) Defaults() Options {
	o.Communities.MaxCommunities = cmp.Or(o.Communities.MaxCommunities, DefaultCommunities)
	o.Paths.Cost = cmp.Or(o.Paths.Cost, DefaultPathCost)
	o.Mode = cmp.Or(o.Mode, extract.Strict)
	o.SubQueries, o.Steps = cmp.Or(o.SubQueries, agent.DefaultSubQueries), cmp.Or(o.Steps, agent.DefaultSteps)
	return o
}

// facts returns the number of facts read for a question.
func (o Options) facts(q graphrag.Question) int { return cmp.Or(o.Facts, max(q.K, 0), DefaultFacts) }

func (o Options) check(c *kit.Checks) {
	c.Want(o.Mode == "" || o.Mode == extract.Strict || o.Mode == extract.Prefer, "Mode", o.Mode, "strict or prefer")
	c.Add(o.Paths.Check())
	c.Add(o.Communities.Check())
	c.Want(!o.NoSchema || o.Schema == nil, "NoSchema", o.NoSchema, "false where a Schema is given")
	c.Want(slices.Contains([]string{"", "entities", "facts", "communities", "paths"}, o.Without), "Without", o.Without, "entities, facts, communities or paths")
}

// Seeds has seed schemas for the data sets, in the form of extract.ReadSchema. They were written for
// WildGraph by the subjects of the questions.
//
//go:embed seeds
var Seeds embed.FS

// SeedNames lists the names of the schemas in Seeds.
func SeedNames() (names []string) {
	files, _ := Seeds.ReadDir("seeds") // the folder is embedded
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	return names
}

// extraction returns how chunks are extracted: by a model within a schema; without a model by the kit's rules,
// within a schema if one is given; with NoSchema by the kit.
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
		_, err := b.by(general) // bad options are reported before indexing
		if o.Schema != nil {
			_, err = b.by(*o.Schema)
		}
		// The schema depends on the whole corpus.
		return kit.Extraction{Extractor: b, Whole: true}, err
	}
}

// bounded extracts within a schema that is given, or made from the chunks.
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
	kit.Count(ctx, graphrag.IndexStats{Schema: schema})
	if err == nil && unmade != nil && len(found) > 0 {
		found[0].Problems = append(found[0].Problems, kg.Problem{Kind: "schema", Reason: "a general schema replaces the schema of this corpus: " + unmade.Error()})
	}
	return found, err
}

func (b bounded) by(s extract.Schema) (*extract.BySchema, error) {
	b.o.Schema = s
	return extract.NewBySchema(b.o)
}

// schema returns the schema at the start. unmade is the reason if the model could not make it from the corpus.
func (b bounded) schema(ctx context.Context, chunks []graphrag.Chunk) (s extract.Schema, unmade, err error) {
	if b.seed != nil {
		return *b.seed, nil, nil
	}
	s, err = extract.Induce(ctx, b.model, chunks)
	switch {
	case llm.OfOneReply(err):
		return general, err, nil
	case err == nil && len(s.EntityTypes) == 0: // all chunks are empty
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
