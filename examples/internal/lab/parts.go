// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// Parts are what the systems of a run share.
type Parts struct {
	Kit   kit.Kit
	Count func(string) int
	Log   *slog.Logger // is told what is waited for
	// Judge is the model that judges, Embedder the one that embeds; nil without.
	Judge    llm.Model
	Embedder llm.NamedEmbedder

	settings Settings
	models   func(name string) (llm.Model, error)
	client   *paid.Client     // nil offline, in a dry run and without a server
	absent   error            // why there is no server
	vectors  *journal.Journal // of an embedding model that needs no server, or nil
	heads    map[string]any   // names of the models of openHeads, by their settings
	dry      *dryServer       // in a dry run with models
}

// NewParts makes the parts of the settings. They are closed after use. It may fetch the
// embedding model, until ctx ends.
func NewParts(ctx context.Context, s Settings, log *slog.Logger) (*Parts, error) {
	p := &Parts{Log: log, settings: s}
	var err error
	if p.Kit, err = kit.Offline(kit.OfflineOptions{Mode: reader.Mode(s.Mode), Seed: s.Seed}); err != nil {
		return nil, err
	}
	p.Count = p.Kit.Count
	if s.passedOver != "" {
		log.Warn(s.passedOver)
	}
	if s.auto {
		log.Warn("-embed-model auto: " + cmp.Or(s.EmbedModel, "no encoder is in the cache"))
	}
	if s.encodes() {
		if err = p.openEncoder(ctx); err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.Kit = p.Kit.WithEmbedder(p.Embedder)
	}
	if s.Paid() {
		server, err := p.connect()
		if err == nil {
			p.models, err = server.Model, p.ask(server)
		}
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	if err := p.openHeads(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// server hands out models.
type server interface {
	Model(name string) (llm.Model, error)
	Embedder(name string) (llm.NamedEmbedder, error)
}

// payer hands out the models of a provider, paid for by a client.
type payer struct {
	provider *transport.Provider
	options  transport.Options
	*paid.Client
}

func (p payer) Model(name string) (llm.Model, error) {
	m, err := cli.Model(name, p.provider, p.options)
	if err != nil {
		return nil, err
	}
	return p.Client.Model(m)
}

func (p payer) Embedder(name string) (llm.NamedEmbedder, error) {
	e, err := p.provider.Embedder(name)
	if err != nil {
		return nil, err
	}
	return p.Client.Embedder(e)
}

// absent is a server that the environment does not name: a finished run needs none to be
// judged by words.
type absent struct{ err error }

func (a absent) Model(name string) (llm.Model, error) {
	return llm.ByFunc(name, func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{}, a.err }), nil
}

func (a absent) Embedder(string) (llm.NamedEmbedder, error) { return nil, a.err }

// connect finds the server of the models. Replies are kept on disk as they come and
// shared with other runs; limits and ledger are the report folder's.
func (p *Parts) connect() (server, error) {
	s := p.settings
	if s.DryRun {
		p.dry = newDryServer(p.Count)
		return p.dry, nil
	}
	options := transport.Options{Concurrency: s.Concurrency, Logger: p.Log}
	provider, err := transport.ProviderFromEnv(options)
	if err != nil && !(cli.OfVendors(s.Model, s.JudgeModel) && (s.EmbedModel == "" || s.byName)) {
		p.absent = cli.Usagef("-kit model: %w", err)
		return absent{p.absent}, nil
	}
	run, err := filepath.Abs(s.Out)
	if err != nil {
		return nil, err
	}
	settings := cli.Settings(s.Temperature, s.Seed)
	settings.MaxTokens = s.ReplyTokens
	p.client, err = paid.Open(paid.Options{
		File: s.Cache, Run: run,
		Tokens: s.BudgetTokens, Money: paid.MoneyOf(s.BudgetMoney), Prices: s.PriceList, CountTokens: p.Count, RetryFailures: s.Retry,
		Defaults: settings, Logger: p.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("-cache: %w", err)
	}
	return payer{provider, options, p.client}, nil
}

// ask puts the model's parts into the kit, and finds the one that judges.
func (p *Parts) ask(from server) error {
	s := p.settings
	if s.JudgeModel != "" {
		judge, err := from.Model(s.JudgeModel)
		if err != nil {
			return cli.Usage(err)
		}
		if p.Judge = judge; p.dry != nil {
			p.Judge = p.dry.Judge(s.JudgeModel)
		}
	}
	if !s.asks() {
		return nil
	}
	m, err := from.Model(s.Model)
	if err != nil {
		return cli.Usage(err) // nothing was asked: an address or a name is wrong
	}
	k := kit.ModelOptions{Model: m, Concurrency: s.Concurrency, Seed: s.Seed, Mode: reader.Mode(s.Mode), Instruction: s.Instruction, Count: p.Count}
	if s.EmbedModel != "" && p.Embedder == nil {
		if p.Embedder, err = from.Embedder(s.EmbedModel); err != nil {
			return cli.Usage(err)
		}
	}
	if p.Embedder != nil {
		k.Embedder = p.Embedder
	}
	byModel, err := kit.ByModel(k)
	if err != nil {
		return err
	}
	kits := map[string]kit.Kit{kit.NameOffline: p.Kit, kit.NameModel: byModel}
	index := kits[s.IndexKit]
	if p.Embedder != nil && !index.Trained { // a server's, with an index that no model writes
		index = index.WithEmbedder(p.Embedder)
	}
	p.Kit = kit.Mixed(index, kits[s.AnswerKit])
	return nil
}

// Decisive are the settings that decide the answers, with what the kit means by
// "most like the question".
func (p *Parts) Decisive() map[string]any {
	c := p.settings.Decisive()
	if p.settings.encodes() {
		c["embed_model"] = p.Embedder.Name() // wherever it lies
	}
	maps.Copy(c, p.heads)
	c["lookup"], c["embedder"] = p.Kit.Lookup, p.Kit.Encoder
	return c
}

// Absent is an error if the environment names no server for the models, which only a
// finished run can do without.
func (p *Parts) Absent() error { return p.absent }

// Reachable has every model asked for a sign of life before the first call that is made:
// a wrong key or name should be known before hours of indexing.
func (p *Parts) Reachable() error {
	if p.client != nil {
		p.client.Probe()
	}
	return p.absent
}

// Account writes the ledger and prints its sum.
func (p *Parts) Account(dir string, w io.Writer) error {
	if p.client == nil {
		return nil
	}
	return cli.Account(p.client, dir, w)
}

// Close ends the use of the models.
func (p *Parts) Close() (err error) {
	if p.vectors != nil {
		err = p.vectors.Close()
	}
	if p.client != nil {
		err = errors.Join(err, p.client.Close())
	}
	return err
}
