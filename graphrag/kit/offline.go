// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// OfflineOptions are the options of [Offline].
type OfflineOptions struct {
	// Mode says what to do without evidence.
	Mode reader.Mode
	// Seed of LSA.
	Seed uint64
	// Find compares questions with texts; nil means [find.ByWords].
	Find find.Finder
	// Titles says whether the title of a passage is a name that has to do with each
	// name in it. By default it is where nearly all documents are one short passage
	// with a short title, as those of question sets over an encyclopedia.
	Titles *bool
}

// Offline returns the kit that needs no network, no key and no model file: rules
// extract, words and LSA compare, sentences are quoted.
func Offline(o OfflineOptions) (Kit, error) {
	read, err1 := reader.Extractive(reader.ExtractiveOptions{Mode: o.Mode})
	reports, err2 := report.Extractive(report.ExtractiveOptions{})
	if err := errors.Join(err1, err2); err != nil {
		return Kit{}, fmt.Errorf("kit: %w", err)
	}
	k := Kit{
		Index: NameOffline, Answer: NameOffline,
		Embed: lsa(o.Seed), Find: o.Find, Lookup: "BM25", Encoder: "LSA",
		Entities: entitiesByRules(o.Titles), Triples: triplesByRules(o.Titles), Records: recordsByRules(o.Titles),
		Link: link.Trigrams{}, Report: reports,
		QuestionNames: namesByRules,
		Read:          read, Count: tokens.Remember(tokens.Cl100k().Count),
	}
	if k.Find == nil {
		k.Find = find.ByWords
	}
	k.quoters = newQuoters(k.Count)
	k.Describe = describeBy(nil, k.quoters, "")
	return k, nil
}

// lsaKey is the key of LSA fitted to a corpus.
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

func entitiesByRules(titles *bool) func() (Extraction, error) {
	return func() (Extraction, error) {
		x, err := rules.New(rules.Options{})
		return Extraction{named{rules.Titled(once{x, "rules"}, false, titles), titled("entities", titles)}, true}, err
	}
}

// triplesByRules are the facts of the rules, with what they leave unsaid.
func triplesByRules(titles *bool) func() (Extraction, error) {
	return func() (Extraction, error) {
		x, err := rules.New(rules.Options{})
		return Extraction{named{rules.Titled(rules.Linked(once{x, "rules"}), true, titles), titled("triples", titles)}, true}, err
	}
}

// recordsByRules describe names and facts by the sentences that they stand in.
func recordsByRules(titles *bool) func(extract.RecordOptions) (Extraction, error) {
	return func(extract.RecordOptions) (Extraction, error) {
		x, err := triplesByRules(titles)()
		return Extraction{named{rules.Described(x), titled("records", titles)}, true}, err
	}
}

// titled is the name of what is found with titles as names, or without, or as the
// documents are.
func titled(name string, titles *bool) string {
	if titles == nil {
		return name
	}
	return fmt.Sprintf("%s, titles %v", name, *titles)
}

func namesByRules(known func(folded string) bool) (NameFinder, error) {
	x, err := rules.New(rules.Options{})
	return func(_ context.Context, question string) ([]string, error) {
		return x.QuestionNames(question, known), nil
	}, err
}
