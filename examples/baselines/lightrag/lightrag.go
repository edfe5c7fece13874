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

// Name of the system in reports. Modes other than Hybrid follow behind a hyphen.
const Name = "lightrag"

// Mode says what a question is answered from.
type Mode string

// The modes. The empty one is Hybrid.
const (
	Hybrid Mode = "hybrid" // both of
	Local  Mode = "local"  // entities and their relations
	Global Mode = "global" // relations and their ends
	Mix    Mode = "mix"    // Hybrid, and chunks
)

// The settings of the paper's code (lightrag/base.py).
const (
	PaperTopK   = 60
	PaperTokens = 4000 // for entities, for relations, and for chunks
)

// Options of the system. The zero value is the setting of the code (lightrag/constants.py),
// but for the mode, which is the paper's.
type Options struct {
	kit.Common
	Mode Mode `default:"hybrid" source:"the paper, section 3; its program has mix"`
	// Paper searches as the paper's code did. It knows no Mix.
	Paper bool `source:"its program"`
	// Extract, when set, is used in place of the kit's extractor.
	Extract extract.Extractor
	// Types of entities and Language of descriptions, for the model's
	// extractor; see extract.RecordOptions.
	Types    []string `source:"its program"`
	Language string   `source:"its program"`
	// AlwaysGlean asks for more records where the model says that there are none, as
	// the code does.
	AlwaysGlean bool `source:"ours: its program always asks"`
	// TopK is the number of entities or relations that keywords find, 0 for 40, ChunkTopK
	// that of chunks a question finds, RelatedChunks how many chunks an entity
	// or relation brings.
	TopK          int `min:"0" source:"its program"`
	ChunkTopK     int `default:"20" min:"0" source:"its program"`
	RelatedChunks int `default:"5" min:"0" source:"its program"`
	// Cosine is the least likeness at which something is found, NoCosine for any.
	Cosine float64 `default:"0.2" source:"its program"`
	// The budgets in tokens, of entities 0 for 6,000, of relations 0 for 8,000.
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

// Defaults returns the options with what zero stands for in the code or the paper's.
func (o Options) Defaults() Options {
	topK, entity, relation := 40, 6000, 8000
	if o.Paper {
		topK, entity, relation = PaperTopK, PaperTokens, PaperTokens
	}
	o.TopK, o.EntityTokens, o.RelationTokens = cmp.Or(o.TopK, topK), cmp.Or(o.EntityTokens, entity), cmp.Or(o.RelationTokens, relation)
	return o
}
