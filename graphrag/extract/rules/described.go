// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
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
	for i := range found {
		sentences := text.Sentences(chunks[i].Text)
		for m := range found[i].Mentions {
			if mention := &found[i].Mentions[m]; mention.Description == "" {
				mention.Description = sentenceAt(chunks[i].Text, sentences, mention.Span)
			}
		}
		for f := range found[i].Facts {
			if fact := &found[i].Facts[f]; fact.Description == "" {
				fact.Description = sentenceAt(chunks[i].Text, sentences, fact.Span)
			}
		}
	}
	return found, err
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
