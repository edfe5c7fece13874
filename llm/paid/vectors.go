// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/transport"
)

const (
	// defaultBatch is the number of new texts in one request if the embedder does not report its batch size. A
	// crash can lose the vectors of one batch.
	defaultBatch = 64
	// cacheFlights limits the concurrent batches of one call.
	cacheFlights = 4
	// embedRounds limits the requests for the same texts: cached vectors may turn out to have the wrong
	// dimension.
	embedRounds = 3
)

// batchOf returns the number of texts that an embedder sends in one request.
func batchOf(e llm.Embedder) int {
	if b, ok := e.(interface{ Batch() int }); ok && b.Batch() > 0 {
		return b.Batch()
	}
	return defaultBatch
}

type cachedEmbedder struct {
	*cache
	e llm.NamedEmbedder
	// dim is the number of components of the model's vectors, 0 before the first vector. The first vector of the server
	// sets it; before that a cached vector does, which may be wrong. The lock of the cache guards dim and sent.
	dim  int
	sent bool
}

// CachedEmbedder caches the vectors of e in the journal, text by text, and asks e for new texts only, at most
// as many at a time as e sends in one request. The name of e must cover everything that a vector depends on.
// Unusable vectors ([transport.CheckVectors]) and vectors of differing dimensions are an error and not cached;
// unusable cached vectors are requested again. Vectors are read from the journal, which the caller closes.
func CachedEmbedder(e llm.NamedEmbedder, j *journal.Journal) (llm.NamedEmbedder, error) {
	if e.Name() == "" {
		return nil, errors.New("paid: cache an embedder: its name is empty, so vectors of different models would be mixed: give it a name")
	}
	c := newCache(j, nil)
	err := scan(j, func(rec journal.Record) error { return c.enter(rec, nil) })
	return &cachedEmbedder{cache: c, e: e}, err
}

// Name implements [llm.NamedEmbedder].
func (c *cachedEmbedder) Name() string { return c.e.Name() }

// embedder is an embedder whose requests a client pays for. Their usage is the count of the texts' tokens,
// since vectors come without usage.
type embedder struct {
	c *Client
	llm.NamedEmbedder
}

// Batch returns the number of texts in one request.
func (e *embedder) Batch() int { return batchOf(e.NamedEmbedder) }

func (e *embedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return payFor(ctx, e, texts, func(ctx context.Context) ([][]float32, error) { return e.NamedEmbedder.EmbedDocuments(ctx, texts) })
}

func (e *embedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return payFor(ctx, e, []string{text}, func(ctx context.Context) ([]float32, error) { return e.NamedEmbedder.EmbedQuery(ctx, text) })
}

func payFor[T any](ctx context.Context, e *embedder, texts []string, embed func(context.Context) (T, error)) (out T, err error) {
	err = e.c.pay(ctx, call{model: e.Name(), texts: texts, make: func(ctx context.Context) (llm.Usage, error) {
		var err error
		out, err = embed(ctx)
		return llm.Usage{}, err
	}})
	return out, err
}

// encodeVector returns the payload of a vector record: the key and the components, little endian.
func encodeVector(k key, v []float32) []byte {
	b, _ := binary.Append(k[:], binary.LittleEndian, v) // cannot fail for float32
	return b
}

func decodeVector(b []byte) (k key, v []float32, err error) {
	if len(b) < len(k) || (len(b)-len(k))%4 != 0 {
		return k, nil, fmt.Errorf("a record of %d bytes is no vector", len(b))
	}
	b = b[copy(k[:], b):]
	v = make([]float32, len(b)/4)
	_, err = binary.Decode(b, binary.LittleEndian, v)
	return k, v, err
}

// vector reads the cached vector of a text. It removes an unusable vector from the cache and returns nil.
func (c *cachedEmbedder) vector(k key, text string) (v []float32, err error) {
	at, _ := c.look(k)
	err = c.read(at, func(payload []byte) (err error) {
		var have key
		if have, v, err = decodeVector(payload); err == nil && have != k {
			err = errors.New("the record holds the vector of another text")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	why := transport.CheckVectors([]string{text}, [][]float32{v})
	if why = cmp.Or(why, c.fits(len(v), true)); why == nil {
		return v, nil
	}
	c.mu.Lock()
	delete(c.known, k)
	c.mu.Unlock()
	c.log.Warn("paid: a cached vector cannot be used: it is requested again", "model", c.Name(), "file", c.j.Path(), "error", why)
	return nil, nil
}

func (c *cachedEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	keys := make([]key, len(texts))
	for i, t := range texts {
		keys[i] = embeddingKey(c.Name(), false, t)
	}
	out := make([][]float32, len(texts))
	for range embedRounds {
		missing, err := c.fill(ctx, texts, keys, out)
		if err != nil || len(missing) == 0 {
			return out, err
		}
		if err := c.fetchAll(ctx, texts, keys, missing); err != nil {
			if ctx.Err() != nil {
				return nil, llm.Canceled(ctx, llm.BilledUnknown)
			}
			return nil, err
		}
	}
	return nil, badVector("%s: the dimension of the vectors changes from reply to reply: not kept; check that the server runs one model under this name, or name another", c.Name())
}

// fill reads the cached vectors and returns the first text of each missing key.
func (c *cachedEmbedder) fill(ctx context.Context, texts []string, keys []key, out [][]float32) (missing []int, err error) {
	listed := map[key]bool{}
	for i, k := range keys {
		_, ok := c.look(k)
		if out[i] != nil && c.fits(len(out[i]), true) == nil {
			continue
		}
		if out[i] = nil; ok {
			if out[i], err = c.vector(k, texts[i]); err != nil {
				return nil, err
			}
		}
		if out[i] == nil && !listed[k] {
			listed[k] = true
			missing = append(missing, i)
		}
	}
	return missing, nil
}

// fetchAll embeds the texts at the indexes missing, batch by batch. After a failure it still waits for the
// running requests and caches their vectors, which are paid for.
func (c *cachedEmbedder) fetchAll(ctx context.Context, texts []string, keys []key, missing []int) error {
	var g errgroup.Group
	var failed atomic.Bool
	g.SetLimit(cacheFlights)
	for batch := range slices.Chunk(missing, batchOf(c.e)) {
		g.Go(func() error {
			if failed.Load() {
				return nil
			}
			err := c.fetch(ctx, texts, keys, batch)
			if err != nil {
				failed.Store(true)
			}
			return err
		})
	}
	return g.Wait()
}

// fetch embeds one batch of new texts and caches the vectors. Concurrent appends share fsyncs.
func (c *cachedEmbedder) fetch(ctx context.Context, texts []string, keys []key, batch []int) error {
	ask := make([]string, len(batch))
	for i, at := range batch {
		ask[i] = texts[at]
	}
	vectors, err := c.e.EmbedDocuments(ctx, ask)
	if err == nil {
		err = c.check(ask, vectors)
	}
	if err != nil {
		return err
	}
	var g errgroup.Group
	for i, at := range batch {
		g.Go(func() error { return c.keep(recordVector, keys[at], encodeVector(keys[at], vectors[i])) })
	}
	return g.Wait()
}

// check returns an error if new vectors of the texts are unusable or differ in dimension.
func (c *cachedEmbedder) check(texts []string, vectors [][]float32) error {
	if err := transport.CheckVectors(texts, vectors); err != nil || len(vectors) == 0 {
		return err
	}
	return c.fits(len(vectors[0]), false)
}

func (c *cachedEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	k := embeddingKey(c.Name(), true, text)
	if _, ok := c.look(k); ok {
		if v, err := c.vector(k, text); v != nil || err != nil {
			return v, err
		}
	}
	var own []float32
	led, err := c.once(ctx, k, func(ctx context.Context) (err error) {
		if own, err = c.e.EmbedQuery(ctx, text); err != nil {
			return err
		}
		if err = c.check([]string{text}, [][]float32{own}); err != nil {
			return err
		}
		return c.keep(recordVector, k, encodeVector(k, own))
	})
	switch {
	case err != nil:
		return nil, err
	case led:
		return own, nil
	}
	return c.vector(k, text)
}

// fits returns an error if the model's vectors do not have n components; kept says that the vector is a cached one.
func (c *cachedEmbedder) fits(n int, kept bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dim == 0 || !kept && !c.sent {
		c.dim, c.sent = n, !kept
	}
	if c.dim == n {
		return nil
	}
	return badVector("%s: a vector has %d dimensions where others have %d: not kept; check that the server runs one model under this name, or name another", c.Name(), n, c.dim)
}

func badVector(format string, args ...any) error {
	return &llm.Error{Kind: transport.ErrBadVector, Billed: llm.BilledYes, Err: fmt.Errorf(format, args...)}
}
