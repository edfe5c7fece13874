// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
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
	// Pretrained tells that the embedder does not learn from the corpus.
	Pretrained bool
	// CountEmbedded counts the tokens of a text that is embedded for money;
	// nil when embedding is free.
	CountEmbedded func(text string) int
	// Reader answers from evidence.
	Reader reader.Reader
	// Model is what the graph systems ask while they index and search, nil
	// offline. What it takes is charged to the [Account] of the context; the
	// Reader accounts for itself.
	Model llm.Model
	// CountTokens counts the tokens of a prompt's parts.
	CountTokens func(text string) int
}

// OpenTriples returns the extractor of HippoRAG and its like, unless one is
// given: the model asked for names and then for triples, offline the rules, with
// what they leave unsaid ([Linked]). Whole tells that it learns from the corpus,
// see [GraphFrame].
func (k Kit) OpenTriples(given extract.Extractor) (x extract.Extractor, whole bool, err error) {
	switch {
	case given != nil:
		return given, false, nil
	case k.Model != nil:
		x, err = extract.NewOpenIE(extract.ModelOptions{Model: k.Model})
		return x, false, err
	}
	offline, err := rules.New(rules.Options{})
	if err != nil {
		return nil, true, err
	}
	return Linked(offline), true, nil
}

// Records returns the extractor of the systems that describe what they find,
// unless one is given: the model with these options, offline the rules with the
// sentences that they read ([Described]).
func (k Kit) Records(given extract.Extractor, o extract.RecordOptions) (x extract.Extractor, whole bool, err error) {
	switch {
	case given != nil:
		return given, false, nil
	case k.Model != nil:
		o.Model = k.Model
		x, err = extract.NewRecords(o)
		return x, false, err
	}
	if x, whole, err = k.OpenTriples(nil); err != nil {
		return nil, whole, err
	}
	return Described(x), whole, nil
}

// Entities returns the function that finds the named entities of a question.
// known tells the folded names of the graph, for questions that write none in
// capitals; it may be nil.
func (k Kit) Entities(known func(folded string) bool) (func(ctx context.Context, question string) ([]string, error), error) {
	if k.Model != nil {
		byModel, err := extract.NewOpenIE(extract.ModelOptions{Model: k.Model})
		if err != nil {
			return nil, err
		}
		return byModel.Question, nil
	}
	offline, err := rules.New(rules.Options{})
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, question string) ([]string, error) {
		return questionNames(question, offline.Entities(question, nil), offline.Entities(question, known)), nil
	}, nil
}

// Embedder returns the embedder for a corpus, whose tokens are charged to the
// account of the context where they cost money.
func (k Kit) Embedder(ctx context.Context, corpus []string) (embed.Embedder, error) {
	if k.Embed == nil {
		return nil, errors.New("the kit has no embedder")
	}
	e, err := k.Embed(ctx, corpus)
	if err != nil || k.CountEmbedded == nil {
		return e, err
	}
	return chargedEmbedder{e, k.CountEmbedded}, nil
}

// OfflineKit is LSA for embeddings and extracted sentences for answers.
func OfflineKit(mode reader.Mode, seed uint64) (Kit, error) {
	r, err := reader.Extractive(reader.ExtractiveOptions{Mode: mode})
	if err != nil {
		return Kit{}, err
	}
	return Kit{Name: Offline, Reader: r, Embed: lsa(seed), CountTokens: llm.EstimateTokens}, nil
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
	k := Kit{Name: Model, Reader: r, Embed: lsa(o.Seed), Model: charged{o.Model}, CountTokens: o.CountTokens}
	if k.CountTokens == nil {
		k.CountTokens = llm.EstimateTokens
	}
	if o.Embedder != nil {
		k.Embed = func(context.Context, []string) (embed.Embedder, error) { return o.Embedder, nil }
		k.Pretrained, k.CountEmbedded = true, o.CountTokens
		if k.CountEmbedded == nil {
			k.CountEmbedded = llm.EstimateTokens
		}
	}
	return k, nil
}
