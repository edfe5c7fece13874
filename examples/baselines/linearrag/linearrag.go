// SPDX-License-Identifier: Apache-2.0

// Package linearrag is LinearRAG (Zhuang and others, arXiv 2510.10114, ICLR 2026): a graph without relations.
// Entities are linked to the sentences and the passages that name them; a question activates its entities,
// these activate the entities of similar sentences, and so on; personalised PageRank over entities and passages
// ranks the passages. Indexing calls no model.
//
// It was written from the paper's equations and from a description of its program; the program itself was not
// used. Where they differ, the default follows the program, which made the published figures: see [Activation].
// Neighbouring passages are linked only with [Options].Adjacent, which the paper does not have, and names match
// whole words, not parts of words.
//
// Without an embedder that was trained on language, sentences and passages are
// compared with the question by BM25, and names by spelling.
package linearrag

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Name is the name of the system in reports.
const Name = "linearrag"

// Info describes the system.
var Info = kit.InfoOf(kit.Info{Name: Name, Source: "Zhuang and others 2025", Paper: "arXiv 2510.10114"}, Options{}, New)

// Options of the system. The zero value has the settings of the program when it is run without a data set; for
// each data set it has others.
type Options struct {
	kit.Common
	// Extract, when set, finds the entities in place of the rules. Facts that it finds are not used.
	Extract extract.Extractor
	// Entities, when set, finds the entities of a question in place of the rules.
	Entities   func(context.Context, string) ([]string, error)
	Activation Activation `default:"bfs" source:"its program"`
	// Threshold is the least score at which an entity leads to others, Sentences the number of sentences to
	// which it leads in a step, Iterations the number of steps plus one. Ratio is the weight of the passages'
	// similarity to the question, PassageWeight the weight of passages relative to entities.
	Threshold     float64 `default:"0.4" min:"0" source:"its program, run without a data set"`
	Sentences     int     `default:"3" min:"1" source:"its program, run without a data set"`
	Iterations    int     `default:"3" min:"1" source:"its program, run without a data set"`
	Ratio         float64 `default:"2" min:"0" source:"its program, run without a data set"`
	PassageWeight float64 `default:"0.05" min:"0" source:"its program"`
	// Damping is the probability that the walk continues.
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
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Problems: c.Err(), Needs: []string{"Find", "Link"}}
	f.ExtractBy(o.Extract, k.Entities)
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

// searcher is an index of one corpus.
type searcher struct {
	o         Options
	corpus    *kit.Corpus
	graph     *triGraph
	entities  func(context.Context, string) ([]string, error)
	links     link.NameIndex
	sentences retrieve.Texts
	texts     retrieve.Texts
	walk      *ppr.Solver
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*searcher, error) {
	s := &searcher{o: o, corpus: c, graph: newTriGraph(c), entities: o.Entities}
	if s.entities == nil { // rules find the entities: LinearRAG calls no model here
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
	similar = rank.MinMax(similar)
	start, steps, err := s.start(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	if len(start) == 0 {
		ranked, err := s.corpus.ByScore(ctx, similar, q.Want(), "flat")
		return graphrag.Found{Ranked: ranked}, err
	}
	cosines, err := s.sentences.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	reached := s.activate(start, func(sentence int32) float64 { return min(max(0, cosines[sentence]), 1) })
	scores, err := s.rank(ctx, reached, similar)
	if err != nil {
		return graphrag.Found{}, err
	}
	ranked, err := s.corpus.ByScore(ctx, scores, q.Want(), Name)
	return graphrag.Found{Ranked: ranked, Steps: steps}, err
}

// start links each entity of the question to the entity with the most similar name.
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

// edges links passages to their entities. An edge weighs the entity's share of the mentions in the passage.
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
	return graph.New(len(t.names)+len(t.passages), edges)
}

// Activation selects how entities are activated from the entities of the question.
type Activation string

const (
	// BFS goes from entity to entity: each takes the sentences that name it, are not used yet and are most
	// similar to the question, and activates all entities in them. It is the program's default.
	BFS Activation = "bfs"
	// Max is the paper's equation 5, over all sentences at once, but with scores of at most 1.
	Max Activation = "max"
)

// activeEntity is an entity with its score, and the number, from 1, of the step that reached it.
type activeEntity struct {
	entity int32
	score  float64
	tier   int
}

// set replaces the entry of an entity in a table, or appends it.
func set(table []activeEntity, a activeEntity) []activeEntity {
	if i := slices.IndexFunc(table, func(x activeEntity) bool { return x.entity == a.entity }); i >= 0 {
		table[i] = a
		return table
	}
	return append(table, a)
}

// activated is the result of an activation.
type activated struct {
	table   []activeEntity // active entities with their final scores
	weights []float64      // sum of the scores of each entity, for the walk
}

// likeness is a function that returns the similarity of a sentence to the question.
type likeness func(sentence int32) float64

// activate activates entities from the entities of the question.
func (s *searcher) activate(start []activeEntity, like likeness) activated {
	a := activated{table: slices.Clone(start), weights: make([]float64, len(s.graph.names))}
	for _, x := range start {
		a.weights[x.entity] = x.score
	}
	if s.o.Activation == Max {
		s.max(&a, like)
		return a
	}
	frontier := start
	used := make(map[int32]bool)
	for tier := 2; tier <= s.o.Iterations && len(frontier) > 0; tier++ {
		frontier = s.breadthFirst(&a, frontier, used, like, tier)
		for _, x := range frontier {
			a.table = set(a.table, x)
		}
	}
	return a
}

// breadthFirst is a step of BFS. If several sentences name an entity, the last one determines its score.
func (s *searcher) breadthFirst(a *activated, frontier []activeEntity, used map[int32]bool, like likeness, tier int) []activeEntity {
	var next []activeEntity
	for _, from := range frontier {
		if from.score < s.o.Threshold {
			continue
		}
		var unused []rank.Scored[int32]
		for _, sentence := range s.graph.in[from.entity] {
			if !used[sentence] {
				unused = append(unused, rank.Scored[int32]{ID: sentence, Score: like(sentence)})
			}
		}
		for _, sentence := range rank.Best(unused, s.o.Sentences) {
			used[sentence.ID] = true
			score := from.score * sentence.Score
			if score < s.o.Threshold {
				continue
			}
			for _, e := range s.graph.named[sentence.ID] {
				a.weights[e] += score
				next = set(next, activeEntity{e, score, tier})
			}
		}
	}
	return next
}

// max repeats the step of equation 5 until no new entity is reached. The score of an entity, at most 1, is the
// sum over its sentences of the scores of the entities in them, each weighted by the similarity of the sentence
// to the question. A score never falls.
func (s *searcher) max(a *activated, like likeness) {
	for tier := 2; tier <= s.o.Iterations; tier++ {
		next, reached := s.equation5(a.table, like, tier)
		for i := range next {
			next[i].score = min(1, next[i].score)
		}
		a.table = next
		for _, x := range a.table {
			a.weights[x.entity] = x.score
		}
		if !reached {
			return
		}
	}
}

// equation5 is one step of equation 5, without the limit of 1.
func (s *searcher) equation5(table []activeEntity, like likeness, tier int) (next []activeEntity, reached bool) {
	sentences := make(map[int32]float64)
	for _, x := range table {
		for _, sentence := range s.graph.in[x.entity] {
			sentences[sentence] += x.score
		}
	}
	entities := make(map[int32]float64)
	for _, sentence := range slices.Sorted(maps.Keys(sentences)) {
		for _, e := range s.graph.named[sentence] {
			entities[e] += sentences[sentence] * like(sentence)
		}
	}
	next = slices.Clone(table)
	for i, x := range next {
		next[i].score = max(x.score, entities[x.entity])
		delete(entities, x.entity)
	}
	for _, e := range slices.Sorted(maps.Keys(entities)) {
		if entities[e] >= s.o.Threshold {
			next = append(next, activeEntity{e, entities[e], tier})
			reached = true
		}
	}
	return next, reached
}

// triGraph is the paper's Tri-Graph: entities, and the sentences and passages that name them.
type triGraph struct {
	names     []string       // folded names of the entities
	sentences []string       // sentences that name an entity, each once
	named     [][]int32      // entities of each sentence, ascending
	in        [][]int32      // sentences of each entity, ascending
	passages  [][]kg.Posting // entities of each passage, with their mentions
	mentions  [][]kg.Posting // passages of each entity, with its mentions
}

// newTriGraph finds the names of all entities in all passages, as whole words without regard to case.
func newTriGraph(c *kit.Corpus) *triGraph {
	t := &triGraph{passages: make([][]kg.Posting, len(c.Chunks))}
	ids := make(map[string]int32)
	for _, e := range c.Graph.Entities {
		if e.Type == rules.Quantity { // numbers are not entities in LinearRAG
			continue
		}
		ids[wordsOf(e.Key)] = int32(len(t.names))
		t.names = append(t.names, e.Key)
	}
	delete(ids, "")
	t.in, t.mentions = make([][]int32, len(t.names)), make([][]kg.Posting, len(t.names))
	known := make(map[string]bool)
	var found []int32
	for p, chunk := range c.Chunks {
		var all []int32
		whole := chunk.Titled()
		for _, span := range text.Sentences(whole) {
			sentence := span.In(whole)
			found = match(found[:0], sentence, ids)
			if len(found) == 0 {
				continue
			}
			all = append(all, found...)
			if !known[sentence] {
				known[sentence] = true
				of := slices.Compact(slices.Sorted(slices.Values(found)))
				for _, e := range of {
					t.in[e] = append(t.in[e], int32(len(t.sentences)))
				}
				t.sentences, t.named = append(t.sentences, sentence), append(t.named, of)
			}
		}
		t.passages[p] = count(all)
		for _, m := range t.passages[p] {
			t.mentions[m.ID] = append(t.mentions[m.ID], kg.Posting{ID: int32(p), Count: m.Count})
		}
	}
	return t
}

// wordsOf returns the words of a name, separated by single spaces.
func wordsOf(s string) string {
	var words []string
	text.Plain().Words(s, func(w []byte) bool { words = append(words, string(w)); return true })
	return strings.Join(words, " ")
}

// match appends the entities that a sentence names. Where names overlap it takes the longest.
func match(to []int32, sentence string, ids map[string]int32) []int32 {
	const maxWords = 8 // largest number of words of a name
	var b strings.Builder
	var ends []int // end of each word in b
	text.Plain().Words(sentence, func(w []byte) bool {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.Write(w)
		ends = append(ends, b.Len())
		return true
	})
	words, at := b.String(), 0
	for i := 0; i < len(ends); {
		next := i + 1
		for n := min(maxWords, len(ends)-i); n > 0; n-- {
			if e, ok := ids[words[at:ends[i+n-1]]]; ok {
				to = append(to, e)
				next = i + n
				break
			}
		}
		at, i = ends[next-1]+1, next
	}
	return to
}

// count sorts entities and counts equal ones.
func count(found []int32) []kg.Posting {
	slices.Sort(found)
	var out []kg.Posting
	for _, e := range found {
		if n := len(out); n > 0 && out[n-1].ID == e {
			out[n-1].Count++
		} else {
			out = append(out, kg.Posting{ID: e, Count: 1})
		}
	}
	return out
}

// bonus returns for each passage the sum of score · log(1 + mentions) / tier over the active entities.
func (t *triGraph) bonus(table []activeEntity) []float64 {
	out := make([]float64, len(t.passages))
	sorted := slices.Clone(table)
	slices.SortFunc(sorted, func(a, b activeEntity) int { return cmp.Compare(a.entity, b.entity) })
	for _, a := range sorted {
		for _, m := range t.mentions[a.entity] {
			out[m.ID] += a.score * math.Log1p(float64(m.Count)) / float64(a.tier)
		}
	}
	return out
}
