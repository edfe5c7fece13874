// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
)

// The defaults of [Options].MaxNodes: the number that a browser renders smoothly, and the number that is
// readable for one question.
const (
	DefaultMaxNodes = 20_000
	DefaultMaxAsked = 120
)

// maxFacts limits the facts of a view; those with the largest counts are shown.
const maxFacts = 200_000

// Limits of texts, in bytes.
const (
	longName = 200
	longText = 1_000
)

// Options of [New]. The zero value shows the largest part of a graph that fits, without sentences.
type Options struct {
	// Title is the heading of the page. Note is the text below it, after the numbers of what is shown.
	Title, Note string
	// Chunks returns the chunks of a document, from which sentences are quoted for facts, as kit.System.Get
	// does; if it is nil, only the names of pages are shown.
	Chunks func(doc string) (chunks []graphrag.Chunk, ok bool)
	// MaxNodes limits the entities; those with the most neighbours are shown. 0 means DefaultMaxNodes, or
	// DefaultMaxAsked for a question.
	MaxNodes int
	// Asked, if set, limits the view to the part of the graph that led to an answer.
	Asked *Asked
}

// Asked is a question with its result.
type Asked struct {
	Question, Answer string
	Found            graphrag.Found
}

// View is a part of a knowledge graph with coordinates and communities, immutable and safe for concurrent use.
type View struct {
	title, note string
	asked       *Asked
	nodes       []node
	facts       []fact
	communities []string // names of the communities, the largest first
	pages       []string
	graph       *graph.Graph
}

// node is an entity.
type node struct {
	name, kind string
	about      []string
	community  int32
	x, y       float64 // coordinates, 0 to 1
	mark       float64 // relevance to the answer, 0 to 1
}

// fact is a relation between two nodes, with its source.
type fact struct {
	Head     int32  `json:"h"`
	Tail     int32  `json:"t"`
	Label    string `json:"l,omitempty"`
	About    string `json:"a,omitempty"`
	Sentence string `json:"s,omitempty"`
	Page     int32  `json:"p"` // index of the page, -1 for none
	Count    int    `json:"n,omitempty"`
	Read     bool   `json:"r,omitempty"` // its passage was part of the evidence
}

// New makes a view of a graph.
func New(ctx context.Context, g *kg.Graph, o Options) (*View, error) {
	switch {
	case g == nil:
		return nil, errors.New("view: there is no graph: the system builds none, or nothing is indexed")
	case o.MaxNodes < 0:
		return nil, fmt.Errorf("view: MaxNodes is %d, want 0 or more", o.MaxNodes)
	}
	whole, err := g.View(kg.ViewOptions{})
	if err != nil {
		return nil, fmt.Errorf("view: read the graph: %w", err)
	}
	trailMarks := trail(g, o.Asked)
	kept := keep(g, whole.Graph, trailMarks, o)
	v := &View{title: line(cmp.Or(o.Title, "Knowledge graph")), asked: o.Asked}
	place := make(map[int32]int32, len(kept))
	for i, e := range kept {
		place[e] = int32(i)
		v.nodes = append(v.nodes, newNode(&g.Entities[e], g.EntityDescriptions(e), trailMarks.weight[e]))
	}
	if err := v.arrange(ctx, whole.Graph, kept, place); err != nil {
		return nil, fmt.Errorf("view: arrange nodes: %w", err)
	}
	v.addFacts(g, place, trailMarks, o.Chunks)
	v.note = counted(len(v.nodes), "entity", "entities") + ", " + counted(len(v.facts), "fact", "facts")
	if n := len(g.Entities); n > len(v.nodes) {
		v.note += fmt.Sprintf(", of %s entities in all", display.Digits(n))
	}
	if o.Note != "" {
		v.note += ". " + line(o.Note)
	}
	return v, ctx.Err()
}

func newNode(e *kg.Entity, said []kg.Description, mark float64) node {
	n := node{name: line(e.Name), kind: line(e.Type), mark: mark}
	for _, d := range said[:min(len(said), 3)] {
		n.about = append(n.about, paragraph(d.Text))
	}
	return n
}

// keep returns the entities to show, in ascending order: the marked ones and their neighbours, or those with
// the most neighbours.
func keep(g *kg.Graph, whole *graph.Graph, m marks, o Options) []int32 {
	most := cmp.Or(o.MaxNodes, DefaultMaxNodes)
	if o.Asked != nil {
		most = cmp.Or(o.MaxNodes, DefaultMaxAsked)
	}
	var out []int32
	near := make([]float64, len(g.Entities)) // proximity to the marked entities
	for e := range near {
		near[e] = 1
		if o.Asked == nil {
			continue
		}
		near[e] = 0
		for _, w := range whole.Neighbors(int32(e)) {
			near[e] += m.weight[w]
		}
		near[e] /= 1 + math.Sqrt(float64(whole.Degree(int32(e)))) // reduced for hubs, which are near to everything
		if w := m.weight[int32(e)]; w > 0 {
			near[e] += 1000 * w
		}
	}
	for e := range near {
		if near[e] > 0 {
			out = append(out, int32(e))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		return cmp.Or(cmp.Compare(near[b], near[a]), cmp.Compare(whole.Degree(b), whole.Degree(a)))
	})
	out = out[:min(most, len(out))]
	slices.Sort(out)
	return out
}

// arrange finds and names the communities of the shown entities, and computes the layout.
func (v *View) arrange(ctx context.Context, whole *graph.Graph, kept []int32, place map[int32]int32) error {
	var edges []graph.Edge
	for i, e := range kept {
		for _, w := range whole.Neighbors(e) {
			if j, ok := place[w]; ok && int32(i) < j {
				edges = append(edges, graph.Edge{From: int32(i), To: j, Weight: 1})
			}
		}
	}
	var err error
	if v.graph, err = graph.New(len(kept), edges); err != nil {
		return err
	}
	parts, err := community.Leiden(ctx, v.graph, community.Options{MaxPasses: 3})
	if err != nil {
		return err
	}
	hub := make([]int32, parts.Communities) // node with the most neighbours in each community
	for i := range hub {
		hub[i] = -1
	}
	for n, c := range parts.Labels {
		v.nodes[n].community = c
		if hub[c] < 0 || v.graph.Degree(int32(n)) > v.graph.Degree(hub[c]) {
			hub[c] = int32(n)
		}
	}
	for _, n := range hub {
		v.communities = append(v.communities, v.nodes[n].name)
	}
	x, y, err := layout(ctx, v.graph, parts.Labels)
	if err != nil {
		return err
	}
	rescale(x, y)
	separate(x, y)
	rescale(x, y)
	for n := range v.nodes {
		v.nodes[n].x, v.nodes[n].y = x[n], y[n]
	}
	return nil
}

// rescale maps coordinates to the unit square, and keeps the aspect ratio.
func rescale(x, y []float64) {
	if len(x) == 0 {
		return
	}
	left, right, top, bottom := slices.Min(x), slices.Max(x), slices.Min(y), slices.Max(y)
	side := max(right-left, bottom-top, math.SmallestNonzeroFloat32)
	for n := range x {
		x[n] = .5 + (x[n]-(left+right)/2)/side
		y[n] = .5 + (y[n]-(top+bottom)/2)/side
	}
}

// line returns an untrusted text in printable form on one line, paragraph on several lines.
func line(s string) string      { return display.OneLine(display.Head(s, longName)) }
func paragraph(s string) string { return display.Printable(display.Head(s, longText)) }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return display.Digits(n) + " " + many
}

// marks is the relevance of entities and passages to an answer.
type marks struct {
	weight   map[int32]float64 // relevance of entities, 0 to 1
	passages map[int32]bool    // passages that are evidence
}

// trail returns the marks of an answer: 1 for entities in the steps of the search, 1/(rank+1) for those in the
// first 20 passages that were read, and ½ for the subjects of derived texts.
func trail(g *kg.Graph, a *Asked) marks {
	m := marks{make(map[int32]float64), make(map[int32]bool)}
	if a == nil {
		return m
	}
	mark := func(e int32, w float64) { m.weight[e] = max(m.weight[e], w) }
	stated := make(map[string]int32) // relations by the text that steps have for facts
	for r := range g.Relations {
		t := g.Triple(int32(r))
		stated[t.Head+" "+t.Relation+" "+t.Tail] = int32(r)
	}
	for _, s := range a.Found.Steps {
		for _, name := range s.Found {
			if e, ok := g.Find(name); ok {
				mark(e, 1)
			} else if r, ok := stated[name]; ok {
				mark(g.Relations[r].Head, 1)
				mark(g.Relations[r].Tail, 1)
			}
		}
	}
	read := a.Found.Evidence
	if read == nil {
		read = a.Found.Ranked
	}
	for rank, hit := range read[:min(len(read), 20)] {
		p, ok := g.Passage(hit.Chunk.ID)
		if !ok {
			continue
		}
		m.passages[p] = true
		for _, e := range g.PassageEntities(p) {
			mark(e.ID, 1/float64(rank+2))
		}
	}
	for _, d := range a.Found.Derived {
		head, _, _ := strings.Cut(d.Text, ":")
		if e, ok := g.Find(head); ok {
			mark(e, .5)
		}
	}
	return m
}

// addFacts adds the relations between shown nodes, preferably those with larger counts, each with a sentence
// that states it.
func (v *View) addFacts(g *kg.Graph, place map[int32]int32, m marks, chunks func(doc string) ([]graphrag.Chunk, bool)) {
	s := sentenceFinder{g: g, chunks: chunks, sentences: make(map[int32][]sentence)}
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
		f := fact{Head: place[rel.Head], Tail: place[rel.Tail], Label: line(cmp.Or(rel.Label, strings.Join(rel.Keywords, ", "))), Page: -1, Count: rel.Count}
		if said := g.RelationDescriptions(r); len(said) > 0 {
			f.About = paragraph(said[0].Text)
		}
		passages := g.RelationPassages(r)
		for _, p := range passages {
			f.Read = f.Read || m.passages[p.ID]
		}
		if p, said := s.find(rel, passages, m); p >= 0 {
			name := s.page(p)
			at, ok := pages[name]
			if !ok {
				at = int32(len(v.pages))
				pages[name] = at
				v.pages = append(v.pages, name)
			}
			f.Page, f.Sentence = at, paragraph(said)
		}
		v.facts = append(v.facts, f)
	}
}

// sentenceFinder finds sentences that state a fact.
type sentenceFinder struct {
	g         *kg.Graph
	chunks    func(doc string) ([]graphrag.Chunk, bool)
	sentences map[int32][]sentence // cache by passage
}

// sentence is a sentence of a passage, and the same in lower case.
type sentence struct{ text, folded string }

// looked is the largest number of passages in which the sentence of a fact is searched.
const looked = 4

// find returns a sentence that names both ends of a relation, or one of them, from a passage that states it,
// preferably evidence. A passage of -1 means that there is none.
func (s *sentenceFinder) find(rel *kg.Relation, passages []kg.Posting, m marks) (passage int32, said string) {
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

// names reports whether a sentence in lower case contains a name of an entity.
func (s *sentenceFinder) names(e int32, folded string) bool {
	all := s.g.Entities[e].Names
	return slices.ContainsFunc(all[:min(len(all), 4)], func(n kg.Count) bool {
		return n.Text != "" && strings.Contains(folded, strings.ToLower(n.Text))
	})
}

func (s *sentenceFinder) of(p int32) []sentence {
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

func (s *sentenceFinder) chunk(p int32) (graphrag.Chunk, bool) {
	passage := s.g.Passages[p]
	if s.chunks != nil {
		chunks, _ := s.chunks(passage.Doc)
		for _, c := range chunks {
			if c.ID == passage.Chunk {
				return c, true
			}
		}
	}
	return graphrag.Chunk{}, false
}

// page returns the name of the document of a passage.
func (s *sentenceFinder) page(p int32) string {
	c, _ := s.chunk(p)
	doc := s.g.Passages[p].Doc
	if c.Title == "" || c.Title == doc {
		return line(doc)
	}
	return line(c.Title + " · " + doc)
}
