// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// OfflineOptions are the options of [Offline].
type OfflineOptions struct {
	// Mode decides whether the reader answers without evidence.
	Mode reader.Mode
	// Seed is the seed of LSA.
	Seed uint64
}

// Offline returns a kit that needs no network, key or model file: it extracts by rules, compares texts by words
// and LSA, and answers with quoted sentences.
func Offline(o OfflineOptions) (Kit, error) {
	read, err1 := reader.Extractive(reader.ExtractiveOptions{Mode: o.Mode})
	reports, err2 := report.Extractive(nil)
	if err := errors.Join(err1, err2); err != nil {
		return Kit{}, fmt.Errorf("kit: make the offline parts: %w", err)
	}
	k := Kit{
		Index: NameOffline, Answer: NameOffline,
		Embed: lsa(o.Seed), Find: byWords, Lookup: "BM25", Encoder: "LSA",
		Entities: entitiesByRules, Triples: triplesByRules, Records: recordsByRules,
		Link: link.Trigrams{}, Report: reports,
		QuestionNames: namesByRules,
		Read:          read, Count: tokens.Remember(tokens.Cl100k().Count),
	}
	k.quoters = newQuoters(k.Count)
	k.Describe = describeBy(nil, k.quoters, "")
	return k, nil
}

// lsaKey is the key under which LSA fitted to a corpus is cached.
type lsaKey struct {
	seed   uint64
	corpus memo.Digest
}

func lsa(seed uint64) func(context.Context, []string) (embed.Embedder, error) {
	return func(ctx context.Context, corpus []string) (embed.Embedder, error) {
		return memo.Of(ctx, lsaKey{seed, memo.DigestOf(slices.Values(corpus))}, func() (embed.Embedder, error) {
			return embed.FitLSA(ctx, corpus, embed.LSAOptions{Seed: seed})
		})
	}
}

func entitiesByRules() (Extraction, error) {
	x, err := rules.New(rules.Options{})
	return Extraction{named{extract.Titled(once{x, "rules"}, false), "entities"}, true}, err
}

// triplesByRules returns an extractor of facts found by rules, and of relations between neighbouring names.
func triplesByRules() (Extraction, error) {
	x, err := rules.New(rules.Options{})
	return Extraction{named{extract.Titled(extract.Linked(once{x, "rules"}), true), "triples"}, true}, err
}

// recordsByRules returns an extractor that describes names and facts by the sentences that contain them.
func recordsByRules(extract.RecordOptions) (Extraction, error) {
	x, err := triplesByRules()
	return Extraction{named{extract.Described(x), "records"}, true}, err
}

func namesByRules(known func(folded string) bool) (func(context.Context, string) ([]string, error), error) {
	x, err := rules.New(rules.Options{})
	return func(_ context.Context, question string) ([]string, error) {
		return x.QuestionNames(question, known), nil
	}, err
}

// ModelOptions are the options of [ByModel].
type ModelOptions struct {
	// Model extracts, describes and answers. It is required.
	Model llm.Model
	// Embedder embeds names and texts; nil means LSA with Seed, as in the offline kit.
	Embedder embed.Embedder
	Seed     uint64
	// Language is the language of the descriptions and reports that the model writes; by
	// default the language of the passages.
	Language string
	// Mode decides whether the reader answers without evidence.
	Mode reader.Mode
	// Instruction is the instruction to the model that answers, see [reader.ModelOptions].
	Instruction string
	// Count counts tokens; nil counts tokens of cl100k.
	Count func(string) int
	// Concurrency is the number of concurrent calls of the model for extraction; 0 means 8.
	Concurrency int
}

// ByModel returns a kit that uses a language model. The usage of the model is added to the call of the system
// that caused it.
func ByModel(o ModelOptions) (Kit, error) {
	if o.Model == nil {
		return Kit{}, errors.New("kit: ByModel: ModelOptions has no Model")
	}
	if o.Count == nil {
		o.Count = tokens.Remember(tokens.Cl100k().Count)
	}
	paid := metered(o.Model)
	read, err1 := reader.ByModel(reader.ModelOptions{Model: metering.Traced(o.Model), Mode: o.Mode, Instruction: o.Instruction})
	openIE, err2 := extract.NewOpenIE(extract.ModelOptions{Model: paid, Verify: true, Concurrency: o.Concurrency})
	reports, err3 := report.ByModel(report.ModelOptions{Model: paid, Language: o.Language})
	if err := errors.Join(err1, err2, err3); err != nil {
		return Kit{}, fmt.Errorf("kit: make the parts of a model: %w", err)
	}
	cache := newQuoters(o.Count)
	k := Kit{
		Index: NameModel, Answer: NameModel, Language: o.Language,
		Embed: lsa(o.Seed), Find: byWords, Lookup: "BM25", Encoder: "LSA",
		Entities: entitiesByRules, // as LinearRAG does: no model while indexing
		Triples:  func() (Extraction, error) { return Extraction{Extractor: openIE}, nil },
		Records: func(r extract.RecordOptions) (Extraction, error) {
			r.Model, r.Verify, r.Concurrency, r.Language = paid, true, o.Concurrency, cmp.Or(r.Language, o.Language)
			x, err := extract.NewRecords(r)
			return Extraction{Extractor: x}, err
		},
		Link: link.Trigrams{}, Describe: describeBy(paid, cache, o.Language), quoters: cache, Report: reports, IndexModel: paid,
		QuestionNames: func(func(string) bool) (func(context.Context, string) ([]string, error), error) {
			return openIE.Question, nil
		},
		AnswerModel: paid, Read: read, Count: o.Count,
	}
	if o.Embedder != nil {
		k = k.WithEmbedder(o.Embedder)
	}
	return k, nil
}

// WithEmbedder returns the kit with an embedder that was trained on other texts: it compares names and texts,
// and the extractive reader compares sentences by it. Its tokens are added to the usage of the call.
func (k Kit) WithEmbedder(e embed.Embedder) Kit {
	k.Encoder, k.Trained = "the embedder", true
	if m, ok := e.(interface{ Name() string }); ok {
		k.Encoder = m.Name()
	}
	paid := rememberingEmbedder{metering.MeteredEmbedder(e, k.Count), k.Encoder}
	k.Embed = func(context.Context, []string) (embed.Embedder, error) { return paid, nil }
	if m, ok := e.(embed.Model); ok {
		k.Dim = m.Dim()
	}
	k.Find, k.Lookup = byVectors, "cosine of "+k.Encoder
	k.Link = link.Embeddings{Embedder: paid}
	k.Read = reader.WithEmbedder(k.Read, paid)
	return k
}

// WithNames returns the kit with a model that finds the names of passages and questions, for systems whose
// graphs consist of names; facts are extracted as before. Questions without a name go to k.QuestionNames.
func (k Kit) WithNames(find extract.NameFinder) Kit {
	find = rememberingNames{find}
	k.Entities = func() (Extraction, error) {
		return Extraction{named{extract.Titled(once{extract.ByNames(find), find.Name()}, false), "entities"}, true}, nil
	}
	byRules := k.QuestionNames
	k.QuestionNames = func(known func(folded string) bool) (func(context.Context, string) ([]string, error), error) {
		rules, err := byRules(known)
		return func(ctx context.Context, question string) ([]string, error) {
			found, err := find.Find(ctx, []string{question})
			if err != nil {
				return nil, err
			}
			if len(found[0]) == 0 {
				return rules(ctx, question)
			}
			names := make([]string, len(found[0]))
			for i, n := range found[0] {
				names[i] = question[n.Start:n.End]
			}
			return names, nil
		}, err
	}
	return k
}

// named is an extractor of a whole corpus. Equal names mean equal results, so results are cached by name.
type named struct {
	extract.Extractor
	name string
}

// once is a whole extractor whose results are cached: extractors of the same name read the same chunks once.
type once struct {
	extract.Extractor
	name string
}

// readKey is the key under which the results of an extractor are cached.
type readKey struct {
	name   string
	chunks memo.Digest
}

func (o once) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	if !memo.Under(ctx) {
		return o.Extractor.Extract(ctx, chunks)
	}
	return memo.Of(ctx, readKey{o.name, digest(chunks)}, func() ([]kg.Extraction, error) { return o.Extractor.Extract(ctx, chunks) })
}

// digest returns the digest of the IDs, titles, leads and texts of chunks, which are all that extractors read.
func digest(chunks []graphrag.Chunk) memo.Digest {
	return memo.DigestOf(func(yield func(string) bool) {
		for i := range chunks {
			c := &chunks[i]
			if !yield(c.ID) || !yield(c.Title) || !yield(c.Lead) || !yield(c.Text) {
				return
			}
		}
	})
}
