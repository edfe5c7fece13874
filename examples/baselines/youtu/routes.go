// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

// The limits of each route of a search; the paper gives none.
const (
	routeFacts       = 60 // facts of a route: three times the facts read
	routeEntities    = 20
	routeStarts      = 5
	routeCommunities = 3
	typeBonus        = 0.1 // share by which the score of a fact of a wanted type rises; the program's for eight words
	factShare        = 0.5 // weight of a fact's similarity, relative to the question's words, in a path
)

// query is a sub-query with its similarities.
type query struct {
	text     string
	scores   []float64 // similarity of each fact
	entities []int32   // entities, best first, beginning with those that the query names
	named    int       // number of entities that the query names
}

// favour raises the scores of facts whose ends are of the wanted types.
func (s *searcher) favour(scores []float64, types []string) {
	g := s.corpus.Graph
	of := func(e int32) string {
		if int(e) >= len(g.Entities) {
			return ""
		}
		return g.Entities[e].Type
	}
	for i, f := range s.tree.Facts {
		if scores[i] > 0 && (slices.Contains(types, f.Relation) || slices.Contains(types, of(f.Head)) || slices.Contains(types, of(f.Tail))) {
			scores[i] *= 1 + typeBonus
		}
	}
}

// link finds the entities of a query: for each of its names the entity of that name or with the nearest name,
// then the entities whose names are most similar to the query.
func (s *searcher) link(ctx context.Context, q *query) error {
	add := func(e int32) {
		if len(q.entities) < routeEntities && !slices.Contains(q.entities, e) {
			q.entities = append(q.entities, e)
		}
	}
	for _, name := range s.questionNames(q.text) {
		if e, ok := s.corpus.Graph.Find(name); ok {
			add(e)
			continue
		}
		near, err := s.links.Nearest(ctx, s.corpus.Graph.Key(name), 1)
		if err != nil {
			return err
		}
		for _, n := range near {
			add(s.among[n.ID])
		}
	}
	q.named = len(q.entities)
	like, err := s.names.Best(ctx, q.text, routeEntities)
	for _, e := range like {
		add(e.ID)
	}
	return err
}

// byFact is the second route: the facts most similar to the query.
func (s *searcher) byFact(q *query) []int32 {
	var top rank.Top[int32]
	top.Reset(routeFacts)
	for f, score := range q.scores {
		if score > 0 {
			top.Push(int32(f), score)
		}
	}
	return ids(top.Append(nil))
}

// best returns the routeFacts best facts, each once, with ties in the given order.
func (s *searcher) best(q *query, facts []int32) []int32 {
	seen := make([]bool, len(q.scores))
	facts = slices.DeleteFunc(facts, func(f int32) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
	slices.SortStableFunc(facts, func(a, b int32) int { return cmp.Compare(q.scores[b], q.scores[a]) })
	return facts[:min(routeFacts, len(facts))]
}

// byCommunity is the third route: the communities most similar to the query, by description and by keywords
// (levels four and three of the tree), and those facts of their members that have a positive score.
func (s *searcher) byCommunity(ctx context.Context, q *query) (facts, communities []int32, err error) {
	described, err := s.communities.Best(ctx, q.text, routeCommunities)
	if err != nil {
		return nil, nil, err
	}
	keywords, err := s.keywords.Best(ctx, q.text, routeEntities)
	if err != nil {
		return nil, nil, err
	}
	var named []int32
	for _, k := range keywords {
		if c := s.keywordOf[k.ID]; !slices.Contains(named, c) {
			named = append(named, c)
		}
	}
	found := rank.RRF(ids(described), named)
	found = found[:min(routeCommunities, len(found))]
	for _, c := range found {
		communities = append(communities, c.ID)
		for _, e := range s.tree.Communities[c.ID].Members {
			for _, f := range s.around[e] {
				if q.scores[f] > 0 {
					facts = append(facts, f)
				}
			}
		}
	}
	return s.best(q, facts), communities, nil
}

// byPath is the fourth route: the facts along the best paths from the named entities. through has, for each
// chunk, the score of the best path with a fact from the chunk.
func (s *searcher) byPath(ctx context.Context, q *query) (facts []int32, through []float64, err error) {
	like, of := s.likeness(q)
	starts := q.entities[:min(cmp.Or(q.named, routeStarts), len(q.entities))]
	paths, err := graph.FindPaths(ctx, s.ways, starts, like, s.o.Paths)
	if err != nil {
		return nil, nil, err
	}
	seen := make([]bool, len(q.scores))
	through = make([]float64, len(s.corpus.Chunks))
	for _, p := range paths {
		for _, a := range p.Arcs {
			f := of[a]
			for _, c := range s.tree.Facts[f].Passages {
				through[c] = max(through[c], p.Score)
			}
			if !seen[f] && len(facts) < routeFacts {
				seen[f] = true
				facts = append(facts, f)
			}
		}
	}
	return facts, through, nil
}

// likeness returns, for each arc, the score of its best fact for a query, and that fact.
func (s *searcher) likeness(q *query) (like graph.ArcScores, of []int32) {
	parts, weights := s.words.parts(q.text, len(s.tree.Facts))
	arcs := s.ways.Arcs()
	like = graph.ArcScores{Scores: make([]float64, arcs), Parts: make([]uint64, arcs), Weights: weights}
	of = make([]int32, arcs)
	value := make([]float64, arcs)
	for i := range value {
		value[i] = -1
	}
	for f, places := range s.arcs {
		if s.tree.Facts[f].Relation == perception.MemberOf {
			like.Scores[places[1]], value[places[1]] = math.Inf(-1), math.Inf(1) // a path ends in a community
		}
		score := factShare * q.scores[f]
		worth := score + like.Worth(parts[f])
		for _, a := range places {
			if worth > value[a] {
				like.Scores[a], like.Parts[a], of[a], value[a] = score, parts[f], int32(f), worth
			}
		}
	}
	return like, of
}

func ids[T cmp.Ordered](list []rank.Scored[T]) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = x.ID
	}
	return out
}

// The weights of the similarity of a chunk and of its best fact, relative to the score of a path through it.
// The paper and its program merge the chunks of facts and the similar chunks without an order.
const (
	chunkShare = 0.2
	factsShare = 0.02
)

// search finds the facts and chunks for one sub-query: four routes find facts, RRF merges them, and the
// chunks of these facts are merged with the chunks most similar to the query.
func (s *searcher) search(ctx context.Context, q graphrag.Question, sub agent.SubQuery) (graphrag.Found, error) {
	likeness, err := s.facts.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	s.favour(likeness, sub.Types)
	asked := &query{text: q.Text, scores: likeness}
	if err := s.link(ctx, asked); err != nil {
		return graphrag.Found{}, err
	}
	community, near, err := s.byCommunity(ctx, asked)
	if err != nil {
		return graphrag.Found{}, err
	}
	paths, through, err := s.byPath(ctx, asked)
	if err != nil {
		return graphrag.Found{}, err
	}
	var around []int32 // facts of the entities
	for _, e := range asked.entities {
		around = append(around, s.around[e]...)
	}
	routes := []struct {
		target string
		name   string
		facts  []int32
		scores []float64 // score of each chunk
	}{{agent.Node, "entities", s.best(asked, around), nil}, {agent.Fact, "facts", s.byFact(asked), nil}, {agent.Community, "communities", community, nil}, {agent.Auto, "paths", paths, through}}
	var lists [][]int32
	var steps []graphrag.Step
	for _, r := range routes {
		if r.name == s.o.Without {
			clear(r.scores)
			continue
		}
		lists = append(lists, r.facts)
		if r.target != agent.Auto && r.target == sub.Target { // the target's facts count twice
			lists = append(lists, r.facts)
		}
		step := graphrag.Step{Kind: r.name, Query: q.Text, Found: []string{}}
		for _, f := range r.facts[:min(3, len(r.facts))] {
			step.Found = append(step.Found, s.tree.Facts[f].Text)
		}
		steps = append(steps, step)
	}
	merged := rank.RRF(lists...)
	facts := merged[:min(s.o.facts(q), len(merged))]
	scores, err := s.chunks.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	ranked, err := s.corpus.ByScore(ctx, s.weigh(scores, through, merged), q.Want(), "youtu")
	if err != nil {
		return graphrag.Found{}, err
	}
	found := graphrag.Found{Ranked: ranked, Steps: steps}
	for _, f := range merged {
		fact := s.tree.Facts[f.ID]
		if fact.Relation == perception.MemberOf { // the community is shown below
			continue
		} else if len(found.Derived) == len(facts) {
			break
		}
		found.Derived = append(found.Derived, graphrag.Derived{Kind: kindFact, Text: fact.Text, Provenance: s.corpus.Provenance(fact.Passages)})
	}
	for _, c := range near {
		found.Derived = append(found.Derived, s.community(s.tree.Communities[c]))
	}
	return found, nil
}

// weigh returns the scores of the chunks, by three values: the best path through a chunk, its similarity to the
// query, and its best fact of all routes. It overwrites scores, which are the similarities.
func (s *searcher) weigh(scores, through []float64, facts []rank.Scored[int32]) []float64 {
	best := make([]float64, len(scores))
	for _, f := range facts {
		for _, c := range s.tree.Facts[f.ID].Passages {
			best[c] = max(best[c], f.Score/facts[0].Score)
		}
	}
	for c := range scores {
		scores[c] = through[c] + chunkShare*scores[c] + factsShare*best[c]
	}
	return scores
}

// corpusWords has the words of facts and chunks.
type corpusWords struct {
	facts  map[string][]int32 // facts with each word, ascending
	chunks map[string]int     // number of chunks with each word
	n      int                // number of chunks
}

// chunkWordsKey is the key under which the words of a graph's chunks are shared.
type chunkWordsKey struct{ *kg.Graph }

// chunkWords counts the chunks with each word.
func chunkWords(chunks text.List) map[string]int {
	n := make(map[string]int)
	for c := range chunks.All() {
		for _, term := range distinct(text.Default().Terms(c)) {
			n[term]++
		}
	}
	return n
}

// factWords lists the facts with each word.
func factWords(facts []perception.Fact) map[string][]int32 {
	of := make(map[string][]int32)
	for f := range facts {
		for _, term := range distinct(text.Default().Terms(facts[f].Text)) {
			of[term] = append(of[term], int32(f))
		}
	}
	return of
}

// parts returns the words of a question: of has, for each fact, a bit for each word that the fact contains;
// weights has BM25's inverse document frequency of each word, scaled to the sum 1. It uses the graph.MaxParts
// rarest words.
func (w *corpusWords) parts(question string, facts int) (of []uint64, weights []float64) {
	var all []rank.Scored[string]
	for _, term := range distinct(text.Default().Terms(question)) {
		df := float64(w.chunks[term])
		all = append(all, rank.Scored[string]{ID: term, Score: math.Log(1 + (float64(w.n)-df+.5)/(df+.5))})
	}
	all = rank.Best(all, graph.MaxParts)
	sum := 0.0
	for _, x := range all {
		sum += x.Score
	}
	of, weights = make([]uint64, facts), make([]float64, len(all))
	for i, x := range all {
		weights[i] = x.Score / sum
		for _, f := range w.facts[x.ID] {
			of[f] |= 1 << i
		}
	}
	return of, weights
}

func distinct(terms []string) []string {
	slices.Sort(terms)
	return slices.Compact(terms)
}

// agent returns the search of the agent.
func (s *searcher) agent(k kit.Kit) (graphrag.Retriever, error) {
	var schema *extract.Schema
	if !s.o.NoSchema {
		schema = vocabulary(s.corpus.Graph)
	}
	var problem error
	decompose := kit.Step(k.AnswerModel, func(m llm.Model) (d agent.Decomposer) {
		d, problem = agent.DecomposeByModel(m, schema, s.o.SubQueries)
		return d
	}, byRules(schema))
	if problem != nil {
		return nil, problem
	}
	once, err := agent.Decomposed(s.search, decompose, schema, s.o.SubQueries)
	if err != nil || s.o.NoAgent {
		return s.trimmed(once), err
	}
	o := agent.Options{Steps: s.o.Steps, Tokens: s.o.Tokens}
	reflect := kit.Step(k.AnswerModel, func(m llm.Model) (r agent.Next) {
		o.Draft = drafts(k)
		r, problem = agent.ReflectByModel(m, k.Count)
		return r
	}, func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		return fillGaps(m, func(term string) bool { return s.words.chunks[term] > 0 }), nil
	})
	if problem != nil {
		return nil, problem
	}
	// The query of a reflection is decomposed again (section 3.3: "schema-guided query
	// decomposition and retrieval").
	r, err := agent.Reflecting(s.trimmed(once), s.trimmed(once), reflect, o)
	return capped(r, s.o.MaxPerDoc), err
}

// trimmed limits the merged results of sub-queries: facts, communities, and chunks of a document.
func (s *searcher) trimmed(r graphrag.Retriever) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		found, err := capped(r, s.o.MaxPerDoc).Retrieve(ctx, q)
		left := map[string]int{kindFact: s.o.facts(q), kindCommunity: routeCommunities}
		found.Derived = slices.DeleteFunc(found.Derived, func(d graphrag.Derived) bool {
			left[d.Kind]--
			return left[d.Kind] < 0
		})
		return found, err
	})
}

// capped limits the number of chunks of a document in merged results.
func capped(r graphrag.Retriever, perDoc int) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		found, err := r.Retrieve(ctx, q)
		found.Ranked = retrieve.Ranking{PerDoc: perDoc}.Capped(found.Ranked)
		return found, err
	})
}

// drafts lets the kit's reader answer from the first results.
func drafts(k kit.Kit) func(context.Context, graphrag.Question, graphrag.Found) (graphrag.Answer, error) {
	return func(ctx context.Context, q graphrag.Question, f graphrag.Found) (graphrag.Answer, error) {
		hits, derived := f.Read(q), f.Derived
		if q.Tokens > 0 {
			hits, derived = retrieve.Fit(hits, derived, q.Tokens, k.Count)
		}
		return k.Read.Read(ctx, q, hits, derived)
	}
}

// vocabulary returns the schema of the graph: the types, relations and attributes that occur in it, the
// most frequent first.
func vocabulary(g *kg.Graph) *extract.Schema {
	const vocabularySize = 60 // number of names of each kind in the prompt that decomposes a question
	types, relations, attributes := make(map[string]int), make(map[string]int), make(map[string]int)
	for e := range g.Entities {
		types[g.Entities[e].Type]++
		for _, a := range g.Entities[e].Attributes {
			attributes[a.Key]++
		}
	}
	for r := range g.Relations {
		relations[g.Relations[r].Label] += g.Relations[r].Count
	}
	frequent := func(counts map[string]int) []extract.SchemaItem {
		delete(counts, "")
		var all []rank.Scored[string]
		for name, n := range counts {
			all = append(all, rank.Scored[string]{ID: name, Score: float64(n)})
		}
		return items(ids(rank.Best(all, vocabularySize))...)
	}
	return &extract.Schema{EntityTypes: frequent(types), Relations: frequent(relations), Attributes: frequent(attributes)}
}

// kinds maps question words to the types for which they ask.
var kinds = map[string][]string{
	"who": {rules.Person, rules.Organization}, "whom": {rules.Person}, "whose": {rules.Person}, "where": {rules.Place}, "when": {rules.Date},
}

// byRules plans without a model: it keeps the question whole. The wanted types follow from its question words, and are
// the names of the schema whose words it contains.
func byRules(schema *extract.Schema) agent.Decomposer {
	return func(_ context.Context, question string) ([]agent.SubQuery, error) {
		sub := agent.SubQuery{ID: "q1", Text: question}
		if schema == nil {
			return []agent.SubQuery{sub}, nil
		}
		add := func(name string) {
			if known, ok := schema.Name(name); ok && !slices.Contains(sub.Types, known) {
				sub.Types = append(sub.Types, known)
			}
		}
		for _, word := range text.Plain().Terms(question) {
			for _, kind := range kinds[word] {
				add(kind)
			}
		}
		asked := text.Default().Terms(question)
		for _, it := range slices.Concat(schema.EntityTypes, schema.Relations, schema.Attributes) {
			terms := text.Default().Terms(it.Name)
			if len(terms) > 0 && !slices.ContainsFunc(terms, func(t string) bool { return !slices.Contains(asked, t) }) {
				add(it.Name)
			}
		}
		return []agent.SubQuery{sub}, nil
	}
}

// fillGaps reflects without a model. A question counts as answered if the evidence has all of its words that
// the corpus has; otherwise the next query is the missing words and the best fact.
func fillGaps(m *agent.Memory, known func(term string) bool) agent.Move {
	wanted := make(map[string]bool)
	for _, term := range text.Default().Terms(m.Question.Text) {
		if known(term) {
			wanted[term] = true
		}
	}
	note := func(of string) {
		if len(wanted) > 0 {
			for _, term := range text.Default().Terms(of) {
				delete(wanted, term)
			}
		}
	}
	best := ""
	for _, d := range m.Found.Derived {
		note(d.Text)
		if best == "" && d.Kind == kindFact {
			best = d.Text
		}
	}
	for _, h := range m.Found.Read(m.Question) {
		note(h.Chunk.Titled())
	}
	var missing []string
	text.Default().Spans(m.Question.Text, func(word []byte, start, end int) {
		term, ok := text.Default().Term(string(word))
		if w := m.Question.Text[start:end]; ok && wanted[term] && !slices.Contains(missing, w) {
			missing = append(missing, w)
		}
	})
	if len(missing) == 0 {
		return agent.Move{Thought: "every word of the question is in what was found", Answered: true}
	}
	gap := strings.Join(missing, " ")
	return agent.Move{Thought: "nothing says: " + gap, Query: gap + " " + best}
}
