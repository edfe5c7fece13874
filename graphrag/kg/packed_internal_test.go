// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
)

// What is packed comes back as it was, also after a larger one in the same memory.
func TestPacked(t *testing.T) {
	of := func(head, relation, tail string) graphrag.Triple {
		return graphrag.Triple{Head: head, Relation: relation, Tail: tail}
	}
	all := []Extraction{
		{
			Chunk: "a#0", Doc: "a",
			Mentions: []Mention{
				{Name: "Fram", Type: "ship", Description: "The Fram sailed.", Span: Span{4, 8}},
				{Name: "Amundsen", Description: "The Fram sailed."},
				{Name: "Fram", Type: "ship", Span: Span{300, 304}},
			},
			Facts: []Fact{
				{Triple: of("Amundsen", "sailed", "Fram"), Description: "He did.", Keywords: []string{"sea", "ship"}, Weight: .5, Span: Span{0, 1 << 20}},
				{Triple: of("Fram", "", "ice"), Span: Span{-1, -3}},
			},
			Attributes: []Attribute{{Entity: "Fram", Key: "built", Value: "1892", Span: Span{1, 2}}},
			Problems:   []Problem{{Kind: "record", Text: "?", Reason: "no"}},
		},
		{Chunk: "b#0", Doc: "b"},
		{Chunk: "c#0", Doc: "c", Mentions: []Mention{{Name: "Gjøa"}}},
	}
	p := newPacker()
	var packs []packed
	for i := range all {
		packs = append(packs, p.pack(&all[i]))
	}
	var u unpacker
	for i := range all {
		var x Extraction
		packs[i].into(&u, all[i].Chunk, &x)
		if diff := cmp.Diff(all[i], x); diff != "" {
			t.Error(diff)
		}
	}
}
