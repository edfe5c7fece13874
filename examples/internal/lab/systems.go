// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/baselines/agentic"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
)

// Common translates the flags: in kit.Cut an overlap of 0 is the default, and -1 is none.
func (s Settings) Common() kit.Common {
	c := kit.Common{Cut: kit.Cut{Size: s.ChunkSize, Overlap: s.ChunkOverlap}, MaxPerDoc: s.ChunksPerDoc}
	if c.Cut.Overlap == 0 {
		c.Cut.Overlap = -1
	}
	return c
}

// WriteSystems lists all systems: names, source, and whether they need a model.
func WriteSystems(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, sys := range slices.Concat(all.Systems(), all.Agents()) {
		needs := "offline or with a model"
		switch {
		case strings.HasPrefix(sys.Name, agentic.Prefix):
			continue
		case sys.NoDocuments || sys.NeedsModel:
			needs = "needs a model"
		case sys.NeedsGraph:
			needs += ", over a graph: -kg PATH"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", strings.Join(append([]string{sys.Name}, sys.Also...), ", "), cmp.Or(sys.Source, "our own"), needs)
	}
	fmt.Fprintf(tw, "%sNAME\tour own\tneeds a model: an agent that searches by the system of that name\n", agentic.Prefix)
	return tw.Flush()
}

// Entries returns the entries of the selected systems.
func (p *Parts) Entries() ([]benchmark.Entry, error) {
	var out []benchmark.Entry
	for _, sys := range p.settings.Selected() {
		e, err := p.Entry(sys)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Entry returns the entry of a system in a run. It makes the system once, so bad settings are
// reported before the run.
func (p *Parts) Entry(sys all.System) (benchmark.Entry, error) {
	e := benchmark.Entry{Name: sys.Name, Also: sys.Also, Fixed: sys.NoDocuments, Baseline: slices.Contains([]string{"bm25", "naiverag"}, sys.Name)}
	if sys.NoDocuments && !p.settings.ByModel() {
		e.NotApplicable = "needs a language model"
		return e, nil
	}
	if sys.NoDocuments && reader.Mode(p.settings.Mode).Rejects() {
		e.NotApplicable = "answers from memory: a mode that rejects needs evidence"
		return e, nil
	}
	if sys.NeedsModel && !p.settings.ByModel() {
		e.NotApplicable = "needs a language model, which decides what it reads"
		return e, nil
	}
	if sys.NoSchema && p.settings.IndexKit != kit.NameModel && p.settings.schema == "" {
		e.NotApplicable = "needs a model that indexes, or -schema: otherwise there is no schema to leave out"
		return e, nil
	}
	if e.NotApplicable = sys.Lacks(); e.NotApplicable != "" {
		return e, nil
	}
	common := p.settings.Common()
	p.TellUnused(sys)
	probe, err := p.System(sys, p.Kit, common)
	if err != nil {
		return e, err
	}
	p.Seeded(&e, func(k kit.Kit) (benchmark.System, error) { return p.System(sys, k, common) })
	return e, probe.Close()
}

// Seeded sets the constructors of an entry. Without an answering model, repeated questions get systems
// of the kit with other seeds.
func (p *Parts) Seeded(e *benchmark.Entry, system func(kit.Kit) (benchmark.System, error)) {
	reach := func(k kit.Kit) (benchmark.System, error) {
		if err := p.Reachable(); err != nil {
			return nil, err
		}
		return system(k)
	}
	e.New = func(string) (benchmark.System, error) { return reach(p.Kit) }
	if p.settings.ByModel() || p.Kit.Trained {
		return
	}
	e.Again = func(_ string, repeat int) (benchmark.System, error) {
		other, err := kit.Offline(kit.OfflineOptions{Seed: p.settings.Seed + uint64(repeat)})
		if err != nil {
			return nil, err
		}
		k := p.Kit
		k.Embed = other.Embed
		return reach(k)
	}
}

// TellUnused warns if a system does not use the embedding model of -embed-model.
func (p *Parts) TellUnused(sys all.System) {
	reads := p.settings.encodes() && p.Kit.Answer == kit.NameOffline // it compares the sentences of an answer
	if p.settings.given["embed-model"] && p.Embedder != nil && (sys.Words || sys.NoDocuments) && !reads {
		p.Log.Warn(fmt.Sprintf("-embed-model %s is not used: %s compares no vectors", p.settings.EmbedModel, sys.Name))
	}
}

// System makes a system of a kit. Models that its options name come from the server.
func (p *Parts) System(sys all.System, k kit.Kit, c kit.Common) (*kit.System, error) {
	k.Prompts = p.settings.PromptsOf(sys)
	return sys.WithModels(p.models).New(k, c)
}
