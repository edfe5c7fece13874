// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"cmp"
	"context"
	"embed"
	"errors"
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

// The settings of the code: graphrag/config/defaults.py, for the level
// graphrag/cli/main.py, for Leiden graphrag/graphs/hierarchical_leiden.py.
const (
	DefaultLevel       = 2
	DefaultMaxSize     = 10
	DefaultPasses      = 1
	DefaultRandomness  = 0.001
	DefaultSeed        = 0xDEADBEEF
	DefaultFoldFrom    = 5    // descriptions of a thing; the code: 2
	DefaultFoldTokens  = 4000 // of descriptions in one prompt
	DefaultFoldWords   = 500  // of a description
	DefaultContext     = 12_000
	DefaultShuffleSeed = 86
)

// TopLevel as [Options].Level reads the coarsest communities.
const TopLevel = -1

// longDescriptions are so many tokens that a model makes one of few as well.
const longDescriptions = 600

// offlineWords is the length of a description that is made of quotes: 20 of them
// fill the part of the context that they have.
const offlineWords = 150

// Options are what the systems share. The zero value is the setting of the
// code, over the paper's chunks.
type Options struct {
	kit.Common
	// Extract, when set, is used in place of the kit's extractor, Reporter in
	// place of its reporter.
	Extract  extract.Extractor
	Reporter report.Reporter
	// Level of the hierarchy down to which reports are read: 0 for DefaultLevel,
	// TopLevel for the coarsest.
	Level int
	// MaxSize is the size from which on a community is split, Passes how many
	// Leiden makes; 0 for the defaults.
	MaxSize, Passes int
	// Seed of Leiden; 0 for DefaultSeed.
	Seed uint64
	// FoldFrom is how many descriptions of a thing a model makes one of; fewer are
	// left as they are unless they are long. 0 for DefaultFoldFrom, 2 as the code has it.
	FoldFrom int `source:"ours: its program has 2"`
	// MinSize is the least number of members of a community that gets a report, 0 for
	// all with a relation inside. What is in a smaller one is in the reports above.
	MinSize int
	// AllReports has a model write also the reports that the search does not read.
	AllReports bool
	// AlwaysGlean asks for more records where the model says that there are none, as
	// the code does.
	AlwaysGlean bool
	// Logger hears of descriptions and reports that could not be written; nil is
	// silent.
	Logger *slog.Logger
}

func (o Options) resolve() (Options, error) {
	var c kit.Checks
	c.Min("Level", float64(o.Level), TopLevel)
	c.Min("Passes", float64(o.Passes), 0)
	c.Min("FoldFrom", float64(o.FoldFrom), 0)
	c.Min("MinSize", float64(o.MinSize), 0)
	c.Want(o.MaxSize == 0 || o.MaxSize >= 2, "MaxSize", o.MaxSize, "2 or more, or 0 for the default")
	if o = o.Defaults(); o.Level == TopLevel {
		o.Level = 0
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, c.Err()
}

// Defaults returns the options with what zero stands for.
func (o Options) Defaults() Options {
	o.Level, o.MaxSize, o.Passes = cmp.Or(o.Level, DefaultLevel), cmp.Or(o.MaxSize, DefaultMaxSize), cmp.Or(o.Passes, DefaultPasses)
	o.Seed, o.FoldFrom = cmp.Or(o.Seed, DefaultSeed), cmp.Or(o.FoldFrom, DefaultFoldFrom)
	return o
}

// frame makes a system of a search over the index. problems are those of the
// search's own options.
func frame(name string, k kit.Kit, o Options, problems error, search func(context.Context, *index) (graphrag.Retriever, error)) (*kit.System, error) {
	o, err := o.resolve()
	f := kit.Frame{Name: name, Common: o.Common, Kit: k, Problems: errors.Join(err, problems), Needs: []kit.Role{kit.Finding, kit.Describing, kit.Reporting}}
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
