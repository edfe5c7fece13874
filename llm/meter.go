// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"errors"
	"sync"
)

// Meter adds up what is asked under a context through [Metered] models and
// embedders. It counts what replies say they took, whether they were paid for
// now or come from a cache, so that a job that was interrupted shows the same
// figures. It is safe for concurrent use.
type Meter struct {
	outer *Meter
	count tally
}

// tally is a sum of usage that many may add to.
type tally struct {
	mu    sync.Mutex
	usage Usage
}

func (t *tally) add(u Usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usage = t.usage.Add(u)
}

func (t *tally) sum() Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.usage
}

type meterKey struct{}

// WithMeter sets up a meter for everything under the returned context. What it
// counts, a meter that was there before counts too.
func WithMeter(ctx context.Context) (context.Context, *Meter) {
	outer, _ := ctx.Value(meterKey{}).(*Meter)
	m := &Meter{outer: outer}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Usage is the sum so far.
func (m *Meter) Usage() Usage { return m.count.sum() }

func meter(ctx context.Context, u Usage) {
	for m, _ := ctx.Value(meterKey{}).(*Meter); m != nil; m = m.outer {
		m.count.add(u)
	}
}

// Metered is m with every call counted by the meters of its context.
func Metered(m Model) Model { return metered{m} }

type metered struct{ Model }

func (m metered) Generate(ctx context.Context, req Request) (Reply, error) {
	return m.Stream(ctx, req, nil)
}

// Stream implements [Streamer].
func (m metered) Stream(ctx context.Context, req Request, piece func(string) error) (Reply, error) {
	reply, err := Stream(ctx, m.Model, req, piece)
	if failed := (*Error)(nil); errors.As(err, &failed) {
		meter(ctx, failed.Usage)
	} else {
		meter(ctx, reply.Usage)
	}
	return reply, err
}

// MeteredEmbedder is e with the tokens of every text counted by the meters of
// its context, since a vector comes without a figure.
func MeteredEmbedder(e Embedder, count func(string) int) Embedder { return meteredEmbedder{e, count} }

type meteredEmbedder struct {
	Embedder
	count func(string) int
}

func (m meteredEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	u := Usage{Estimated: true}
	for _, t := range texts {
		u.EmbeddedTokens += m.count(t)
	}
	meter(ctx, u)
	return m.Embedder.EmbedDocuments(ctx, texts)
}

func (m meteredEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	meter(ctx, Usage{Estimated: true, EmbeddedTokens: m.count(text)})
	return m.Embedder.EmbedQuery(ctx, text)
}
