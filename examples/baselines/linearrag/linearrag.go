// SPDX-License-Identifier: Apache-2.0

package linearrag

import (
	"context"
	"math"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Name of the system in reports.
const Name = "linearrag"

// Options of the system. The zero value is the program's setting without a data set; it has others for
// each.
type Options struct {
	kit.Common
	// Extract, when set, finds the entities in place of the rules; facts are not used.
	Extract extract.Extractor
	// Entities, when set, finds the entities of a question.
	Entities   kit.NameFinder
	Activation Activation `default:"bfs" source:"its program"`
	// Threshold is the least score with which an entity is activated, Sentences the number of
	// sentences that an entity leads to in a step, Iterations one more than the number of steps.
	// Ratio is the weight of the passages' similarity to the question, PassageWeight the weight of
	// passages relative to entities.
	Threshold     float64 `default:"0.4" min:"0" source:"its program, run without a data set"`
	Sentences     int     `default:"3" min:"1" source:"its program, run without a data set"`
	Iterations    int     `default:"3" min:"1" source:"its program, run without a data set"`
	Ratio         float64 `default:"2" min:"0" source:"its program, run without a data set"`
	PassageWeight float64 `default:"0.05" min:"0" source:"its program"`
	// Damping is the probability of walking on.
	Damping float64 `default:"0.5" source:"its program; the paper prints 0.85"`
	// Adjacent links each chunk to the next of its document, with weight 1.
	Adjacent bool `source:"ours: its program does"`
}

// New returns the system. Only its reader calls a model.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	c.Add(ppr.Options{Damping: o.Damping}.Check())
	c.Want(o.Activation == BFS || o.Activation == Max, "Activation", o.Activation, "bfs or max")
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Problems: c.Err(), Needs: []kit.Role{kit.Finding, kit.Linking}}
	f.ExtractBy(o.Extract, k.Entities)
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

// searcher is an index of one corpus.
type searcher struct {
	o         Options
	corpus    *kit.Corpus
	graph     *triGraph
	entities  kit.NameFinder
	links     link.NameIndex
	sentences retrieve.Texts
	texts     retrieve.Texts
	walk      *ppr.Solver
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*searcher, error) {
	s := &searcher{o: o, corpus: c, graph: newTriGraph(c), entities: o.Entities}
	if s.entities == nil { // LinearRAG calls no model here
		names, err := rules.New(rules.Options{})
		if err != nil {
			return nil, err
		}
		s.entities = func(_ context.Context, question string) ([]string, error) {
			return names.QuestionNames(question, c.Graph.Known), nil
		}
	}
	var err error
	if s.links, err = k.Link.Index(ctx, s.graph.names); err != nil {
		return nil, err
	}
	if s.sentences, err = c.Find(ctx, text.Strings(s.graph.sentences)); err != nil {
		return nil, err
	}
	if s.texts, err = c.Find(ctx, retrieve.TitledTexts(c.Chunks)); err != nil {
		return nil, err
	}
	g, err := s.graph.edges(c.Chunks, o.Adjacent)
	if err != nil {
		return nil, err
	}
	s.walk, err = ppr.New(g, ppr.Options{Damping: o.Damping})
	return s, err
}

// Retrieve activates entities from the question over similar sentences, and runs PageRank from them and
// from similar passages.
func (s *searcher) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	similar, err := s.texts.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	similar = retrieve.MinMax(similar)
	start, steps, err := s.start(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	if len(start) == 0 {
		return graphrag.Found{Ranked: s.corpus.ByScore(similar, q.Want(), "flat")}, nil
	}
	cosines, err := s.sentences.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	reached := s.activate(start, func(sentence int32) float64 { return min(max(0, cosines[sentence]), 1) })
	scores, err := s.rank(ctx, reached, similar)
	return graphrag.Found{Ranked: s.corpus.ByScore(scores, q.Want(), Name), Steps: steps}, err
}

// start links each entity of the question to the most similar name.
func (s *searcher) start(ctx context.Context, question string) ([]activeEntity, []graphrag.Step, error) {
	names, err := s.entities(ctx, question)
	if err != nil {
		return nil, nil, err
	}
	var out []activeEntity
	var steps []graphrag.Step
	for _, name := range names {
		near, err := s.links.Nearest(ctx, s.corpus.Graph.Key(name), 1)
		if err != nil {
			return nil, nil, err
		}
		if len(near) == 0 || near[0].Score <= 0 {
			continue
		}
		out = set(out, activeEntity{entity: near[0].ID, score: near[0].Score, tier: 1})
		steps = append(steps, graphrag.Step{Kind: "link", Query: name, Found: []string{s.graph.names[near[0].ID]}})
	}
	return out, steps, nil
}

// rank runs PageRank from the activated entities and the passages, and returns the rank of each passage.
func (s *searcher) rank(ctx context.Context, a activated, similar []float64) ([]float64, error) {
	var seeds []ppr.Seed
	for e, w := range a.weights {
		if w > 0 {
			seeds = append(seeds, ppr.Seed{Node: int32(e), Weight: w})
		}
	}
	bonus := s.graph.bonus(a.table)
	for p, x := range similar {
		if w := s.o.PassageWeight * (s.o.Ratio*x + math.Log1p(bonus[p])); w > 0 {
			seeds = append(seeds, ppr.Seed{Node: int32(len(s.graph.names) + p), Weight: w})
		}
	}
	rank, err := s.walk.Solve(ctx, seeds, nil)
	if err != nil {
		return nil, err
	}
	return rank[len(s.graph.names):], nil
}

// edges links passages to their entities. The weight is the share of the passage's mentions.
func (t *triGraph) edges(chunks []graphrag.Chunk, adjacent bool) (*graph.Graph, error) {
	var edges []graph.Edge
	first := int32(len(t.names))
	for p, of := range t.passages {
		sum := 0.0
		for _, m := range of {
			sum += float64(m.Count)
		}
		for _, m := range of {
			edges = append(edges, graph.Edge{From: first + int32(p), To: m.ID, Weight: float64(m.Count) / sum})
		}
		if adjacent && p > 0 && chunks[p].Doc == chunks[p-1].Doc {
			edges = append(edges, graph.Edge{From: first + int32(p) - 1, To: first + int32(p), Weight: 1})
		}
	}
	return graph.New(len(t.names)+len(t.passages), edges, graph.Options{})
}
