// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/joint"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/judge/paper"
	"github.com/wildgraph/wildgraph/judge/upstream"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/langchain"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// parts are what the systems of a run share.
type parts struct {
	kit    kit.Kit
	judges []profiled
	count  func(string) int
	client *paid.Client // nil offline, and in a dry run
	dry    *dryServer   // in a dry run with models
	log    *slog.Logger // is told what is waited for
}

// profiled is a judge with the name of its procedure, "" without a model.
type profiled struct {
	judge.Judge
	profile string
}

func newParts(s settings, log *slog.Logger) (*parts, error) {
	p := &parts{count: tokens.Cl100k().Count, log: log}
	o := judge.Options{Precision: judge.PrecisionRef(s.precisionRef), Grounded: s.grounded}
	var err error
	if p.kit, err = kit.Offline(kit.OfflineOptions{Mode: reader.Mode(s.mode), Seed: s.seed}); err != nil {
		return nil, err
	}
	if s.answerKit == kitOffline {
		j, err := lexical.New(o)
		if err != nil {
			return nil, err
		}
		p.judges = []profiled{{Judge: j}}
	}
	if s.paid() {
		server, err := p.connect(s)
		if err == nil {
			err = p.models(s, o, server)
		}
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	return p, nil
}

// server hands out models.
type server interface {
	Model(name string) (llm.Model, error)
	Embedder(name string) (llm.NamedEmbedder, error)
}

// connect finds the server of the models. Replies are kept on disk as they come and
// shared with other runs; limits and ledger are the report folder's.
func (p *parts) connect(s settings) (server, error) {
	if s.dryRun {
		p.dry = newDryServer(p.count)
		return p.dry, nil
	}
	provider, err := langchain.ProviderFromEnv(transport.Options{Concurrency: s.concurrency, Logger: p.log})
	if err != nil {
		return nil, cli.Usagef("-kit model: %w", err)
	}
	run, err := filepath.Abs(s.out)
	if err != nil {
		return nil, err
	}
	p.client, err = paid.Open(paid.Options{
		Provider: provider, File: s.cache, Run: run,
		Tokens: s.budgetTokens, Money: paid.MoneyOf(s.budgetMoney), Prices: s.priceList, CountTokens: p.count, RetryFailures: s.retry,
		ReplyTokens: s.replyTokens, Logger: p.log,
	})
	if err != nil {
		return nil, fmt.Errorf("-cache: %w", err)
	}
	return p.client, nil
}

// models puts the model's parts into the kit, and its judges.
func (p *parts) models(s settings, o judge.Options, from server) error {
	m, err := from.Model(s.model)
	if err != nil {
		return cli.Usage(err) // nothing was asked: an address or a name is wrong
	}
	k := kit.ModelOptions{Model: m, Concurrency: s.concurrency, Seed: s.seed, Mode: reader.Mode(s.mode), Count: p.count}
	if s.embedModel != "" {
		if k.Embedder, err = from.Embedder(s.embedModel); err != nil {
			return cli.Usage(err)
		}
	}
	byModel, err := kit.ByModel(k)
	if err != nil {
		return err
	}
	kits := map[string]kit.Kit{kitOffline: p.kit, kitModel: byModel}
	p.kit = kit.Mixed(kits[s.indexKit], kits[s.answerKit])
	if s.answerKit == kitModel {
		if m, err = from.Model(s.judgeModel); err != nil {
			return cli.Usage(err)
		}
		if p.dry != nil {
			m = p.dry.judge(s.judgeModel)
		}
		for _, name := range s.judgeProfiles {
			j, err := byProfile(name, m, s, o)
			if err != nil {
				return err
			}
			p.judges = append(p.judges, profiled{j, name})
		}
	}
	return nil
}

func byProfile(name string, m llm.Model, s settings, o judge.Options) (judge.Judge, error) {
	switch name {
	case upstream.Profile:
		return upstream.New(m, upstream.Options{Options: o, NoParameters: s.judgeNoParameters})
	case paper.Profile:
		return paper.New(m, paper.Options{Options: o})
	}
	return joint.New(m, joint.Options{Options: o})
}

// decisive are the settings that decide the answers, with what the kit means by
// "most like the question".
func (p *parts) decisive(s settings) map[string]any {
	c := s.decisive()
	c["lookup"], c["embedder"] = p.kit.Lookup, p.kit.Encoder
	return c
}

// reachable makes one small call to every model, the first time it is called:
// a wrong key or name should be known before hours of indexing.
func (p *parts) reachable(ctx context.Context) error {
	if p.client == nil {
		return nil
	}
	return p.client.Probe(ctx)
}

// LedgerName is the file in the report folder that says what was really paid:
// by stage, question and model, with the calls whose cost is not known. It
// counts what interruptions made the run pay twice, so it is no part of the
// report.
const LedgerName = "ledger.json"

// account writes the ledger and prints its sum.
func (p *parts) account(dir string, w io.Writer) error {
	if p.client == nil {
		return nil
	}
	a := p.client.Account()
	name := filepath.Join(dir, LedgerName)
	err := journal.WriteFile(name, func(w io.Writer) error {
		enc := text.JSON(w)
		enc.SetIndent("", "  ")
		return enc.Encode(a)
	})
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	_, err = fmt.Fprintf(w, "Paid for this folder: %s See %s.\n", bill(a), name)
	return err
}

// bill says in a sentence or two what an account comes to.
func bill(a paid.Account) string {
	price := "no prices given"
	if a.Currency != "" {
		price = fmt.Sprintf("cost %s %s", a.Total.Cost, a.Currency)
	}
	text := fmt.Sprintf("%s calls, %s tokens; %s.", cli.Digits(a.Total.Usage.Calls), cli.Digits(a.Total.Usage.Tokens()), price)
	if n := a.Total.Unknown; n > 0 {
		text += fmt.Sprintf(" %s more attempts may have been billed, with which it is %s tokens at the most.", cli.Digits(n), cli.Digits(a.Total.Most.Tokens()))
	}
	return text
}

func (p *parts) close() error {
	if p.client == nil {
		return nil
	}
	return p.client.Close()
}
