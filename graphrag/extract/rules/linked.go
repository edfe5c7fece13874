// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Linked adds to the facts of an extractor those that the order of words only
// suggests: two entities that follow one another in a sentence are related, by
// the words between them. The rules of the offline extractor state few facts but
// true ones; a graph of these alone has no ways to walk.
func Linked(x extract.Extractor) extract.Extractor { return linked{x} }

type linked struct{ extract.Extractor }

const (
	// linkedWeight sets suggested facts below stated ones.
	linkedWeight = 0.5
	// maxBetween is how far apart, in bytes, two names may stand, maxRelation
	// how long the text between them may be to say what relates them.
	maxBetween, maxRelation = 150, 60
	// MentionedWith relates names with much text between them.
	MentionedWith = "is mentioned with"
)

func (l linked) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	found, err := l.Extractor.Extract(ctx, chunks)
	if err != nil {
		return nil, err
	}
	return found, par.Each(ctx, len(found), 0, func(i int) error {
		link(chunks[i].Text, &found[i])
		return nil
	})
}

func link(of string, x *kg.Extraction) {
	pair := func(a, b string) [2]string {
		a, b = kg.FoldUnicode.Key(a), kg.FoldUnicode.Key(b)
		return [2]string{min(a, b), max(a, b)}
	}
	stated := make(map[[2]string]bool)
	for _, f := range x.Facts {
		stated[pair(f.Head, f.Tail)] = true
	}
	mentions := make([]*kg.Mention, 0, len(x.Mentions))
	for i := range x.Mentions {
		if m := &x.Mentions[i]; m.Span != (kg.Span{}) && m.Type != Quantity {
			mentions = append(mentions, m)
		}
	}
	slices.SortStableFunc(mentions, func(a, b *kg.Mention) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	sentences := text.Sentences(of)
	var linked []kg.Fact
	for i := 1; i < len(mentions); i++ {
		a, b := mentions[i-1], mentions[i]
		both := pair(a.Name, b.Name)
		if both[0] == both[1] || stated[both] || b.Span.Start < a.Span.End || b.Span.Start-a.Span.End > maxBetween {
			continue
		}
		for len(sentences) > 0 && sentences[0].End <= a.Span.Start {
			sentences = sentences[1:]
		}
		if len(sentences) == 0 || b.Span.End > sentences[0].End {
			continue
		}
		stated[both] = true
		linked = append(linked, kg.Fact{
			Triple: graphrag.Triple{Head: a.Name, Relation: between(of[a.Span.End:b.Span.Start]), Tail: b.Name},
			Weight: linkedWeight, Span: kg.Span{Start: sentences[0].Start, End: sentences[0].End},
		})
	}
	if len(linked) > 0 {
		x.Facts = slices.Concat(x.Facts, linked) // no longer than it has to be
	}
}

// between is a relation of the words between two names.
func between(s string) string {
	var room [maxRelation]byte
	relation := room[:0]
	text.Plain().Words(s, func(w []byte) bool {
		if len(relation) > 0 {
			relation = append(relation, ' ')
		}
		relation = append(relation, w...)
		return len(relation) <= maxRelation
	})
	if len(relation) == 0 || len(relation) > maxRelation {
		return MentionedWith
	}
	return string(relation)
}
