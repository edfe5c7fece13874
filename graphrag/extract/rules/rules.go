// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options of an [Extractor]. The zero value reads English and learns
// the lexicon of each batch from the batch itself.
type Options struct {
	// Lexicon of the corpus. With one, the extraction of a chunk is a function
	// of that chunk alone; without, each call of Extract learns from its
	// chunks, so that a corpus should be given in one call.
	Lexicon *Lexicon
	// Names are found wherever they stand, in any case and script.
	Names []Name
	// Types keeps only mentions of these types; empty keeps all. Facts need
	// both of their ends kept.
	Types []string
	// Workers is how many chunks are read at a time; 0 means one for each
	// processor. The result does not depend on it.
	Workers int
}

// Extractor finds entities and triples by rules. It is an extract.Extractor.
type Extractor struct {
	options   Options
	lexicon   *Lexicon // nil: learned in each call
	base      *Lexicon // for questions: the given one, or that of the tables alone
	gazetteer *gazetteer
	labels    []string
	keep      []bool // by type; nil keeps all
}

// New returns an extractor. It fails if Workers is negative, if a name is empty
// or has two types, or if no name can have one of the types.
func New(o Options) (*Extractor, error) {
	checks := opt.Checks{Of: "rules"}
	opt.Min(&checks, "Workers", o.Workers, 0)
	base := o.Lexicon
	if base == nil {
		base = newLexicon()
	}
	gazetteer, labels, err := newGazetteer(base, o.Names)
	x := &Extractor{options: o, lexicon: o.Lexicon, base: base, gazetteer: gazetteer, labels: labels}
	if len(o.Types) > 0 {
		x.keep = make([]bool, len(labels))
		for n, label := range labels {
			x.keep[n] = slices.Contains(o.Types, label)
		}
	}
	for i, wanted := range o.Types {
		checks.Want(slices.Contains(labels, wanted), fmt.Sprintf("Types[%d]", i), strconv.Quote(wanted), fmt.Sprintf("one of %q", labels[1:]))
	}
	if err := errors.Join(checks.Err(), err); err != nil {
		return nil, err
	}
	return x, nil
}

// Extract implements extract.Extractor. The spans of mentions are exact: the bytes
// there are the name, but for white space, which a name has as single blanks.
func (o *Extractor) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	lexicon := o.lexicon
	segments := make([][]segment, len(chunks))
	if lexicon == nil {
		var err error
		if lexicon, segments, err = learn(ctx, chunks, o.options.Workers); err != nil {
			return nil, err
		}
	}
	out := make([]kg.Extraction, len(chunks))
	_, err := eachChunk(ctx, chunks, o.options.Workers, func() reader { return reader{finder: o.finder(lexicon)} }, func(x *reader, i int) {
		out[i] = o.extract(x, &chunks[i], segments[i])
	})
	if err != nil {
		return nil, fmt.Errorf("rules: read chunks: %w", err)
	}
	return out, nil
}

// reader is what a worker reads chunks with. It keeps its buffers. Each stage is
// given what the one before found: a tokenizer cuts a sentence into tokens, a
// finder makes mentions of them, and phrases around these become statements.
type reader struct {
	finder
	statements statements
	found      kg.Extraction // in the chunk
}

func (o *Extractor) finder(l *Lexicon) finder {
	return finder{mentions: mentions{sentence: newSentence(l)}, gazetteer: o.gazetteer}
}

// extract reads one chunk; its segments are nil if they were not found yet.
func (o *Extractor) extract(x *reader, c *graphrag.Chunk, segments []segment) kg.Extraction {
	out := &x.found
	out.Mentions, out.Facts, out.Attributes = out.Mentions[:0], out.Facts[:0], out.Attributes[:0]
	x.excerpt = c.Index > 0
	x.statements.mentions = &x.mentions
	if segments == nil {
		segments = x.segments(c.Text)
	}
	for _, s := range segments {
		if x.lexicon.sharedLine(c.Text, s.Start) {
			continue
		}
		x.open(c.Text, s.Span)
		x.find(s.layout)
		for i := range x.entities {
			if o.keeps(x.entities[i].typ) {
				out.Mentions = append(out.Mentions, o.mention(&x.mentions, &x.entities[i]))
			}
		}
		if s.layout == prose {
			x.statements.relate(x.titles)
			o.add(&x.statements, out)
		}
	}
	return kg.Extraction{Chunk: c.ID, Doc: c.Doc, Mentions: copied(out.Mentions), Facts: copied(out.Facts), Attributes: copied(out.Attributes)}
}

// copied is a list as long as what is in it, nil for none.
func copied[T any](list []T) []T { return append([]T(nil), list...) }

func (o *Extractor) keeps(t typ) bool { return o.keep == nil || o.keep[t] }

func (o *Extractor) mention(x *mentions, e *entity) kg.Mention {
	return kg.Mention{Name: x.name(e), Type: o.labels[e.typ], Span: kg.Span{Start: int(e.start), End: int(e.end)}}
}

// add appends what was found in a sentence.
func (o *Extractor) add(x *statements, out *kg.Extraction) {
	span := kg.Span{Start: x.span.Start, End: x.span.End}
	for i := range x.facts {
		f := &x.facts[i]
		head, tail := &x.entities[f.head], &x.entities[f.tail]
		if !o.keeps(head.typ) || !o.keeps(tail.typ) {
			continue
		}
		fact := kg.Fact{Triple: graphrag.Triple{Head: x.name(head), Relation: f.relation, Tail: x.name(tail)}, Span: span}
		if f.hedged {
			fact.Weight = hedgedWeight
		}
		out.Facts = append(out.Facts, fact)
	}
	for i := range x.attributes {
		a := &x.attributes[i]
		if o.keeps(x.entities[a.entity].typ) {
			out.Attributes = append(out.Attributes, kg.Attribute{Entity: x.name(&x.entities[a.entity]), Key: a.key, Value: singleBlanks(a.value), Span: span})
		}
	}
}

// hedgedWeight is the weight of what a sentence only reports: "officials said
// that …".
const hedgedWeight = 0.5

// Entities returns the entities of a question, in the order of the question:
// quoted strings, capitalized names, dates, and, whatever their case, the names
// that known knows. known is asked for runs of up to eight words as
// [text.FoldName] folds them, the longest first; it may be nil. Spans are bytes
// of the question. The question is only split, not understood: what it asks for
// is not among its entities.
//
// It is safe for concurrent use if known is.
func (o *Extractor) Entities(question string, known func(folded string) bool) []kg.Mention {
	x := o.finder(o.base)
	x.cut(question, text.Span{End: len(question)})
	x.find(query)
	names := x.entities
	if known != nil {
		x.entities = nil
		clear(x.entityOf)
		x.lookUp(known)
		// A name that is known beats what overlaps with it, unless it is
		// longer.
		for _, e := range names {
			same := func(o entity) bool { return o.first == e.first && o.last == e.last }
			if x.free(e) {
				x.entities = append(x.entities, e)
			} else if at := slices.IndexFunc(x.entities, same); at >= 0 {
				x.entities[at].typ = e.typ
			}
		}
		sortEntities(x.entities)
	}
	out := make([]kg.Mention, len(x.entities))
	for i := range x.entities {
		out[i] = o.mention(&x.mentions, &x.entities[i])
	}
	return out
}
