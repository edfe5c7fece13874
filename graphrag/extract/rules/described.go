// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Described gives the mentions and facts of an extractor that describes nothing
// the sentence they stand in as their description: what a model would condense,
// in the words of the source.
func Described(x extract.Extractor) extract.Extractor { return described{x} }

type described struct{ extract.Extractor }

// longestSentence is the longest sentence that describes something, in bytes.
// What is longer is a table or a list that was not cut.
const longestSentence = 600

func (d described) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	found, err := d.Extractor.Extract(ctx, chunks)
	if err != nil {
		return nil, err
	}
	return found, par.Each(ctx, len(found), 0, func(i int) error {
		describe(chunks[i].Text, &found[i])
		return nil
	})
}

func describe(of string, x *kg.Extraction) {
	sentences := text.Sentences(of)
	for m := range x.Mentions {
		if mention := &x.Mentions[m]; mention.Description == "" {
			mention.Description = sentenceAt(of, sentences, mention.Span)
		}
	}
	for f := range x.Facts {
		if fact := &x.Facts[f]; fact.Description == "" {
			fact.Description = sentenceAt(of, sentences, fact.Span)
		}
	}
}

// sentenceAt is the one in which a span begins, "" if the place is not known.
func sentenceAt(of string, sentences []text.Span, span kg.Span) string {
	if span == (kg.Span{}) {
		return ""
	}
	i, exact := slices.BinarySearchFunc(sentences, span.Start, func(s text.Span, at int) int { return cmp.Compare(s.Start, at) })
	if !exact {
		i--
	}
	if i < 0 || sentences[i].End <= span.Start || sentences[i].End-sentences[i].Start > longestSentence {
		return ""
	}
	return of[sentences[i].Start:sentences[i].End]
}
