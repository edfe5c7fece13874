// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/embed/hub"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// autoEncoder as -embed-model selects the first model in the cache, see [hub.Find].
const autoEncoder = "auto"

// cachedEncoder caches the vectors of passages. Embedding a question takes less time than writing its
// vector to disk.
type cachedEncoder struct {
	*local.Encoder
	cached llm.Embedder
}

func (c cachedEncoder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return c.cached.EmbedDocuments(ctx, texts)
}

// openEncoder opens the model and fetches it if needed. Its vectors are cached in the folder of
// -cache, in a file of the model's name; a dry run fetches and writes nothing.
func (p *Parts) openEncoder(ctx context.Context) error {
	if p.settings.DryRun && !strings.HasPrefix(p.settings.EmbedModel, "file:") {
		e, err := newDryServer(p.Count).Embedder(p.settings.EmbedModel)
		p.Embedder = e
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
			err = fmt.Errorf("another program uses the vectors there: wait for its end, or name a -cache in another folder: %w", err)
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

// badModel wraps an error of a flag that names a model. A bad folder is wrong usage.
func badModel(flag, name string, err error) error {
	if strings.HasPrefix(name, "file:") {
		return cli.Usagef("-%s: %w", flag, err)
	}
	return fmt.Errorf("-%s: %w", flag, err)
}

// openHeads opens the models of single steps, fetches them if needed, and puts them into the kit.
func (p *Parts) openHeads(ctx context.Context) error {
	p.heads = map[string]any{}
	s := p.settings
	return errors.Join(
		head(ctx, p, "rerank-model", s.RerankModel, local.OpenReranker, func(r *local.Reranker) { p.Kit.Rerank = r }),
		head(ctx, p, "name-model", s.NameModel, local.OpenNames, func(n *local.Names) { p.Kit = p.Kit.WithNames(n) }),
		head(ctx, p, "span-model", s.SpanModel, local.OpenSpans, func(f *local.Spans) { p.Kit.Read = reader.BySpans(f, p.Kit.Read) }),
	)
}

// OpenEntailment opens the model of -entail-model and fetches it if needed.
func (p *Parts) OpenEntailment(ctx context.Context, name string) (e *local.Entailment, err error) {
	return e, head(ctx, p, "entail-model", name, local.OpenEntailment, func(opened *local.Entailment) { e = opened })
}

// head opens the model of a flag, unless its name is empty.
func head[H interface{ Name() string }](ctx context.Context, p *Parts, flag, name string, open func(string, local.Options) (H, error), use func(H)) error {
	if name == "" || p.settings.DryRun { // heads make no calls that a dry run counts
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

// fetching logs the progress of a download, a line for each tenth of a file of 10 MB or more.
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
