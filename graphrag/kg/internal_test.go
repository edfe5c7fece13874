// SPDX-License-Identifier: Apache-2.0

package kg

import (
	std "cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

// A base keeps what it was given, whatever its caller or a reader does with the lists.
func TestOwned(t *testing.T) {
	of := func() Extraction {
		return Extraction{
			Chunk: "a#0", Doc: "a",
			Mentions:   []Mention{{Name: "Fram", Type: "ship", Description: "The Fram sailed.", Span: Span{4, 8}}},
			Facts:      []Fact{{Triple: graphrag.Triple{Head: "Amundsen", Relation: "sailed", Tail: "Fram"}, Description: "He did.", Keywords: []string{"sea"}, Weight: .5}},
			Attributes: []Attribute{{Entity: "Fram", Key: "built", Value: "1892", Span: Span{1, 2}}},
			Problems:   []Problem{{Kind: "record", Text: "?", Reason: "no"}},
		}
	}
	spoil := func(x Extraction) {
		x.Mentions[0].Name, x.Facts[0].Head, x.Facts[0].Keywords[0], x.Attributes[0].Key, x.Problems[0].Text = "", "", "", "", ""
	}
	b := check.Of(NewBase(Options{})).OK(t)
	given := of()
	check.OK(t, b.Insert(given))
	spoil(given)
	for range 2 {
		for x := range b.Extractions() {
			check.Equal(t, x, of())
			spoil(x)
		}
	}
}

// Rows are what a stable sort by both ends makes.
func TestRows(t *testing.T) {
	const entities = 40
	r := rand.New(rand.NewPCG(1, 2))
	arcs := make([]arc, 2000)
	for i := range arcs {
		arcs[i] = arc{from: r.Int32N(entities - 3), to: r.Int32N(entities), weight: float64(i)}
	}
	want := slices.Clone(arcs)
	slices.SortStableFunc(want, func(a, b arc) int { return std.Or(std.Compare(a.from, b.from), std.Compare(a.to, b.to)) })
	var got []arc
	rowed := 0
	for row := range rows(entities, arcs) {
		rowed++
		for _, at := range row {
			got = append(got, arcs[uint32(at)])
		}
	}
	check.True(t, slices.Equal(got, want) && rowed == entities, "%d rows are not in order", rowed)
}

// What leads to no entity is an error, be it a synonym or a fact of a file.
func TestViewOfWrongEnds(t *testing.T) {
	for _, s := range []Synonym{{From: 2, To: 0}, {From: 0, To: 2}, {From: -1, To: 0}, {From: 0, To: -1}} {
		g := &Graph{Entities: make([]Entity, 2)}
		check.True(t, check.Err(g.View(ViewOptions{Synonyms: []Synonym{s}})) != nil, "%v: no error", s)
		g.Relations = []Relation{{Head: s.From, Tail: s.To, Count: 1}}
		check.True(t, check.Err(g.View(ViewOptions{})) != nil, "%v: no error", s)
	}
}

// Lists come back as they were added, also empty ones, and do not grow into each other.
func TestLists(t *testing.T) {
	var l Lists
	l.Append(3, 1)
	l.Append()
	l.Append(2)
	l.Clip()
	_ = append(l.Of(0), 9)
	var got [][]int32
	for i, list := range l.All() {
		check.Equal(t, int(i), len(got), "list %d after %d", i, len(got))
		got = append(got, list)
	}
	diff := cmp.Diff([][]int32{{3, 1}, {}, {2}}, got)
	check.True(t, diff == "" && l.Len() == 3, "%d lists: %s", l.Len(), diff)
}

// Who is in no pair has none, and the pairs of an entity are in their order.
func TestIncident(t *testing.T) {
	ends := [][2]int32{{0, 1}, {3, 0}, {1, 3}}
	l := Incident(4, len(ends), func(p int32) [2]int32 { return ends[p] })
	check.Equal(t, [][]int32{l.Of(0), l.Of(1), l.Of(2), l.Of(3)}, [][]int32{{0, 1}, {0, 2}, {}, {1, 2}})
}

// The relations of two entities are together whatever their label; there and back
// are one unless they are directed.
func TestPairs(t *testing.T) {
	x := Extraction{Chunk: "a#0", Doc: "a"}
	for _, s := range []string{"BxA", "AzB", "AyC", "AwB", "CvC"} {
		x.Facts = append(x.Facts, Fact{Triple: graphrag.Triple{Head: s[:1], Relation: s[1:2], Tail: s[2:]}})
	}
	g := put(t, Options{}, x)
	words := func(directed bool) (out []string) {
		of := g.Pairs(directed)
		for _, pair := range of.All() {
			s := ""
			for _, r := range pair {
				x := g.Triple(r)
				s += x.Head + x.Relation + x.Tail + " "
			}
			out = append(out, strings.TrimSpace(s))
		}
		return out
	}
	check.Equal(t, words(false), []string{"AwB AzB BxA", "AyC", "CvC"})
	check.Equal(t, words(true), []string{"AwB AzB", "AyC", "BxA", "CvC"})
}
