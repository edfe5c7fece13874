// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/naiverag"
	"github.com/wildgraph/wildgraph/examples/baselines/zeroshot"
	"github.com/wildgraph/wildgraph/graphrag"
)

// system is a registered system: a name and its recipe.
type system struct {
	name string
	// What it does, for estimates: retrieves evidence, embeds the corpus;
	// and whether it can only run with a model.
	retrieves, embeds, needsModel bool
	// perChunk and perQuestion are the calls of a model beside the answer.
	perChunk, perQuestion int
	make                  func(s settings, k baselines.Kit) (graphrag.System, error)
}

// registry lists the systems in the order of the report.
func registry() []system {
	all := []system{
		{naiverag.Name, true, true, false, 0, 0, func(s settings, k baselines.Kit) (graphrag.System, error) {
			return naiverag.New(k, naiverag.Options{Cut: s.cut(), MaxPerDoc: s.chunksPerPage})
		}},
		{bm25.Name, true, false, false, 0, 0, func(s settings, k baselines.Kit) (graphrag.System, error) {
			return bm25.New(k, bm25.Options{Cut: s.cut(), MaxPerDoc: s.chunksPerPage})
		}},
		{fastgraphrag.Name, true, true, false, 1, 1, func(s settings, k baselines.Kit) (graphrag.System, error) {
			return fastgraphrag.New(k, fastgraphrag.Options{Cut: s.cut(), MaxPerDoc: s.chunksPerPage})
		}},
		{msgraphrag.NameLocal, true, true, false, 2, 0, func(s settings, k baselines.Kit) (graphrag.System, error) {
			return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{Options: s.msgraphrag()})
		}},
		{msgraphrag.NameGlobal, true, true, false, 2, 1, func(s settings, k baselines.Kit) (graphrag.System, error) {
			return msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Options: s.msgraphrag()})
		}},
	}
	for _, mode := range []lightrag.Mode{lightrag.Hybrid, lightrag.Naive, lightrag.Local, lightrag.Global, lightrag.Mix} {
		all = append(all, lightRAG(mode))
	}
	return append(all, []system{
		{hipporag.Name, true, true, false, 2, 1, func(s settings, k baselines.Kit) (graphrag.System, error) {
			return hipporag.New(k, hipporag.Options{Cut: s.cut(), MaxPerDoc: s.chunksPerPage})
		}},
		{hipporag2.Name, true, true, false, 2, 1, func(s settings, k baselines.Kit) (graphrag.System, error) {
			return hipporag2.New(k, hipporag2.Options{Cut: s.cut(), MaxPerDoc: s.chunksPerPage})
		}},
		{linearrag.Name, true, true, false, 0, 0, func(s settings, k baselines.Kit) (graphrag.System, error) {
			return linearrag.New(k, linearrag.Options{Cut: s.cut(), MaxPerDoc: s.chunksPerPage})
		}},
		{zeroshot.Name, false, false, true, 0, 0, func(_ settings, k baselines.Kit) (graphrag.System, error) {
			return zeroshot.New(k)
		}},
	}...)
}

// lightRAG is LightRAG in one of its modes. The naive one builds no graph.
func lightRAG(mode lightrag.Mode) system {
	sys := system{lightrag.Name, true, true, false, 2, 1, func(s settings, k baselines.Kit) (graphrag.System, error) {
		return lightrag.New(k, lightrag.Options{Cut: s.cut(), MaxPerDoc: s.chunksPerPage, Mode: mode})
	}}
	if mode != lightrag.Hybrid {
		sys.name += "-" + string(mode)
	}
	if mode == lightrag.Naive {
		sys.perChunk, sys.perQuestion = 0, 0
	}
	return sys
}

func (s settings) msgraphrag() msgraphrag.Options {
	return msgraphrag.Options{Cut: s.cut(), MaxPerDoc: s.chunksPerPage}
}

// selected are the systems that take part, in the order of the registry.
func (s settings) selected() []system {
	return slices.DeleteFunc(registry(), func(sys system) bool {
		return len(s.systems) > 0 && !slices.Contains(s.systems, sys.name)
	})
}

func systemNames() []string {
	var names []string
	for _, s := range registry() {
		names = append(names, s.name)
	}
	return names
}

// cut translates the flags: 0 tokens of overlap are none, not the default.
func (s settings) cut() baselines.Cut {
	c := baselines.Cut{Size: s.chunkSize, Overlap: s.chunkOverlap}
	if c.Overlap == 0 {
		c.Overlap = -1
	}
	return c
}

// entry makes the system take part in a run. It is built once at once, so that
// settings it cannot work with are known before the run; servers are asked
// whether they are there before the first index is begun.
func (sys system) entry(ctx context.Context, s settings, p *parts) (benchmark.Entry, error) {
	e := benchmark.Entry{Name: sys.name}
	if sys.needsModel && s.kit == kitOffline {
		e.NotApplicable = "needs a language model"
		return e, nil
	}
	probe, err := sys.make(s, p.kit)
	if err != nil {
		return e, err
	}
	e.New = func(string) (benchmark.System, error) {
		if err := p.reachable(ctx); err != nil {
			return nil, err
		}
		return sys.make(s, p.kit)
	}
	return e, probe.Close()
}
