// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"context"
	"embed"
	"log/slog"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/llm"
)

// The names of the systems in reports.
const (
	NameLocal   = "msgraphrag-local"
	NameGlobal  = "msgraphrag-global"
	NameDynamic = "msgraphrag-dynamic"
	NameDrift   = "msgraphrag-drift"
)

// The settings of the code that are no options (graphrag/config/defaults.py).
const (
	randomness = 0.001 // of Leiden
	foldTokens = 4000  // of descriptions in one prompt
	foldWords  = 500   // of a description
	mapWords   = 1000  // of the points of a batch
)

// TopLevel as [Options].Level reads the coarsest communities.
const TopLevel = -1

// longDescriptions are so many tokens that a model makes one of few as well.
const longDescriptions = 600

// offlineWords is the length of a description that is made of quotes: 20 of them
// fill the part of the context that they have.
const offlineWords = 150

// Options are what the systems share. The zero value is the setting of the code, over the
// paper's chunks: graphrag/config/defaults.py, for the level graphrag/cli/main.py, for
// Leiden graphrag/graphs/hierarchical_leiden.py.
type Options struct {
	kit.Common
	// Extract, when set, is used in place of the kit's extractor, Reporter in
	// place of its reporter.
	Extract  extract.Extractor
	Reporter report.Reporter
	// Level of the hierarchy down to which reports are read, TopLevel for the coarsest.
	Level int `default:"2" min:"-1" source:"its program"`
	// MaxSize is the size from which on a community is split, Passes how many
	// Leiden makes.
	MaxSize int `default:"10" source:"its program"`
	Passes  int `default:"1" min:"0" source:"its program"`
	// Seed of Leiden.
	Seed uint64 `default:"0xDEADBEEF" source:"its program"`
	// FoldFrom is how many descriptions of a thing a model makes one of; fewer are
	// left as they are unless they are long. The code has 2.
	FoldFrom int `default:"5" min:"0" source:"ours: its program has 2"`
	// MinSize is the least number of members of a community that gets a report, 0 for
	// all with a relation inside. What is in a smaller one is in the reports above.
	MinSize int `min:"0" source:"ours: no least size"`
	// Stale is the share of the rows of a community, 0 to 1, in which a report of the state before a
	// change may differ from it and still be used. Communities are then found from those before the
	// change. 0 asks for every report whose rows changed: the index is that of building anew.
	Stale float64 `min:"0" max:"1" source:"ours: its program's update writes no report of what was there again"`
	// AllReports has a model write also the reports that the search does not read.
	AllReports bool `source:"ours: its program writes all"`
	// AlwaysGlean asks for more records where the model says that there are none, as
	// the code does.
	AlwaysGlean bool `source:"ours: its program always asks"`
	// Logger hears of descriptions and reports that could not be written; nil is
	// silent.
	Logger *slog.Logger
}

// frame makes a system of a search over the index. Its options are filled, and c has the
// problems of the search's own.
func frame(name string, k kit.Kit, o Options, c kit.Checks, search func(context.Context, *index) (graphrag.Retriever, error)) (*kit.System, error) {
	c.Want(o.MaxSize >= 2, "MaxSize", o.MaxSize, "2 or more, or 0 for the default")
	if o.Level == TopLevel {
		o.Level = 0
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	f := kit.Frame{Name: name, Common: o.Common, Kit: k, Problems: c.Err(), Needs: []kit.Role{kit.Finding, kit.Describing, kit.Reporting}}
	f.Knowledge.OnlyDescribed = o.Extract == nil // graphrag/index/operations/extract_graph: relations without their ends go
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

var prompts = llm.MustPrompts("msgraphrag", promptFiles)

// request is a prompt with the question, if there is one, after the data.
func request(ctx context.Context, stage, name string, words int, question string, data ...llm.Data) (llm.Request, error) {
	req, err := prompts.Request(ctx, stage, name, map[string]any{"Words": words}, data...)
	if err == nil && question != "" {
		m := &req.Messages[1]
		m.Text = strings.TrimSpace(m.Text + "\n\nQuestion: " + question)
	}
	return req, err
}
