// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows are what a stable sort by both ends makes.
func TestRows(t *testing.T) {
	const entities = 40
	r := rand.New(rand.NewPCG(1, 2))
	arcs := make([]arc, 2000)
	for i := range arcs {
		arcs[i] = arc{from: r.Int32N(entities - 3), to: r.Int32N(entities), weight: float64(i)}
	}
	want := slices.Clone(arcs)
	slices.SortStableFunc(want, func(a, b arc) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var got []arc
	rowed := 0
	for row := range rows(entities, arcs) {
		rowed++
		for _, at := range row {
			got = append(got, arcs[uint32(at)])
		}
	}
	if !slices.Equal(got, want) || rowed != entities {
		t.Errorf("%d rows are not in order", rowed)
	}
}

// What leads to no entity is an error, be it a synonym or a fact of a file.
func TestViewOfWrongEnds(t *testing.T) {
	for _, s := range []Synonym{{From: 2, To: 0}, {From: 0, To: 2}, {From: -1, To: 0}, {From: 0, To: -1}} {
		g := &Graph{Entities: make([]Entity, 2)}
		if _, err := g.View(ViewOptions{Synonyms: []Synonym{s}}); err == nil {
			t.Errorf("%v: no error", s)
		}
		g.Relations = []Relation{{Head: s.From, Tail: s.To, Count: 1}}
		if _, err := g.View(ViewOptions{}); err == nil {
			t.Errorf("%v: no error", s)
		}
	}
}
