// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/llm"
)

// ModelOptions are the parts of [ByModel].
type ModelOptions struct {
	// Model extracts, describes and answers. Required.
	Model llm.Model
	// Embedder embeds; nil means what the offline kit compares by, seeded with
	// Seed.
	Embedder embed.Embedder
	Seed     uint64
	// Language is that of the descriptions and reports that the model writes; by
	// default it is that of the passages.
	Language string
	// Mode says what to do without evidence, MaxContext how much of it is read, in
	// tokens; 0 is all.
	Mode       reader.Mode
	MaxContext int
	// Count counts tokens; nil means those of cl100k.
	Count func(string) int
	// Concurrency is how many calls an index has in flight; 0 means 8.
	Concurrency int
}

// ByModel returns the kit of a language model. What it takes is charged to the
// usage of the call under which it is asked.
func ByModel(o ModelOptions) (Kit, error) {
	if o.Model == nil {
		return Kit{}, errors.New("kit: the model is missing")
	}
	if o.Count == nil {
		o.Count = tokens.Remember(tokens.Cl100k().Count)
	}
	paid := metered(o.Model)
	read, err1 := reader.ByModel(reader.ModelOptions{Model: o.Model, Mode: o.Mode})
	openIE, err2 := extract.NewOpenIE(extract.ModelOptions{Model: paid, Verify: true, Concurrency: o.Concurrency})
	reports, err3 := report.ByModel(report.ModelOptions{Model: paid, Language: o.Language})
	if err := errors.Join(err1, err2, err3); err != nil {
		return Kit{}, fmt.Errorf("kit: %w", err)
	}
	quoters := newQuoters(o.Count)
	k := Kit{
		Index: NameModel, Answer: NameModel, Language: o.Language,
		Embed: lsa(o.Seed), Find: find.ByWords, Lookup: "BM25", Encoder: "LSA",
		Entities: entitiesByRules(nil), // LinearRAG's own choice: no model while indexing
		Triples:  func() (Extraction, error) { return Extraction{Extractor: openIE}, nil },
		Records: func(r extract.RecordOptions) (Extraction, error) {
			r.Model, r.Verify, r.Concurrency, r.Language = paid, true, o.Concurrency, cmp.Or(r.Language, o.Language)
			x, err := extract.NewRecords(r)
			return Extraction{Extractor: x}, err
		},
		Link: link.Trigrams{}, Describe: describeBy(paid, quoters, o.Language), quoters: quoters, Report: reports, IndexModel: paid,
		QuestionNames: func(func(string) bool) (NameFinder, error) { return openIE.Question, nil },
		AnswerModel:   paid, Read: read, Count: o.Count, MaxContext: o.MaxContext,
	}
	if o.Embedder != nil {
		k = k.WithEmbedder(o.Embedder)
	}
	return k, nil
}

// WithEmbedder returns the kit with an embedder that was trained on language: it
// compares names and texts, and the reader of quotes compares sentences by it. Its tokens are charged to the usage of the call.
func (k Kit) WithEmbedder(e embed.Embedder) Kit {
	paid := rememberingEmbedder{llm.MeteredEmbedder(e, k.Count)}
	k.Embed = func(context.Context, []string) (embed.Embedder, error) { return paid, nil }
	k.Encoder, k.Trained = "the embedder", true
	if m, ok := e.(interface{ Name() string }); ok {
		k.Encoder = m.Name()
	}
	if m, ok := e.(embed.Model); ok {
		k.Dim = m.Dim()
	}
	k.Find, k.Lookup = find.ByVectors, "cosine of "+k.Encoder
	k.Link = link.Embeddings{Embedder: paid}
	k.Read = reader.WithEmbedder(k.Read, paid)
	return k
}
