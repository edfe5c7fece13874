// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Phrases returns the entities that are ends of facts, HippoRAG's phrases, and
// for every entity the number of passages that state a fact about it.
func Phrases(g *kg.Graph) (phrases, passages []int32) {
	passages = make([]int32, len(g.Entities))
	var ends []int32
	for p := range g.Passages {
		ends = g.AppendFactEntities(ends[:0], int32(p))
		for _, e := range ends {
			passages[e]++
		}
	}
	for e, n := range passages {
		if n > 0 {
			phrases = append(phrases, int32(e))
		}
	}
	return phrases, passages
}

// Rank returns the depth best chunks with a score above 0, best first, equal
// ones by ID, at most perDoc of one document (0: any number).
func Rank(chunks []graphrag.Chunk, scores []float64, depth, perDoc int, source string) []graphrag.Hit {
	order := make([]int32, 0, len(chunks))
	for i, s := range scores {
		if s > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	var out []graphrag.Hit
	taken := make(map[string]int)
	for _, i := range order {
		if len(out) >= depth {
			break
		}
		c := chunks[i]
		if taken[c.Doc]++; perDoc > 0 && taken[c.Doc] > perDoc {
			continue
		}
		out = append(out, graphrag.Hit{Chunk: c, Score: scores[i], Source: source})
	}
	return out
}

// TitledTexts are the texts of chunks with their titles.
func TitledTexts(chunks []graphrag.Chunk) []string {
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = embed.TitledText(c)
	}
	return texts
}

// Linker compares names: by the vectors of an embedder that was trained on
// language, if the kit has one, else by spelling. LSA knows words by the chunks
// they are in, which says little about a name.
func (k Kit) Linker(ctx context.Context) (kg.Linker, error) {
	if !k.Pretrained {
		return kg.Trigrams{}, nil
	}
	e, err := k.Embedder(ctx, nil)
	if e == nil && err == nil {
		err = errors.New("the kit has no embedder")
	}
	return kg.Embeddings{Embedder: e}, err
}
