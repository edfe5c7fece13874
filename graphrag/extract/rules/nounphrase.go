// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// NounPhrases is an extract.Extractor of noun phrases alone, for graphs of words that
// stand in the same chunk (the "fast" indexing of Microsoft's GraphRAG): runs of
// words that are in no closed class and no verb as far as the tables know.
// A phrase is kept if it has two words or more, a hyphen, or a capital inside a
// sentence; its words are of ASCII letters, digits and hyphens and at most 15
// long. Names are in capitals, of the type "NOUN PHRASE". There are no facts: which phrases go together is
// up to the graph.
type NounPhrases struct {
	// Workers is how many chunks are read at a time; 0 means one for each
	// processor. The result does not depend on it.
	Workers int
}

// The bounds of a phrase. The 15 is that of the original, for words.
const (
	maxPhraseWord  = 15
	maxPhraseWords = 6
)

// Extract implements extract.Extractor.
func (n NounPhrases) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	l := newLexicon()
	out := make([]kg.Extraction, len(chunks))
	_, err := eachChunk(ctx, chunks, n.Workers, func() sentence { return newSentence(l) }, func(x *sentence, i int) {
		out[i] = kg.Extraction{Chunk: chunks[i].ID, Doc: chunks[i].Doc}
		for _, s := range x.segments(chunks[i].Text) {
			x.open(chunks[i].Text, s.Span)
			out[i].Mentions = x.nounPhrases(out[i].Mentions)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("rules: read noun phrases: %w", err)
	}
	return out, nil
}

// nounPhrases appends the phrases of the open sentence.
func (x *sentence) nounPhrases(found []kg.Mention) []kg.Mention {
	for i := 0; i < len(x.tokens); {
		j := i
		for j < len(x.tokens) && x.phraseWord(j) && (j == i || x.tokens[j].gap == blank) && j-i < maxPhraseWords {
			j++
		}
		if j == i {
			i++
			continue
		}
		first, last := &x.tokens[i], &x.tokens[j-1]
		if j-i > 1 || first.has(hyphened) || first.has(upperFirst|innerUpper) && !x.atStart(i) {
			found = append(found, kg.Mention{
				Name: strings.ToUpper(singleBlanks(x.text[first.start:last.end])), Type: "NOUN PHRASE",
				Span: kg.Span{Start: int(first.start), End: int(last.end)},
			})
		}
		i = j
	}
	return found
}

// phraseWord reports whether the word at token i can be part of a noun phrase.
func (x *sentence) phraseWord(i int) bool {
	t := &x.tokens[i]
	w := x.word(i)
	if t.kind != wordToken || len(w) > maxPhraseWord || t.functional() || t.has(dotted) {
		return false
	}
	if t.lower() && (t.is(function|adverb|finite|verbIng) && !t.is(noun) || strings.HasSuffix(w, "ly") || looksPast(x.text, t)) {
		return false
	}
	for k := range len(w) {
		if c := w[k]; !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-') {
			return false
		}
	}
	return true
}
