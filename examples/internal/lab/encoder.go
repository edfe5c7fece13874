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
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// filePrefix marks an embedding model that lies in a folder.
const filePrefix = "file:"

// encoderFolder is where the embedding model lies, if it is one that takes no server.
func (s Settings) encoderFolder() (dir string, ok bool) {
	return strings.CutPrefix(s.EmbedModel, filePrefix)
}

// keptEncoder keeps the vectors of passages; that of a question is made in less time
// than it is written to a disk.
type keptEncoder struct {
	*local.Encoder
	kept llm.Embedder
}

func (k keptEncoder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return k.kept.EmbedDocuments(ctx, texts)
}

// openEncoder reads the model of a folder. Its vectors are kept beside the replies of
// models, in a file of the model's name; a dry run writes nothing.
func (p *Parts) openEncoder(dir string) error {
	e, err := local.Open(dir, local.Options{})
	if err != nil {
		return cli.Usagef("-embed-model: %w", err)
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
