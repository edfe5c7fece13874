// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// GridJSON is the content of report.json in the folder of a grid.
type GridJSON struct {
	Version   int                 `json:"version"`
	Kit       string              `json:"kit"`
	Judge     string              `json:"judge"`
	Cells     []GridCell          `json:"cells"`
	Built     []Construction      `json:"construction"`
	Published []PublishedAccuracy `json:"published,omitempty"`
}

// openTables are the first tables of a page that are not folded.
const openTables = 3

// GridTables are the tables of a grid: all of them, and one that has the main figures
// of the whole in a row for each system.
type GridTables struct {
	All      []Table
	Overview Table
	// Reports are those of the trials.
	Reports []*Report
}

// WriteGrid computes a grid and writes report.json, report.md and report.html into a
// folder.
func WriteGrid(dir string, g *Grid) (GridTables, error) {
	r, err := newGrid(g)
	if err != nil {
		return GridTables{}, err
	}
	tables := r.tables()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return GridTables{}, fmt.Errorf("report: folder: %w", err)
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"report.md", func(w io.Writer) error { return writeMarkdown(w, r.heading(), r.summary(), tables) }},
		{"report.html", func(w io.Writer) error { return r.writeHTML(w, tables) }},
		{"report.json", r.writeJSON}, // last: who sees it sees the others
	} {
		if err := journal.WriteFile(filepath.Join(dir, f.name), f.write); err != nil {
			return GridTables{}, fmt.Errorf("report: %w", err)
		}
	}
	return GridTables{tables, r.overview(), r.reports}, nil
}

func (g *gridReport) heading() string { return g.Heading + g.label().heading() }

func (g *gridReport) summary() string {
	if len(g.reports) == 0 {
		return "No system was run."
	}
	if len(g.Trials) == 1 {
		return g.reports[0].summary()
	}
	return fmt.Sprintf("%s Each under %d pairs of a model and a mode.", g.reports[0].summary(), len(g.Trials))
}

func (g *gridReport) writeHTML(w io.Writer, tables []Table) error {
	strong, about := g.label().page()
	out := page.Page{Title: g.heading(), Summary: g.summary(), Strong: strong, Note: about, Help: helps()}
	for i, t := range tables {
		out.Tables = append(out.Tables, pageTable(t))
		out.Tables[i].Open = i < openTables
	}
	if g.asked() {
		out.Remarks = []string{"Every question with its answers: report.html in the folders beside this page."}
	}
	if len(g.reports) > 0 {
		out.Settings = settings(g.reports[0].Config)
	}
	return out.Write(w)
}

func (g *gridReport) writeJSON(w io.Writer) error {
	out := GridJSON{Version: Version, Published: g.Published}
	for i, t := range g.Trials {
		out.Kit, out.Judge = t.Run.Kit, t.Run.Judge
		for _, s := range t.Run.Systems {
			for _, set := range g.sets {
				if s.NotApplicable == "" {
					out.Built = append(out.Built, g.built[cellKey{i, set, s.Name, 0}])
				}
				for _, k := range g.TopK {
					out.Cells = append(out.Cells, g.cells[cellKey{i, set, s.Name, k}])
				}
			}
		}
	}
	enc := text.JSON(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
