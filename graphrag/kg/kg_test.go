// SPDX-License-Identifier: Apache-2.0

package kg

import (
	std "cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

func triple(h, r, t string) Fact { return Fact{Triple: graphrag.Triple{Head: h, Relation: r, Tail: t}} }

func chunk(id string, facts ...Fact) Extraction {
	doc, _, _ := strings.Cut(id, "#")
	return Extraction{Chunk: id, Doc: doc, Facts: facts}
}

func put(t *testing.T, o Options, extractions ...Extraction) *Graph {
	t.Helper()
	b := check.Of(NewBase(o)).OK(t)
	check.OK(t, b.Insert(extractions...))
	return check.Of(b.Graph(t.Context())).OK(t)
}

func TestGraphGathers(t *testing.T) {
	g := put(t, Options{},
		Extraction{Chunk: "b#0", Doc: "b",
			Mentions:   []Mention{{Name: "acme corp", Type: "place"}, {Name: "Berlin"}},
			Attributes: []Attribute{{Entity: "ACME Corp", Key: "founded", Value: "1901"}},
			Facts:      []Fact{triple("ACME Corp", "Located_in", "Berlin")}},
		Extraction{Chunk: "a#0", Doc: "a",
			Mentions: []Mention{
				{Name: "Acme Corp.", Type: "organization", Description: "A maker of anvils."},
				{Name: "Acme  Corp.", Type: "organization", Description: "A maker of anvils."},
			},
			Attributes: []Attribute{{Entity: "Acme Corp.", Key: "founded", Value: "1901"}},
			Facts: []Fact{
				{Triple: graphrag.Triple{Head: "Acme Corp.", Relation: "located in", Tail: "Berlin"}, Weight: 7, Keywords: []string{"seat", "city"}, Description: "Its seat is Berlin."},
				triple("Acme Corp.", "located in", "Berlin"),
			}},
	)
	want := []Entity{
		{Key: "acme corp", Name: "Acme Corp.", Type: "organization", Mentions: 8,
			Names:      []Count{{"Acme Corp.", 5}, {"ACME Corp", 2}, {"acme corp", 1}},
			Types:      []Count{{"organization", 2}, {"place", 1}},
			Attributes: []Property{{"founded", "1901", []int32{0, 1}}}},
		{Key: "berlin", Name: "Berlin", Mentions: 4, Names: []Count{{"Berlin", 4}}, Types: []Count{}},
	}
	check.Equal(t, g.Entities, want, "entities")
	relations := []Relation{{Head: 0, Tail: 1, Label: "located in", Key: "located in", Count: 3, Weight: 9, Keywords: []string{"city", "seat"}}}
	check.Equal(t, g.Relations, relations, "relations")
	said := [][]Description{g.EntityDescriptions(0), g.EntityDescriptions(1), g.RelationDescriptions(0)}
	check.Equal(t, said, [][]Description{{{"A maker of anvils.", []int32{0}}}, nil, {{"Its seat is Berlin.", []int32{0}}}}, "descriptions")
	check.Equal(t, g.Passages, []Passage{{"a#0", "a"}, {"b#0", "b"}}, "passages")
	lists := [][]Posting{g.EntityPassages(0), g.PassageEntities(1), g.RelationPassages(0), g.PassageRelations(0), g.EntityRelations(1)}
	check.Equal(t, lists, [][]Posting{{{0, 5}, {1, 3}}, {{0, 3}, {1, 2}}, {{0, 2}, {1, 1}}, {{0, 2}}, {{0, 1}}}, "postings")
	e, ok := g.Find(" “ACME corp” ")
	check.True(t, ok && e == 0, "found %d, %v", e, ok)
	_, ok = g.Find("Acme")
	check.True(t, !ok, "found what is not there")
	check.Equal(t, g.Triple(0), (graphrag.Triple{Head: "Acme Corp.", Relation: "located in", Tail: "Berlin"}), "triple")
}

// Different names in every script stay different; names without letters or digits are rejected, and listed.
func TestNames(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	g := put(t, Options{}, Extraction{Chunk: "a#0", Doc: "a", Mentions: []Mention{
		{Name: "東京"}, {Name: "北京"}, {Name: "Москва"}, {Name: "القاهرة"}, {Name: "C++"}, {Name: "C"}, {Name: "§"}, {Name: "†"},
		{Name: ""}, {Name: " \t"}, {Name: long}, {Name: "\xff\xfeOslo"}, {Name: "Os\u00adlo"},
	}, Facts: []Fact{triple("Kyoto", "is", ""), triple("", "is", "Nara")},
		Attributes: []Attribute{{Entity: " ", Key: "k", Value: "v"}}})
	var keys []string
	for _, e := range g.Entities {
		keys = append(keys, e.Key)
	}
	want := []string{"c", "c++", "oslo", "§", "москва", "القاهرة", "†", "北京", "東京", "\ufffdoslo"}
	check.Equal(t, keys, want, "keys")
	var kinds []string
	for _, r := range g.Rejected {
		kinds = append(kinds, r.Kind)
		check.True(t, r.Chunk == "a#0" && r.Reason != "" && len(r.Text) <= 100, "rejection %+v", r)
	}
	check.Equal(t, kinds, []string{"mention", "mention", "mention", "fact", "fact", "attribute"}, "rejected")
	check.Equal(t, len(g.Relations), 0, "half a fact was kept: %v", g.Relations)
}

// The examples of HippoRAG's normalisation.
func TestFoldASCII(t *testing.T) {
	for name, want := range map[string]string{
		"Beyoncé's (1981)": "beyonc  s  1981", "  U.S.A. ": "u s a", "東京": "", "C++": "c", "o’neil & sons": "o neil   sons",
		"\f6&\f\f6": "6   6", "a\xffb": "ab", "A. Lovelace": "a  lovelace", "İstanbul": "i stanbul", "\u212a2": "k2",
	} {
		check.Equal(t, FoldASCII.Key(name), want, "%q folds to", name)
		check.Equal(t, FoldASCII.Key(want), want, "%q folded again", want)
	}
}

func TestInsertRefuses(t *testing.T) {
	b, _ := NewBase(Options{})
	err := b.Insert(chunk("a#0"), Extraction{Doc: "a"}, chunk("a#0"),
		chunk("a#1", Fact{Triple: graphrag.Triple{Head: "A", Tail: "B"}, Weight: math.NaN()}),
		chunk("a#2", Fact{Triple: graphrag.Triple{Head: "A", Tail: "B"}, Weight: -1}))
	for _, want := range []string{"extraction 1", `has the same chunk "a#0"`, `chunk "a#1": the weight NaN`, `chunk "a#2": the weight -1`} {
		check.Fails(t, err, want)
	}
	check.Equal(t, b.chunks.Len(), 0, "chunks were added")
	_, err = NewBase(Options{Folding: "greek"})
	check.Fails(t, err, `Folding is "greek"`, "a folding that is not there")
}

// Facts whose ends no chunk describes can be left out, as Microsoft GraphRAG does: with descriptions in the
// same chunk, and in any chunk.
func TestOnlyDescribed(t *testing.T) {
	said := Extraction{Chunk: "a#0", Doc: "a", Mentions: []Mention{{Name: "Fram", Description: "A ship."}, {Name: "Oslo"}}}
	facts := chunk("b#0", triple("Fram", "lay in", "Oslo"), triple("Nansen", "sailed", "the ship"), triple("fram", "carried", "Nansen"))
	facts.Mentions = []Mention{{Name: "Nansen", Type: "person"}, {Name: "Fram"}, {Name: "the ship"}, {Name: "Oslo"}}
	for only, want := range map[bool]int{false: 3, true: 1} {
		b := check.Of(NewBase(Options{OnlyDescribed: only})).OK(t)
		check.OK(t, b.Insert(said, facts))
		g, err := b.Graph(t.Context())
		check.True(t, err == nil && len(g.Relations) == want && len(g.Rejected) == 3-want,
			"%v: %d relations, rejected %v, %v", only, len(g.Relations), g.Rejected, err)
		_, ok := g.Find("Oslo")
		check.True(t, ok != only, "%v: Oslo is there: %v", only, ok)
	}
}

func TestGraphErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b, _ := NewBase(Options{})
	_ = b.Insert(chunk("a#0", triple("A", "b", "C")))
	check.Is(t, check.Err(b.Graph(ctx)), context.Canceled)
	g, err := b.Graph(t.Context())
	check.True(t, err == nil && len(g.Entities) == 2, "after a cancelled call: %v", err)
	v, err := put(t, Options{}).View(ViewOptions{Passages: true})
	check.True(t, err == nil && v.N() == 0 && v.Entities+v.Passages == 0, "of nothing %+v, %v", v, err)
}

// random returns n documents of up to three chunks about few things, so that they share names, spellings and
// facts.
func random(r *rand.Rand, n int) []Extraction {
	names := []string{"Ada Lovelace", "ada lovelace", "Ada, Lovelace", "Ada Lovelance", "Turing", "Alan Turing", "Engine No. 1", "Engine No. 2", "東京", "Tōkyō", "", "Analytical Engine", "The Analytical Engine"}
	types := []string{"", "person", "machine", "place"}
	name := func() string { return names[r.IntN(len(names))] }
	var out []Extraction
	for d := range n {
		for c := range 1 + r.IntN(3) {
			x := Extraction{Chunk: fmt.Sprintf("d%02d#%d", d, c), Doc: fmt.Sprintf("d%02d", d)}
			for range r.IntN(4) {
				x.Mentions = append(x.Mentions, Mention{Name: name(), Type: types[r.IntN(len(types))], Description: fmt.Sprint("text ", r.IntN(5))})
			}
			for range r.IntN(4) {
				f := triple(name(), []string{"wrote", "built", ""}[r.IntN(3)], name())
				f.Weight, f.Keywords = float64(r.IntN(100))/7, []string{fmt.Sprint(r.IntN(9))}
				x.Facts = append(x.Facts, f)
			}
			x.Attributes = append(x.Attributes, Attribute{Entity: name(), Key: "k", Value: fmt.Sprint(r.IntN(3))})
			out = append(out, x)
		}
	}
	return out
}

// After a document is deleted the graph equals one that never had it, whatever the order and number of
// insertions.
func TestDeleteRestores(t *testing.T) {
	everything := cmp.Options{cmp.AllowUnexported(Graph{}, lists[Posting]{}, lists[Description]{}), cmpopts.EquateEmpty()}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		all := random(r, 12)
		gone := map[string]bool{"d03": true, "d07": true, "d11": true}
		opts := Options{}
		if seed%4 == 0 {
			opts = Options{Folding: FoldASCII}
		}
		once, _ := NewBase(opts)
		twice, _ := NewBase(opts)
		for _, x := range all {
			if !gone[x.Doc] {
				check.OK(t, once.Insert(x))
			}
		}
		for range 2 {
			for _, i := range r.Perm(len(all)) {
				check.OK(t, twice.Insert(all[i]))
			}
			check.OK(t, check.Err(twice.Graph(t.Context())))
		}
		check.Must(t, twice.Delete("d11", "d03", "nowhere", "d07") != 0, "nothing was deleted")
		g := check.Of(once.Graph(t.Context())).OK(t)
		h := check.Of(twice.Graph(t.Context())).OK(t)
		diff := cmp.Diff(g, h, everything)
		check.Must(t, diff == "", "seed %d (-without +deleted):\n%s", seed, diff)
		diff = cmp.Diff(slices.Collect(once.Extractions()), slices.Collect(twice.Extractions()))
		check.Must(t, diff == "", "seed %d: the extractions differ:\n%s", seed, diff)
		consistent(t, g)
	}
}

// consistent checks that the lists of a graph agree with each other.
func consistent(t *testing.T, g *Graph) {
	t.Helper()
	uses, facts := 0, 0
	for e := range g.Entities {
		check.True(t, g.Entities[e].Mentions != 0 && (e <= 0 || g.Entities[e-1].Key < g.Entities[e].Key),
			"entity %d: %+v", e, g.Entities[e])
		uses += g.Entities[e].Mentions
		for _, p := range g.EntityPassages(int32(e)) {
			uses -= int(p.Count)
			check.True(t, slices.Contains(g.PassageEntities(p.ID), Posting{int32(e), p.Count}),
				"passage %d does not list entity %d", p.ID, e)
		}
	}
	for r := range g.Relations {
		facts += g.Relations[r].Count
		for _, p := range g.RelationPassages(int32(r)) {
			facts -= int(p.Count)
			check.True(t, slices.Contains(g.PassageRelations(p.ID), Posting{int32(r), p.Count}),
				"passage %d does not list relation %d", p.ID, r)
		}
	}
	check.True(t, uses == 0 && facts == 0, "%d uses and %d facts are in no passage", uses, facts)
}

// A base is restored from the JSON of its extractions, whatever bytes they have.
func TestExtractionsAsJSON(t *testing.T) {
	b, _ := NewBase(Options{})
	check.OK(t, b.Insert(append(random(rand.New(rand.NewPCG(1, 2)), 4), chunk("z#0", triple("<b>Zürich</b>\u2028", "\xff", "x")))...))
	want := slices.Collect(b.Extractions())
	data := check.Of(json.Marshal(want)).OK(t)
	var read []Extraction
	check.OK(t, json.Unmarshal(data, &read))
	again, _ := NewBase(Options{})
	check.OK(t, again.Insert(read...))
	check.Equal(t, slices.Collect(again.Extractions()), want, "(-saved +restored)")
}

// FuzzGraph builds graphs from hostile names.
func FuzzGraph(f *testing.F) {
	f.Add("Ada", "wrote", "Notes", "ada.")
	f.Add("!\f\x10", "", "", "")
	f.Add("0", "\f6&\f\f6", "\u200b", "東京")
	f.Add("", "\xff", "\u200b", "東京")
	f.Add("İstanbul", "ß", "ẞ", "Σς")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		for _, folding := range []Folding{FoldUnicode, FoldASCII} {
			base := check.Of(NewBase(Options{Folding: folding})).OK(t)
			check.OK(t, base.Insert(chunk("1#0", triple(a, b, c), triple(c, a, d)), Extraction{Chunk: "2#0", Doc: "2", Mentions: []Mention{{Name: d, Type: a}, {Name: b}}}))
			g := check.Of(base.Graph(t.Context())).OK(t)
			consistent(t, g)
			for _, e := range g.Entities {
				if id, ok := g.Find(e.Name); !ok || g.Entities[id].Key != e.Key {
					t.Errorf("%q of key %q is found as %d, %v", e.Name, e.Key, id, ok)
				}
			}
		}
	})
}

// A base keeps what it was given, even if its caller or a reader changes the lists.
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

// A synonym, or a fact of a file, with an entity that does not exist is an error.
func TestViewOfWrongEnds(t *testing.T) {
	for _, s := range []Synonym{{From: 2, To: 0}, {From: 0, To: 2}, {From: -1, To: 0}, {From: 0, To: -1}} {
		g := &Graph{Entities: make([]Entity, 2)}
		check.True(t, check.Err(g.View(ViewOptions{Synonyms: []Synonym{s}})) != nil, "%v: no error", s)
		g.Relations = []Relation{{Head: s.From, Tail: s.To, Count: 1}}
		check.True(t, check.Err(g.View(ViewOptions{})) != nil, "%v: no error", s)
	}
}

// Lists are returned as they were added, also empty ones, and an append to one does not change another.
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

// A change normalizes names of new chunks only, and texts that no chunk of a base has are forgotten; its copies
// keep theirs.
func TestNamesAreFoldedOnce(t *testing.T) {
	const names = 3000
	b := check.Of(NewBase(Options{})).OK(t)
	insert := func(id string) *Graph {
		x := chunk(id)
		for i := range names {
			x.Mentions = append(x.Mentions, Mention{Name: fmt.Sprint(id, " No. ", i)})
		}
		check.OK(t, b.Insert(x))
		return check.Of(b.Graph(t.Context())).OK(t)
	}
	want, first := insert("a#0"), b.Clone()
	for i := range 9 {
		check.Equal(t, len(insert(fmt.Sprint("b#", i)).Entities), (i+2)*names, "entities")
	}
	one := func() { check.OK(t, std.Or(b.Insert(chunk("c#0")), check.Err(b.Graph(t.Context())))) }
	check.True(t, testing.AllocsPerRun(3, one) < names, "a change of one chunk takes as long as all")
	b.Delete("b", "c")
	check.Equal(t, insert("a#0").Entities, want.Entities, "what is left")
	check.OK(t, first.Insert(chunk("b#0")))
	check.Equal(t, check.Of(first.Graph(t.Context())).OK(t).Entities, want.Entities, "of the copy")
	check.True(t, len(b.words.texts) < 5*names, "%d texts of %d names are kept", len(b.words.texts), names)
}

// An entity in no pair has no pairs, and the pairs of an entity are sorted.
func TestIncident(t *testing.T) {
	ends := [][2]int32{{0, 1}, {3, 0}, {1, 3}}
	l := Incident(4, len(ends), func(p int32) [2]int32 { return ends[p] })
	check.Equal(t, [][]int32{l.Of(0), l.Of(1), l.Of(2), l.Of(3)}, [][]int32{{0, 1}, {0, 2}, {}, {1, 2}})
}

// The relations of two entities are merged whatever their labels; both directions are one relation unless it is
// directed.
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
