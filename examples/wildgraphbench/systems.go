// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/langchain"
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
	e.New = func(string) (graphrag.System, error) {
		if err := p.reachable(ctx); err != nil {
			return nil, err
		}
		return sys.make(s, p.kit)
	}
	return e, probe.Close()
}

// parts are what the systems of a run share.
type parts struct {
	kit   baselines.Kit
	judge judge.Judge
	count func(string) int
	cache *journal.Journal // nil offline
	// prices are the user's, nil without; ledger is what was really paid.
	prices *llm.Prices
	ledger *llm.Ledger

	probes []func(context.Context) error // one small call to each server
	asked  bool
}

// reachable makes one small call to every model, the first time it is called:
// a wrong key or name should be known before hours of indexing.
func (p *parts) reachable(ctx context.Context) error {
	if p.asked {
		return nil
	}
	p.asked = true
	for _, probe := range p.probes {
		if err := probe(ctx); err != nil {
			return err
		}
	}
	return nil
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
	provider, err := langchain.ProviderFromEnv(llm.TransportOptions{})
	if err != nil {
		return fmt.Errorf("%w: -kit model: %w", errUsage, err)
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	p.cache, err = journal.Open(filepath.Join(s.out, CacheName), journal.Header{Schema: llm.CacheSchema}, journal.Options{})
	if err != nil {
		return err
	}
	if p.ledger, err = llm.NewLedger(p.cache, p.prices); err != nil {
		return err
	}
	budget, err := p.budget(s)
	if err != nil {
		return err
	}
	answering, err := p.model(provider, budget, s.model)
	if err != nil {
		return err
	}
	judging, err := p.model(provider, budget, s.judgeModel)
	if err != nil {
		return err
	}
	k := baselines.ModelOptions{Model: answering, Seed: s.seed, Mode: reader.Mode(s.mode), CountTokens: p.count}
	if s.embedModel != "" {
		if k.Embedder, err = p.embedder(provider, budget, s.embedModel); err != nil {
			return err
		}
	}
	if p.kit, err = baselines.ModelKit(k); err != nil {
		return err
	}
	p.judge, err = judge.NewByModel(judging, o)
	return err
}

// budget limits what all starts in this folder spend together; nil is no
// limit.
func (p *parts) budget(s settings) (*llm.Budget, error) {
	if s.budgetTokens == 0 && s.budgetMoney == 0 {
		return nil, nil
	}
	limit := s.budgetTokens
	if limit == 0 {
		limit = math.MaxInt32
	}
	spent := p.ledger.Account().Total
	limit -= spent.Usage.PromptTokens + spent.Usage.CompletionTokens + spent.Usage.EmbeddedTokens
	if limit < 1 {
		return nil, fmt.Errorf("-budget-tokens %d: %w by earlier starts in this folder", s.budgetTokens, llm.ErrBudgetExceeded)
	}
	b, err := llm.NewBudget(limit, p.count)
	if err != nil || s.budgetMoney == 0 {
		return b, err
	}
	left := llm.MoneyOf(s.budgetMoney) - spent.Cost.Amount
	if left <= 0 {
		return nil, fmt.Errorf("-budget-money %g: %w by earlier starts in this folder", s.budgetMoney, llm.ErrBudgetExceeded)
	}
	return b, b.LimitMoney(left, p.prices)
}

func (p *parts) model(provider *langchain.Provider, budget *llm.Budget, name string) (llm.Model, error) {
	m, err := provider.Model(name)
	if err != nil {
		return nil, err
	}
	m = p.ledger.Model(m)
	if budget != nil {
		m = budget.Model(m)
	}
	p.probes = append(p.probes, func(ctx context.Context) error {
		_, err := m.Generate(ctx, llm.Prompt("Reply with the word ready."))
		if errors.Is(err, llm.ErrTruncated) || errors.Is(err, llm.ErrEmpty) {
			return nil // it is there, and has nothing to say to this
		}
		if err != nil {
			return fmt.Errorf("asking model %s for a sign of life: %w", name, err)
		}
		return nil
	})
	return llm.Cached(m, p.cache, llm.CacheOptions{PaidUsage: true})
}

func (p *parts) embedder(provider *langchain.Provider, budget *llm.Budget, name string) (embed.Embedder, error) {
	remote, err := provider.Embedder(name)
	if err != nil {
		return nil, err
	}
	e := p.ledger.Embedder(remote.Name(), remote)
	if budget != nil {
		e = budget.Embedder(e)
	}
	p.probes = append(p.probes, func(ctx context.Context) error {
		if _, err := e.EmbedQuery(ctx, "ready"); err != nil {
			return fmt.Errorf("asking embedding model %s for a sign of life: %w", name, err)
		}
		return nil
	})
	return llm.CachedEmbedder(remote.Name(), e, p.cache)
}

func (p *parts) close() error {
	if p.cache == nil {
		return nil
	}
	return p.cache.Close()
}

// digest is the hash of a file's content: predictions of other content are
// another configuration.
func digest(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return "unreadable"
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unreadable"
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
