// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
)

// named is a whole extractor whose name stands for all that it finds in chunks.
type named struct {
	extract.Extractor
	name string
}

// once is a whole extractor that reads the same chunks once for all that have its name.
type once struct {
	extract.Extractor
	name string
}

// read is the key of what an extractor found in chunks.
type read struct {
	name   string
	chunks memo.Digest
}

func (o once) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	found, err := memo.Of(ctx, read{o.name, digest(chunks)}, func() ([]kg.Extraction, error) { return o.Extractor.Extract(ctx, chunks) })
	if err != nil || !memo.Under(ctx) {
		return found, err
	}
	own := slices.Clone(found) // callers complete what was found
	for i := range own {
		own[i].Mentions, own[i].Facts = slices.Clone(own[i].Mentions), slices.Clone(own[i].Facts)
	}
	return own, nil
}

// digest is that of all that chunks say.
func digest(chunks []graphrag.Chunk) memo.Digest {
	return memo.DigestOf(func(yield func(string) bool) {
		for i := range chunks {
			c := &chunks[i]
			if !yield(c.ID) || !yield(c.Title) || !yield(c.Lead) || !yield(c.Text) {
				return
			}
		}
	})
}
