// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
)

// Grid sets runs side by side that differ in their model or their mode: a row is a
// system, a column a data set in a mode (arXiv 2508.19855, Tables 1–3 and Figures 5–7).
type Grid struct {
	// Heading names the page.
	Heading string
	Trials  []Trial
	// TopK are the top-k of the tables, in their order: the runs' own, or of their
	// sweep.
	TopK []int
	// Set names the data set of a domain, Title a data set in a table.
	Set   func(domain string) string
	Title func(set string) string
	// Community names the stages of indexing that describe communities.
	Community []string
	// Ablation are systems, each the one before it with less or more: they have a table
	// of their own if there are two.
	Ablation []string
	// Published are accuracies of a publication.
	Published []PublishedAccuracy
}

// Trial is a run under one model and one mode. They head its columns, the model where
// there are several.
type Trial struct {
	Model, Mode string
	Run         *benchmark.Run
}

// PublishedAccuracy is one figure of a published table of results.
type PublishedAccuracy struct {
	// Source is publication and table, Model what answered, Judge what judged.
	Source string `json:"source"`
	Model  string `json:"model"`
	Judge  string `json:"judge"`
	TopK   int    `json:"top_k"`
	// System is the name of the system here, Label the one in the publication.
	System string `json:"system"`
	Label  string `json:"label"`
	Set    string `json:"set"`
	Mode   string `json:"mode"`
	// Accuracy is a fraction. Ablation tells that it is of a table of variants.
	Accuracy float64 `json:"accuracy"`
	Ablation bool    `json:"ablation,omitempty"`
}

// GridCell holds the figures of a system on a data set, under a model, in a mode and
// at a top-k.
type GridCell struct {
	System string `json:"system"`
	Set    string `json:"set"`
	Model  string `json:"model,omitempty"`
	Mode   string `json:"mode"`
	TopK   int    `json:"top_k"`
	Type
}

// Construction is what the index of a data set took (Figure 5).
type Construction struct {
	System string `json:"system"`
	Set    string `json:"set"`
	Model  string `json:"model,omitempty"`
	Mode   string `json:"mode"`
	// Usage is all that models were asked, Community that of the stages that describe
	// communities.
	Usage     graphrag.Usage `json:"usage"`
	Community graphrag.Usage `json:"community"`
	// Seconds are those of the whole index; the stages are not timed apart.
	Seconds *float64 `json:"seconds,omitempty"`
}

// gridReport is a grid with its figures.
type gridReport struct {
	*Grid
	reports []*Report // of the trials
	cells   map[cellKey]GridCell
	built   map[cellKey]Construction // top-k is 0
	sets    []string
}

type cellKey struct {
	trial       int
	set, system string
	topK        int
}

// newGrid computes the figures.
func newGrid(g *Grid) (*gridReport, error) {
	out := &gridReport{Grid: g, cells: make(map[cellKey]GridCell), built: make(map[cellKey]Construction)}
	for i, t := range g.Trials {
		r, err := New(t.Run)
		if err != nil {
			return nil, err
		}
		out.reports = append(out.reports, r)
		for _, d := range t.Run.Dataset.Domains {
			if set := g.Set(d.Name); !slices.Contains(out.sets, set) {
				out.sets = append(out.sets, set)
			}
		}
		for n, s := range t.Run.Systems {
			for _, set := range out.sets {
				out.built[cellKey{i, set, s.Name, 0}] = out.construction(i, set, s, r.Systems[n])
				for _, k := range g.TopK {
					out.cells[cellKey{i, set, s.Name, k}] = GridCell{s.Name, set, t.Model, t.Mode, k, out.figures(t.Run, set, s, k)}
				}
			}
		}
	}
	return out, nil
}

// figures are those of a system on a data set at a top-k.
func (g *gridReport) figures(run *benchmark.Run, set string, s benchmark.SystemRun, k int) Type {
	own := make(map[string]bool) // types that the run asks with this top-k
	for _, kind := range run.Dataset.Types {
		own[kind.Key] = kind.K == k || len(s.Sweep) == 0 // a fixed system answers the same at all
	}
	t := newTally(run, s)
	for i, d := range s.Domains {
		for _, r := range d.Results {
			if own[r.Item.Type] && g.Set(run.Dataset.Domains[i].Name) == set {
				t.add(r)
			}
		}
	}
	for _, at := range s.Sweep {
		for _, r := range at.Results {
			if at.K == k && !own[r.Item.Type] && g.Set(r.Domain) == set {
				t.add(r)
			}
		}
	}
	out := t.report()[benchmark.All]
	out.K = k
	return out
}

func (g *gridReport) construction(trial int, set string, s benchmark.SystemRun, r System) Construction {
	c := Construction{System: s.Name, Set: set, Model: g.Trials[trial].Model, Mode: g.Trials[trial].Mode}
	for i, d := range r.Domains {
		if g.Set(d.Domain) != set {
			continue
		}
		c.Usage = c.Usage.Add(d.Index.Usage)
		for _, stage := range g.Community {
			c.Community = c.Community.Add(s.Domains[i].Index.Usage[stage])
		}
		if d.Index.Seconds != nil {
			seconds := deref(c.Seconds) + *d.Index.Seconds
			c.Seconds = &seconds
		}
	}
	return c
}

// systems are the names of all systems in the order of the first trial, with the row
// that they have in it.
func (g *gridReport) systems() []System {
	if len(g.reports) == 0 {
		return nil
	}
	return g.reports[0].Systems
}

// scoreNames are the names of the scores on a data set, in any trial.
func (g *gridReport) scoreNames(set string) []string {
	names := make(map[string]bool)
	for key, c := range g.cells {
		if v := c.Verdicts(); key.set == set && v != nil {
			for name := range v.Scores {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
