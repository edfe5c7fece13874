// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Entities returns the entities of a question, in the order of the question:
// quoted strings, capitalized names, dates, and, whatever their case, the names
// that known knows. known is asked for runs of up to eight words as
// [text.FoldName] folds them, the longest first; it may be nil. Spans are bytes
// of the question. The question is only split, not understood: what it asks for
// is not among its entities.
//
// It is safe for concurrent use if known is.
func (o *Extractor) Entities(question string, known func(folded string) bool) []kg.Mention {
	x := o.finder(o.base)
	x.cut(question, text.Span{End: len(question)})
	x.find(query)
	names := x.entities
	if known != nil {
		x.entities = nil
		clear(x.entityOf)
		x.lookUp(known)
		// A name that is known beats what overlaps with it, unless it is
		// longer.
		for _, e := range names {
			same := func(o entity) bool { return o.first == e.first && o.last == e.last }
			if x.free(e) {
				x.entities = append(x.entities, e)
			} else if at := slices.IndexFunc(x.entities, same); at >= 0 {
				x.entities[at].typ = e.typ
			}
		}
		sortEntities(x.entities)
	}
	out := make([]kg.Mention, len(x.entities))
	for i := range x.entities {
		out[i] = o.mention(&x.mentions, &x.entities[i])
	}
	return out
}
