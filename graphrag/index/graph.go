// SPDX-License-Identifier: Apache-2.0

package index

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
)

// walk visits the chunks of a root in order, in large groups: it makes about three calls of
// the store for each page.
func (x *Index) walk(ctx context.Context, root string, visit func(refs []string) error) error {
	pages, err := thing[[]Batch](ctx, x.work, root)
	if err != nil {
		return err
	}
	for _, page := range pages {
		batches, err := thing[[]Batch](ctx, x.work, page.Ref)
		if err != nil {
			return err
		}
		marks := make([]string, len(batches))
		for i, b := range batches {
			marks[i] = refOf("done", x.settings[Cut], b.Ref)
		}
		cuts, err := list[Done](ctx, x.work, marks)
		if err != nil {
			return err
		}
		var lists []string
		for _, cut := range cuts {
			for _, chunks := range cut.Next[0] {
				lists = append(lists, chunks.Ref)
			}
		}
		for some := range slices.Chunk(lists, max(1, maxPage/x.o.Batch)) {
			refs, err := list[[]string](ctx, x.work, some)
			if err == nil {
				err = visit(slices.Concat(refs...))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// everything returns all chunks of a root.
func (x *Index) everything(ctx context.Context, root Batch) (refs []string, chunks []graphrag.Chunk, err error) {
	err = x.walk(ctx, root.Ref, func(some []string) error {
		more, err := list[graphrag.Chunk](ctx, x.work, some)
		refs, chunks = append(refs, some...), append(chunks, more...)
		return err
	})
	return refs, chunks, err
}

// knowledge is the graph of a root, in the memory of this process.
type knowledge struct {
	root  string
	graph *kg.Graph
	shown report.Graph
	edges []graph.Edge // of shown, with weights

	once        sync.Mutex
	communities []community.Community
}

// learn makes the graph of a root, or returns the cached one. Concurrent callers wait.
func (x *Index) learn(ctx context.Context, root string) (*knowledge, error) {
	x.knowing.Lock()
	defer x.knowing.Unlock()
	if x.known != nil && x.known.root == root {
		return x.known, nil
	}
	base, err := kg.NewBase(kg.Options{})
	if err != nil {
		return nil, err
	}
	err = x.walk(ctx, root, func(refs []string) error {
		found := make([]string, len(refs))
		for i, ref := range refs {
			found[i] = x.extracted(ref, root)
		}
		xs, err := list[kg.Extraction](ctx, x.work, found)
		if err != nil {
			return err
		}
		return base.Insert(xs...)
	})
	if err != nil {
		return nil, err
	}
	k := &knowledge{root: root}
	if k.graph, err = base.Graph(ctx); err != nil {
		return nil, err
	}
	k.show()
	x.known = k
	return k, nil
}

// show makes the graph for communities and reports: its edges are the pairs of related
// entities.
func (k *knowledge) show() {
	g := k.graph
	k.shown = report.Graph{Nodes: make([]report.Node, len(g.Entities))}
	for e := range g.Entities {
		k.shown.Nodes[e] = report.Node{Title: g.Entities[e].Name, Descriptions: g.EntityDescriptions(int32(e))}
	}
	all := g.Pairs(true)
	for _, relations := range all.All() {
		first := &g.Relations[relations[0]]
		if first.Head == first.Tail {
			continue // a relation of an entity with itself is no edge
		}
		shown, edge := report.Edge{Source: first.Head, Target: first.Tail}, graph.Edge{From: first.Head, To: first.Tail}
		for _, r := range relations {
			shown.Descriptions = append(shown.Descriptions, g.RelationDescriptions(r)...)
			edge.Weight += g.Relations[r].Weight
		}
		k.shown.Edges, k.edges = append(k.shown.Edges, shown), append(k.edges, edge)
	}
}

// graph writes entities and triples to the index.
func (x *Index) graph(ctx context.Context, t Task) (Done, error) {
	k, err := x.learn(ctx, t.Root)
	if err != nil {
		return Done{}, err
	}
	table, err := x.table(ctx, t.Root, "entities")
	if err != nil {
		return Done{}, err
	}
	entities := make([]store.Record, len(k.graph.Entities))
	for i := range k.graph.Entities {
		entities[i] = entity(k.graph, int32(i))
	}
	done := 0
	for some := range slices.Chunk(entities, maxPage) {
		if err := table.Put(ctx, some...); err != nil {
			return Done{}, err
		}
		done += len(some)
	}
	g, err := x.writing(ctx, t.Root)
	if err != nil {
		return Done{}, err
	}
	for some := range slices.Chunk(stated(k.graph), maxPage) {
		if err := g.Triples().PutTriples(ctx, some...); err != nil {
			return Done{}, err
		}
		done += len(some)
	}
	return Done{Items: done}, nil
}

// entity returns an entity as a record, which is searched by its name and descriptions.
func entity(g *kg.Graph, id int32) store.Record {
	e := &g.Entities[id]
	r := store.Record{ID: e.Key, Title: e.Name}
	for i, d := range g.EntityDescriptions(id) {
		if i > 0 {
			r.Text += "\n"
		}
		r.Text += d.Text
	}
	if e.Type != "" {
		r.Fields = graphrag.Fields{"type": e.Type}
	}
	return r
}

// unnamed is the relation of facts that have none.
const unnamed = "related to"

// stated returns the relations as triples, one for each chunk that states it.
func stated(g *kg.Graph) []store.Triple {
	var out []store.Triple
	name := func(e int32) triples.Entity {
		return triples.Entity{ID: g.Entities[e].Key, Label: g.Entities[e].Name}
	}
	for i := range g.Relations {
		r := &g.Relations[i]
		t := store.Triple{Triple: triples.Triple{
			Head: name(r.Head), Tail: name(r.Tail),
			Relation: triples.Entity{ID: cmp.Or(r.Key, unnamed), Label: cmp.Or(r.Label, unnamed)},
		}}
		for _, p := range g.RelationPassages(int32(i)) {
			t.Source, t.Weight = g.Passages[p.ID].Chunk, float64(p.Count)
			out = append(out, t)
		}
	}
	return out
}

// communities finds the communities of the graph. The tasks for their reports are in rounds by
// level, the deepest first.
func (x *Index) communities(ctx context.Context, t Task) (Done, error) {
	k, err := x.learn(ctx, t.Root)
	if err != nil {
		return Done{}, err
	}
	g, err := k.network()
	if err != nil {
		return Done{}, err
	}
	h, err := community.HierarchicalLeiden(ctx, g, leiden)
	if err != nil {
		return Done{}, err
	}
	rs := make([]store.Record, len(h.Communities))
	levels := make([][]int32, h.Levels)
	for c := range h.Communities {
		level := h.Communities[c].Level
		if rs[c], err = record(communityID(int32(c)), h.Communities[c]); err != nil {
			return Done{}, err
		}
		rs[c].Fields = graphrag.Fields{"level": float64(level)}
		levels[level] = append(levels[level], int32(c))
	}
	table, err := x.table(ctx, t.Root, Communities)
	if err == nil && len(rs) > 0 {
		err = table.Put(ctx, rs...)
	}
	if err != nil {
		return Done{}, err
	}
	done := Done{Items: len(rs)}
	for _, level := range slices.Backward(levels) {
		var round []Batch
		for some := range slices.Chunk(level, reportBatch(len(level), x.o.Batch)) {
			b, err := keep(ctx, x.work, some, len(some))
			if err != nil {
				return Done{}, err
			}
			round = append(round, b)
		}
		done.Next = append(done.Next, round)
	}
	g2, err := x.writing(ctx, t.Root) // reports read the communities, in other processes too
	if err == nil {
		err = g2.Flush(ctx)
	}
	return done, err
}

// spread is the least number of tasks for the reports of a level, if it has as many
// communities: the calls of a task run one after the other, and the next level waits for all.
const spread = 32

// reportBatch returns the number of communities in a task of a level of n, at most a batch.
func reportBatch(n, batch int) int { return max(1, min(batch, n/spread)) }

func (k *knowledge) network() (*graph.Graph, error) {
	return graph.New(len(k.shown.Nodes), k.edges, graph.Options{})
}

// communityID returns the id of a community and of its report.
func communityID(c int32) string { return fmt.Sprintf("%08d", c) }

// publish publishes the index and discards the previous one. Generations of unfinished jobs
// stay, so that these can be resumed.
func (x *Index) publish(ctx context.Context, t Task) (Done, error) {
	g, err := x.writing(ctx, t.Root)
	if err == nil {
		err = g.Flush(ctx)
	}
	if err != nil {
		return Done{}, err
	}
	_, was, err := x.home.Generations(ctx)
	if err == nil && was != g.Name() {
		err = x.home.Publish(ctx, g.Name(), was)
		if err == nil && was != "" {
			err = x.home.Discard(ctx, was)
		}
	}
	return Done{Items: 1}, err
}

// hierarchy reads the communities from the index.
func (x *Index) hierarchy(ctx context.Context, k *knowledge) error {
	k.once.Lock()
	defer k.once.Unlock()
	if k.communities != nil {
		return nil
	}
	table, err := x.table(ctx, k.root, Communities)
	if err != nil {
		return err
	}
	g, err := k.network()
	if err != nil {
		return err
	}
	for v := range k.shown.Nodes {
		k.shown.Nodes[v].Degree = g.Degree(int32(v))
	}
	var all []community.Community
	for r, err := range table.All(ctx, "") {
		var c community.Community
		if err == nil {
			err = json.Unmarshal(r.Data, &c)
		}
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	k.communities = all
	return nil
}

// Report is the data of a record of table "reports": the parts of its title and text, and the
// chunks that it is based on.
type Report struct {
	report.Report
	Chunks []string `json:"chunks,omitempty"`
}

// report writes the reports of communities of one level. Each is written from the subgraph of
// its members, numbered from 0, so the prompt depends on the community alone and that of an
// unchanged community is cached.
func (x *Index) report(ctx context.Context, t Task) (Done, error) {
	ids, err := thing[[]int32](ctx, x.work, t.Batch.Ref)
	if err != nil {
		return Done{}, err
	}
	k, err := x.learn(ctx, t.Root)
	if err == nil {
		err = x.hierarchy(ctx, k)
	}
	if err != nil {
		return Done{}, err
	}
	table, err := x.table(ctx, t.Root, Reports)
	if err != nil {
		return Done{}, err
	}
	done := Done{}
	var rs []store.Record
	for _, id := range ids {
		if id < 0 || int(id) >= len(k.communities) {
			return Done{}, fmt.Errorf("%w: community %d", errGone, id)
		}
		r, failed, err := x.reportOn(ctx, k, table, id)
		if err != nil {
			return Done{}, err
		}
		if failed {
			done.Failed++
		}
		if r != nil {
			rs = append(rs, *r)
		}
	}
	done.Items = len(rs)
	if len(rs) > 0 {
		err = table.Put(ctx, rs...)
	}
	if g, writeErr := x.writing(ctx, t.Root); err == nil && writeErr == nil && !x.work.durable {
		err = g.Flush(ctx) // the level above reads them
	}
	return done, err
}

func (x *Index) reportOn(ctx context.Context, k *knowledge, table store.Table, id int32) (_ *store.Record, failed bool, err error) {
	p := k.part(id)
	if len(p.graph.Edges) == 0 {
		return nil, false, nil
	}
	below := make([]string, len(p.of)-1)
	for i, c := range p.of[1:] {
		below[i] = communityID(c)
	}
	written, err := table.Get(ctx, below...)
	if err != nil {
		return nil, false, err
	}
	there := make(map[string][]byte, len(written))
	for _, r := range written {
		there[r.ID] = r.Data
	}
	set, err := report.Write(ctx, &p.graph, p.hierarchy, report.Options{
		Reporter: reporter{x.kit.Report, p.of, there}, CountTokens: x.kit.Count, Concurrency: 1,
	})
	if err != nil {
		return nil, false, err
	}
	r := set.Of(0)
	if r == nil {
		return nil, true, nil
	}
	out := Report{Report: *r}
	for _, passage := range r.Sources {
		out.Chunks = append(out.Chunks, k.graph.Passages[passage].Chunk)
	}
	rec, err := record(communityID(id), out)
	rec.Title, rec.Text = r.Title, r.Text()
	rec.Fields = graphrag.Fields{"level": float64(k.communities[id].Level)}
	return &rec, false, err
}

// reporter reports on the first of some communities, and returns the stored reports of the
// others, which are its parts.
type reporter struct {
	report.Reporter
	of    []int32
	there map[string][]byte
}

func (r reporter) Report(ctx context.Context, in *report.Input) (report.Report, error) {
	if in.Community == 0 {
		return r.Reporter.Report(ctx, in)
	}
	data := r.there[communityID(r.of[in.Community])]
	if data == nil {
		return report.Report{}, llm.ErrEmpty // it could not be written
	}
	var kept Report
	if err := json.Unmarshal(data, &kept); err != nil {
		return report.Report{}, err
	}
	return kept.Report, nil
}

// part is a community with its sub-communities as a graph of its own.
type part struct {
	graph     report.Graph
	hierarchy community.Hierarchy
	of        []int32 // the communities by their numbers in the hierarchy
}

// part extracts a community from the whole graph, with the degrees of the whole.
func (k *knowledge) part(id int32) part {
	p := part{of: []int32{id}}
	nodes := k.communities[id].Nodes // ascending
	for _, v := range nodes {
		p.graph.Nodes = append(p.graph.Nodes, k.shown.Nodes[v])
	}
	place := func(v int32) (int32, bool) {
		i, ok := slices.BinarySearch(nodes, v)
		return int32(i), ok
	}
	for _, v := range nodes {
		for _, e := range k.from(v) {
			if to, ok := place(e.Target); ok {
				e.Source, _ = place(e.Source)
				e.Target = to
				p.graph.Edges = append(p.graph.Edges, e)
			}
		}
	}
	p.hierarchy.Nodes = len(nodes)
	parents := []int32{-1}
	for i := 0; i < len(p.of); i++ { // level by level
		c := k.communities[p.of[i]]
		own := community.Community{Level: c.Level - k.communities[id].Level, Parent: parents[i], Unsplittable: c.Unsplittable}
		for _, v := range c.Nodes {
			at, _ := place(v)
			own.Nodes = append(own.Nodes, at)
		}
		for _, child := range c.Children {
			own.Children = append(own.Children, int32(len(p.of)))
			p.of, parents = append(p.of, child), append(parents, int32(i))
		}
		p.hierarchy.Levels = max(p.hierarchy.Levels, int(own.Level)+1)
		p.hierarchy.Communities = append(p.hierarchy.Communities, own)
	}
	return p
}

// from returns the edges from a node; edges are in the order of their sources.
func (k *knowledge) from(v int32) []report.Edge {
	lo, _ := slices.BinarySearchFunc(k.shown.Edges, v, func(e report.Edge, v int32) int { return int(e.Source) - int(v) })
	hi := lo
	for hi < len(k.shown.Edges) && k.shown.Edges[hi].Source == v {
		hi++
	}
	return k.shown.Edges[lo:hi]
}
