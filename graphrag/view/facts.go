// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// addFacts adds the relations of the nodes that are shown, those that more passages state
// first, each with a sentence that says so.
func (v *View) addFacts(g *kg.Graph, place map[int32]int32, m marks, chunks func(doc string) []graphrag.Chunk) {
	s := speaker{g: g, chunks: chunks, sentences: make(map[int32][]sentence)}
	pages := make(map[string]int32)
	var kept []int32
	for r := range g.Relations {
		_, head := place[g.Relations[r].Head]
		_, tail := place[g.Relations[r].Tail]
		if head && tail && g.Relations[r].Head != g.Relations[r].Tail {
			kept = append(kept, int32(r))
		}
	}
	slices.SortStableFunc(kept, func(a, b int32) int { return cmp.Compare(g.Relations[b].Count, g.Relations[a].Count) })
	kept = kept[:min(len(kept), maxFacts)]
	slices.Sort(kept)
	for _, r := range kept {
		rel := &g.Relations[r]
		f := fact{head: place[rel.Head], tail: place[rel.Tail], label: line(cmp.Or(rel.Label, strings.Join(rel.Keywords, ", "))), page: -1, count: rel.Count}
		if said := g.RelationDescriptions(r); len(said) > 0 {
			f.about = paragraph(said[0].Text)
		}
		passages := g.RelationPassages(r)
		for _, p := range passages {
			f.read = f.read || m.passages[p.ID]
		}
		if p, said := s.says(rel, passages, m); p >= 0 {
			name := s.page(p)
			at, ok := pages[name]
			if !ok {
				at = int32(len(v.pages))
				pages[name] = at
				v.pages = append(v.pages, name)
			}
			f.page, f.sentence = at, paragraph(said)
		}
		v.facts = append(v.facts, f)
	}
}

// speaker finds the sentences that say a fact.
type speaker struct {
	g         *kg.Graph
	chunks    func(doc string) []graphrag.Chunk
	sentences map[int32][]sentence // by passage
}

// sentence is one of a passage, as it is and in lower case.
type sentence struct{ text, folded string }

// looked is in how many passages of a fact its sentence is looked for.
const looked = 4

// says finds a sentence that names both ends of a relation, or else one of them, in a
// passage that states it, one that was read before others. A passage of -1 is none.
func (s *speaker) says(rel *kg.Relation, passages []kg.Posting, m marks) (passage int32, said string) {
	order := slices.Clone(passages)
	slices.SortStableFunc(order, func(a, b kg.Posting) int {
		switch {
		case m.passages[a.ID] == m.passages[b.ID]:
			return 0
		case m.passages[a.ID]:
			return -1
		}
		return 1
	})
	passage = -1
	best := 0
	for _, p := range order[:min(len(order), looked)] {
		if passage < 0 {
			passage = p.ID
		}
		for _, sent := range s.of(p.ID) {
			named := 0
			for _, e := range []int32{rel.Head, rel.Tail} {
				if s.names(e, sent.folded) {
					named++
				}
			}
			if named > best {
				best, passage, said = named, p.ID, sent.text
			}
		}
		if best == 2 {
			break
		}
	}
	return passage, said
}

// names tells whether a sentence in lower case has an entity by one of its names.
func (s *speaker) names(e int32, folded string) bool {
	all := s.g.Entities[e].Names
	return slices.ContainsFunc(all[:min(len(all), 4)], func(n kg.Count) bool {
		return n.Text != "" && strings.Contains(folded, strings.ToLower(n.Text))
	})
}

// of are the sentences of a passage.
func (s *speaker) of(p int32) []sentence {
	if out, ok := s.sentences[p]; ok || s.chunks == nil {
		return out
	}
	c, _ := s.chunk(p)
	var out []sentence
	for _, span := range text.Sentences(c.Text) {
		one := strings.Join(strings.Fields(span.In(c.Text)), " ")
		out = append(out, sentence{one, strings.ToLower(one)})
	}
	s.sentences[p] = out
	return out
}

func (s *speaker) chunk(p int32) (graphrag.Chunk, bool) {
	passage := s.g.Passages[p]
	if s.chunks != nil {
		for _, c := range s.chunks(passage.Doc) {
			if c.ID == passage.Chunk {
				return c, true
			}
		}
	}
	return graphrag.Chunk{}, false
}

// page is what the document of a passage is called.
func (s *speaker) page(p int32) string {
	c, _ := s.chunk(p)
	doc := s.g.Passages[p].Doc
	if c.Title == "" || c.Title == doc {
		return line(doc)
	}
	return line(c.Title + " · " + doc)
}
