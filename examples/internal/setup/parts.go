// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/embed/hub"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// Parts are the kit, the models and the logger that all systems of a run share.
type Parts struct {
	Kit   kit.Kit
	Count func(string) int
	Log   *slog.Logger
	// Judge is the judging model, Embedder the embedding model; nil if there is none.
	Judge    llm.Model
	Embedder llm.NamedEmbedder
	// Absent is the error if the environment names no server of models. A finished run does not need one.
	Absent error

	settings Settings
	models   func(name string) (llm.Model, error)
	client   *paid.Client     // nil offline, in a dry run, or without a server
	vectors  *journal.Journal // cached vectors of a local model, or nil
	heads    map[string]any   // names of models for single steps, by setting
	dry      *dryServer       // models of a dry run, or nil
}

// NewParts makes the parts of the settings, and downloads models if needed. Close them after use.
func NewParts(ctx context.Context, s Settings, log *slog.Logger) (*Parts, error) {
	p := &Parts{Log: log, settings: s}
	var err error
	if p.Kit, err = kit.Offline(kit.OfflineOptions{Mode: reader.Mode(s.Mode), Seed: s.Seed}); err != nil {
		return nil, err
	}
	p.Count = p.Kit.Count
	if s.badLines != "" {
		log.Warn(s.badLines)
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
			p.models, err = server.model, p.openModels(server)
		}
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	p.heads = map[string]any{}
	err = errors.Join(
		head(ctx, p, "rerank-model", s.RerankModel, local.OpenReranker, func(r *local.Reranker) { p.Kit.Rerank = r }),
		head(ctx, p, "name-model", s.NameModel, local.OpenNames, func(n *local.Names) { p.Kit = p.Kit.WithNames(n) }),
		head(ctx, p, "span-model", s.SpanModel, local.OpenSpans, func(f *local.Spans) { p.Kit.Read = reader.BySpans(f, p.Kit.Read) }),
	)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// modelSource has functions that open models by name.
type modelSource struct {
	model    func(name string) (llm.Model, error)
	embedder func(name string) (llm.NamedEmbedder, error)
}

// connect finds the server of the models. Replies are cached on disk and shared with other runs; budgets and
// ledger belong to the report folder.
func (p *Parts) connect() (modelSource, error) {
	s := p.settings
	if s.DryRun {
		p.dry = newDryServer(p.Count)
		return modelSource{p.dry.Model, p.dry.Embedder}, nil
	}
	options := transport.Options{Concurrency: s.Concurrency, Logger: p.Log}
	provider, err := transport.ProviderFromEnv(options)
	if err != nil && !(cli.OfVendors(s.Model, s.JudgeModel) && (s.EmbedModel == "" || s.byName)) {
		p.Absent = cli.Usagef("-kit model: %w", err)
		ask := func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{}, p.Absent }
		return modelSource{ // a finished run can be judged by words without a server
			func(name string) (llm.Model, error) { return llm.ByFunc(name, ask), nil },
			func(string) (llm.NamedEmbedder, error) { return nil, p.Absent },
		}, nil
	}
	run, err := filepath.Abs(s.Out)
	if err != nil {
		return modelSource{}, err
	}
	settings := cli.Settings(s.Temperature, s.Seed)
	settings.MaxTokens = s.ReplyTokens
	p.client, err = paid.Open(paid.Options{
		File: s.Cache, Run: run,
		Tokens: s.BudgetTokens, Money: paid.MoneyOf(s.BudgetMoney), Prices: s.PriceList, CountTokens: p.Count, RetryFailures: s.Retry,
		Defaults: settings, Logger: p.Log,
	})
	if err != nil {
		return modelSource{}, fmt.Errorf("-cache: %w", err)
	}
	return modelSource{func(name string) (llm.Model, error) {
		m, err := cli.Model(name, provider, options)
		if err != nil {
			return nil, err
		}
		return p.client.Model(m)
	}, func(name string) (llm.NamedEmbedder, error) {
		e, err := provider.Embedder(name)
		if err != nil {
			return nil, err
		}
		return p.client.Embedder(e)
	}}, nil
}

// openModels puts models into the kit for the steps that they take, and opens the judging model.
func (p *Parts) openModels(from modelSource) error {
	s := p.settings
	if s.JudgeModel != "" {
		judge, err := from.model(s.JudgeModel)
		if err != nil {
			return cli.Usage(err)
		}
		if p.Judge = judge; p.dry != nil {
			p.Judge = dryModel{p.dry, s.JudgeModel, "judge"}
		}
	}
	if !s.asks() {
		return nil
	}
	m, err := from.model(s.Model)
	if err != nil {
		return cli.Usage(err) // no call was made yet: an address or a name is wrong
	}
	if s.EmbedModel != "" && p.Embedder == nil {
		if p.Embedder, err = from.embedder(s.EmbedModel); err != nil {
			return cli.Usage(err)
		}
	}
	byModel, err := kit.ByModel(kit.ModelOptions{
		Model: m, Embedder: p.Embedder, Concurrency: s.Concurrency, Seed: s.Seed, Mode: reader.Mode(s.Mode), Instruction: s.Instruction, Count: p.Count,
	})
	if err != nil {
		return err
	}
	kits := map[string]kit.Kit{kit.NameOffline: p.Kit, kit.NameModel: byModel}
	index := kits[s.IndexKit]
	if p.Embedder != nil && !index.Trained { // the embedder of a server with an offline index
		index = index.WithEmbedder(p.Embedder)
	}
	p.Kit = index.AnsweredBy(kits[s.AnswerKit])
	return nil
}

// Decisive returns the settings that determine the answers, including the kit's measure of similarity.
func (p *Parts) Decisive() map[string]any {
	c := p.settings.Decisive()
	if p.settings.encodes() {
		c["embed_model"] = p.Embedder.Name() // the model's name, not its path
	}
	maps.Copy(c, p.heads)
	c["lookup"], c["embedder"] = p.Kit.Lookup, p.Kit.Encoder
	return c
}

// Account writes the ledger and prints the total cost.
func (p *Parts) Account(dir string, w io.Writer) error {
	if p.client == nil {
		return nil
	}
	return cli.Account(p.client, dir, w)
}

// Close closes the caches of replies and vectors.
func (p *Parts) Close() (err error) {
	if p.vectors != nil {
		err = p.vectors.Close()
	}
	if p.client != nil {
		err = errors.Join(err, p.client.Close())
	}
	return err
}

// autoEncoder, as the value of -embed-model, selects the first model in the cache, see [hub.Find].
const autoEncoder = "auto"

// cachedEncoder caches the vectors of passages, and not of questions: embedding a question takes less time than
// writing its vector to disk.
type cachedEncoder struct {
	*local.Encoder
	cached llm.Embedder
}

func (c cachedEncoder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return c.cached.EmbedDocuments(ctx, texts)
}

// openEncoder opens the model of -embed-model and downloads it if needed. Its vectors are cached in the folder
// of -cache, in a file with the model's name. A dry run downloads and writes nothing.
func (p *Parts) openEncoder(ctx context.Context) error {
	if p.settings.DryRun && !strings.HasPrefix(p.settings.EmbedModel, "file:") {
		var err error
		p.Embedder, err = newDryServer(p.Count).Embedder(p.settings.EmbedModel)
		return err
	}
	e, err := hub.Open(ctx, p.settings.EmbedModel, hub.Options{Progress: p.fetching("embed-model", p.settings.EmbedModel), Int8: p.settings.EmbedInt8})
	if err != nil {
		return badModel("embed-model", p.settings.EmbedModel, err)
	}
	if p.settings.DryRun {
		p.Embedder = e
		return nil
	}
	folder := filepath.Dir(p.settings.Cache)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("-cache: %w", err)
	}
	file := filepath.Join(folder, e.Name()+".vectors")
	if p.vectors, err = journal.Open(file, journal.Header{Schema: paid.Schema, Config: e.Name()}, journal.Options{}); err != nil {
		if errors.Is(err, journal.ErrLocked) {
			err = fmt.Errorf("another program uses the cached vectors: wait until it ends, or name a -cache in another folder: %w", err)
		}
		return fmt.Errorf("-cache: %w", err)
	}
	cached, err := paid.CachedEmbedder(e, p.vectors)
	if err != nil {
		return fmt.Errorf("-cache %s: %w", file, err)
	}
	p.Embedder = cachedEncoder{e, cached}
	return nil
}

// badModel wraps the error of a flag that names a model. A bad folder is an error of usage.
func badModel(flag, name string, err error) error {
	if strings.HasPrefix(name, "file:") {
		return cli.Usagef("-%s: %w", flag, err)
	}
	return fmt.Errorf("-%s: %w", flag, err)
}

// OpenEntailment opens the model of -entail-model and downloads it if needed.
func (p *Parts) OpenEntailment(ctx context.Context, name string) (e *local.Entailment, err error) {
	return e, head(ctx, p, "entail-model", name, local.OpenEntailment, func(opened *local.Entailment) { e = opened })
}

// head opens the model that a flag names and passes it to use, unless the name is empty.
func head[H interface{ Name() string }](ctx context.Context, p *Parts, flag, name string, open func(string, local.Options) (H, error), use func(H)) error {
	if name == "" || p.settings.DryRun { // a dry run counts calls, and these models are local
		return nil
	}
	dir, err := hub.Folder(ctx, name, hub.Options{Progress: p.fetching(flag, name)})
	if err != nil {
		return badModel(flag, name, err)
	}
	h, err := open(dir, local.Options{})
	if err != nil {
		return badModel(flag, name, err)
	}
	p.heads[strings.ReplaceAll(flag, "-", "_")] = h.Name()
	use(h)
	return nil
}

// fetching returns a function that logs the progress of a download, a line for each tenth of a file of 10 MB or more.
func (p *Parts) fetching(flag, name string) func(file string, done, total int64) {
	const large = 10 << 20
	logged := int64(0)
	return func(file string, done, total int64) {
		if tenth := 10 * done / max(total, 1); total >= large && tenth != logged {
			logged = tenth
			p.Log.Warn(fmt.Sprintf("-%s %s is fetched: %d of %d MB of %s", flag, name, done/1e6, total/1e6, file))
		}
	}
}
