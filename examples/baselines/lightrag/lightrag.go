// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// Name of the system in reports. A hyphen and the mode follow, except for Hybrid.
const Name = "lightrag"

// Mode selects the sources of an answer.
type Mode string

// The modes. The empty one is Hybrid.
const (
	Hybrid Mode = "hybrid" // Local and Global
	Local  Mode = "local"  // entities and their relations
	Global Mode = "global" // relations and their ends
	Mix    Mode = "mix"    // Hybrid, and chunks
)

// The settings of the paper's code (lightrag/base.py).
const (
	PaperTopK   = 60
	PaperTokens = 4000 // for entities, for relations, and for chunks
)

// Options of the system. The zero value is the setting of the code (lightrag/constants.py), with the
// paper's mode.
type Options struct {
	kit.Common
	Mode Mode `default:"hybrid" source:"the paper, section 3; its program has mix"`
	// Paper searches as the paper's code did. It excludes Mix.
	Paper bool `source:"its program"`
	// Extract, when set, is used in place of the kit's extractor.
	Extract extract.Extractor
	// Types of entities and Language of descriptions, for the model's
	// extractor; see extract.RecordOptions.
	Types    []string `source:"its program"`
	Language string   `source:"its program"`
	// AlwaysGlean asks for more records even if the model wrote that there are none, as the code does.
	AlwaysGlean bool `source:"ours: its program always asks"`
	// TopK is the number of entities or relations found by keywords, 0 for 40; ChunkTopK the number
	// of chunks found by a question, RelatedChunks the number of chunks of an entity or relation.
	TopK          int `min:"0" source:"its program"`
	ChunkTopK     int `default:"20" min:"0" source:"its program"`
	RelatedChunks int `default:"5" min:"0" source:"its program"`
	// Cosine is the least similarity of results, NoCosine for any.
	Cosine float64 `default:"0.2" source:"its program"`
	// The budgets in tokens; 0 is 6,000 for entities and 8,000 for relations.
	EntityTokens   int `min:"0" source:"its program"`
	RelationTokens int `min:"0" source:"its program"`
	TotalTokens    int `default:"30000" min:"0" source:"its program"`
}

// NoCosine as [Options].Cosine is no bound.
const NoCosine = -1

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding, kit.Describing, kit.QuestionNames}}
	if o.Mode != Hybrid {
		f.Name += "-" + string(o.Mode)
	}
	o = o.Defaults()
	o.check(&c)
	f.Problems = c.Err()
	f.ExtractBy(o.Extract, k.RecordsFor(extract.RecordOptions{Format: extract.Lines, Types: o.Types, Language: o.Language, AlwaysGlean: o.AlwaysGlean}))
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

func (o Options) check(c *kit.Checks) {
	c.Want(slices.Contains([]Mode{Hybrid, Local, Global, Mix}, o.Mode), "Mode", o.Mode, "hybrid, local, global or mix")
	c.Want(o.Mode != Mix || !o.Paper, "Mode", o.Mode, "another one with Paper: the paper has none of this name")
	c.Want(o.Cosine == NoCosine || o.Cosine >= 0 && o.Cosine <= 1, "Cosine", o.Cosine, "0 to 1, or NoCosine")
}

// Defaults returns the options with zero values replaced by their defaults, in the code or in the paper's.
func (o Options) Defaults() Options {
	topK, entities, relations := 40, 6000, 8000
	if o.Paper {
		topK, entities, relations = PaperTopK, PaperTokens, PaperTokens
	}
	o.TopK, o.EntityTokens, o.RelationTokens = cmp.Or(o.TopK, topK), cmp.Or(o.EntityTokens, entities), cmp.Or(o.RelationTokens, relations)
	return o
}
