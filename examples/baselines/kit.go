// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm"
)

// The names of the two kits.
const (
	Offline = "offline"
	Model   = "model"
)

// Kit is the set of parts a system is built from. Every system takes either
// kit: the offline one needs no network and no key, the model one asks a
// language model.
type Kit struct {
	// Name is Offline or Model.
	Name string
	// Embed returns the embedder for a corpus. Embedders that learn from the
	// corpus are fitted to its texts; the others ignore them.
	Embed func(ctx context.Context, corpus []string) (embed.Embedder, error)
	// CountEmbedded counts the tokens of a text that is embedded for money;
	// nil when embedding is free.
	CountEmbedded func(text string) int
	// Reader answers from evidence.
	Reader reader.Reader
}

// OfflineKit is LSA for embeddings and extracted sentences for answers.
func OfflineKit(mode reader.Mode, seed uint64) (Kit, error) {
	r, err := reader.Extractive(reader.ExtractiveOptions{Mode: mode})
	if err != nil {
		return Kit{}, err
	}
	return Kit{Name: Offline, Reader: r, Embed: lsa(seed)}, nil
}

func lsa(seed uint64) func(context.Context, []string) (embed.Embedder, error) {
	return func(ctx context.Context, corpus []string) (embed.Embedder, error) {
		return embed.FitLSA(ctx, corpus, embed.LSAOptions{Seed: seed})
	}
}

// ModelOptions are the parts of a [ModelKit].
type ModelOptions struct {
	// Model answers. Required.
	Model llm.Model
	// Embedder embeds; nil means LSA, seeded with Seed.
	Embedder embed.Embedder
	Seed     uint64
	// Mode says what to do without evidence, MaxContextTokens how much of it
	// is read (0: all), counted by CountTokens (nil: estimated).
	Mode             reader.Mode
	MaxContextTokens int
	CountTokens      func(string) int
}

// ModelKit answers with a language model.
func ModelKit(o ModelOptions) (Kit, error) {
	if o.Model == nil {
		return Kit{}, errors.New("baselines: the model kit needs a model")
	}
	r, err := reader.ByModel(reader.ModelOptions{
		Model: o.Model, Mode: o.Mode, MaxContextTokens: o.MaxContextTokens, CountTokens: o.CountTokens,
	})
	if err != nil {
		return Kit{}, fmt.Errorf("baselines: %w", err)
	}
	k := Kit{Name: Model, Reader: r, Embed: lsa(o.Seed)}
	if o.Embedder != nil {
		k.Embed = func(context.Context, []string) (embed.Embedder, error) { return o.Embedder, nil }
		k.CountEmbedded = o.CountTokens
		if k.CountEmbedded == nil {
			k.CountEmbedded = llm.EstimateTokens
		}
	}
	return k, nil
}
