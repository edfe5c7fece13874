// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Rarity weighs words by how few documents of a corpus have them.
type Rarity struct {
	documents float64
	with      map[string]int32
}

// Rarity counts the content words of a corpus. It stops at the first error of the
// stream, and when ctx ends.
func (c *Coverage) Rarity(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (*Rarity, error) {
	r := &Rarity{with: make(map[string]int32)}
	for doc, err := range docs {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("benchmark: rarity of words: %w", err)
		}
		r.documents++
		for w := range set(c.Terms(doc.Text)) {
			r.with[w]++
		}
	}
	return r, nil
}

// weight is the idf of a word, as in BM25.
func (r *Rarity) weight(word string) float64 {
	n := float64(r.with[word])
	return math.Log(1 + (r.documents-n+.5)/(n+.5))
}

// foundShare is the share of a statement that a passage must hold.
const foundShare = 0.5

// Found is the share of the gold statements of a question that are found: one piece of
// the evidence, of a gold document, holds at least half of the statement's content
// words, weighed by their rarity. Recall of documents alone rewards many short pieces,
// this rewards the right ones. It is false when there is nothing to measure.
func (c *Coverage) Found(it Item, evidence []graphrag.Hit, r *Rarity) (float64, bool) {
	if len(it.Gold) == 0 {
		return 0, false
	}
	var held []map[string]bool
	for _, h := range evidence {
		if slices.ContainsFunc(it.Gold, func(u Unit) bool { return slices.Contains(u, h.Chunk.Doc) }) {
			held = append(held, set(c.Terms(h.Chunk.Text)))
		}
	}
	found, n := 0, 0
	for _, statement := range it.GoldStatements() {
		words := slices.Sorted(maps.Keys(set(c.Terms(statement))))
		if len(words) == 0 {
			continue
		}
		n++
		if slices.ContainsFunc(held, func(h map[string]bool) bool { return r.share(words, h) >= foundShare }) {
			found++
		}
	}
	return float64(found) / float64(max(n, 1)), n > 0
}

// share is how much of some words a text holds, by their weights.
func (r *Rarity) share(words []string, held map[string]bool) float64 {
	var all, here float64
	for _, w := range words {
		weight := r.weight(w)
		all += weight
		if held[w] {
			here += weight
		}
	}
	return here / all
}
