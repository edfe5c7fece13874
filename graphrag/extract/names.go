// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// NameFinder finds names and their kinds in texts, in order. [local.Names] is one.
type NameFinder interface {
	Name() string
	Find(ctx context.Context, texts []string) ([][]local.Name, error)
}

// ByNames returns an extractor of the names that find finds, without facts.
func ByNames(find NameFinder) Extractor { return byNames{find} }

type byNames struct{ find NameFinder }

// Extract implements [Extractor].
func (b byNames) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	texts, out := make([]string, len(chunks)), make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		texts[i] = c.Text
	}
	found, err := b.find.Find(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	for i, c := range chunks {
		out[i] = kg.Extraction{Chunk: c.ID, Doc: c.Doc}
		for _, n := range found[i] {
			out[i].Mentions = append(out[i].Mentions, kg.Mention{Name: c.Text[n.Start:n.End], Type: n.Kind, Span: kg.Span{Start: n.Start, End: n.End}})
		}
	}
	return out, nil
}
