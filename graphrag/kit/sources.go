// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// mostSources bounds the passages of one fact or report that a sentence is compared with.
const mostSources = 1000

// sourced adds to an answer the passages that its cited facts and reports were made from: for
// each citation the passage with the most words of the sentence, the first of equal ones.
func (l *library) sourced(a graphrag.Answer) graphrag.Answer {
	at := make(map[string]int) // in Sources, by ID of the chunk
	for _, c := range slices.Clip(a.Citations) {
		if c.Of != graphrag.OfDerived {
			continue
		}
		chunk, ok := l.nearest(a.Derived[c.Evidence].Provenance, a.Text[c.Start:c.End])
		if !ok {
			continue
		}
		n, listed := at[chunk.ID]
		if !listed {
			n = len(a.Sources)
			at[chunk.ID] = n
			a.Sources = append(a.Sources, graphrag.Hit{Chunk: chunk, Source: a.Derived[c.Evidence].Kind})
		}
		a.Citations = append(slices.Clip(a.Citations), graphrag.Citation{Start: c.Start, End: c.End, Of: graphrag.OfSource, Evidence: n})
	}
	return a
}

// nearest returns the chunk of a provenance with the most words of a sentence.
func (l *library) nearest(from graphrag.Provenance, sentence string) (best graphrag.Chunk, ok bool) {
	wanted, most := text.Default().Terms(sentence), -1
	compared := 0
	for _, doc := range from.Docs {
		chunks, _ := l.docs.Get(doc)
		for _, c := range chunks {
			if _, of := slices.BinarySearch(from.Chunks, c.ID); !of || compared == mostSources {
				continue
			}
			compared++
			terms := text.Default().Terms(strings.Join([]string{c.Title, c.Text}, "\n"))
			slices.Sort(terms)
			shared := 0
			for _, t := range wanted {
				if _, has := slices.BinarySearch(terms, t); has {
					shared++
				}
			}
			if shared > most {
				best, most, ok = c, shared, true
			}
		}
	}
	return best, ok
}
