// SPDX-License-Identifier: Apache-2.0

// Package hipporag is HippoRAG (Gutiérrez and others, arXiv 2405.14831, NeurIPS 2024): open triples make a
// graph of phrases, the entities of the question are linked to phrases, personalised PageRank spreads from
// them, and a passage is ranked by the phrases of its facts.
//
// Where the paper and its code are silent or differ: the damping factor of PageRank is 0.5 (the paper did not
// use 0.1, the class default of the code). The weights of synonyms are added to facts; with
// [Options].OverwriteSynonyms they replace facts, as in the code. A question without a linked entity is
// answered by flat retrieval; the code ranks at random.
package hipporag

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// Name is the name of the system in reports.
const Name = "hipporag"

// Info describes the system.
var Info = kit.InfoOf(kit.Info{
	Name: Name, Source: "Gutiérrez and others 2024", Paper: "arXiv 2405.14831",
	Costs: "2 a chunk; 1 to search", Calls: kit.Calls{Chunk: 2, Question: 1}, // for a chunk names and triples, for a question its names
}, Options{}, New)

// Options of the system. The zero value is the paper's setting.
type Options struct {
	kit.Common
	// Extract, when set, is used in place of the kit's extractor, e.g. triples of an earlier extraction.
	Extract extract.Extractor
	// Entities, when set, finds the named entities of a question in place of the kit.
	Entities func(context.Context, string) ([]string, error)
	// Damping is the probability that the walk continues (section 3.3).
	Damping float64 `default:"0.5" source:"the paper, section 3.3"`
	// Synonyms limits the pairs of synonyms that Link finds. Link is the kit's by default.
	Synonyms link.SynonymOptions
	Link     link.Linker
	// NoSynonyms and NoSpecificity leave out the synonyms and the specificity of phrases, for ablations.
	NoSynonyms, NoSpecificity bool `source:"the paper: nothing is left out"`
	// OverwriteSynonyms and ASCIIPhrases follow the code: a synonym replaces the facts in its direction, and
	// phrases keep only ASCII letters and digits.
	OverwriteSynonyms, ASCIIPhrases bool `source:"ours: its program does"`
	// Fallback ranks the chunks for questions without a linked entity.
	Fallback Fallback `default:"flat" source:"ours"`
}

// Fallback says how chunks are ranked for a question without a linked entity.
type Fallback string

const (
	// Flat ranks by the text alone, see retrieve.Texts. It is the default.
	Flat Fallback = "flat"
	// None finds nothing. The code gives every passage the same score.
	None Fallback = "none"
)

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) { return kit.New(Frame(k, o)) }

// Frame returns the frame of the system, for callers that wrap its retriever.
func Frame(k kit.Kit, o Options) kit.Frame {
	var c kit.Checks
	c.Fill(&o)
	c.Add(ppr.Options{Damping: o.Damping}.Check())
	c.Add(o.Synonyms.Check())
	c.Want(o.Fallback == Flat || o.Fallback == None, "Fallback", o.Fallback, "flat or none")
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Problems: c.Err(), Needs: []string{"Find", "Link", "QuestionNames"}}
	if o.ASCIIPhrases {
		f.Knowledge.Folding = kg.FoldASCII
	}
	f.ExtractBy(o.Extract, k.Triples)
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return f
}

// searcher is an index of one corpus.
type searcher struct {
	o        Options
	corpus   *kit.Corpus
	phrases  []int32 // entities that are ends of facts
	passages []int32 // number of passages with a fact of each entity
	links    link.NameIndex
	entities func(context.Context, string) ([]string, error)
	walk     *ppr.Solver
	texts    retrieve.Texts
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*searcher, error) {
	s := &searcher{o: o, corpus: c}
	s.phrases, s.passages = c.Graph.Phrases()
	if s.o.Link == nil {
		s.o.Link = k.Link
	}
	names := make([]string, len(s.phrases))
	for i, e := range s.phrases {
		names[i] = c.Graph.Entities[e].Key
	}
	var err error
	if s.links, err = s.o.Link.Index(ctx, names); err != nil {
		return nil, err
	}
	if s.entities = o.Entities; s.entities == nil {
		if s.entities, err = k.QuestionNames(c.Graph.Known); err != nil {
			return nil, err
		}
	}
	view := kg.ViewOptions{Overwrite: o.OverwriteSynonyms}
	if !o.NoSynonyms {
		o.Synonyms.Among = s.phrases
		if view.Synonyms, err = link.Synonyms(ctx, c.Graph, s.o.Link, o.Synonyms); err != nil {
			return nil, err
		}
	}
	v, err := c.Graph.View(view)
	if err != nil {
		return nil, err
	}
	if s.walk, err = ppr.New(v.Graph, ppr.Options{Damping: o.Damping}); err != nil {
		return nil, err
	}
	s.texts, err = c.Find(ctx, retrieve.TitledTexts(c.Chunks))
	return s, err
}

// Retrieve runs PageRank from the entities of the question and ranks the passages by their facts.
func (s *searcher) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	seeds, steps, err := s.seeds(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	if len(seeds) == 0 && s.o.Fallback == None {
		return graphrag.Nothing(), nil
	}
	if len(seeds) == 0 {
		alike, err := s.texts.Scores(ctx, q.Text, nil)
		if err != nil {
			return graphrag.Found{}, err
		}
		ranked, err := s.corpus.ByScore(ctx, rank.MinMax(alike), q.Want(), "flat")
		return graphrag.Found{Ranked: ranked}, err
	}
	rank, err := s.walk.Solve(ctx, seeds, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	ranked, err := s.corpus.ByScore(ctx, s.scores(rank), q.Want(), Name)
	return graphrag.Found{Ranked: ranked, Steps: steps}, err
}

// seeds links each entity of the question to the nearest phrase. A phrase weighs its specificity: 1 divided by
// the number of its passages.
func (s *searcher) seeds(ctx context.Context, question string) ([]ppr.Seed, []graphrag.Step, error) {
	names, err := s.entities(ctx, question)
	if err != nil {
		return nil, nil, err
	}
	var seeds []ppr.Seed
	var steps []graphrag.Step
	for _, name := range names {
		e, ok, err := s.link(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		if !ok || slices.ContainsFunc(seeds, func(x ppr.Seed) bool { return x.Node == e }) {
			continue
		}
		weight := 1.0
		if !s.o.NoSpecificity {
			weight /= float64(max(1, s.passages[e]))
		}
		seeds = append(seeds, ppr.Seed{Node: e, Weight: weight})
		steps = append(steps, graphrag.Step{Kind: "link", Query: name, Found: []string{s.corpus.Graph.Entities[e].Name}})
	}
	return seeds, steps, nil
}

// link returns the phrase with a name, or else the phrase with the most similar name.
func (s *searcher) link(ctx context.Context, name string) (int32, bool, error) {
	if e, ok := s.corpus.Graph.Find(name); ok && s.passages[e] > 0 {
		return e, true, nil
	}
	near, err := s.links.Nearest(ctx, s.corpus.Graph.Key(name), 1)
	if err != nil || len(near) == 0 {
		return 0, false, err
	}
	return s.phrases[near[0].ID], true, nil
}

// scores returns, for each passage, the sum of the ranks of the phrases of its facts: a phrase counts
// once for each fact that contains it.
func (s *searcher) scores(rank []float64) []float64 {
	g := s.corpus.Graph
	out := make([]float64, len(g.Passages))
	for p := range out {
		for _, r := range g.PassageRelations(int32(p)) {
			fact := &g.Relations[r.ID]
			out[p] += rank[fact.Head]
			if fact.Tail != fact.Head {
				out[p] += rank[fact.Tail]
			}
		}
	}
	return out
}
