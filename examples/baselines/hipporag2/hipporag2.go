// SPDX-License-Identifier: Apache-2.0

// Package hipporag2 is HippoRAG 2 (Gutiérrez and others, From RAG to Memory, arXiv 2502.14802, ICML 2025): the
// graph of HippoRAG with the passages as nodes; the question is matched with whole facts, a model says which of
// them matter, and personalised PageRank starts from their phrases and, weakly, from all passages.
//
// Where the paper is silent, the code is followed: edges of weight 2 for each fact, the cosine in each
// direction for synonyms and 1 between passage and phrase; phrase weights are divided by the number of passages
// (see [PhraseScore] for the two published ways). Faults of the code are not followed: synonyms do not
// accumulate with every insertion, a fact that the filter invents selects nothing, a filter that fails leaves
// the facts unfiltered instead of ignoring the graph, and the weight of a synonym is added to the facts between
// its phrases ([Options].Overwrite follows the code). With [Options].ASCIIPhrases, phrases are equal if their
// ASCII letters are, as in the code; the code embeds only these letters, here whole texts are embedded.
//
// Without an embedder that was trained on language, facts and passages are compared with the question by BM25.
// Without a model nothing is filtered; the paper finds that this costs 0.7 points of recall (its table 4).
package hipporag2

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Name is the name of the system in reports.
const Name = "hipporag2"

// Info describes the system.
var Info = kit.InfoOf(kit.Info{
	Name: Name, Source: "Gutiérrez and others 2025", Paper: "arXiv 2502.14802",
	Costs: "2 a chunk; 1 to search", Calls: kit.Calls{Chunk: 2, Question: 1}, // for a chunk names and triples, for a question the filter
}, Options{}, New)

// walkTolerance is the error at which PageRank stops. Compared with 1e-9, the first hundred passages of 400
// questions over 5,800 passages are the same; their order differs in one pair of one question.
const walkTolerance = 1e-7

// PhraseScore says how the weight of a phrase follows from the facts that name it.
type PhraseScore string

const (
	// Last is the score of the last fact divided by the number of the phrase's passages; phrases with the
	// largest mean score are kept. It is the default: the release of February 2025, which made the paper's
	// figures.
	Last PhraseScore = "last"
	// Mean is the mean of the facts' scores, each divided by the number of the phrase's passages; phrases with
	// the largest mean are kept. It is the code since June 2025; the paper mentions an average, too.
	Mean PhraseScore = "mean"
)

// Options of the system. The zero value is the setting of the paper (table 13) and of the
// code (OSU-NLP-Group/HippoRAG at c617143).
type Options struct {
	kit.Common
	// Extract, when set, is used in place of the kit's extractor.
	Extract extract.Extractor
	// Damping is the probability that the walk continues, Link the number of facts and of phrases from which it
	// starts, PassageWeight the weight of the best passage relative to a phrase.
	Damping       float64     `default:"0.5" source:"the paper, table 13"`
	Link          int         `default:"5" min:"0" source:"the paper, table 13"`
	PassageWeight float64     `default:"0.05" min:"0" source:"the paper, table 13"`
	Phrases       PhraseScore `default:"last" source:"its program of February 2025"`
	Synonyms      link.SynonymOptions
	// NoFilter and NoSynonyms leave the filter or the synonyms out, for ablations.
	NoFilter, NoSynonyms bool `source:"the paper: nothing is left out"`
	// Overwrite lets a synonym replace the facts between two phrases, as the code does, and not add to their
	// weight.
	Overwrite bool `source:"ours: its program does"`
	// ASCIIPhrases keeps only ASCII letters and digits, as the code does.
	ASCIIPhrases bool `source:"ours: its program does"`
}

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	c.Add(ppr.Options{Damping: o.Damping}.Check())
	c.Add(o.Synonyms.Check())
	c.Want(o.Phrases == Last || o.Phrases == Mean, "Phrases", o.Phrases, "last or mean")
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Problems: c.Err(), Needs: []string{"Find", "Link"}}
	if o.ASCIIPhrases {
		f.Knowledge.Folding = kg.FoldASCII
	}
	f.ExtractBy(o.Extract, k.Triples)
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

// searcher is an index of one corpus.
type searcher struct {
	o        Options
	corpus   retrieve.Ranking
	triple   func(fact int32) graphrag.Triple
	ends     [][2]int32 // the two entities of each fact
	passages []int32    // number of passages with a fact of each entity
	facts    retrieve.Texts
	chunks   retrieve.Texts
	filter   filter
	walk     *ppr.Solver
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*searcher, error) {
	s := &searcher{o: o, corpus: c.Ranking, filter: k.Filter}
	switch {
	case o.NoFilter:
		s.filter = keepAll
	case s.filter == nil:
		s.filter = kit.Step(k.AnswerModel, byModel, keepAll)
	}
	var phrases []int32
	var err error
	phrases, s.passages = c.Graph.Phrases()
	view := kg.ViewOptions{Passages: true, Overwrite: o.Overwrite}
	if !o.NoSynonyms {
		o.Synonyms.Among = phrases
		if view.Synonyms, err = link.Synonyms(ctx, c.Graph, k.Link, o.Synonyms); err != nil {
			return nil, err
		}
	}
	walked, err := c.Graph.View(view)
	if err != nil {
		return nil, err
	}
	if s.walk, err = ppr.New(walked.Graph, ppr.Options{Damping: o.Damping, Tolerance: walkTolerance}); err != nil {
		return nil, err
	}
	if s.chunks, err = c.Find(ctx, retrieve.TitledTexts(c.Chunks)); err != nil {
		return nil, err
	}
	s.ends = c.Graph.Ends()
	if s.triple, err = kit.Keep(c, len(s.ends), c.Graph.Triple); err != nil {
		return nil, err
	}
	s.facts, err = c.Find(ctx, text.NewList(len(c.Graph.Relations), func(r int) string { return factText(c.Graph.Triple(int32(r))) }))
	return s, err
}

// factText returns the text of a fact.
func factText(t graphrag.Triple) string { return t.Head + " " + t.Relation + " " + t.Tail }

// Retrieve finds the facts most similar to the question, filters them, and runs PageRank from their
// phrases and from similar passages.
func (s *searcher) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	similar, err := s.chunks.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	facts, err := retrieve.Scaled(ctx, s.facts, q.Text, s.o.Link)
	if err != nil {
		return graphrag.Found{}, err
	}
	steps := []graphrag.Step{{Kind: "facts", Query: q.Text, Found: s.texts(facts)}}
	if facts, err = s.keep(ctx, q.Text, facts); err != nil {
		return graphrag.Found{}, err
	}
	similar = rank.MinMax(similar)
	if len(facts) == 0 {
		ranked, err := s.corpus.ByScore(ctx, similar, q.Want(), "dense")
		return graphrag.Found{Ranked: ranked, Steps: steps}, err
	}
	steps = append(steps, graphrag.Step{Kind: "filter", Found: s.texts(facts)})
	scores, err := s.ranked(ctx, facts, similar)
	if err != nil {
		return graphrag.Found{}, err
	}
	ranked, err := s.corpus.ByScore(ctx, scores, q.Want(), Name)
	return graphrag.Found{Ranked: ranked, Steps: steps}, err
}

// scored is a fact with its similarity to the question. Similarities are scaled to 0..1 over all facts.
type scored = rank.Scored[int32]

// keep returns the facts that the filter selects.
func (s *searcher) keep(ctx context.Context, question string, found []scored) ([]scored, error) {
	triples := make([]graphrag.Triple, len(found))
	for i, f := range found {
		triples[i] = s.triple(f.ID)
	}
	places, err := s.filter(ctx, question, triples)
	if err != nil {
		return nil, err
	}
	kept := make([]scored, len(places))
	for i, p := range places {
		if p < 0 || p >= len(found) {
			return nil, fmt.Errorf("hipporag2: the filter keeps fact %d of %d; positions count from 0", p, len(found))
		}
		kept[i] = found[p]
	}
	return kept, nil
}

// texts returns the texts of some facts.
func (s *searcher) texts(facts []scored) []string {
	out := make([]string, len(facts))
	for i, f := range facts {
		out[i] = factText(s.triple(f.ID))
	}
	return out
}

// ranked runs PageRank and returns the rank of each passage.
func (s *searcher) ranked(ctx context.Context, facts []scored, similar []float64) ([]float64, error) {
	seeds := s.seeds(facts, similar)
	if len(seeds) == 0 {
		return similar, nil
	}
	ranks, err := s.walk.Solve(ctx, seeds, nil)
	if err != nil {
		return nil, err
	}
	return ranks[len(s.passages):], nil
}

// seeds returns where the walk starts: the phrases of the facts, and passages similar to the question.
func (s *searcher) seeds(facts []scored, similar []float64) []ppr.Seed {
	seeds := slices.Grow(s.phrases(facts), len(similar))
	for p, x := range similar {
		if x > 0 {
			seeds = append(seeds, ppr.Seed{Node: int32(len(s.passages) + p), Weight: s.o.PassageWeight * x})
		}
	}
	return seeds
}

// phrases returns the heaviest ends of the facts as seeds, ties by entity, without phrases of weight 0.
func (s *searcher) phrases(facts []scored) []ppr.Seed {
	type phrase struct {
		entity       int32
		weight, rank float64
		facts        int
	}
	var found []phrase
	for _, f := range facts {
		ends := s.ends[f.ID]
		for i, e := range ends {
			if i == 1 && e == ends[0] {
				continue
			}
			at := slices.IndexFunc(found, func(p phrase) bool { return p.entity == e })
			if at < 0 {
				at = len(found)
				found = append(found, phrase{entity: e})
			}
			p := &found[at]
			share := f.Score / float64(max(1, s.passages[e]))
			p.facts++
			if s.o.Phrases == Last {
				p.weight = share
				p.rank += f.Score
			} else {
				p.weight += share
				p.rank += share
			}
		}
	}
	for i := range found {
		p := &found[i]
		p.rank /= float64(p.facts)
		if s.o.Phrases == Mean {
			p.weight /= float64(p.facts)
		}
	}
	slices.SortFunc(found, func(a, b phrase) int { return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.entity, b.entity)) })
	var seeds []ppr.Seed
	for _, p := range found[:min(s.o.Link, len(found))] {
		if p.weight > 0 {
			seeds = append(seeds, ppr.Seed{Node: p.entity, Weight: p.weight})
		}
	}
	return seeds
}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("hipporag2", promptFiles)

// StageFilter names the calls of the filter in usage figures.
const StageFilter = "filter facts"

// filter is the recognition memory of the paper (section 3.3). It returns the positions of the facts that help
// with the question.
type filter func(ctx context.Context, question string, facts []graphrag.Triple) ([]int, error)

// keepAll keeps every fact.
func keepAll(_ context.Context, _ string, facts []graphrag.Triple) ([]int, error) {
	places := make([]int, len(facts))
	for i := range places {
		places[i] = i
	}
	return places, nil
}

// byModel returns a filter that asks a model.
func byModel(m llm.Model) filter {
	return func(ctx context.Context, question string, facts []graphrag.Triple) ([]int, error) {
		return choose(ctx, m, question, facts)
	}
}

// choose returns the facts nearest to those in the model's reply, in its order, each once. If the model fails
// at this question it returns all facts.
func choose(ctx context.Context, m llm.Model, question string, facts []graphrag.Triple) ([]int, error) {
	if len(facts) == 0 {
		return nil, ctx.Err()
	}
	list, pairs := make([][]string, len(facts)), make([]map[string]int, len(facts))
	for i, t := range facts {
		list[i], pairs[i] = []string{t.Head, t.Relation, t.Tail}, pairsOf(t.Head+" "+t.Relation+" "+t.Tail)
	}
	data, err := json.Marshal(map[string]any{"fact": list})
	if err != nil {
		return nil, err
	}
	req, err := templates.Request(ctx, StageFilter, "filter", nil, prompts.Data{Label: "question", Text: question}, prompts.Data{Label: "facts", Text: string(data)})
	if err != nil {
		return nil, err
	}
	reply, _, err := replies.Decode[struct{ Fact []replies.Triple }](ctx, m, req)
	if llm.OfOneReply(err) {
		return keepAll(ctx, question, facts)
	}
	if err != nil {
		return nil, err
	}
	var out []int
	for _, t := range reply.Fact {
		if i := nearest(t, pairs); i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out, nil
}

// nearest returns the first of the facts whose text shares the largest share of character pairs (Dice) with a
// triple of the reply; -1 if the model wrote "none" or no fact shares a pair. The published program takes the
// closest match of difflib, without a threshold.
func nearest(reply replies.Triple, facts []map[string]int) int {
	written := cmp.Or(strings.TrimSpace(reply.Head+" "+reply.Relation+" "+reply.Tail), reply.Raw)
	if slices.Contains([]string{"none", "null", "n/a", "nothing", ""}, strings.Trim(text.FoldName(cmp.Or(reply.Head, written)), `."'[]{} `)) {
		return -1
	}
	place, best, own := -1, 0.0, pairsOf(written)
	for i, pairs := range facts {
		shared := 0
		for pair, n := range pairs {
			shared += min(n, own[pair])
		}
		shared -= min(pairs[""], own[""])
		if s := float64(shared) / float64(pairs[""]+own[""]); s > best {
			place, best = i, s
		}
	}
	return place
}

// pairsOf counts the pairs of neighbouring characters in a text's folded words, with their number under "".
func pairsOf(s string) map[string]int {
	out, before := make(map[string]int), ' '
	for _, r := range kg.FoldUnicode.Key(s) + " " {
		out[string([]rune{before, r})]++
		out[""]++
		before = r
	}
	return out
}
