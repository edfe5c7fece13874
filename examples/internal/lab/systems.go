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

// Common translates the flags: 0 tokens of overlap are none, not the default.
func (s Settings) Common() kit.Common {
	c := kit.Common{Cut: kit.Cut{Size: s.ChunkSize, Overlap: s.ChunkOverlap}, MaxPerDoc: s.ChunksPerDoc}
	if c.Cut.Overlap == 0 {
		c.Cut.Overlap = -1
	}
	return c
}

// WriteSystems writes a line for each system there is: its names, its source and
// whether it needs a model.
func WriteSystems(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, sys := range slices.Concat(all.Systems(), all.Agents()) {
		needs := "offline or with a model"
		switch {
		case strings.HasPrefix(sys.Name, agentic.Prefix):
			continue
		case sys.Blind || sys.Agent:
			needs = "needs a model"
		case sys.Graph:
			needs += ", over a graph: -kg PATH"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", strings.Join(append([]string{sys.Name}, sys.Also...), ", "), cmp.Or(sys.Source, "our own"), needs)
	}
	fmt.Fprintf(tw, "%sNAME\tour own\tneeds a model: an agent that searches by the system of that name\n", agentic.Prefix)
	return tw.Flush()
}

// Entries make the selected systems take part.
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

// Entry makes a system take part in a run. It is built once at once, so that
// settings it cannot work with are known before the run; servers are asked
// whether they are there before the first call to one.
func (p *Parts) Entry(sys all.System) (benchmark.Entry, error) {
	e := benchmark.Entry{Name: sys.Name, Also: sys.Also, Fixed: sys.Blind, Baseline: slices.Contains([]string{"bm25", "naiverag"}, sys.Name)}
	if sys.Blind && !p.settings.ByModel() {
		e.NotApplicable = "needs a language model"
		return e, nil
	}
	if sys.Blind && reader.Mode(p.settings.Mode).Rejects() {
		e.NotApplicable = "answers from memory: there is no evidence to reject by"
		return e, nil
	}
	if sys.Agent && !p.settings.ByModel() {
		e.NotApplicable = "needs a language model, which decides what it reads"
		return e, nil
	}
	if sys.Unbound && p.settings.IndexKit != kit.NameModel && p.settings.schema == "" {
		e.NotApplicable = "needs a model that indexes, or -schema: there is no schema to leave out without one"
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

// Seeded has an entry make systems of the kit, and where no model answers of the kit with other
// seeds for questions that are asked again.
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

// TellUnused tells that a system makes no use of the embedding model that it was given.
func (p *Parts) TellUnused(sys all.System) {
	reads := p.settings.encodes() && p.Kit.Answer == kit.NameOffline // the sentences of an answer are compared by it
	if p.settings.given["embed-model"] && p.Embedder != nil && (sys.Words || sys.Blind) && !reads {
		p.Log.Warn(fmt.Sprintf("-embed-model %s is not used: %s compares no vectors", p.settings.EmbedModel, sys.Name))
	}
}

// System makes a system of a kit, with the models of the server that its options name.
func (p *Parts) System(sys all.System, k kit.Kit, c kit.Common) (*kit.System, error) {
	k.Prompts = p.settings.PromptsOf(sys)
	return sys.WithModels(p.models).New(k, c)
}
