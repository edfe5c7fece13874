// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"cmp"
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// Names of the system in reports, with its agent and without (the paper's ablation,
// table 3).
const (
	Name        = "youtu"
	NameNoAgent = "youtu-noagent"
)

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	o.Communities.MaxCommunities = cmp.Or(o.Communities.MaxCommunities, DefaultCommunities)
	o.Paths.Cost = cmp.Or(o.Paths.Cost, DefaultPathCost)
	o.Facts = cmp.Or(o.Facts, DefaultFacts)
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding, kit.Embedding, kit.Linking}}
	if o.NoAgent {
		f.Name = NameNoAgent
	}
	f.Problems = o.check()
	f.ExtractBy(o.Extract, extraction(k, o))
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}
