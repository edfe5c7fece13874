// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/path"
	"github.com/wildgraph/wildgraph/graphrag/perception"
)

// Names of the system in reports, with its agent and without (the paper's ablation,
// table 3).
const (
	Name        = "youtu"
	NameNoAgent = "youtu-noagent"
)

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	o = o.Defaults()
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding, kit.Embedding, kit.Linking}}
	if o.NoAgent {
		f.Name = NameNoAgent
	}
	f.Problems = o.check()
	f.ExtractBy(o.Extract, extraction(k, o))
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

// DefaultFacts is how many facts are read for a question that asks for no number of
// chunks: the paper's "top-20".
const DefaultFacts = 20

// DefaultCommunities is the most communities there are: with so many, naming them
// takes less than the 10,000 tokens that the paper states for a data set, however
// large it is. The program has 100, and leaves out the entities of the others.
const DefaultCommunities = 64

// DefaultPathCost is what each edge of a path takes from its score, so that of two
// paths that say the same the shorter one is better. Ours.
const DefaultPathCost = 0.1

// The kinds of derived text.
const (
	kindFact      = "fact"
	kindCommunity = "community"
)

// Options of the system. The zero value is the paper's setting, and where the paper
// is silent that of its program.
type Options struct {
	kit.Common `source:"ours"`
	// Extract, when set, is used in place of the extractor by schema.
	Extract extract.Extractor
	// Schema is the seed; nil has a model make one from a sample of the corpus, and
	// without a model takes what the rules know. Mode says what becomes of what it
	// does not hold.
	Schema *extract.Schema    `source:"the paper, equation 1"`
	Mode   extract.SchemaMode `source:"the paper, equation 2"`
	// Expansion says when the schema grows, FixedSchema that it does not.
	Expansion   extract.Expansion `source:"ours: the paper gives no value"`
	FixedSchema bool              `source:"the paper, equation 3"`
	// Communities are found with these options, DefaultCommunities at most; paths with those.
	Communities perception.Options `source:"the paper, section 3.2"`
	Paths       path.Options       `source:"ours: the paper gives no value"`
	// Facts is how many facts are read; 0 is as many as chunks, the K of the question.
	Facts int `source:"the paper, tables 1 and 2"`
	// SubQueries is the most of a question, Steps the most reflections; 0 is the default of
	// each. Tokens is what the reflections on a question may take together; 0 is no limit.
	SubQueries, Steps int `source:"its program"`
	Tokens            int `source:"ours"`
	// NoAgent, NoCommunities and NoSchema leave a part out, as in the paper's table
	// 3: one pass, no level above the facts, open extraction. NoMemberOf leaves the
	// communities out of the graph that paths lead through.
	NoAgent, NoCommunities, NoSchema bool `source:"the paper, table 3"`
	NoMemberOf                       bool `source:"the paper, section 3.2.1"`
	// Without leaves a route out: entities, facts, communities or paths.
	Without string `source:"the paper, equation 10"`
}

// Defaults returns the options with what zero stands for.
func (o Options) Defaults() Options {
	o.Communities.MaxCommunities = cmp.Or(o.Communities.MaxCommunities, DefaultCommunities)
	o.Paths.Cost = cmp.Or(o.Paths.Cost, DefaultPathCost)
	o.Mode = cmp.Or(o.Mode, extract.Strict)
	o.SubQueries, o.Steps = cmp.Or(o.SubQueries, agent.DefaultSubQueries), cmp.Or(o.Steps, agent.DefaultSteps)
	return o
}

// facts is how many facts are read for a question.
func (o Options) facts(q graphrag.Question) int { return cmp.Or(o.Facts, max(q.K, 0), DefaultFacts) }

func (o Options) check() error {
	var c kit.Checks
	c.Min("Facts", float64(o.Facts), 0)
	c.Min("SubQueries", float64(o.SubQueries), 0)
	c.Min("Steps", float64(o.Steps), 0)
	c.Min("Tokens", float64(o.Tokens), 0)
	c.Want(o.Mode == "" || o.Mode == extract.Strict || o.Mode == extract.Prefer, "Mode", o.Mode, "strict or prefer")
	c.Add(o.Paths.Check())
	c.Add(o.Communities.Check())
	c.Want(!o.NoSchema || o.Schema == nil, "NoSchema", o.NoSchema, "false where a Schema is given")
	c.Want(slices.Contains([]string{"", "entities", "facts", "communities", "paths"}, o.Without), "Without", o.Without, "entities, facts, communities or paths")
	return c.Err()
}
