// SPDX-License-Identifier: Apache-2.0

// Package gretriever is the retrieval of G-Retriever (He and others, "G-Retriever: Retrieval-Augmented
// Generation for Textual Graph Understanding and Question Answering", arXiv 2402.07630, NeurIPS 2024, and
// XiaoxinHe/G-Retriever): the nodes and edges of a textual graph that are most similar to the question have
// prizes, each edge has a cost, and the connected part of the graph with the best balance, a prize-collecting
// Steiner tree, goes into the prompt as text ([graph.Subgraph]).
//
// The graph encoder, its soft prompt, and the tuning of either are left out: they need
// weights that are trained for each data set. So this is the paper's retrieval with a frozen
// model that reads text (its Table 10: 66.2 Hit@1 on WebQSP against 70.5 with the encoder).
//
// G-Retriever gets a small graph with each question and no texts. Here one graph of the open triples of a corpus
// serves all questions. Besides the triples of the selected part, the chunks that state them are read, then the
// chunks that name its nodes, each by similarity to the question, as the authors advise for corpora of text.
//
// Other differences: an edge is compared with the question by its whole triple, not by its
// relation alone (on MuSiQue's sample R@5 is 52 instead of 36); a similarity of 0 has no
// prize; the part is shown as a list of triples, not as two tables.
//
// Indexing takes the calls of the extraction, a question the answer's alone.
package gretriever

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Name is the name of the system in reports.
const Name = "gretriever"

// Info describes the system.
var Info = kit.InfoOf(kit.Info{
	Name: Name, Source: "He and others 2024", Paper: "arXiv 2402.07630, without the encoder",
	Costs: "2 a chunk", Calls: kit.Calls{Chunk: 2},
}, Options{}, New)

// Options of the system. The zero value is the setting of the code for WebQSP (XiaoxinHe/G-Retriever).
type Options struct {
	kit.Common
	// Extract, when set, is used in place of the kit's extractor, e.g. triples of an earlier extraction.
	Extract extract.Extractor
	// Nodes is the number of entities with a prize, Edges the number of ranks whose relations have a prize;
	// graphrag.Off means none. Cost is the cost of an edge.
	Nodes int     `default:"3" min:"-1" source:"the paper, appendix B.1, for WebQSP"`
	Edges int     `default:"5" min:"-1" source:"the paper, appendix B.1, for WebQSP"`
	Cost  float64 `default:"0.5" min:"0" source:"the paper, appendix B.1, for WebQSP"`
}

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []string{"Find"}, Problems: c.Err()}
	f.ExtractBy(o.Extract, k.Triples)
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, o, c) }
	return kit.New(f)
}

// searcher is the textual graph of a corpus. Entities are its nodes and relations its edges, by the same index.
type searcher struct {
	o                    Options
	corpus               *kit.Corpus
	ends                 []graph.Edge // ends of each relation
	nodes, edges, chunks retrieve.Texts
}

func build(ctx context.Context, o Options, c *kit.Corpus) (*searcher, error) {
	s := &searcher{o: o, corpus: c}
	for r := range c.Graph.Relations {
		rel := &c.Graph.Relations[r]
		s.ends = append(s.ends, graph.Edge{From: rel.Head, To: rel.Tail})
	}
	nodes := text.NewList(len(c.Graph.Entities), func(e int) string { return c.Graph.Entities[e].Name })
	edges := text.NewList(len(c.Graph.Relations), func(r int) string {
		t := c.Graph.Triple(int32(r))
		return t.Head + " " + t.Relation + " " + t.Tail
	})
	var err error
	if s.nodes, err = c.Find(ctx, nodes); err != nil {
		return nil, err
	}
	if s.edges, err = c.Find(ctx, edges); err != nil {
		return nil, err
	}
	s.chunks, err = c.Find(ctx, retrieve.TitledTexts(c.Chunks))
	return s, err
}

// Retrieve selects the part of the graph for the question, and ranks the chunks that state it.
func (s *searcher) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	part, err := s.part(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	likeness, err := s.chunks.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	step := graphrag.Step{Kind: "subgraph", Query: q.Text}
	var derived []graphrag.Derived
	for _, r := range part.Edges {
		d := s.fact(r)
		derived, step.Found = append(derived, d), append(step.Found, d.Text)
	}
	ranked, err := s.corpus.InOrder(ctx, s.stating(part, likeness), q.Want(), Name)
	return graphrag.Found{Ranked: ranked, Derived: derived, Steps: []graphrag.Step{step}}, err
}

// part selects the part of the graph for a question.
func (s *searcher) part(ctx context.Context, question string) (*graph.Selection, error) {
	nodes, err := s.nodes.Scores(ctx, question, nil)
	if err != nil {
		return nil, err
	}
	edges, err := s.edges.Scores(ctx, question, nil)
	if err != nil {
		return nil, err
	}
	return graph.Subgraph(ctx, s.ends, graph.NodePrizes(nodes, s.o.Nodes), graph.EdgePrizes(edges, s.o.Edges), s.o.Cost)
}

// fact returns an edge as a row of text for the prompt.
func (s *searcher) fact(r int32) graphrag.Derived {
	t := s.corpus.Graph.Triple(r)
	var chunks []int32
	for _, p := range s.corpus.Graph.RelationPassages(r) {
		chunks = append(chunks, p.ID)
	}
	return graphrag.Row("fact", strings.Join([]string{t.Head, t.Relation, t.Tail}, ", "), "", s.corpus.Provenance(chunks))
}

// stating returns the chunks that state an edge of a part of the graph, then the chunks that name one of its
// nodes, each group by similarity to the question.
func (s *searcher) stating(part *graph.Selection, likeness []float64) []int32 {
	g, taken := s.corpus.Graph, make(map[int32]bool)
	var order []int32
	take := func(of [][]kg.Posting) {
		first := len(order)
		for _, p := range slices.Concat(of...) {
			if !taken[p.ID] {
				taken[p.ID] = true
				order = append(order, p.ID)
			}
		}
		slices.SortFunc(order[first:], func(a, b int32) int {
			return cmp.Or(cmp.Compare(likeness[b], likeness[a]), cmp.Compare(a, b))
		})
	}
	var states, names [][]kg.Posting
	for _, r := range part.Edges {
		states = append(states, g.RelationPassages(r))
	}
	for _, e := range part.Nodes {
		names = append(names, g.EntityPassages(e))
	}
	take(states)
	take(names)
	return order
}
