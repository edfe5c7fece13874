// SPDX-License-Identifier: Apache-2.0

package naiverag

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// Name of the system in reports.
const Name = "naiverag"

// Options of the system. The zero value is the default recipe.
type Options struct {
	kit.Common
}

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	return kit.New(kit.Frame{
		Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Embedding}, Flat: k.Trained,
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			embedder, err := c.Embedder(ctx)
			if err != nil {
				return nil, err
			}
			dense, err := c.Shelf.Dense(ctx, c.Chunks, embedder)
			if err != nil {
				return nil, err
			}
			return retrieve.PerDoc(dense, o.MaxPerDoc)
		},
	})
}
