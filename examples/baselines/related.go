// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Related adds a fact between two entities that follow each other in a sentence,
// if the chunk states none about them, with the sentence as its description and
// without a name for the relation. A model that is asked to relate the entities of a text, and to leave
// none alone, says that much; rules find a verb for few of them.
func Related(x extract.Extractor) extract.Extractor { return related{x} }

type related struct{ extract.Extractor }

func (r related) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	found, err := r.Extractor.Extract(ctx, chunks)
	for i := range found {
		relate(chunks[i].Text, &found[i])
	}
	return found, err
}

func relate(of string, x *kg.Extraction) {
	mentions := slices.DeleteFunc(slices.Clone(x.Mentions), func(m kg.Mention) bool { return m.Span == kg.Span{} })
	slices.SortStableFunc(mentions, func(a, b kg.Mention) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	stated := make(map[[2]string]bool)
	between := func(a, b string) [2]string {
		a, b = kg.FoldUnicode.Key(a), kg.FoldUnicode.Key(b)
		return [2]string{min(a, b), max(a, b)}
	}
	for _, f := range x.Facts {
		stated[between(f.Head, f.Tail)] = true
	}
	for _, s := range text.Sentences(of) {
		if s.End-s.Start > maxDescription {
			continue
		}
		last := ""
		for len(mentions) > 0 && mentions[0].Span.Start < s.End {
			m := mentions[0]
			mentions = mentions[1:]
			if m.Span.Start < s.Start {
				continue
			}
			pair := between(last, m.Name)
			if last != "" && pair[0] != pair[1] && !stated[pair] {
				stated[pair] = true
				x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: last, Tail: m.Name}, Description: s.In(of), Span: kg.Span(s)})
			}
			last = m.Name
		}
	}
}
