// SPDX-License-Identifier: Apache-2.0

// Package gear is GeAR as a recipe: graph retrieval that does not need the triples of the whole corpus (Shen
// and others, "Millions of GeAR-s: Extending GraphRAG to Millions of Documents", arXiv 2507.17399). Passages
// are retrieved; useful triples are read from them and remembered; from the second step on they are linked to
// the triples of a graph, which need not be of the corpus, and expanded by diverse beam search; the triples
// reached are aligned with passages, which are fused with the retrieved ones. After each step, a model or rules
// decide whether the remembered triples answer the question, and write the next query if not.
//
// [Options.Original] is the preceding system (arXiv 2412.18431): its graph is extracted
// from the corpus, its triples have source passages, and every step is expanded.
//
// [New] makes the system; over a graph from elsewhere its corpus may be searched in a store, see [kit.Open]. [Over]
// searches over [Parts], with a graph such as [Indexed] or [Stored].
package gear

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []string{"Find", "Embed"}, Problems: o.check(k.AnswerModel)}
	o = o.Defaults()
	if o.Graph == nil {
		f.Name = NameCorpus
		f.ExtractBy(o.Extract, k.Triples)
	}
	if o.Original {
		f.Name = NameOriginal
	}
	over := o
	over.Graph, over.Extract, over.Cut, over.Link, over.Share = nil, nil, kit.Cut{}, "", 0
	if f.Name == Name && o.Link == LinkWords && o.Share == 1 {
		f.Words, f.Vectors = &wordOptions, true
		f.Combine = func(c *kit.Corpus, words, vectors graphrag.Retriever) (graphrag.Retriever, error) {
			p, err := partsOf(k, c, words, vectors)
			if err != nil {
				return nil, err
			}
			p.Graph = Indexed(o.Graph)
			return Over(p, over)
		}
		return kit.New(f)
	}
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		p, err := PartsOf(ctx, k, o, c)
		if err != nil {
			return nil, err
		}
		return Over(p, over)
	}
	return kit.New(f)
}

// wordOptions are the settings of the system bm25 (package flat), for chunks as long as web documents.
var wordOptions = bm25.Options{K1: 4.46, B: .82, TitleWeight: 2}

// PartsOf returns the parts over a corpus in memory that [New] makes, for callers that change some of them. It
// uses the options Graph, Link, Share and Seed.
func PartsOf(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (Parts, error) {
	o = o.Defaults()
	words, err := c.Sparse(ctx, wordOptions)
	if err != nil {
		return Parts{}, err
	}
	dense, err := c.Dense(ctx)
	if err != nil {
		return Parts{}, err
	}
	p, err := partsOf(k, c, words, dense)
	if err != nil {
		return Parts{}, err
	}
	if p.Graph, err = graphOf(ctx, o, c); err == nil && o.Link == LinkDense {
		p.Align = dense
		p.Graph, err = denseGraph(ctx, p.Graph, c)
	}
	return p, err
}

// partsOf returns the parts of the search except for the graph.
func partsOf(k kit.Kit, c *kit.Corpus, words, dense graphrag.Retriever) (p Parts, err error) {
	p = Parts{Align: words, Find: c.Finder(), Kit: k}
	p.Passages, err = retrieve.Fuse(words, dense)
	return p, err
}

// graphOf returns the graph of the options or else of the corpus, or a share of its triples.
func graphOf(ctx context.Context, o Options, c *kit.Corpus) (func() Graph, error) {
	if o.Graph != nil && o.Share == 1 {
		return Indexed(o.Graph), nil
	}
	n, at := 0, func(i int32) triples.Triple { return o.Graph.Triple(i) }
	if o.Graph != nil {
		n = o.Graph.Len()
	} else {
		n, at = len(c.Graph.Relations), func(i int32) triples.Triple { return relation(c.Graph, i) }
	}
	var kept []int32
	ix, err := c.Triples(ctx, func(yield func(triples.Triple, error) bool) {
		for i := range int32(n) {
			if t := at(i); covered(t, o) {
				if kept = append(kept, i); !yield(t, nil) {
					return
				}
			}
		}
	})
	if err != nil || o.Graph != nil {
		return Indexed(ix), err
	}
	return corpusGraph(c, Indexed(ix), kept)
}

// covered reports whether a triple belongs to the share of the graph that is used.
func covered(t triples.Triple, o Options) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\xff%s\xff%s\xff%s", o.Seed, t.Head.ID, t.Relation.ID, t.Tail.ID)
	return o.Share == 1 || rand.New(rand.NewPCG(h.Sum64(), 0)).Float64() < o.Share
}

// denseGraph returns a graph in memory whose triples are linked by the vectors of their texts.
func denseGraph(ctx context.Context, graph func() Graph, c *kit.Corpus) (func() Graph, error) {
	g := graph()
	ix := indexOf(g)
	vectors, err := c.Vectors(ctx, text.NewList(ix.Len(), func(i int) string { return ix.Triple(int32(i)).Text() }))
	if o, ok := g.(own); ok {
		o.Graph = indexed{ix, vectors}
		g = o
	} else {
		g = indexed{ix, vectors}
	}
	return func() Graph { return g }, err
}

// Names of the system in reports: over a graph from elsewhere, over a graph extracted from the corpus,
// and of the preceding system.
const (
	Name         = "gear"
	NameCorpus   = "gear-corpus"
	NameOriginal = "gear-original"
)

// Infos describe the systems, which differ by the graph to which they link.
var Infos = []kit.Info{
	kit.InfoOf(kit.Info{
		Name: Name, NeedsGraph: true, Source: "Shen and others 2025", Paper: "arXiv 2507.17399",
		Costs: "up to 4 a step", Calls: kit.Calls{Question: 3}, // reading, reflecting, filtering
	}, Options{}, New),
	kit.InfoOf(kit.Info{
		Name: NameCorpus, Source: "Shen and others 2025", Paper: "arXiv 2507.17399; graph of the corpus",
		Costs: "2 a chunk; up to 4 a step", Calls: kit.Calls{Chunk: 2, Question: 3}, // a chunk: names, triples; a question: reading, reflecting, filtering
	}, Options{}, New),
	kit.InfoOf(kit.Info{
		Name: NameOriginal, Source: "Shen and others 2024", Paper: "arXiv 2412.18431; graph of the corpus",
		Costs: "2 a chunk; up to 4 a step", Calls: kit.Calls{Chunk: 2, Question: 3},
	}, Options{Original: true}, New),
}

// The settings of the papers: GeAR-s takes two steps (section 4), GeAR takes four on MuSiQue and reads triples
// from ten passages (GeAR, section 4.2). DefaultLinkShare is ours: GeAR-s reports drift without a threshold.
const (
	DefaultSteps         = 2
	DefaultOriginalSteps = 4
	DefaultPassages      = 10
	DefaultLinkShare     = 0.5
)

// Expansion says in which steps the graph is used.
type Expansion string

// The values of Expansion. By default GeAR always expands, and GeAR-s from the second step on, since expansion
// gains nothing for simple questions.
const (
	ExpandLater  Expansion = "later"
	ExpandAlways Expansion = "always"
	ExpandNever  Expansion = "never"
)

// Linking selects the similarity by which triples are linked and aligned. Classifier selects the questions for
// which the graph is used.
type (
	Linking    string
	Classifier string
)

// The linkings are BM25 over words (GeAR-s, equation 3), and the cosine of vectors, which the paper leaves
// open. The classifiers select every question, or questions that need several facts, judged by their form in
// English or by the kit's model.
const (
	LinkWords Linking    = "words"
	LinkDense Linking    = "dense"
	WhenEvery Classifier = "every"
	WhenForm  Classifier = "form"
	WhenModel Classifier = "model"
)

// Options of the system. The zero value is GeAR-s over the corpus's graph; the paper's graph is from elsewhere.
type Options struct {
	kit.Common
	// Extract, when set, is used in place of the kit's extractor for the graph of the corpus.
	Extract extract.Extractor
	// Graph is a graph from elsewhere. With it, indexing extracts nothing from the corpus.
	Graph *triples.Index `source:"GeAR-s, section 3"`
	// Reader, when set, reads triples from passages in place of the kit's model, which then only reflects,
	// filters and answers. GeAR-s has a smaller model for it.
	Reader llm.Model `source:"GeAR-s, sections 4 and 5: the kit's model in place of two"`
	// Original makes the system of arXiv 2412.18431.
	Original bool `source:"GeAR-s; the system before it is GeAR, arXiv 2412.18431"`
	// Expand selects the steps in which the graph is used, When the questions for which it is used.
	Expand Expansion  `source:"GeAR-s, section 5; GeAR expands always"`
	When   Classifier `source:"ours: every question"`
	// Steps is the largest number of searches, Passages the number of passages from which triples are read; 0
	// means the default of each.
	Steps    int `source:"GeAR-s, section 4; GeAR has 4 on MuSiQue"`
	Passages int `source:"GeAR, section 4.2; GeAR-s gives no value"`
	// LinkShare, above 0 and up to 1, restricts links: the score of a triple of the graph is at least this
	// share of the best possible score, and the two triples have an end of the same name. PlainLinks drops both
	// conditions: each triple is linked to the first triple found by its words, as in equation 3 of GeAR-s.
	LinkShare  float64 `source:"ours: GeAR-s reports drift and has no threshold"`
	PlainLinks bool    `source:"ours: GeAR-s, equation 3, has neither condition"`
	// Link selects the similarity by which triples are linked and aligned. LinkShare holds for each.
	Link Linking `source:"GeAR-s, equation 3"`
	// Share is the share of the graph's triples that is used, above 0 and up to 1; 0 is all. A hash
	// with Seed selects them: a larger share contains a smaller one.
	Share float64 `source:"ours: all of the graph"`
	Seed  uint64  `source:"ours"`
	// Beam are the options of the search through the graph.
	Beam graph.BeamOptions `source:"GeAR, section 4.2; GeAR-s gives no value"`
}

func (o Options) check(m llm.Model) error {
	var c kit.Checks
	c.Min("Steps", float64(o.Steps), 0)
	c.Min("Passages", float64(o.Passages), 0)
	c.Range("LinkShare", o.LinkShare, 0, 1)
	c.Want(o.Expand == "" || o.Expand == ExpandLater || o.Expand == ExpandAlways || o.Expand == ExpandNever, "Expand", o.Expand, "later, always or never")
	c.Want(o.When == "" || o.When == WhenEvery || o.When == WhenForm || o.When == WhenModel, "When", o.When, "every, form or model")
	c.Want(o.When != WhenModel || m != nil, "When", "model", "an AnswerModel in the kit, or form")
	c.Want(o.Link == "" || o.Link == LinkWords || o.Link == LinkDense, "Link", o.Link, "words or dense")
	c.Range("Share", o.Share, 0, 1)
	c.Add(o.Beam.Check())
	if o.Graph != nil && (o.Original || o.Extract != nil) {
		c.Add(errors.New("Graph excludes Original and Extract, which extract a graph from the corpus: set one of them"))
	}
	return c.Err()
}

// Defaults returns the options with zero values replaced by their defaults.
func (o Options) Defaults() Options {
	steps, expand := DefaultSteps, ExpandLater
	if o.Original {
		steps, expand = DefaultOriginalSteps, ExpandAlways
	}
	o.Steps, o.Expand = cmp.Or(o.Steps, steps), cmp.Or(o.Expand, expand)
	o.Passages, o.LinkShare = cmp.Or(o.Passages, DefaultPassages), cmp.Or(o.LinkShare, DefaultLinkShare)
	o.When, o.Link, o.Share = cmp.Or(o.When, WhenEvery), cmp.Or(o.Link, LinkWords), cmp.Or(o.Share, 1)
	return o
}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("gear", promptFiles)

// Names of the stages of calls in usage figures.
const (
	StageRead     = "read triples"
	StageReflect  = "reflect"
	StageFilter   = "filter passages"
	StageClassify = "classify the question"
)

// searcher is a search over parts.
type searcher struct {
	Parts
	o      Options
	base   graphrag.Retriever // Passages, with the limit of chunks per document
	read   read
	keep   filter
	voting bool // passages of remembered triples are ranked too
}

// proximal is a triple that was read from passages.
type proximal struct {
	graphrag.Triple
	number int32 // number in the graph, -1 if the triple is not linked yet
	from   graphrag.Provenance
}

func (p proximal) text() string { return p.Head + " " + p.Relation + " " + p.Tail }

// read is a function that lists the triples in passages that help with a question, called "proximal" (GeAR,
// equation 1; GeAR-s, equation 2).
type read func(ctx context.Context, g Graph, question string, passages []graphrag.Chunk) ([]proximal, error)

// filter is a function that selects the passages to read, by their positions.
type filter func(ctx context.Context, question string, passages []graphrag.Chunk) ([]int, error)

// Parts are the retrievers and the graph of a search: over a corpus in memory, or over millions of passages in
// a store. A step makes one call of Passages, of Align and of Link, and the beam search its calls of Neighbors,
// if each retriever is a [retrieve.Batch].
type Parts struct {
	// Passages finds passages for questions: by words and vectors, fused by rank (GeAR-s, equation 1).
	Passages graphrag.Retriever
	// Align finds the passages for the words of a triple (GeAR-s, equation 3). The original does not use it.
	Align graphrag.Retriever
	// Graph returns a graph for the search of one question.
	Graph func() Graph
	// Find compares texts with a query; nil means the kit's comparison. An embedder that is trained on its
	// corpus needs [kit.Corpus.Find].
	Find func(ctx context.Context, texts text.List) (retrieve.Texts, error)
	// Kit has the models or rules that read, reflect, filter and compare.
	Kit kit.Kit
}

// Graph is a graph for one question. The numbers of its triples are valid for that question. It is not
// safe for concurrent use.
type Graph interface {
	// Link finds the k triples most similar to each text.
	Link(ctx context.Context, texts []string, k int) ([]Links, error)
	// Neighbors lists for each triple other triples that share an entity with it: all of them, or for each
	// entity at least as many as limit, the most similar to the question.
	Neighbors(ctx context.Context, triples []int32, question string, limit int) ([][]int32, error)
	// Triple returns a triple by its number, which a call of Link or Neighbors has returned.
	Triple(number int32) triples.Triple
}

// Links are the triples of a graph that are most similar to a text.
type Links struct {
	Best []rank.Scored[int32] // triples with their scores, best first
	// Whole is the score of a triple with exactly the words of the text.
	Whole float64
}

// Sourced is a graph extracted from the passages, as the original needs. It knows the passages of its triples.
type Sourced interface {
	Graph
	// Stated lists the triples that each passage states.
	Stated(ctx context.Context, passages []graphrag.Chunk) ([][]int32, error)
	// Sources ranks the passages that state each triple.
	Sources(ctx context.Context, triples []int32) ([]graphrag.Found, error)
}

// Over returns the search over parts. The options Cut, Extract, Graph, Link and Share are for [New], and
// must not be set.
func Over(p Parts, o Options) (graphrag.Retriever, error) {
	s := &searcher{Parts: p, o: o.Defaults()}
	var err1, err2 error
	s.read, err1 = reading(p.Kit, o.Reader, s.sourced())
	if p.Passages != nil {
		s.base, err2 = retrieve.PerDoc(p.Passages, o.MaxPerDoc)
	}
	if err := errors.Join(o.check(p.Kit.AnswerModel), s.check(o), err1, err2); err != nil {
		return nil, fmt.Errorf("gear: %w", err)
	}
	if s.Find == nil {
		s.Find = p.Kit.Corpus(nil, nil).Find
	}
	s.voting = o.Original && p.Kit.AnswerModel != nil
	s.keep = kit.Step(p.Kit.AnswerModel, filterByModel, keepAll)
	return s.agent()
}

func (s *searcher) check(o Options) error {
	var c kit.Checks
	c.Want(s.Passages != nil, "Passages", "missing", "a retriever")
	c.Want(s.Kit.Find != nil || s.Find != nil, "Find", "missing", "one, or that of a kit")
	c.Want(o.Graph == nil && o.Extract == nil && o.Cut == kit.Cut{} && o.Link == "" && o.Share == 0,
		"Graph, Extract, Cut, Link or Share", "set", "none of them: they are for New")
	c.Want(!(o.Original && s.o.Expand != ExpandNever) || s.sourced(), "Graph", "of no passages", "a Sourced one for Original")
	if s.o.Expand == ExpandNever {
		return c.Err()
	}
	c.Want(s.Graph != nil, "Graph", "missing", "one, or the expansion never")
	c.Want(s.Align != nil || o.Original, "Align", "missing", "a retriever")
	return c.Err()
}

func (s *searcher) sourced() bool {
	if s.Graph == nil {
		return false
	}
	_, ok := s.Graph().(Sourced)
	return ok
}

// agent searches in steps, without the graph for a simple question.
func (s *searcher) agent() (graphrag.Retriever, error) {
	whole, err := s.steps(s.o.Expand)
	if s.o.When == WhenEvery || err != nil {
		return s.finish(whole), err
	}
	flat, err := s.steps(ExpandNever)
	is := simpleByForm
	if s.o.When == WhenModel {
		is = simpleByModel(s.Kit.AnswerModel)
	}
	return s.finish(when(is, flat, whole)), err
}

func (s *searcher) steps(e Expansion) (graphrag.Retriever, error) {
	first, later := s.step(e == ExpandAlways), s.step(e != ExpandNever)
	if s.o.Steps == 1 {
		return first, nil
	}
	return agent.Reflecting(first, later, kit.Step(s.Kit.AnswerModel, reflectByModel, reflectByRules), agent.Options{Steps: s.o.Steps - 1, Merge: s.fused})
}
