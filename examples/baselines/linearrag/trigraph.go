// SPDX-License-Identifier: Apache-2.0

package linearrag

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// triGraph is the paper's Tri-Graph: entities, and the sentences and passages that name them.
type triGraph struct {
	names     []string       // of the entities, folded
	sentences []string       // that name an entity, each once
	named     [][]int32      // by sentence: its entities, ascending
	in        [][]int32      // by entity: its sentences, ascending
	passages  [][]kg.Posting // by passage: its entities with the number of mentions
	mentions  [][]kg.Posting // by entity: its passages with the number of mentions
}

// newTriGraph finds the names of all entities in all passages, as whole words in any case.
func newTriGraph(c *kit.Corpus) *triGraph {
	t := &triGraph{passages: make([][]kg.Posting, len(c.Chunks))}
	ids := make(map[string]int32)
	for _, e := range c.Graph.Entities {
		if e.Type == rules.Quantity { // numbers are not entities in LinearRAG
			continue
		}
		ids[wordsOf(e.Key)] = int32(len(t.names))
		t.names = append(t.names, e.Key)
	}
	delete(ids, "")
	t.in, t.mentions = make([][]int32, len(t.names)), make([][]kg.Posting, len(t.names))
	known := make(map[string]int32)
	var found []int32
	for p, chunk := range c.Chunks {
		var all []int32
		whole := chunk.Titled()
		for _, span := range text.Sentences(whole) {
			sentence := span.In(whole)
			found = match(found[:0], sentence, ids)
			if len(found) == 0 {
				continue
			}
			all = append(all, found...)
			if _, ok := known[sentence]; !ok {
				known[sentence] = int32(len(t.sentences))
				t.add(sentence, found)
			}
		}
		t.passages[p] = count(all)
		for _, m := range t.passages[p] {
			t.mentions[m.ID] = append(t.mentions[m.ID], kg.Posting{ID: int32(p), Count: m.Count})
		}
	}
	return t
}

func (t *triGraph) add(sentence string, found []int32) {
	of := slices.Clone(found)
	slices.Sort(of)
	of = slices.Compact(of)
	for _, e := range of {
		t.in[e] = append(t.in[e], int32(len(t.sentences)))
	}
	t.sentences, t.named = append(t.sentences, sentence), append(t.named, of)
}

// wordsOf returns the words of a name, separated by single spaces.
func wordsOf(s string) string {
	var words []string
	text.Plain().Words(s, func(w []byte) bool { words = append(words, string(w)); return true })
	return strings.Join(words, " ")
}

// match appends the entities that a sentence names. Of overlapping names it takes the longest.
func match(to []int32, sentence string, ids map[string]int32) []int32 {
	const maxWords = 8 // of a name
	var b strings.Builder
	var ends []int // of each word
	text.Plain().Words(sentence, func(w []byte) bool {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.Write(w)
		ends = append(ends, b.Len())
		return true
	})
	words, at := b.String(), 0
	for i := 0; i < len(ends); {
		next := i + 1
		for n := min(maxWords, len(ends)-i); n > 0; n-- {
			if e, ok := ids[words[at:ends[i+n-1]]]; ok {
				to = append(to, e)
				next = i + n
				break
			}
		}
		at, i = ends[next-1]+1, next
	}
	return to
}

// count sorts and counts entities.
func count(found []int32) []kg.Posting {
	slices.Sort(found)
	var out []kg.Posting
	for _, e := range found {
		if n := len(out); n > 0 && out[n-1].ID == e {
			out[n-1].Count++
		} else {
			out = append(out, kg.Posting{ID: e, Count: 1})
		}
	}
	return out
}

// bonus returns, for each passage, the sum over active entities of score · log(1 + mentions) / tier.
func (t *triGraph) bonus(table []activeEntity) []float64 {
	out := make([]float64, len(t.passages))
	sorted := slices.Clone(table)
	slices.SortFunc(sorted, func(a, b activeEntity) int { return cmp.Compare(a.entity, b.entity) })
	for _, a := range sorted {
		for _, m := range t.mentions[a.entity] {
			out[m.ID] += a.score * math.Log1p(float64(m.Count)) / float64(a.tier)
		}
	}
	return out
}
