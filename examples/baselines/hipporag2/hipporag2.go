// SPDX-License-Identifier: Apache-2.0

package hipporag2

import (
	"cmp"
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
)

// Name of the system in reports.
const Name = "hipporag2"

// Parameters of the paper (table 13) and of the code (OSU-NLP-Group/HippoRAG at
// c617143).
const (
	DefaultDamping       = 0.5
	DefaultLink          = 5    // facts, and phrases
	DefaultPassageWeight = 0.05 // of a passage beside a phrase
)

// PhraseScore is how the facts that name a phrase make its weight.
type PhraseScore int

const (
	// Last fact's score over the number of passages; the phrases with the
	// largest mean of bare scores are kept. The release of February 2025, which
	// made the paper's figures. It is the default.
	Last PhraseScore = iota
	// Mean of the facts' scores, each over the number of passages; the phrases
	// with the largest mean are kept. The code since June 2025; the paper's text
	// speaks of an average, too.
	Mean
)

// Options of the system. The zero value is the paper's setting.
type Options struct {
	Cut baselines.Cut
	// Extract, when set, is used in place of the kit's extractor.
	Extract extract.Extractor
	// Damping is the probability of walking on, Link the number of facts and of
	// phrases to start from, PassageWeight that of the best passage; 0 is the
	// default of each.
	Damping       float64
	Link          int
	PassageWeight float64
	Phrases       PhraseScore
	// NoFilter takes the facts as they are found.
	NoFilter   bool
	Synonyms   kg.SynonymOptions
	NoSynonyms bool
	// ASCIIPhrases keeps only ASCII letters and digits, as the code does.
	ASCIIPhrases bool
	// MaxPerDoc limits the chunks of one page in a ranking; 0 is no limit.
	MaxPerDoc int
}

// New returns the system.
func New(kit baselines.Kit, o Options) (*baselines.Graphed, error) {
	o.Damping, o.Link, o.PassageWeight = cmp.Or(o.Damping, DefaultDamping), cmp.Or(o.Link, DefaultLink), cmp.Or(o.PassageWeight, DefaultPassageWeight)
	if o.Link < 0 || o.PassageWeight < 0 {
		return nil, fmt.Errorf("%s: Link %d and PassageWeight %v must not be negative", Name, o.Link, o.PassageWeight)
	}
	f := baselines.GraphFrame{Name: Name, Cut: o.Cut, Kit: kit}
	if o.ASCIIPhrases {
		f.Knowledge.Folding = kg.FoldASCII
	}
	var err error
	if f.Extract, f.Whole, err = kit.OpenTriples(o.Extract); err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	f.Build = func(ctx context.Context, c baselines.Corpus) (baselines.Search, error) {
		s, err := build(ctx, kit, o, c)
		if err != nil {
			return nil, err
		}
		return s.find, nil
	}
	return baselines.NewGraphed(f)
}

// searcher is an index of one corpus.
type searcher struct {
	o        Options
	corpus   baselines.Corpus
	view     *kg.View
	passages []int32 // of how many passages each entity's facts are
	facts    baselines.Texts
	chunks   baselines.Texts
	filter   *filter // nil: none
	walk     *ppr.Solver
}

func build(ctx context.Context, kit baselines.Kit, o Options, c baselines.Corpus) (*searcher, error) {
	s := &searcher{o: o, corpus: c}
	if kit.Model != nil && !o.NoFilter {
		s.filter = &filter{kit.Model}
	}
	var phrases []int32
	phrases, s.passages = baselines.Phrases(c.Graph)
	view := kg.ViewOptions{Passages: true}
	if !o.NoSynonyms {
		linker, err := kit.Linker(ctx)
		if err != nil {
			return nil, err
		}
		o.Synonyms.Among = phrases
		if view.Synonyms, err = c.Graph.Synonyms(ctx, linker, o.Synonyms); err != nil {
			return nil, err
		}
	}
	var err error
	if s.view, err = c.Graph.View(view); err != nil {
		return nil, err
	}
	if s.walk, err = ppr.New(s.view.Graph, ppr.Options{Damping: o.Damping}); err != nil {
		return nil, err
	}
	if s.chunks, err = kit.Texts(ctx, baselines.TitledTexts(c.Chunks)); err != nil {
		return nil, err
	}
	s.facts, err = kit.Texts(ctx, factTexts(c.Graph))
	return s, err
}

// factTexts are the facts as they are embedded.
func factTexts(g *kg.Graph) []string {
	out := make([]string, len(g.Relations))
	for r := range out {
		t := g.Triple(int32(r))
		out[r] = t.Head + " " + t.Relation + " " + t.Tail
	}
	return out
}

func (s *searcher) find(ctx context.Context, q graphrag.Question) (baselines.Found, error) {
	similar, err := baselines.All(ctx, s.chunks, q.Text)
	if err != nil {
		return baselines.Found{}, err
	}
	best, err := s.facts.Best(ctx, q.Text, s.o.Link)
	if err != nil {
		return baselines.Found{}, err
	}
	facts := make([]scored, len(best))
	for i, b := range best {
		facts[i] = scored{b.ID, b.Score}
	}
	if s.filter != nil && len(facts) > 0 {
		if facts, err = s.filter.choose(ctx, s.corpus.Graph, q.Text, facts); err != nil {
			return baselines.Found{}, err
		}
	}
	depth := max(q.K, q.Depth)
	if len(facts) == 0 {
		return baselines.Found{Ranked: baselines.Rank(s.corpus.Chunks, similar, depth, s.o.MaxPerDoc, "dense")}, nil
	}
	scores, err := s.spread(ctx, facts, similar)
	return baselines.Found{Ranked: baselines.Rank(s.corpus.Chunks, scores, depth, s.o.MaxPerDoc, Name)}, err
}

// scored is a fact with its similarity to the question, scaled to 0..1 over all
// facts.
type scored struct {
	relation int32
	score    float64
}

// spread walks from the phrases of the facts and from the passages that are
// like the question, and returns the rank of each passage.
func (s *searcher) spread(ctx context.Context, facts []scored, similar []float64) ([]float64, error) {
	seeds := s.phrases(facts)
	for p, x := range similar {
		if x > 0 {
			seeds = append(seeds, ppr.Seed{Node: s.view.Passage(int32(p)), Weight: s.o.PassageWeight * x})
		}
	}
	if len(seeds) == 0 {
		return similar, nil
	}
	rank, err := s.walk.Solve(ctx, seeds, nil)
	if err != nil {
		return nil, err
	}
	return rank[s.view.Entities:], nil
}
