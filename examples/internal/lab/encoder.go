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

// autoEncoder as -embed-model is the first model that was fetched before, see [hub.Find].
const autoEncoder = "auto"

// keptEncoder keeps the vectors of passages; that of a question is made in less time
// than it is written to a disk.
type keptEncoder struct {
	*local.Encoder
	kept llm.Embedder
}

func (k keptEncoder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return k.kept.EmbedDocuments(ctx, texts)
}

// openEncoder opens the model, which may be fetched first. Its vectors are kept beside the
// replies of models, in a file of the model's name; a dry run fetches and writes none.
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
			err = fmt.Errorf("another program keeps its vectors there: wait for its end, or name a -cache in another folder: %w", err)
		}
		return fmt.Errorf("-cache: %w", err)
	}
	kept, err := paid.CachedEmbedder(e, p.vectors)
	if err != nil {
		return fmt.Errorf("-cache %s: %w", file, err)
	}
	p.Embedder = keptEncoder{e, kept}
	return nil
}

// badModel is an error of a flag that names a model: a folder that is none is wrong usage.
func badModel(flag, name string, err error) error {
	if strings.HasPrefix(name, "file:") {
		return cli.Usagef("-%s: %w", flag, err)
	}
	return fmt.Errorf("-%s: %w", flag, err)
}

// openHeads opens the models for single steps, which may be fetched first, and puts them into
// the kit.
func (p *Parts) openHeads(ctx context.Context) error {
	p.heads = map[string]any{}
	s := p.settings
	return errors.Join(
		head(ctx, p, "rerank-model", s.RerankModel, local.OpenReranker, func(r *local.Reranker) { p.Kit.Rerank = r }),
		head(ctx, p, "name-model", s.NameModel, local.OpenNames, func(n *local.Names) { p.Kit = p.Kit.WithNames(n) }),
		head(ctx, p, "span-model", s.SpanModel, local.OpenSpans, func(f *local.Spans) { p.Kit.Read = reader.BySpans(f, p.Kit.Read) }),
	)
}

// OpenEntailment opens the model of -entail-model, which may be fetched first.
func (p *Parts) OpenEntailment(ctx context.Context, name string) (e *local.Entailment, err error) {
	return e, head(ctx, p, "entail-model", name, local.OpenEntailment, func(opened *local.Entailment) { e = opened })
}

// head opens a model that a flag names, if it does.
func head[H interface{ Name() string }](ctx context.Context, p *Parts, flag, name string, open func(string, local.Options) (H, error), use func(H)) error {
	if name == "" || p.settings.DryRun { // they make no calls to be counted
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

// fetching tells how far the model of a flag is fetched, a line for each tenth of a large file.
func (p *Parts) fetching(flag, name string) func(file string, done, total int64) {
	const large = 10 << 20
	said := int64(0)
	return func(file string, done, total int64) {
		if tenth := 10 * done / max(total, 1); total >= large && tenth != said {
			said = tenth
			p.Log.Warn(fmt.Sprintf("-%s %s is fetched: %d of %d MB of %s", flag, name, done/1e6, total/1e6, file))
		}
	}
}
