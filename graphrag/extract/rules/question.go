// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Entities returns the entities of a question, in the order of the question:
// quoted strings, capitalised names, dates, and, whatever their case, the names
// that known knows. known is asked for runs of up to eight words as
// [text.FoldName] folds them, the longest first; it may be nil. Spans are bytes
// of the question. The question is only split, not understood: what it asks for
// is not among its entities.
//
// It is safe for concurrent use if known is.
func (o *Extractor) Entities(question string, known func(folded string) bool) []kg.Mention {
	var x reader
	x.init(o.base)
	x.gazette = o.gazette
	x.reset(question)
	x.span = text.Span{Start: 0, End: len(question)}
	x.run(question, 0, len(question))
	x.find(inquiry)
	names := x.entities
	if known != nil {
		x.entities = nil
		clear(x.owner)
		x.lookUp(known)
		// A name that is known beats what overlaps with it, unless it is
		// longer.
		for _, e := range names {
			if free(x.owner, e) {
				x.entities = append(x.entities, e)
			} else if at := inside(x.entities, e); at >= 0 {
				x.entities[at].typ = e.typ
			}
		}
		sortEntities(x.entities)
	}
	out := make([]kg.Mention, len(x.entities))
	for i := range x.entities {
		out[i] = x.mention(o, &x.entities[i])
	}
	return out
}

// lookUp claims the known names, the longest first.
func (x *reader) lookUp(known func(string) bool) {
	for i := 0; i < len(x.tokens); i++ {
		for j := min(i+maxNameTokens, len(x.tokens)); j > i; j-- {
			first, last := &x.tokens[i], &x.tokens[j-1]
			if first.kind == markToken || last.kind == markToken || j-i == 1 && first.is(function|adverb) && !first.has(upperOnly) {
				continue
			}
			if last.end-first.start <= maxNameBytes && known(text.FoldName(x.text[first.start:last.end])) {
				if x.claim(i, j, x.typeOf(i, j)) != nil {
					i = j - 1
				}
				break
			}
		}
	}
}

// free tells whether no token of e has an owner.
func free(owner []int32, e entity) bool {
	for i := e.first; i < e.last; i++ {
		if owner[i] != 0 {
			return false
		}
	}
	return true
}

// inside returns the entity with the same tokens as e, -1 if there is none.
func inside(entities []entity, e entity) int {
	for i := range entities {
		if entities[i].first == e.first && entities[i].last == e.last {
			return i
		}
	}
	return -1
}
