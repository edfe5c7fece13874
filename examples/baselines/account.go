// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"context"
	"errors"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/llm"
)

// Account adds up what the model and the embedder of a kit are asked under a
// context. It counts what replies say they took, whether they were paid for now
// or come from a cache, so that a run that was interrupted shows the same
// figures.
type Account struct {
	mu    sync.Mutex
	usage graphrag.Usage
}

// Usage is the sum so far.
func (a *Account) Usage() graphrag.Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.usage
}

func (a *Account) add(u graphrag.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.usage = a.usage.Add(u)
}

type accountKey struct{}

// WithAccount opens an account for everything under the returned context.
func WithAccount(ctx context.Context) (context.Context, *Account) {
	a := new(Account)
	return context.WithValue(ctx, accountKey{}, a), a
}

func charge(ctx context.Context, u graphrag.Usage) {
	if a, ok := ctx.Value(accountKey{}).(*Account); ok {
		a.add(u)
	}
}

// charged is a model whose calls are charged to the account of their context.
type charged struct{ llm.Model }

func (c charged) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	reply, err := c.Model.Generate(ctx, req)
	if failed := (*llm.Error)(nil); errors.As(err, &failed) {
		charge(ctx, failed.Usage)
	} else {
		charge(ctx, reply.Usage)
	}
	return reply, err
}

// chargedEmbedder charges the tokens of what is embedded for money.
type chargedEmbedder struct {
	embed.Embedder
	count func(string) int
}

func (c chargedEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	u := graphrag.Usage{Estimated: true}
	for _, t := range texts {
		u.EmbeddedTokens += c.count(t)
	}
	charge(ctx, u)
	return c.Embedder.EmbedDocuments(ctx, texts)
}

func (c chargedEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	charge(ctx, graphrag.Usage{Estimated: true, EmbeddedTokens: c.count(text)})
	return c.Embedder.EmbedQuery(ctx, text)
}
