// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// least is the smallest degree of a class of [record.Degrees].
func least(class int) int { return 1 << class >> 1 }

// tail is the share of entities whose degree is in a class or above.
func tail(d record.Degrees, class int) float64 {
	all, above := 0, 0
	for i, n := range d {
		all += n
		if i >= class {
			above += n
		}
	}
	return float64(above) / float64(max(all, 1))
}

// namedGraph is a graph and the systems that have it.
type namedGraph struct {
	domain  string
	systems []string
	index   Index
}

func (g namedGraph) name() string { return text.OneLine(g.domain) + ": " + g.group() }

// group names up to three systems, or the first and how many more.
func (g namedGraph) group() string {
	if n := len(g.systems); n > 3 {
		return fmt.Sprintf("%s + %d", g.systems[0], n-1)
	}
	return strings.Join(g.systems, ", ")
}

// graphs lists the graphs of every domain; systems that built the same share
// one.
func (r *Report) graphs() []namedGraph {
	if len(r.Systems) == 0 {
		return nil
	}
	var out []namedGraph
	for i, d := range r.Systems[0].Domains {
		first := len(out)
		for _, s := range r.Systems {
			index := s.Domains[i].Index
			if index.Entities == 0 {
				continue
			}
			same := slices.IndexFunc(out[first:], func(g namedGraph) bool { return sameGraph(g.index, index) })
			if same < 0 {
				out = append(out, namedGraph{d.Domain, []string{s.System}, index})
			} else {
				g := &out[first+same]
				g.systems = append(g.systems, s.System)
			}
		}
	}
	return out
}

func sameGraph(a, b Index) bool {
	return a.Entities == b.Entities && a.Relations == b.Relations && a.Edges == b.Edges &&
		a.AverageDegree == b.AverageDegree && a.MaxDegree == b.MaxDegree && a.IsolatedShare == b.IsolatedShare &&
		slices.Equal(a.Degrees, b.Degrees)
}

// GraphTable is Table 4 with the figures of Figure 4. It is empty without a
// graph.
func (r *Report) GraphTable() Table {
	t := Table{
		Title: "Graphs", RowHeading: "Graph",
		Groups: []ColumnGroup{{"", []string{"Corpus", "Nodes", "Edges", "Relations", "Max. degree", "Avg. degree", "Isolated %"}, false}},
		Notes: []string{"As in Table 4 and Figure 4 of the paper: a node is an entity, an edge a pair of entities with at least one fact, " +
			"the average degree 2 · edges / nodes. Relations are distinct facts; links between entities and passages do not count."},
	}
	isolated := page.Chart{Title: "Isolated nodes (%)"}
	average := page.Chart{Title: "Average degree"}
	tails := page.Chart{Title: "Degrees: share of nodes (%) with at least so many edges", X: "edges", LogX: true, LogY: true}
	for _, g := range r.graphs() {
		x := g.index
		if long := g.group() + ": " + strings.Join(g.systems, ", ") + "."; len(g.systems) > 3 && !slices.Contains(t.Notes, long) {
			t.Notes = append(t.Notes, long)
		}
		t.addTexts(g.name(), megabytes(x.Bytes)+" MB", count(x.Entities), edges(x), count(x.Relations),
			count(x.MaxDegree), decimal(&x.AverageDegree, 2), percent(&x.IsolatedShare))
		addBar(&isolated, g.name(), &x.IsolatedShare, percent(&x.IsolatedShare))
		addBar(&average, g.name(), &x.AverageDegree, decimal(&x.AverageDegree, 2))
		for class := 1; class < len(x.Degrees); class++ {
			addPoint(&tails, g.name(), least(class), measured{value: ref(tail(x.Degrees, class))})
		}
	}
	if len(t.Rows) == 0 {
		return Table{}
	}
	var published []benchmark.PublishedGraph
	if r.Published != nil && r.label.graphs {
		published = r.Published.Graphs
	}
	for _, p := range published {
		degree := 2 * float64(p.Edges) / float64(max(p.Nodes, 1))
		t.addTexts(p.Name+", published", p.Tokens+" tokens", count(p.Nodes), count(p.Edges), "–",
			count(p.MaxDegree), decimal(&degree, 2), percent(p.IsolatedShare))
		t.Rows[len(t.Rows)-1].Published = true
		if p.IsolatedShare != nil {
			addBar(&isolated, p.Name+", published", p.IsolatedShare, percent(p.IsolatedShare))
		}
		addBar(&average, p.Name+", published", &degree, decimal(&degree, 2))
	}
	if len(published) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Published rows: %s, built by %s.", published[0].Source, published[0].Model))
	}
	t.charts = []page.Chart{isolated, average}
	if len(tails.Lines) > 0 {
		t.charts = append(t.charts, tails)
	}
	return t
}

// edges are counted where the graph was shown.
func edges(x Index) string {
	if x.Degrees == nil {
		return "–"
	}
	return decimal(ref(float64(x.Edges)), 0)
}
