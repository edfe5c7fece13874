// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/llm/journal"

	"github.com/wildgraph/wildgraph/llm"
)

const (
	// cacheBatch is how many new texts are asked for and made durable at
	// once: what a crash can cost.
	cacheBatch = 256
	// cacheFlights is how many such batches are under way at the same time.
	cacheFlights = 4
)

type cachedEmbedder struct {
	*cache
	name string
	e    llm.Embedder
}

// CachedEmbedder keeps the vectors of e in the journal, text by text, and
// asks e only for texts it has not seen. name must tell everything that
// decides a vector: endpoint, model, dimension, prefixes. The journal stays
// the caller's to close; the vectors are read from it.
func CachedEmbedder(name string, e llm.Embedder, j *journal.Journal) (llm.NamedEmbedder, error) {
	c := newCache(j)
	err := scan(j, func(rec journal.Record) error { return c.enter(rec, nil) })
	if name == "" {
		err = errors.New("paid: cached embedder: the name is empty: vectors of different models would be mixed")
	}
	return &cachedEmbedder{c, name, e}, err
}

// Name implements [llm.NamedEmbedder].
func (c *cachedEmbedder) Name() string { return c.name }

// A vector record is the key and the components, little endian.
func encodeVector(k key, v []float32) []byte {
	b := append(make([]byte, 0, len(k)+4*len(v)), k[:]...)
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func decodeVector(b []byte) (k key, v []float32, err error) {
	if len(b) < len(k) || (len(b)-len(k))%4 != 0 {
		return k, nil, fmt.Errorf("a vector of %d bytes", len(b))
	}
	b = b[copy(k[:], b):]
	v = make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return k, v, nil
}

// vector reads a vector that is known.
func (c *cachedEmbedder) vector(k key) (v []float32, err error) {
	at, _ := c.look(k)
	err = c.read(at, func(payload []byte) (err error) {
		var have key
		if have, v, err = decodeVector(payload); err == nil && have != k {
			err = errors.New("it holds the vector of another text")
		}
		return err
	})
	return v, err
}

func (c *cachedEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	keys := make([]key, len(texts))
	var missing []int // the first text of each unknown key
	first := map[key]bool{}
	for i, t := range texts {
		keys[i] = embeddingKey(c.name, false, t)
		if _, ok := c.look(keys[i]); !ok && !first[keys[i]] {
			first[keys[i]] = true
			missing = append(missing, i)
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(cacheFlights)
	for batch := range slices.Chunk(missing, cacheBatch) {
		g.Go(func() error { return c.fetch(gctx, texts, keys, batch) })
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, llm.Canceled(ctx, llm.BilledUnknown)
		}
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, k := range keys {
		var err error
		if out[i], err = c.vector(k); err != nil {
			return nil, err
		}
		if len(out[i]) != len(out[0]) {
			return nil, &llm.Error{Kind: llm.ErrInvalidOutput, Billed: llm.BilledYes,
				Err: fmt.Errorf("vectors of %d and %d dimensions under the name %q", len(out[0]), len(out[i]), c.name)}
		}
	}
	return out, nil
}

// fetch embeds one batch of unknown texts and makes the vectors durable. The
// appends run side by side to share their fsyncs.
func (c *cachedEmbedder) fetch(ctx context.Context, texts []string, keys []key, batch []int) error {
	ask := make([]string, len(batch))
	for i, at := range batch {
		ask[i] = texts[at]
	}
	vectors, err := c.e.EmbedDocuments(ctx, ask)
	if err != nil {
		return err
	}
	if len(vectors) != len(ask) {
		return &llm.Error{Kind: llm.ErrInvalidOutput, Billed: llm.BilledYes, Err: fmt.Errorf("%d vectors for %d texts", len(vectors), len(ask))}
	}
	var g errgroup.Group
	for i, at := range batch {
		g.Go(func() error { return c.keep(recordVector, keys[at], encodeVector(keys[at], vectors[i])) })
	}
	return g.Wait()
}

func (c *cachedEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	k := embeddingKey(c.name, true, text)
	if _, ok := c.look(k); ok {
		return c.vector(k)
	}
	v, err := c.e.EmbedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	return v, c.keep(recordVector, k, encodeVector(k, v))
}
