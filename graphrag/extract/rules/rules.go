// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options of an [Extractor]. The zero value reads English.
type Options struct {
	// Workers is how many chunks are read at a time; 0 means one for each
	// processor. The result does not depend on it.
	Workers int
}

// Extractor finds entities and triples by rules. It is an extract.Extractor.
type Extractor struct {
	workers int
	base    *lexicon // for questions: of the tables alone
}

// New returns an extractor. It fails if Workers is negative.
func New(o Options) (*Extractor, error) {
	checks := opt.Checks{Of: "rules"}
	opt.Min(&checks, "Workers", o.Workers, 0)
	return &Extractor{workers: o.Workers, base: tableLexicon()}, checks.Err()
}

// Extract implements extract.Extractor. It learns how the corpus writes its words from
// the chunks of the call, so a corpus should be given in one call. The spans of mentions
// are exact: the bytes there are the name, but for white space, which a name has as
// single blanks.
func (o *Extractor) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	lexicon, segments, err := learn(ctx, chunks, o.workers)
	if err != nil {
		return nil, err
	}
	out := make([]kg.Extraction, len(chunks))
	start := func() reader { return reader{finder: finder{sentence: newSentence(lexicon)}} }
	_, err = eachChunk(ctx, chunks, o.workers, start, func(x *reader, i int) {
		out[i] = o.extract(x, &chunks[i], segments[i])
	})
	if err != nil {
		return nil, fmt.Errorf("rules: read chunks: %w", err)
	}
	return out, nil
}

// reader reads the chunks of one worker. Its buffers are reused.
type reader struct {
	finder
	facts  []fact
	hedged bool // the sentence is reported speech
	phrase []byte
	found  kg.Extraction // in the chunk
}

// extract reads the segments of one chunk.
func (o *Extractor) extract(x *reader, c *graphrag.Chunk, segments []segment) kg.Extraction {
	out := &x.found
	out.Mentions, out.Facts = out.Mentions[:0], out.Facts[:0]
	x.excerpt = c.Index > 0
	for _, s := range segments {
		if x.lexicon.sharedLine(c.Text, s.Start) {
			continue
		}
		x.open(c.Text, s.Span)
		x.find(s.layout)
		for i := range x.entities {
			out.Mentions = append(out.Mentions, x.mention(&x.entities[i]))
		}
		if s.layout == prose {
			x.state()
			x.addFacts(out)
		}
	}
	return kg.Extraction{Chunk: c.ID, Doc: c.Doc, Mentions: copied(out.Mentions), Facts: copied(out.Facts)}
}

// copied is a list without spare capacity, nil if it is empty.
func copied[T any](list []T) []T { return append([]T(nil), list...) }

func (x *finder) mention(e *entity) kg.Mention {
	return kg.Mention{Name: x.name(e), Type: typeNames[e.typ], Span: kg.Span{Start: int(e.start), End: int(e.end)}}
}

// addFacts appends the facts of the open sentence.
func (x *reader) addFacts(out *kg.Extraction) {
	span := kg.Span{Start: x.span.Start, End: x.span.End}
	for _, f := range x.facts {
		fact := kg.Fact{Triple: graphrag.Triple{Head: x.name(&x.entities[f.head]), Relation: f.relation, Tail: x.name(&x.entities[f.tail])}, Span: span}
		if x.hedged {
			fact.Weight = hedgedWeight
		}
		out.Facts = append(out.Facts, fact)
	}
}

// Entities returns the entities of a question, in the order of the question:
// quoted strings, capitalized names, dates, and, whatever their case, the names
// that known knows. known is asked for runs of up to eight words as
// [text.FoldName] folds them, the longest first; it may be nil. Spans are bytes
// of the question. The question is only split, not understood: the type of thing it
// asks for is not among its entities.
//
// It is safe for concurrent use if known is.
func (o *Extractor) Entities(question string, known func(folded string) bool) []kg.Mention {
	x := &finder{sentence: newSentence(o.base)}
	x.cut(question, text.Span{End: len(question)})
	x.find(query)
	if known != nil {
		names := x.entities
		x.entities = nil
		clear(x.entityOf)
		x.lookUp(known)
		// A name that is known beats one that overlaps with it, unless that is
		// longer.
		for _, e := range names {
			same := func(o entity) bool { return o.first == e.first && o.last == e.last }
			if x.free(e) {
				x.entities = append(x.entities, e)
			} else if at := slices.IndexFunc(x.entities, same); at >= 0 {
				x.entities[at].typ = e.typ
			}
		}
		x.sortEntities()
	}
	out := make([]kg.Mention, len(x.entities))
	for i := range x.entities {
		out[i] = x.mention(&x.entities[i])
	}
	return out
}
