// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/report"
)

// previous has the parts of an index from which the index after a change starts. It is not changed.
type previous struct {
	levels   []map[string]int32 // community of each entity's key, by level
	reports  []written
	citing   map[string][]int // digest of a row → reports with it
	distance float64          // largest share of the rows that may differ
}

// written is a report with the rows of its prompt.
type written struct {
	Report report.Report
	Cited  [][]string // names of the rows that each finding cites
	Rows   []string   // digests of all rows
}

// start returns the communities of the previous index, by level and node of the new graph.
func (p *previous) start(g *kg.Graph) [][]int32 {
	start := make([][]int32, len(p.levels))
	for level, of := range p.levels {
		start[level] = make([]int32, len(g.Entities))
		for v := range g.Entities {
			c, ok := of[g.Entities[v].Key]
			if start[level][v] = c; !ok {
				start[level][v] = -1
			}
		}
	}
	return start
}

// nearest returns the first of the reports that share the most rows, unless too many rows differ.
func (p *previous) nearest(rows []string) (written, bool) {
	common := make(map[int]int)
	for _, row := range rows {
		for _, r := range p.citing[row] {
			common[r]++
		}
	}
	best, most := -1, -1.
	for _, r := range slices.Sorted(maps.Keys(common)) {
		shared := common[r]
		if share := float64(shared) / float64(len(rows)+len(p.reports[r].Rows)-shared); share > most {
			best, most = r, share
		}
	}
	if best < 0 || 1-most > p.distance {
		return written{}, false
	}
	return p.reports[best], true
}

// sparing is a reporter that returns reports of the previous index where possible.
type sparing struct {
	report.Reporter
	keys func(int32) string // key of each entity
	last *previous

	mu    sync.Mutex
	made  map[int32]written // report of each community
	stale map[int32]bool
}

// Report implements [report.Reporter].
func (s *sparing) Report(ctx context.Context, in *report.Input) (report.Report, error) {
	rows := s.rows(in)
	digests := slices.Sorted(maps.Values(rows))
	w, err := kit.Saved(ctx, "report", in.Text(), func() (written, error) {
		if w, ok := s.last.nearest(digests); ok {
			return w, nil
		}
		r, err := s.Reporter.Report(ctx, in)
		w := written{Report: r, Rows: digests}
		for _, f := range r.Findings {
			var names []string
			for _, v := range f.Nodes {
				names = append(names, s.node(v))
			}
			for _, e := range f.Edges {
				names = append(names, s.edge(&in.Graph.Edges[e]))
			}
			w.Cited = append(w.Cited, names)
		}
		return w, err
	})
	if err != nil {
		return report.Report{}, err
	}
	s.mu.Lock()
	s.made[in.Community], s.stale[in.Community] = w, !slices.Equal(w.Rows, digests)
	s.mu.Unlock()
	return s.restored(in, w), nil
}

// restored returns a report of the previous index with the numbers and sources of rows in the new graph.
func (s *sparing) restored(in *report.Input, w written) report.Report {
	r := w.Report
	r.Sources = in.Sources()
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		shown := report.Input{Graph: in.Graph}
		for _, v := range in.Nodes {
			if slices.Contains(w.Cited[i], s.node(v)) {
				shown.Nodes = append(shown.Nodes, v)
			}
		}
		for _, e := range in.Edges {
			if slices.Contains(w.Cited[i], s.edge(&in.Graph.Edges[e])) {
				shown.Edges = append(shown.Edges, e)
			}
		}
		f := &r.Findings[i]
		f.Nodes, f.Edges, f.Sources = shown.Nodes, shown.Edges, shown.Sources()
		if len(f.Sources) == 0 {
			f.Sources = r.Sources
		}
	}
	return r
}

// rows returns the digest of each row of a report's input, by the name of the row.
func (s *sparing) rows(in *report.Input) map[string]string {
	rows := make(map[string]string)
	digest := func(name string, of []kg.Description) {
		var b strings.Builder
		fmt.Fprintf(&b, "%q", name)
		for _, d := range of {
			fmt.Fprintf(&b, " %q", d.Text)
		}
		sum := sha256.Sum256([]byte(b.String()))
		rows[name] = base64.RawStdEncoding.EncodeToString(sum[:12])
	}
	for _, v := range in.Nodes {
		digest(s.node(v), in.Graph.Nodes[v].Descriptions)
	}
	for _, e := range in.Edges {
		digest(s.edge(&in.Graph.Edges[e]), in.Graph.Edges[e].Descriptions)
	}
	for _, r := range in.Reports {
		digest("report\x00"+r.Title, []kg.Description{{Text: r.Text()}})
	}
	return rows
}

func (s *sparing) node(v int32) string { return "entity\x00" + s.keys(v) }

func (s *sparing) edge(e *report.Edge) string {
	return "relation\x00" + s.keys(e.Source) + "\x00" + s.keys(e.Target)
}

// next returns the parts from which the next index starts.
func (x *index) next(s *sparing) previous {
	p := previous{citing: make(map[string][]int), distance: x.o.Stale}
	for _, c := range x.hierarchy.Communities {
		for int(c.Level) >= len(p.levels) {
			p.levels = append(p.levels, make(map[string]int32))
		}
		for _, v := range c.Nodes {
			p.levels[c.Level][s.keys(v)] = c.Nodes[0]
		}
	}
	for _, c := range slices.Sorted(maps.Keys(s.made)) {
		for _, row := range s.made[c].Rows {
			p.citing[row] = append(p.citing[row], len(p.reports))
		}
		p.reports = append(p.reports, s.made[c])
	}
	return p
}

// spares reports whether reports may be stale. Without a model a new report costs nothing.
func (x *index) spares() bool { return x.o.Stale > 0 && x.kit.IndexModel != nil }

// sparing returns a reporter that lets r write the reports that the previous index lacks.
func (x *index) sparing(r report.Reporter) *sparing {
	entities := x.corpus.Graph.Entities
	return &sparing{Reporter: r, keys: func(v int32) string { return entities[v].Key }, last: &x.last, made: make(map[int32]written), stale: make(map[int32]bool)}
}

// outline describes the graph and the options on which its communities depend, as a key.
func (x *index) outline(weight []float64) string {
	var b strings.Builder
	fmt.Fprintln(&b, x.o.MaxSize, x.o.Passes, x.o.Seed)
	for i, e := range x.graph.Edges {
		fmt.Fprintf(&b, "%d %d %v\n", e.Source, e.Target, weight[i])
	}
	for v := range x.corpus.Graph.Entities {
		fmt.Fprintf(&b, "%q\n", x.corpus.Graph.Entities[v].Key)
	}
	return b.String()
}
