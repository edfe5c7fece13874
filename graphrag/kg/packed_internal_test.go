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

// Weights take few bytes: those of most facts are short fractions.
func TestPackedWeights(t *testing.T) {
	p := newPacker()
	for weight, most := range map[float64]int{0: 1, 1: 3, .5: 3, 3: 3, 1. / 3: 10} {
		p.numbers = nil
		p.float(weight)
		if len(p.numbers) > most {
			t.Errorf("%g takes %d bytes, want %d at most", weight, len(p.numbers), most)
		}
		u := unpacker{rest: string(p.numbers)}
		if got := u.float(); got != weight || u.rest != "" {
			t.Errorf("%g came back as %g, before %q", weight, got, u.rest)
		}
	}
}

// Lists are as long as what is in them. Texts that several passages say come with all of
// these, others with one.
func TestListsHaveNoRoomLeft(t *testing.T) {
	texts := newInterner()
	var said []told
	var links []link
	for i := range int32(1000) {
		said = append(said, told{list: i / 10, passage: i % 10 / 3, text: texts.id(string(rune('a' + i%7)))})
		links = append(links, link{i / 10, i % 4})
	}
	d, p := described(101, said, texts.texts), gather(100, 4, links)
	if len(d.text) != 700 || cap(d.text) > 710 || len(p.items) != 400 || cap(p.items) > 410 {
		t.Errorf("%d descriptions in room for %d, %d postings in room for %d", len(d.text), cap(d.text), len(p.items), cap(p.items))
	}
	if len(d.more.ends) != 300 || d.of(100) != nil {
		t.Errorf("%d texts of several passages, %v of nothing", len(d.more.ends), d.of(100))
	}
	want := []Description{{"a", []int32{0, 2}}, {"b", []int32{0, 2}}, {"c", []int32{0, 3}}, {"d", []int32{1}}, {"e", []int32{1}}, {"f", []int32{1}}, {"g", []int32{2}}}
	if diff := cmp.Diff(want, d.of(0)); diff != "" {
		t.Error(diff)
	}
}
