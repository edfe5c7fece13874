// SPDX-License-Identifier: Apache-2.0

package fastgraphrag

import (
	"cmp"
	"context"
	"embed"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
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
const Name = "fastgraphrag"

// Info describes the system.
var Info = kit.InfoOf(kit.Info{
	Name: Name, Source: "Circlemind 2024", Paper: "circlemind-ai/fast-graphrag 0.0.5",
	Costs: "1 a chunk; 1 to search", Calls: kit.Calls{Chunk: 1, Question: 1}, // for a chunk one extraction, for a question its entities
}, Options{}, New)

// tolerance is the error at which PageRank stops, far below Threshold.
const tolerance = 1e-6

// DefaultDomain is the description of texts for users who give none. The code has no default.
const DefaultDomain = "Pages of the web on all subjects. Analyse them for the people, organisations, places, works and events they tell of, what these did, and how they are connected."

// DefaultTypes returns the types of the offline extractor, and "concept".
func DefaultTypes() []string {
	return []string{rules.Person, rules.Organization, rules.Place, rules.Event, rules.Work, rules.Date, rules.Quantity, "concept", rules.Other}
}

// Options of the system. The zero value is the setting of the code, over the paper's chunks:
// fast_graphrag/_services/_state_manager.py and the ranking policies of fast_graphrag/__init__.py.
type Options struct {
	kit.Common
	// Extract, when set, is used in place of the kit's extractor.
	Extract extract.Extractor
	// Domain describes the texts, Questions are examples of questions about them, Types the types of entities.
	// The defaults are DefaultDomain, no questions, and DefaultTypes.
	Domain    string   `source:"ours: its program has none"`
	Questions []string `source:"ours: its program has none"`
	Types     []string `source:"ours: its program has none"`
	// Damping is the probability that the walk continues. Of the entities with a PageRank of at least Threshold
	// the best Entities are read, and of their facts the best Facts.
	Damping   float64 `default:"0.85" source:"its program"`
	Threshold float64 `default:"0.005" min:"0" max:"1" source:"its program"`
	Entities  int     `default:"128" min:"0" source:"its program"`
	Facts     int     `default:"64" min:"0" source:"its program"`
}

// Defaults returns the options with zero values replaced by their defaults.
func (o Options) Defaults() Options {
	o.Domain = cmp.Or(o.Domain, DefaultDomain)
	if o.Types == nil {
		o.Types = DefaultTypes()
	}
	return o
}

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	c.Add(ppr.Options{Damping: o.Damping}.Check())
	o = o.Defaults()
	domain := strings.Join(append([]string{o.Domain}, o.Questions...), "\n- ")
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Problems: c.Err(), Needs: []string{"Find", "Link", "Describe", "QuestionNames"}}
	f.Knowledge.OnlyDescribed = o.Extract == nil // the code loses relations without a description
	f.ExtractBy(o.Extract, k.RecordsFor(extract.RecordOptions{Format: extract.Objects, Types: o.Types, Domain: domain}))
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

// searcher is an index of one corpus.
type searcher struct {
	o      Options
	corpus retrieve.Ranking
	count  func(string) int
	*linker
	incident     kg.Lists // edges of each entity
	entity, edge func(int32) entry
	walk         *ppr.Solver
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*searcher, error) {
	s := &searcher{o: o, corpus: c.Ranking, count: k.Count}
	n, err := newNetwork(ctx, k, c.Graph)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(n.described))
	for i := range keys {
		keys[i] = c.Graph.Entities[i].Key
	}
	if s.linker, err = newLinker(ctx, k, c, n.described, keys, o.Types); err != nil {
		return nil, err
	}
	same, err := s.identities(ctx, keys)
	if err != nil {
		return nil, err
	}
	n.identify(same)
	s.incident = n.incident
	if s.entity, s.edge, err = n.rows(c); err != nil {
		return nil, err
	}
	g, err := n.graph()
	if err != nil {
		return nil, err
	}
	s.walk, err = ppr.New(g, ppr.Options{Damping: o.Damping, Tolerance: tolerance})
	return s, err
}

// Retrieve runs PageRank from the entities of the question. Without entities it finds nothing.
func (s *searcher) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	seeds, steps, err := s.seeds(ctx, q)
	if err != nil {
		return graphrag.Found{}, err
	}
	if len(seeds) == 0 {
		return graphrag.Nothing(), nil
	}
	ranks, err := s.walk.Solve(ctx, seeds, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	entities := s.entities(ranks)
	edges := s.facts(entities)
	chunks := make([]float64, s.corpus.IDs.Len())
	rows := make([]entry, len(edges))
	for i, f := range edges {
		rows[i] = s.edge(f.ID)
		for _, p := range rows[i].Passages {
			chunks[p] += f.Score
		}
	}
	ranked, err := s.corpus.ByScore(ctx, chunks, q.Want(), Name)
	if err != nil {
		return graphrag.Found{}, err
	}
	found := s.context(q, entities, rows, ranked)
	found.Steps = steps
	return found, nil
}

// scored is an entity or an edge with its score.
type scored = rank.Scored[int32]

// entities returns the best entities among those with a rank of at least the threshold.
func (s *searcher) entities(ranks []float64) []scored {
	var out []scored
	for e, r := range ranks {
		if r >= s.o.Threshold {
			out = append(out, scored{ID: int32(e), Score: r})
		}
	}
	return rank.Best(out, s.o.Entities)
}

// facts returns the best edges by the sum of the scores of their ends.
func (s *searcher) facts(entities []scored) []scored {
	sum := make(map[int32]float64)
	for _, e := range entities {
		for _, f := range s.incident.Of(e.ID) {
			sum[f] += e.Score
		}
	}
	out := make([]scored, 0, len(sum))
	for f, score := range sum {
		out = append(out, scored{ID: f, Score: score})
	}
	return rank.Best(out, s.o.Facts)
}

// The largest numbers of tokens of the three tables in a prompt. The code counts four characters as a token.
const (
	EntityBudget = 4000
	FactBudget   = 3000
	ChunkBudget  = 9000
)

// context returns K chunks, and the entities and edges, each table within its budget.
func (s *searcher) context(q graphrag.Question, entities []scored, edges []entry, ranked []graphrag.Hit) graphrag.Found {
	var lengths [3][]int
	var derived [2][]graphrag.Derived
	add := func(table int, kind string, of entry) {
		d := graphrag.Row(kind, of.Title, of.Text, s.corpus.Provenance(of.Passages))
		derived[table] = append(derived[table], d)
		lengths[table] = append(lengths[table], s.count(d.Text))
	}
	for _, x := range entities {
		add(0, "entity", s.entity(x.ID))
	}
	for _, of := range edges {
		add(1, "relation", of)
	}
	evidence := ranked[:min(q.Reads(), len(ranked))]
	for _, h := range evidence {
		lengths[2] = append(lengths[2], s.count(h.Chunk.Text))
	}
	n := fit(lengths, [3]int{EntityBudget, FactBudget, ChunkBudget})
	return graphrag.Found{Ranked: ranked, Evidence: append([]graphrag.Hit{}, evidence[:n[2]]...), Derived: slices.Concat(derived[0][:n[0]], derived[1][:n[1]])}
}

// fit returns how many rows of each table fit. Tokens that a table leaves over go to the next tables, then to
// the first ones again.
func fit(lengths [3][]int, budgets [3]int) (rows [3]int) {
	left := 0
	for again := true; again; {
		again = false
		for t, of := range lengths {
			left += budgets[t]
			budgets[t] = 0
			for rows[t] < len(of) && of[rows[t]] <= left {
				left -= of[rows[t]]
				rows[t]++
				again = true
			}
		}
	}
	return rows
}

// Least cosines for a match. The code compares (1+cosine)/2 with 0.9, 0.7 and 0.5.
const (
	sameCosine    = 0.8 // least cosine of two entities that are the same
	sameNearest   = 3   // number of nearest entities that are compared
	namedCosine   = 0.4 // least cosine of a name in the question and its one match
	genericCosine = 0.0 // least cosine of other texts and their matches
	genericTop    = 20
)

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("fastgraphrag", promptFiles)

// StageQuestion names the calls that find the entities of a question in usage figures.
const StageQuestion = "question entities"

// linker finds entities by name and by description.
type linker struct {
	key   func(entity int32) string
	ask   func(context.Context, string) (extract.Parts, error)
	link  link.Linker
	names link.NameIndex
	texts retrieve.Texts
}

func newLinker(ctx context.Context, k kit.Kit, c *kit.Corpus, described []kg.Description, keys, types []string) (*linker, error) {
	l := &linker{link: k.Link}
	var err error
	if l.key, err = kit.Keep(c, len(keys), func(e int32) string { return keys[e] }); err != nil {
		return nil, err
	}
	if l.names, err = k.Link.Index(ctx, keys); err != nil {
		return nil, err
	}
	texts := text.NewList(len(described), func(i int) string { return entityText(&c.Graph.Entities[i], described[i].Text) })
	if l.texts, err = c.Find(ctx, texts); err != nil {
		return nil, err
	}
	if l.ask = k.Decompose; l.ask != nil {
		return l, nil
	}
	known, err := c.Known()
	if err != nil {
		return nil, err
	}
	names, err := k.QuestionNames(known)
	l.ask = kit.Step(k.AnswerModel, byModel(types), func(ctx context.Context, text string) (extract.Parts, error) {
		named, err := names(ctx, text)
		return extract.Parts{Names: named, Themes: rules.Themes(text, named)}, err
	})
	return l, err
}

// entityText returns the text by which an entity is found.
func entityText(e *kg.Entity, description string) string {
	text := "[" + strings.ToUpper(e.Type) + "] " + strings.ToUpper(e.Name)
	if description != "" {
		text += "\n[DESCRIPTION] " + description
	}
	return text
}

// identities returns pairs of entities that are the same: each entity with such of its nearest as have at
// least the cosine sameCosine and a higher number.
func (l *linker) identities(ctx context.Context, keys []string) ([][2]int32, error) {
	near, err := l.link.Neighbors(ctx, keys, sameCosine, sameNearest)
	var same [][2]int32
	for e, of := range near {
		for _, n := range of {
			if n.ID > int32(e) {
				same = append(same, [2]int32{int32(e), n.ID})
			}
		}
	}
	return same, err
}

// byModel asks a model for the entities of a question. Without a readable reply only the question is linked.
func byModel(types []string) func(llm.Model) func(context.Context, string) (extract.Parts, error) {
	return func(model llm.Model) func(context.Context, string) (extract.Parts, error) {
		return func(ctx context.Context, text string) (extract.Parts, error) {
			req, err := templates.Request(ctx, StageQuestion, "question", map[string]any{"Types": strings.ToUpper(strings.Join(types, ", "))}, prompts.Data{Label: "question", Text: text})
			if err != nil {
				return extract.Parts{}, err
			}
			found, _, err := replies.Decode[struct{ Named, Generic []string }](ctx, model, req)
			return extract.Parts{Names: found.Named, Themes: found.Generic}, llm.Fatal(err)
		}
	}
}

// seeds returns the entities at which the walk starts: the entity of each name, and the entities nearest to
// each generic entity and to the whole question. The weights of each of these add up to 1. An entity found
// several times has its largest weight.
func (l *linker) seeds(ctx context.Context, q graphrag.Question) ([]ppr.Seed, []graphrag.Step, error) {
	if l.texts.Len() == 0 || strings.TrimSpace(q.Text) == "" {
		return nil, nil, ctx.Err()
	}
	asked, err := l.ask(ctx, q.Text)
	if err != nil {
		return nil, nil, err
	}
	weights := make(map[int32]float64)
	var steps []graphrag.Step
	link := func(query string, find func(context.Context, string) ([]scored, error)) error {
		found, err := find(ctx, query)
		weigh(weights, found)
		step := graphrag.Step{Kind: "link", Query: query}
		for _, f := range found {
			step.Found = append(step.Found, l.key(f.ID))
		}
		steps = append(steps, step)
		return err
	}
	for _, name := range asked.Names {
		if err := link(name, l.named); err != nil {
			return nil, nil, err
		}
	}
	for _, text := range append([]string{q.Text}, asked.Themes...) {
		if err := link(text, l.nearest); err != nil {
			return nil, nil, err
		}
	}
	seeds := make([]ppr.Seed, 0, len(weights))
	for e, w := range weights {
		seeds = append(seeds, ppr.Seed{Node: e, Weight: w})
	}
	slices.SortFunc(seeds, func(a, b ppr.Seed) int { return int(a.Node) - int(b.Node) })
	return seeds, steps, nil
}

// named returns the entity of a name. The model may have written the type before the name.
func (l *linker) named(ctx context.Context, name string) ([]scored, error) {
	if end := strings.Index(name, "] "); strings.HasPrefix(name, "[") && end > 0 {
		name = name[end+2:]
	}
	near, err := l.names.Nearest(ctx, kg.FoldUnicode.Key(name), 1)
	return atLeast(near, namedCosine), err
}

// nearest returns the entities with the texts most similar to a text.
func (l *linker) nearest(ctx context.Context, text string) ([]scored, error) {
	found, err := l.texts.Best(ctx, text, genericTop)
	return atLeast(found, genericCosine), err
}

// atLeast returns the entities with a cosine of at least least, and maps the cosines to 0..1.
func atLeast(found []scored, least float64) (out []scored) {
	for _, f := range found {
		if f.Score >= least {
			out = append(out, scored{ID: f.ID, Score: (1 + f.Score) / 2})
		}
	}
	return out
}

// weigh scales the scores of a row to the sum 1. An entity that has a weight already keeps the larger one.
func weigh(weights map[int32]float64, row []scored) {
	sum := 0.0
	for _, r := range row {
		sum += r.Score
	}
	for _, r := range row {
		weights[r.ID] = max(weights[r.ID], r.Score/sum)
	}
}
