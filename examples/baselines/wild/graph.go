// SPDX-License-Identifier: Apache-2.0

package wild

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// titledGraph is the graph of names and facts by rules, with either kit, where the corpus
// is one of titled passages, which lead to each other by the names in them. For other
// corpora it is nil. Chunk i is passage i.
func titledGraph(ctx context.Context, chunks []graphrag.Chunk) (*kg.Graph, error) {
	if !extract.TitledPassages(chunks) {
		return nil, nil
	}
	x, err := rules.New(rules.Options{})
	if err != nil {
		return nil, err
	}
	found, err := extract.Titled(extract.Linked(x), true).Extract(ctx, chunks)
	if err != nil {
		return nil, err
	}
	base, err := kg.NewBase(kg.Options{})
	if err != nil {
		return nil, err
	}
	if err := base.Insert(found...); err != nil {
		return nil, err
	}
	return base.Graph(ctx)
}
