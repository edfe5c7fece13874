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

// Names of the system in reports, with and without its agent (the paper's ablation, table 3).
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

const (
	// DefaultFacts is the number of facts read for a question without a K: the paper's "top-20".
	DefaultFacts = 20
	// DefaultCommunities bounds the communities: naming this number takes less than the 10,000 tokens
	// that the paper states for a data set of any size. The program has 100, and drops the entities of
	// others.
	DefaultCommunities = 64
	// DefaultPathCost is subtracted from the score of a path for each edge, so that the shorter of two
	// equal paths is better. Ours.
	DefaultPathCost = 0.1
)

// The kinds of derived text.
const (
	kindFact      = "fact"
	kindCommunity = "community"
)

// Options of the system. The zero value is the paper's setting, and the program's where the paper is silent.
type Options struct {
	kit.Common `source:"ours"`
	// Extract, when set, is used in place of the extractor by schema.
	Extract extract.Extractor
	// Schema is the seed. If nil, a model makes one from a sample of the corpus; without a model the kit's
	// rules extract without one. Mode selects the treatment of names outside the schema.
	Schema *extract.Schema    `source:"the paper, equation 1"`
	Mode   extract.SchemaMode `source:"the paper, equation 2"`
	// Expansion has the conditions under which the schema grows, FixedSchema prevents growth.
	Expansion   extract.Expansion `source:"ours: the paper gives no value"`
	FixedSchema bool              `source:"the paper, equation 3"`
	// Communities has the options of communities, at most DefaultCommunities, Paths the options of paths.
	Communities perception.Options `source:"the paper, section 3.2"`
	Paths       path.Options       `source:"ours: the paper gives no value"`
	// Facts is the number of facts read; 0 is the K of the question.
	Facts int `source:"the paper, tables 1 and 2"`
	// SubQueries bounds the sub-queries of a question, Steps the reflections; 0 is the default of each.
	// Tokens bounds all reflections on a question; 0 is no limit.
	SubQueries, Steps int `source:"its program"`
	Tokens            int `source:"ours"`
	// NoAgent, NoCommunities and NoSchema leave a part out, as in the paper's table 3: one pass, no level
	// above the facts, open extraction. NoMemberOf removes the communities from the graph of paths.
	NoAgent, NoCommunities, NoSchema bool `source:"the paper, table 3"`
	NoMemberOf                       bool `source:"the paper, section 3.2.1"`
	// Without leaves a route out: entities, facts, communities or paths.
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
