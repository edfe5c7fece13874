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
	Naive  Mode = "naive"  // chunks alone
)

// The settings of lightrag/constants.py.
const (
	DefaultTopK           = 40
	DefaultChunkTopK      = 20
	DefaultRelatedChunks  = 5
	DefaultCosine         = 0.2
	DefaultEntityTokens   = 6000
	DefaultRelationTokens = 8000
	DefaultTotalTokens    = 30_000
)

// The settings of the paper's code (lightrag/base.py).
const (
	PaperTopK   = 60
	PaperTokens = 4000 // for entities, for relations, and for chunks
)

// Options of the system. The zero value is the setting of the code, but for the
// mode, which is the paper's.
type Options struct {
	kit.Common
	Mode Mode
	// Paper searches as the paper's code did. It knows no Mix.
	Paper bool
	// Extract, when set, is used in place of the kit's extractor.
	Extract extract.Extractor
	// Types of entities and Language of descriptions, for the model's
	// extractor; see extract.RecordOptions.
	Types    []string
	Language string
	// AlwaysGlean asks for more records where the model says that there are none, as
	// the code does.
	AlwaysGlean bool
	// TopK is the number of entities or relations that keywords find, ChunkTopK
	// that of chunks a question finds, RelatedChunks how many chunks an entity
	// or relation brings; 0 for the default of each.
	TopK, ChunkTopK, RelatedChunks int
	// Cosine is the least likeness at which something is found, 0 for
	// DefaultCosine, NoCosine for any.
	Cosine float64
	// The budgets in tokens, 0 for the default of each.
	EntityTokens, RelationTokens, TotalTokens int
}

// NoCosine as [Options].Cosine is no bound.
const NoCosine = -1

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	o.Mode = cmp.Or(o.Mode, Hybrid)
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding}}
	if o.Mode != Hybrid {
		f.Name += "-" + string(o.Mode)
	}
	o = o.Defaults()
	f.Problems = o.check()
	if o.Mode != Naive {
		f.Needs = append(f.Needs, kit.Describing, kit.QuestionNames)
		f.ExtractBy(o.Extract, k.RecordsFor(extract.RecordOptions{Format: extract.Lines, Types: o.Types, Language: o.Language, AlwaysGlean: o.AlwaysGlean}))
	}
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

func (o Options) check() error {
	var c kit.Checks
	c.Want(slices.Contains([]Mode{Hybrid, Local, Global, Mix, Naive}, o.Mode), "Mode", o.Mode, "hybrid, local, global, mix or naive")
	c.Want(o.Mode != Mix || !o.Paper, "Mode", o.Mode, "another one with Paper: the paper has none of this name")
	c.Want(o.Cosine == NoCosine || o.Cosine >= 0 && o.Cosine <= 1, "Cosine", o.Cosine, "0 to 1, or NoCosine")
	for _, n := range []struct {
		field string
		value int
	}{
		{"TopK", o.TopK}, {"ChunkTopK", o.ChunkTopK}, {"RelatedChunks", o.RelatedChunks},
		{"EntityTokens", o.EntityTokens}, {"RelationTokens", o.RelationTokens}, {"TotalTokens", o.TotalTokens},
	} {
		c.Min(n.field, float64(n.value), 0)
	}
	return c.Err()
}

// Defaults returns the options with what zero stands for.
func (o Options) Defaults() Options {
	topK, entity, relation := DefaultTopK, DefaultEntityTokens, DefaultRelationTokens
	if o.Paper {
		topK, entity, relation = PaperTopK, PaperTokens, PaperTokens
	}
	o.TopK, o.ChunkTopK, o.RelatedChunks = cmp.Or(o.TopK, topK), cmp.Or(o.ChunkTopK, DefaultChunkTopK), cmp.Or(o.RelatedChunks, DefaultRelatedChunks)
	o.EntityTokens, o.RelationTokens = cmp.Or(o.EntityTokens, entity), cmp.Or(o.RelationTokens, relation)
	o.TotalTokens, o.Cosine = cmp.Or(o.TotalTokens, DefaultTotalTokens), cmp.Or(o.Cosine, DefaultCosine)
	return o
}
