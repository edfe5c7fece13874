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
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/report"
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

// Infos describe the four searches.
var Infos = []kit.Info{
	kit.InfoOf(kit.Info{
		Name: NameLocal, Source: "Edge and others 2024", Paper: "arXiv 2404.16130, microsoft/graphrag 3.1.2",
		Costs: "1 a chunk, 1 a community that is read", Calls: kit.Calls{Chunk: 2}, // a graph and a report
	}, LocalOptions{}, NewLocal),
	kit.InfoOf(kit.Info{
		Name: NameGlobal, Source: "Edge and others 2024", Paper: "arXiv 2404.16130, microsoft/graphrag 3.1.2",
		Costs: "the same; 1 per 12,000 tokens of reports", Calls: kit.Calls{Chunk: 2, Question: 1}, // one batch of reports
	}, GlobalOptions{}, NewGlobal),
	kit.InfoOf(kit.Info{
		Name: NameDynamic, Source: "Edge and others 2024", Paper: "arXiv 2404.16130, microsoft/graphrag 3.1.2",
		Costs: "all reports to index; 1 per report looked at, 1 per 12,000 tokens", Calls: kit.Calls{Chunk: 2, Question: 19 + 1}, // a rating of each report
	}, GlobalOptions{Dynamic: true}, NewGlobal),
	kit.InfoOf(kit.Info{
		Name: NameDrift, Source: "Edge and others 2024", Paper: "arXiv 2404.16130, microsoft/graphrag 3.1.2",
		Costs: "all reports to index; up to 66 to search", Calls: kit.Calls{Chunk: 2, Question: 1 + 5 + 5}, // a hypothetical answer, folds of reports, a follow-up of each
	}, DriftOptions{}, NewDrift),
}

// The settings of the code that are not options (graphrag/config/defaults.py).
const (
	randomness = 0.001 // of Leiden
	foldTokens = 4000  // of descriptions in one prompt
	foldWords  = 500   // of a description
	mapWords   = 1000  // of the points of a batch
)

// TopLevel as [Options].Level reads the coarsest communities.
const TopLevel = -1

// longDescriptions is the length in tokens from which on a model condenses fewer than FoldFrom descriptions.
const longDescriptions = 600

// offlineWords is the length of a description of quotes: 20 descriptions fill their part of the context.
const offlineWords = 150

// Options of all systems of the package. The zero value is the setting of the code, over the paper's
// chunks: graphrag/config/defaults.py, for the level graphrag/cli/main.py, for Leiden
// graphrag/graphs/hierarchical_leiden.py.
type Options struct {
	kit.Common
	// Extract and Reporter, when set, replace the kit's.
	Extract  extract.Extractor
	Reporter report.Reporter
	// Level of the hierarchy down to which reports are read, TopLevel for the coarsest.
	Level int `default:"2" min:"-1" source:"its program"`
	// MaxSize bounds a community that is not split, Passes the passes of Leiden.
	MaxSize int `default:"10" source:"its program"`
	Passes  int `default:"1" min:"0" source:"its program"`
	// Seed of Leiden.
	Seed uint64 `default:"0xDEADBEEF" source:"its program"`
	// FoldFrom is the number of descriptions of a thing from which on a model condenses them; fewer
	// are kept unless they are long. The code has 2.
	FoldFrom int `default:"5" min:"0" source:"ours: its program has 2"`
	// MinSize is the least number of members of a community with a report, 0 for all with a relation
	// inside. Reports above cover smaller communities.
	MinSize int `min:"0" source:"ours: no least size"`
	// Stale is the share of the rows of a community, 0 to 1, that may differ from the rows of a report
	// from before a change that is still used. Communities then start from the previous ones. With 0
	// every report whose rows changed is written again: the index equals one made from scratch.
	Stale float64 `min:"0" max:"1" source:"ours: its program's update writes no report of what was there again"`
	// AllReports has a model also write the reports that the search does not read.
	AllReports bool `source:"ours: its program writes all"`
	// AlwaysGlean asks for more records even if the model wrote that there are none, as the code does.
	AlwaysGlean bool `source:"ours: its program always asks"`
	// Logger logs descriptions and reports that could not be written; nil discards.
	Logger *slog.Logger
}

// frame makes a system of a search over the index. Defaults of o are set, and c has the problems of the
// search's own options.
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

// request makes a prompt with the question, unless it is empty, after the data.
func request(ctx context.Context, stage, name string, words int, question string, data ...prompts.Data) (llm.Request, error) {
	req, err := templates.Request(ctx, stage, name, map[string]any{"Words": words}, data...)
	if err == nil && question != "" {
		m := &req.Messages[1]
		m.Text = strings.TrimSpace(m.Text + "\n\nQuestion: " + question)
	}
	return req, err
}
