// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// selected are the systems that take part, in the order of the registry.
func (s settings) selected() []all.System {
	return slices.DeleteFunc(all.Systems(), func(sys all.System) bool {
		return len(s.systems) > 0 && !slices.ContainsFunc(s.systems, sys.Is)
	})
}

// common translates the flags: 0 tokens of overlap are none, not the default.
func (s settings) common() kit.Common {
	c := kit.Common{Cut: kit.Cut{Size: s.chunkSize, Overlap: s.chunkOverlap}, MaxPerDoc: s.chunksPerPage}
	if c.Cut.Overlap == 0 {
		c.Cut.Overlap = -1
	}
	return c
}

// entry makes the system take part in a run. It is built once at once, so that
// settings it cannot work with are known before the run; servers are asked
// whether they are there before the first index is begun.
func entry(ctx context.Context, sys all.System, s settings, p *parts) (benchmark.Entry, error) {
	e := benchmark.Entry{Name: sys.Name, Also: sys.Also, Fixed: !sys.Retrieves, Baseline: slices.Contains([]string{"bm25", "naiverag"}, sys.Name)}
	if sys.NeedsModel && s.answerKit == kitOffline {
		e.NotApplicable = "needs a language model"
		return e, nil
	}
	probe, err := sys.New(p.kit, s.common())
	if err != nil {
		return e, err
	}
	e.New = func(string) (benchmark.System, error) {
		if err := p.reachable(ctx); err != nil {
			return nil, err
		}
		return sys.New(p.kit, s.common())
	}
	return e, probe.Close()
}
