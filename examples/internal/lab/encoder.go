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
// replies of models, in a file of the model's name; a dry run writes none.
func (p *Parts) openEncoder(ctx context.Context) error {
	e, err := hub.Open(ctx, p.settings.EmbedModel, hub.Options{Progress: p.fetching()})
	if err != nil && strings.HasPrefix(p.settings.EmbedModel, "file:") {
		return cli.Usagef("-embed-model: %w", err)
	}
	if err != nil {
		return fmt.Errorf("-embed-model: %w", err)
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

// fetching tells how far a model is fetched, a line for each tenth of a large file.
func (p *Parts) fetching() func(file string, done, total int64) {
	const large = 10 << 20
	said := int64(0)
	return func(file string, done, total int64) {
		if tenth := 10 * done / max(total, 1); total >= large && tenth != said {
			said = tenth
			p.Log.Warn(fmt.Sprintf("-embed-model %s is fetched: %d of %d MB of %s", p.settings.EmbedModel, done/1e6, total/1e6, file))
		}
	}
}
