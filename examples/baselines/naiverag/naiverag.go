// SPDX-License-Identifier: Apache-2.0

package naiverag

import (
	"context"
	"errors"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
)

// Name of the system in reports.
const Name = "naiverag"

// Options of the system. The zero value is the default recipe.
type Options struct {
	Cut baselines.Cut
	// MaxPerDoc limits the chunks of one page in a ranking; 0 is no limit.
	MaxPerDoc int
}

// New returns the system.
func New(kit baselines.Kit, o Options) (graphrag.System, error) {
	if kit.Embed == nil {
		return nil, errors.New("naiverag: the kit has no embedder")
	}
	return baselines.NewRetrieveThenRead(baselines.Frame{
		Name: Name, Cut: o.Cut, Reader: kit.Reader, Embedded: kit.CountEmbedded,
		Build: func(ctx context.Context, chunks []graphrag.Chunk) (graphrag.Retriever, error) {
			embedder, err := kit.Embed(ctx, baselines.TitledTexts(chunks))
			if err != nil {
				return nil, err
			}
			return embed.NewRetriever(ctx, chunks, embedder, embed.RetrieverOptions{MaxPerDoc: o.MaxPerDoc})
		},
	})
}
