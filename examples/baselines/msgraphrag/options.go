// SPDX-License-Identifier: Apache-2.0

// Package msgraphrag is Microsoft's GraphRAG (Edge and others, "From Local to Global: A Graph RAG Approach to
// Query-Focused Summarization", arXiv 2404.16130, and microsoft/graphrag, v3.1.2, reports as in v0.3.0): a
// graph of described entities, a hierarchy of communities in it, and a report about each.
//
// [NewLocal] answers from the neighbourhood of the entities nearest to the question, [NewGlobal] from all
// reports by map and reduce, [NewDrift] from reports and then from neighbourhoods.
//
// Indexing takes one call per chunk, and a second one if the first reply was cut; one for each entity and each
// pair of entities with five descriptions or long ones, if they fit into one prompt; and one for each community
// whose report is read. A local question takes one call, a global one a call for each batch of reports and one
// more; dynamic selection adds one for each report that is rated.
//
// Where this differs from the code, and why:
//
//   - The code always asks twice for records, makes one description of any two, and writes reports that no
//     search reads, which is 45 % of the cost of indexing. [Options].AlwaysGlean, FoldFrom and AllReports do
//     the same.
//   - Entities with the same name are merged, of any type, and keep all descriptions. The code loses the
//     descriptions of the second type.
//   - Every connected component has communities and reports, and its entities are found; the code uses only the
//     largest component, in its local search too.
//   - Inserting asks for the reports whose rows changed, and the index equals one made from scratch. The code's
//     update writes reports for the new text alone; [Options].Stale is the compromise.
//   - Reports are made from the deepest level up: if rows do not fit, the reports of the parts replace them. A
//     report uses all edges inside, and shows members without an edge. Version 3.1.2 does none of this.
//   - A report that fails is logged, and the reports above use the raw rows. If the report of an entity's
//     community is missing, the report above is used.
//   - Local search reads the 10 nearest entities. The code looks up 20, so that some can be excluded, and then
//     reads them all. At most Question.K chunks are read. Chunks of equal rank are ordered by the number of
//     selected entities in them, then by similarity to the question.
//   - Global search reads a cover, the deepest community of each entity down to Level, as in the paper. The
//     code reads the parents too.
//   - The last call of each method is the kit's reader, the same for all systems.
//   - Everything random has a seed.
//
// Offline, rules find entities and relations, and the sentences that name them describe them (see
// extract.Linked); of many descriptions the central ones are kept, and reports quote. Global search reads the
// reports most similar to the question that fit. The documents of a report are the quoted ones.
package msgraphrag

import (
	"context"
	"embed"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// The names of the systems in reports.
const (
	NameLocal   = "msgraphrag-local"
	NameGlobal  = "msgraphrag-global"
	NameDynamic = "msgraphrag-dynamic"
	NameDrift   = "msgraphrag-drift"
)

// Infos describe the four ways of searching.
var Infos = []kit.Info{
	kit.InfoOf(info(NameLocal, "1 a chunk, 1 a community that is read", 0), LocalOptions{}, NewLocal),
	kit.InfoOf(info(NameGlobal, "the same; 1 per 12,000 tokens of reports", 1), GlobalOptions{}, NewGlobal), // one batch
	// 19 ratings of reports and one batch.
	kit.InfoOf(info(NameDynamic, "all reports to index; 1 per report looked at, 1 per 12,000 tokens", 19+1), GlobalOptions{Dynamic: true}, NewGlobal),
	// A hypothetical answer, 5 parts of the reports, and a follow-up question for each.
	kit.InfoOf(info(NameDrift, "all reports to index; up to 66 to search", 1+5+5), DriftOptions{}, NewDrift),
}

// info describes a way of searching by its costs and the number of calls for a question. Each chunk takes two
// calls, for the graph and for a report.
func info(name, costs string, calls int) kit.Info {
	return kit.Info{
		Name: name, Source: "Edge and others 2024", Paper: "arXiv 2404.16130, microsoft/graphrag 3.1.2",
		Costs: costs, Calls: kit.Calls{Chunk: 2, Question: calls},
	}
}

// The settings of the code that are not options (graphrag/config/defaults.py).
const (
	randomness = 0.001 // randomness of Leiden's refinement
	foldTokens = 4000  // tokens of descriptions in a prompt
	foldWords  = 500   // words of a description
	mapWords   = 1000  // words of the points of a batch
)

// TopLevel, as the value of [Options].Level, reads the reports of the coarsest communities.
const TopLevel = -1

// longDescriptions is the number of tokens from which on a model condenses even two descriptions.
const longDescriptions = 600

// offlineWords is the number of words of a description made of quotes: 20 of these fill their share of the
// context.
const offlineWords = 150

// Options of all systems of the package. The zero value has the settings of the code, over the paper's chunks:
// graphrag/config/defaults.py, for the level graphrag/cli/main.py, for Leiden
// graphrag/graphs/hierarchical_leiden.py.
type Options struct {
	kit.Common
	// Extract and Reporter, when set, are used in place of the kit's.
	Extract  extract.Extractor
	Reporter report.Reporter
	// Level is the level of the hierarchy down to which reports are read, TopLevel the coarsest.
	Level int `default:"2" min:"-1" source:"its program"`
	// MaxSize is the size above which a community is split, Passes the number of passes of Leiden.
	MaxSize int `default:"10" source:"its program"`
	Passes  int `default:"1" min:"0" source:"its program"`
	// Seed is the seed of Leiden.
	Seed uint64 `default:"0xDEADBEEF" source:"its program"`
	// FoldFrom is the number of descriptions of an entity or pair from which on a model condenses them. Fewer
	// are kept unless they are long. The code has 2.
	FoldFrom int `default:"5" min:"0" source:"ours: its program has 2"`
	// MinSize is the least number of members of a community that has a report; 0 gives one to all communities
	// with a relation inside. Reports of higher levels cover smaller communities.
	MinSize int `min:"0" source:"ours: no least size"`
	// Stale is a share from 0 to 1: after a change a report is still used if at most this share of its
	// community's rows differs from the rows of the report. Communities then start from the previous ones. With
	// 0 every report whose rows changed is written again: the index equals one made from scratch.
	Stale float64 `min:"0" max:"1" source:"ours: its program's update writes no report of what was there again"`
	// AllReports lets a model also write the reports that the search does not read.
	AllReports bool `source:"ours: its program writes all"`
	// AlwaysGlean asks for more records even if the model wrote that there are none, as the code does.
	AlwaysGlean bool `source:"ours: its program always asks"`
	// Logger receives descriptions and reports that could not be written; with nil they are not logged.
	Logger *slog.Logger
}

// frame makes a system of a search over the index. Its options o get their defaults; c has the faults of the
// options that only the search has.
func frame(name string, k kit.Kit, o Options, c kit.Checks, search func(context.Context, *index) (graphrag.Retriever, error)) (*kit.System, error) {
	c.Want(o.MaxSize >= 2, "MaxSize", o.MaxSize, "2 or more, or 0 for the default")
	if o.Level == TopLevel {
		o.Level = 0
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	f := kit.Frame{Name: name, Common: o.Common, Kit: k, Problems: c.Err(), Needs: []string{"Find", "Describe", "Report"}}
	f.Knowledge.OnlyDescribed = o.Extract == nil // graphrag/index/operations/extract_graph drops relations without their ends
	f.ExtractBy(o.Extract, k.RecordsFor(extract.RecordOptions{Format: extract.Tuples, AlwaysGlean: o.AlwaysGlean}))
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		x, err := newIndex(ctx, k, o, c)
		if err != nil {
			return nil, err
		}
		return search(ctx, x)
	}
	return kit.New(f)
}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("msgraphrag", promptFiles)

// request makes a prompt of data and, after them, the question, unless it is empty.
func request(ctx context.Context, stage, name string, words int, question string, data ...prompts.Data) (llm.Request, error) {
	req, err := templates.Request(ctx, stage, name, map[string]any{"Words": words}, data...)
	if err == nil && question != "" {
		m := &req.Messages[1]
		m.Text = strings.TrimSpace(m.Text + "\n\nQuestion: " + question)
	}
	return req, err
}

// index is the described graph with its communities and their reports, shared by all searches.
type index struct {
	kit    kit.Kit
	o      Options
	corpus *kit.Corpus
	last   previous

	graph    report.Graph // node e is entity e; an edge is a pair of entities in one direction
	stated   kg.Lists     // passages of each edge
	incident kg.Lists     // edges of each entity

	hierarchy community.Hierarchy
	reports   *report.Set
	cover     []int32        // deepest community with a report, of each entity; -1 for none
	units     retrieve.Texts // texts of the chunks
}

func newIndex(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*index, error) {
	last := memo.Kept[previous](ctx)
	x := &index{kit: k, o: o, corpus: c, last: *last}
	var err error
	if x.units, err = c.Find(ctx, retrieve.TitledTexts(c.Chunks)); err != nil {
		return nil, err
	}
	related, weight := x.pairs()
	if err := x.describe(ctx, related); err != nil {
		return nil, err
	}
	if err := x.communities(ctx, weight); err != nil {
		return nil, err
	}
	spare, err := x.report(ctx)
	if err != nil {
		return nil, err
	}
	if *last = (previous{}); spare != nil {
		*last = x.next(spare)
	}
	x.cover = x.hierarchy.Cut(o.Level)
	for v, c := range x.cover {
		for c >= 0 && x.reports.Of(c) == nil {
			c = x.hierarchy.Communities[c].Parent
		}
		x.cover[v] = c
	}
	return x, nil
}

// pairs makes an edge of each pair of entities in each direction, without loops, and returns the relations and
// the weight of each edge.
func (x *index) pairs() (related kg.Lists, weight []float64) {
	g := x.corpus.Graph
	x.graph.Nodes = make([]report.Node, len(g.Entities))
	for e := range g.Entities {
		x.graph.Nodes[e] = report.Node{Title: g.Entities[e].Name}
	}
	all := g.Pairs(true)
	x.graph.Edges = make([]report.Edge, 0, all.Len())
	var stated []int32
	for _, relations := range all.All() {
		head, tail := g.Relations[relations[0]].Head, g.Relations[relations[0]].Tail
		if head == tail {
			continue
		}
		sum := 0.0
		stated = stated[:0]
		for _, id := range relations {
			sum += g.Relations[id].Weight
			for _, p := range g.RelationPassages(id) {
				stated = append(stated, p.ID)
			}
		}
		x.graph.Edges, weight = append(x.graph.Edges, report.Edge{Source: head, Target: tail}), append(weight, sum)
		related.Append(relations...)
		x.stated.Append(distinct(stated)...)
	}
	x.stated.Clip()
	x.connect()
	return related, weight
}

// connect lists the edges of each entity.
func (x *index) connect() {
	x.incident = kg.Incident(len(x.graph.Nodes), len(x.graph.Edges), func(e int32) [2]int32 {
		return [2]int32{x.graph.Edges[e].Source, x.graph.Edges[e].Target}
	})
}

// descriptions returns the descriptions of some relations, those with equal texts as one.
func (x *index) descriptions(relations []int32) (all []kg.Description) {
	for _, r := range relations {
		all = merge(all, x.corpus.Graph.RelationDescriptions(r))
	}
	return all
}

// merge adds descriptions to a list; those with equal texts become one.
func merge(to, more []kg.Description) []kg.Description {
	for _, d := range more {
		i := slices.IndexFunc(to, func(t kg.Description) bool { return t.Text == d.Text })
		if i < 0 {
			to = append(to, d)
			continue
		}
		to[i].Passages = distinct(slices.Concat(to[i].Passages, d.Passages))
	}
	return to
}

// describe condenses the descriptions of an entity, or of the relations of an edge, if there are several.
func (x *index) describe(ctx context.Context, related kg.Lists) error {
	write, err := newDescriber(x.kit, x.o)
	if err != nil {
		return err
	}
	describe := func(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error) {
		if len(of) < 2 {
			return of, nil
		}
		return write(ctx, subject, of)
	}
	nodes, edges := x.graph.Nodes, x.graph.Edges
	return kit.Each(ctx, len(nodes)+len(edges), func(ctx context.Context, i int) (err error) {
		if i < len(nodes) {
			n := &nodes[i]
			n.Descriptions, err = describe(ctx, n.Title, x.corpus.Graph.EntityDescriptions(int32(i)))
			return err
		}
		i -= len(nodes)
		e := &edges[i]
		e.Descriptions, err = describe(ctx, nodes[e.Source].Title+" – "+nodes[e.Target].Title, x.descriptions(related.Of(int32(i))))
		return err
	})
}

// communities finds the hierarchy of communities and the degrees in the graph with summed weights.
func (x *index) communities(ctx context.Context, weight []float64) error {
	edges := make([]graph.Edge, len(x.graph.Edges))
	for i, e := range x.graph.Edges {
		edges[i] = graph.Edge{From: e.Source, To: e.Target, Weight: weight[i]}
	}
	g, err := graph.New(len(x.graph.Nodes), edges)
	if err != nil {
		return err
	}
	for v := range x.graph.Nodes {
		x.graph.Nodes[v].Degree = g.Degree(int32(v))
	}
	o := community.HierarchyOptions{Options: community.Options{Randomness: randomness, MaxPasses: x.o.Passes, Seed: x.o.Seed}, MaxSize: x.o.MaxSize}
	x.hierarchy, err = trace.Do(ctx, "communities", func(ctx context.Context) (community.Hierarchy, error) {
		if !x.spares() {
			return community.HierarchicalLeiden(ctx, g, o)
		}
		return kit.Saved(ctx, "communities", x.outline(weight), func() (community.Hierarchy, error) {
			o.Start, o.MaxPasses = x.last.start(x.corpus.Graph), 0 // 0 passes: until stable, for the next change
			return community.HierarchicalLeiden(ctx, g, o)
		})
	})
	return err
}

// wanted returns the communities whose reports a search down to the level reads.
func (x *index) wanted() []int32 {
	return slices.DeleteFunc(distinct(x.hierarchy.Cut(x.o.Level)), func(c int32) bool { return c < 0 })
}

// report writes the reports. If reports may be stale it returns the reporter, which knows the rows of each.
func (x *index) report(ctx context.Context) (*sparing, error) {
	o := report.Options{Reporter: x.o.Reporter, CountTokens: x.kit.Count, MinSize: x.o.MinSize}
	if o.Reporter == nil {
		o.Reporter = x.kit.Report
	}
	if x.kit.IndexModel != nil && !x.o.AllReports { // reports without a model cost nothing
		o.Wanted = x.wanted()
	}
	var spare *sparing
	if x.spares() {
		spare = x.sparing(o.Reporter)
		o.Reporter = spare
	}
	var err error
	if x.reports, err = report.Write(ctx, &x.graph, x.hierarchy, o); err != nil {
		return nil, err
	}
	for _, r := range x.reports.Reports {
		if spare != nil && spare.stale[r.Community] {
			kit.Count(ctx, graphrag.IndexStats{Stages: []graphrag.Stage{{Name: "report", Asked: 1, Stale: 1}}})
		} else {
			kit.Done(ctx, "report", nil)
		}
	}
	for _, f := range x.reports.Failed {
		kit.Done(ctx, "report", f.Err)
		c := x.hierarchy.Communities[f.Community]
		x.o.Logger.Warn("no report", "community", f.Community, "level", c.Level, "members", len(c.Nodes), "error", f.Err)
	}
	return spare, nil
}

// derived returns a derived text with its source documents.
func (x *index) derived(kind, text string, sources []int32) graphrag.Derived {
	return graphrag.Derived{Kind: kind, Text: text, Provenance: x.corpus.Provenance(sources)}
}

// shuffle shuffles a list by a seed and a stream of it.
func shuffle[T any](seed, stream uint64, list []T) {
	rand.New(rand.NewPCG(seed, stream)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// StageDescribe names the calls for descriptions in usage figures.
const StageDescribe = "summarise descriptions"

// describer is a function that condenses the descriptions of an entity or edge: a model writes one, or rules
// select quotes. Each has its passages.
type describer func(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error)

func newDescriber(k kit.Kit, o Options) (describer, error) {
	s, err := k.Quoter(offlineWords)
	return kit.Step(k.IndexModel, func(m llm.Model) describer { return writer{m, k.Count, o, k.Language, quoter(s)}.describe }, quoter(s)), err
}

// quoter returns a describer that selects quotes without a model.
func quoter(by summary.Summarizer) describer {
	return func(ctx context.Context, _ string, of []kg.Description) ([]kg.Description, error) {
		s, err := by.Summarize(ctx, wordings(of))
		if err != nil {
			return nil, err
		}
		quotes := make([]kg.Description, len(s.Quotes))
		for i, q := range s.Quotes {
			quotes[i] = kg.Description{Text: s.Text[q.Start:q.End], Passages: of[q.Source].Passages}
		}
		return quotes, nil
	}
}

// writer condenses descriptions with the model, and selects quotes if its reply cannot be used.
type writer struct {
	model    llm.Model
	count    func(string) int
	o        Options
	language string
	quote    describer
}

func (w writer) describe(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error) {
	if tokens := 0; len(of) < w.o.FoldFrom {
		for _, d := range of {
			tokens += w.count(d.Text)
		}
		if tokens < longDescriptions {
			return of, nil
		}
	}
	text, err := w.fold(ctx, subject, of)
	if err := llm.Fatal(err); err != nil {
		return nil, err
	}
	kit.Done(ctx, "describe", err)
	if err == nil {
		return []kg.Description{{Text: text, Passages: passages(of)}}, nil
	}
	w.o.Logger.Warn("no summary of the descriptions, quotes instead", "of", subject, "error", err)
	return w.quote(ctx, subject, of)
}

// fold lets the model summarise the sorted descriptions, as many as fit into a prompt. The reply to a prompt is
// the first description in the next prompt.
func (w writer) fold(ctx context.Context, subject string, of []kg.Description) (string, error) {
	var pack []string
	tokens := 0
	for _, t := range slices.Sorted(slices.Values(wordings(of))) {
		cost := w.count(t)
		if len(pack) > 1 && tokens+cost > foldTokens {
			partial, err := w.write(ctx, subject, pack)
			if err != nil {
				return "", err
			}
			pack, tokens = []string{partial}, w.count(partial)
		}
		pack, tokens = append(pack, t), tokens+cost
	}
	return w.write(ctx, subject, pack)
}

func (w writer) write(ctx context.Context, subject string, texts []string) (string, error) {
	req, err := templates.Request(ctx, StageDescribe, "describe", map[string]any{"Words": foldWords, "Language": w.language},
		prompts.Data{Label: "subject", Text: subject}, prompts.Data{Label: "descriptions", Rows: texts, First: 1})
	if err != nil {
		return "", err
	}
	reply, err := w.model.Generate(ctx, req)
	if err != nil {
		return "", err
	}
	if text := strings.TrimSpace(reply.Text); text != "" {
		return text, nil
	}
	return "", llm.ErrEmpty
}

// passages returns the passages of all descriptions, sorted and distinct.
func passages(of []kg.Description) []int32 {
	var all []int32
	for i := range of {
		all = append(all, of[i].Passages...)
	}
	return distinct(all)
}

func distinct(ids []int32) []int32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
