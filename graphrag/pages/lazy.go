// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Lazy compares queries with texts whose vectors are made when they are first compared, and kept. It
// is safe for concurrent use.
type Lazy struct {
	embedder embed.Embedder
	mu       sync.Mutex
	rows     map[string][]float32
}

// maxLazy is how many vectors are kept.
const maxLazy = 1 << 18

// NewLazy embeds nothing.
func NewLazy(e embed.Embedder) *Lazy {
	return &Lazy{embedder: e, rows: make(map[string][]float32)}
}

// Scores returns the cosines of some texts.
func (l *Lazy) Scores(ctx context.Context, query string, texts []string) ([]float64, error) {
	row, err := embed.Query(ctx, l.embedder, query)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.make(ctx, texts); err != nil {
		return nil, err
	}
	out := make([]float64, len(texts))
	for i, s := range texts {
		out[i] = vector.Cosine(row, l.rows[s])
	}
	return out, nil
}

// make makes the vectors that are not there. It is called with mu held.
func (l *Lazy) make(ctx context.Context, texts []string) error {
	if len(l.rows) > maxLazy {
		clear(l.rows)
	}
	var lacking []string
	for _, s := range texts {
		if l.rows[s] == nil && !slices.Contains(lacking, s) {
			lacking = append(lacking, s)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	rows, err := l.embedder.EmbedDocuments(ctx, lacking)
	if err == nil && len(rows) != len(lacking) {
		err = fmt.Errorf("the embedder returned %d vectors for %d texts", len(rows), len(lacking))
	}
	if err != nil {
		return fmt.Errorf("retrieve: %w", err)
	}
	for i, s := range lacking {
		l.rows[s] = rows[i]
	}
	return nil
}

// textsAtOnce is how many texts are lost when encoding the rest is stopped, some tenths of a second
// of work, and what a question waits for at most.
const textsAtOnce = 16

// Rest makes the vectors of texts that are not there, until ctx ends or as many are kept as can be.
func (l *Lazy) Rest(ctx context.Context, texts iter.Seq[string]) error {
	var some []string
	encode := func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := ctx.Err(); err != nil || len(l.rows)+len(some) > maxLazy {
			return err
		}
		err := l.make(ctx, some)
		some = some[:0]
		return err
	}
	for s := range texts {
		if some = append(some, s); len(some) == textsAtOnce {
			if err := encode(); err != nil || len(some) > 0 {
				return err
			}
		}
	}
	return encode()
}
