// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
)

// Meter adds up what is asked under a context through [Metered] models and
// embedders. It counts what replies say they took, whether they were paid for
// now or come from a cache, so that a job that was interrupted shows the same
// figures. It is safe for concurrent use.
type Meter struct {
	outer *Meter
	count tally

	mu     sync.Mutex
	stages map[string]llm.Usage
}

// tally is a sum of usage that many may add to.
type tally struct {
	mu    sync.Mutex
	usage llm.Usage
}

func (t *tally) add(u llm.Usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usage = t.usage.Add(u)
}

func (t *tally) sum() llm.Usage {
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
func (m *Meter) Usage() llm.Usage { return m.count.sum() }

// Stages is the sum so far by stage: that of the request, of embeddings
// [StageEmbed]. It is nil without a call.
func (m *Meter) Stages() map[string]llm.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.stages)
}

// StageEmbed is the stage under which a [Meter] counts embedded texts.
const StageEmbed = "embed"

func meter(ctx context.Context, stage string, u llm.Usage) {
	for m, _ := ctx.Value(meterKey{}).(*Meter); m != nil; m = m.outer {
		m.count.add(u)
		m.add(stage, u)
	}
}

func (m *Meter) add(stage string, u llm.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stages == nil {
		m.stages = make(map[string]llm.Usage)
	}
	m.stages[stage] = m.stages[stage].Add(u)
}

// Metered is m with every call counted by the meters of its context.
func Metered(m llm.Model) llm.Model { return metered{m} }

type metered struct{ llm.Model }

func (m metered) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	return m.Stream(ctx, req, nil)
}

// Stream implements [llm.Streamer].
func (m metered) Stream(ctx context.Context, req llm.Request, piece func(string) error) (llm.Reply, error) {
	reply, err := llm.Stream(ctx, m.Model, req, piece)
	if failed := (*llm.Error)(nil); errors.As(err, &failed) {
		meter(ctx, req.Stage, failed.Usage)
	} else {
		meter(ctx, req.Stage, reply.Usage)
	}
	return reply, err
}

// MeteredEmbedder is e with the tokens of every text counted by the meters of
// its context, since a vector comes without a figure.
func MeteredEmbedder(e llm.Embedder, count func(string) int) llm.Embedder {
	return meteredEmbedder{e, count}
}

type meteredEmbedder struct {
	llm.Embedder
	count func(string) int
}

func (m meteredEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	u := llm.Usage{Estimated: true}
	for _, t := range texts {
		u.EmbeddedTokens += m.count(t)
	}
	meter(ctx, StageEmbed, u)
	return m.Embedder.EmbedDocuments(ctx, texts)
}

func (m meteredEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	meter(ctx, StageEmbed, llm.Usage{Estimated: true, EmbeddedTokens: m.count(text)})
	return m.Embedder.EmbedQuery(ctx, text)
}

type anew struct{}

// WithAnew asks caches to pass by what they keep: an earlier reply was of no use,
// though it looked whole.
func WithAnew(ctx context.Context) context.Context { return context.WithValue(ctx, anew{}, true) }

// Anew reports whether a reply that is kept will not do, see [WithAnew].
func Anew(ctx context.Context) bool { return ctx.Value(anew{}) != nil }
