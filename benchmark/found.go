// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Rarity weighs words by how few documents of a corpus have them.
type Rarity struct {
	documents int
	words     *text.Vocabulary
	with      []int32 // documents that have each word
}

// Rarity counts the words of a corpus. It stops at the first error of the
// stream, and when ctx ends.
func (c *Coverage) Rarity(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (*Rarity, error) {
	r := &Rarity{words: text.NewVocabulary()}
	var last []int32 // document that had each word, from 1
	for doc, err := range docs {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("benchmark: rarity of words: %w", err)
		}
		r.documents++
		c.words.Words(doc.Text, func(word []byte) bool {
			n, added := r.words.Add(word)
			if added {
				last, r.with = append(last, 0), append(r.with, 0)
			}
			if last[n] != int32(r.documents) {
				last[n] = int32(r.documents)
				r.with[n]++
			}
			return true
		})
	}
	return r, nil
}

// weight is the idf of a word, as in BM25.
func (r *Rarity) weight(word []byte) float64 {
	all, with := float64(r.documents), 0.0
	if n := r.words.Find(word); n >= 0 {
		with = float64(r.with[n])
	}
	return math.Log(1 + (all-with+.5)/(with+.5))
}

// foundShare is the share of a statement that a passage must hold.
const foundShare = 0.5

// Found is the share of the gold statements of a question that are found: one piece of
// the evidence, of a gold document, holds at least half of the statement's content
// words, weighed by their rarity. Recall of documents alone rewards many short pieces,
// this rewards the right ones. It is false when there is nothing to measure.
func (c *Coverage) Found(it Item, evidence []graphrag.Hit, r *Rarity) (float64, bool) {
	return c.hold(it.GoldStatements(), textsOf(evidence)).found(it, evidence, r)
}

// found is the share of [Coverage.Found]; the texts are those of the evidence.
func (h holding) found(it Item, evidence []graphrag.Hit, r *Rarity) (float64, bool) {
	if len(it.Gold) == 0 {
		return 0, false
	}
	var gold [][]bool
	for i, e := range evidence {
		if slices.ContainsFunc(it.Gold, func(u Unit) bool { return slices.Contains(u, e.Chunk.Doc) }) {
			gold = append(gold, h.texts[i])
		}
	}
	found, n := 0, 0
	for _, words := range h.statements {
		if len(words) == 0 {
			continue
		}
		n++
		// In the order of the words, so that sums do not depend on how a statement goes.
		slices.SortFunc(words, func(a, b int32) int { return bytes.Compare(h.words.At(int(a)), h.words.At(int(b))) })
		if slices.ContainsFunc(gold, func(has []bool) bool { return h.weighed(words, has, r) >= foundShare }) {
			found++
		}
	}
	return float64(found) / float64(max(n, 1)), n > 0
}

// weighed is how much of some words a text has, by their weights.
func (h holding) weighed(words []int32, has []bool, r *Rarity) float64 {
	var all, here float64
	for _, w := range words {
		weight := r.weight(h.words.At(int(w)))
		all += weight
		if has[w] {
			here += weight
		}
	}
	return here / all
}
