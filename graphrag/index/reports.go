// SPDX-License-Identifier: Apache-2.0

package index

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm"
)

// Report is the data of a record of table "reports": what its title and text say, with
// the chunks that it rests on.
type Report struct {
	Title             string    `json:"title"`
	Summary           string    `json:"summary"`
	Rating            float64   `json:"rating,omitempty"`
	RatingExplanation string    `json:"rating_explanation,omitempty"`
	Findings          []Finding `json:"findings,omitempty"`
	Chunks            []string  `json:"chunks,omitempty"`
}

// Finding is one insight of a [Report].
type Finding struct {
	Summary     string `json:"summary"`
	Explanation string `json:"explanation,omitempty"`
}

// report writes the reports of communities of one level. Each is written from a graph of
// its own members, with numbers of their own: so what a model is asked depends on the
// community alone, and one that has not changed is not asked about again.
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
	out := Report{Title: r.Title, Summary: r.Summary, Rating: r.Rating, RatingExplanation: r.RatingExplanation}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, Finding{f.Summary, f.Explanation})
	}
	for _, passage := range r.Sources {
		out.Chunks = append(out.Chunks, k.graph.Passages[passage].Chunk)
	}
	rec, err := record(communityID(id), out)
	rec.Title, rec.Text = r.Title, r.Text()
	rec.Fields = store.Fields{"level": int(k.communities[id].Level)}
	return &rec, false, err
}

// reporter reports on the first of some communities; the reports of the others, its
// parts, are there.
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
	out := report.Report{Title: kept.Title, Summary: kept.Summary}
	for _, f := range kept.Findings {
		out.Findings = append(out.Findings, report.Finding{Summary: f.Summary, Explanation: f.Explanation})
	}
	return out, nil
}

// part is a community with the parts of it, as a graph of its own.
type part struct {
	graph     report.Graph
	hierarchy community.Hierarchy
	of        []int32 // the communities by their numbers in the hierarchy
}

// part takes a community out of the whole. Degrees stay those of the whole graph.
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

// from are the edges that lead from a node; edges are in the order of their sources.
func (k *knowledge) from(v int32) []report.Edge {
	lo, _ := slices.BinarySearchFunc(k.shown.Edges, v, func(e report.Edge, v int32) int { return int(e.Source) - int(v) })
	hi := lo
	for hi < len(k.shown.Edges) && k.shown.Edges[hi].Source == v {
		hi++
	}
	return k.shown.Edges[lo:hi]
}
