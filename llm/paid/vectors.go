// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/transport"
)

const (
	// defaultBatch is how many new texts are asked for and made durable at once
	// if the embedder does not say what it sends in one request: what a crash can
	// cost.
	defaultBatch = 64
	// cacheFlights is how many such batches are under way at the same time.
	cacheFlights = 4
	// embedRounds is how often texts are asked for: again when it turns out that
	// what is kept has the wrong dimension.
	embedRounds = 3
)

// batchOf is how many texts an embedder sends in one request.
func batchOf(e llm.Embedder) int {
	if b, ok := e.(interface{ Batch() int }); ok && b.Batch() > 0 {
		return b.Batch()
	}
	return defaultBatch
}

type cachedEmbedder struct {
	*cache
	e   llm.NamedEmbedder
	dim dimension
}

// CachedEmbedder keeps the vectors of e in the journal, text by text, and
// asks e only for texts it has not seen, no more at a time than e sends in one
// request. The name of e must tell everything that decides a vector. Vectors that
// cannot be used ([transport.CheckVectors]), or have
// another dimension than the others, are an error and are not kept; if an earlier
// program kept some, they are asked for again. The journal stays the caller's to
// close; the vectors are read from it.
func CachedEmbedder(e llm.NamedEmbedder, j *journal.Journal) (llm.NamedEmbedder, error) {
	if e.Name() == "" {
		return nil, errors.New("paid: cached embedder: the name is empty: vectors of different models would be mixed")
	}
	c := newCache(j, nil)
	err := scan(j, func(rec journal.Record) error { return c.enter(rec, nil) })
	return &cachedEmbedder{cache: c, e: e}, err
}

// Name implements [llm.NamedEmbedder].
func (c *cachedEmbedder) Name() string { return c.e.Name() }

// embedder is an embedder whose requests are paid by a client. The texts are counted,
// since a vector comes without a figure.
type embedder struct {
	c *Client
	llm.NamedEmbedder
}

// Batch is how many texts go in one request.
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

// vector reads a vector that is known. It is nil if it is not one that would be
// kept today: then it is not known any more.
func (c *cachedEmbedder) vector(k key, text string) (v []float32, err error) {
	at, _ := c.look(k)
	err = c.read(at, func(payload []byte) (err error) {
		var have key
		if have, v, err = decodeVector(payload); err == nil && have != k {
			err = errors.New("it holds the vector of another text")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	why := transport.CheckVectors([]string{text}, [][]float32{v})
	if why = cmp.Or(why, c.dim.right(c.Name(), len(v), true)); why == nil {
		return v, nil
	}
	c.drop(k)
	c.log.Warn("paid: a vector that was kept cannot be used: asking again", "model", c.Name(), "file", c.j.Path(), "error", why)
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

// fill reads the vectors that are known and lists the first text of each key that
// is not.
func (c *cachedEmbedder) fill(ctx context.Context, texts []string, keys []key, out [][]float32) (missing []int, err error) {
	listed := map[key]bool{}
	for i, k := range keys {
		_, ok := c.look(k)
		if out[i] != nil && !c.dim.differs(len(out[i])) {
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

// fetchAll embeds the texts at the places listed, request by request. When one
// fails, those under way are waited for and kept: they are paid for.
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

// fetch embeds one batch of unknown texts and makes the vectors durable. The
// appends run side by side to share their fsyncs.
func (c *cachedEmbedder) fetch(ctx context.Context, texts []string, keys []key, batch []int) error {
	ask := make([]string, len(batch))
	for i, at := range batch {
		ask[i] = texts[at]
	}
	vectors, err := c.e.EmbedDocuments(ctx, ask)
	if err == nil {
		err = c.fit(ask, vectors)
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

// fit says what is wrong with vectors that just came.
func (c *cachedEmbedder) fit(texts []string, vectors [][]float32) error {
	if err := transport.CheckVectors(texts, vectors); err != nil || len(vectors) == 0 {
		return err
	}
	return c.dim.right(c.Name(), len(vectors[0]), false)
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
		if err = c.fit([]string{text}, [][]float32{own}); err != nil {
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

// sign asks for the vector of a word, past the cache.
func (c *cachedEmbedder) sign(ctx context.Context) error {
	v, err := c.e.EmbedQuery(ctx, "ready")
	if err != nil {
		return err
	}
	return c.fit([]string{"ready"}, [][]float32{v})
}

// dimension is how many components the vectors of a name have: as many as the first that
// the server sends. What an earlier program kept counts until then, since it may be wrong.
type dimension struct {
	mu   sync.Mutex
	n    int // 0 as long as there is no vector
	sent bool
}

// right says why a vector of n components does not belong to the name, if so.
func (d *dimension) right(name string, n int, kept bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.n == 0 || !kept && !d.sent {
		d.n, d.sent = n, !kept
	}
	if d.n == n {
		return nil
	}
	return badVector("%s: a vector has %d dimensions where others have %d: not kept; check that the server runs one model under this name, or name another", name, n, d.n)
}

// differs reports whether vectors of n components are known to be wrong.
func (d *dimension) differs(n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n != 0 && d.n != n
}

func badVector(format string, args ...any) error {
	return &llm.Error{Kind: transport.ErrBadVector, Billed: llm.BilledYes, Err: fmt.Errorf(format, args...)}
}
