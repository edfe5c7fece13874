// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/langchain"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
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
		if p.client != nil {
			if err := p.client.Probe(ctx); err != nil {
				return nil, err
			}
		}
		return sys.make(s, p.kit)
	}
	return e, probe.Close()
}

// parts are what the systems of a run share.
type parts struct {
	kit    baselines.Kit
	judge  judge.Judge
	count  func(string) int
	prices *paid.Prices // the user's, nil without
	client *paid.Client // nil offline
}

func newParts(s settings) (*parts, error) {
	p := &parts{count: tokens.Cl100k().Count, prices: s.priceList}
	o := judge.Options{Profile: judge.Profile(s.judgeProfile), Precision: judge.PrecisionRef(s.precisionRef), NoParameters: s.judgeNoParameters}
	if s.kit == kitOffline {
		var err error
		if p.kit, err = baselines.OfflineKit(reader.Mode(s.mode), s.seed); err != nil {
			return nil, err
		}
		p.judge, err = judge.NewLexical(o)
		return p, err
	}
	if s.dryRun {
		return p, nil
	}
	if err := p.models(s, o); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// CacheName is the file of paid replies in the report folder.
const CacheName = "llm.journal"

// models builds the model kit and the judge: one provider, one budget, one
// cache. Replies are kept on disk as they come, so nothing is paid for twice.
func (p *parts) models(s settings, o judge.Options) error {
	provider, err := langchain.ProviderFromEnv(transport.Options{})
	if err != nil {
		return fmt.Errorf("%w: -kit model: %w", errUsage, err)
	}
	p.client, err = paid.Open(paid.Options{
		Provider: provider, File: filepath.Join(s.out, CacheName),
		Tokens: s.budgetTokens, Money: paid.MoneyOf(s.budgetMoney), Prices: p.prices, CountTokens: p.count,
	})
	if err != nil {
		return err
	}
	answering, err := p.client.Model(s.model)
	if err != nil {
		return err
	}
	judging, err := p.client.Model(s.judgeModel)
	if err != nil {
		return err
	}
	k := baselines.ModelOptions{Model: answering, Seed: s.seed, Mode: reader.Mode(s.mode), CountTokens: p.count}
	if s.embedModel != "" {
		if k.Embedder, err = p.client.Embedder(s.embedModel); err != nil {
			return err
		}
	}
	if p.kit, err = baselines.ModelKit(k); err != nil {
		return err
	}
	p.judge, err = judge.NewByModel(judging, o)
	return err
}

func (p *parts) close() error {
	if p.client == nil {
		return nil
	}
	return p.client.Close()
}
