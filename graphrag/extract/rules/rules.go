// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
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
// the chunks of the call, so a corpus should be given in one call. Under a [memo.Keeper], of the
// chunks of the call before only those are read again in which a word or name is written
// otherwise now. The spans of mentions are exact: the bytes there are the name, but for white
// space, which a name has as single blanks.
func (o *Extractor) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	type kept struct {
		sync.Mutex
		*corpus
	}
	k := memo.Kept[kept](ctx)
	k.Lock()
	defer k.Unlock()
	c := k.corpus
	if k.corpus = nil; c == nil || c.worn() {
		c = &corpus{lexicon: newLexicon()}
	}
	all, err := c.change(ctx, chunks, o.workers)
	if err != nil {
		return nil, fmt.Errorf("rules: read chunks: %w", err)
	}
	k.corpus = c // as it is whole
	out := make([]kg.Extraction, len(all))
	for i, r := range all {
		out[i] = r.found
	}
	return out, nil
}

// reader reads the chunks of one worker. Its buffers are reused.
type reader struct {
	finder
	facts  []openFact
	hedged bool // the sentence is reported speech
	phrase []byte
	found  kg.Extraction // in the chunk
	line   text.Span     // the one that was looked at last
	shared bool          // whether several documents contain it
}

// extract reads the segments of one chunk.
func (x *reader) extract(r *reading) {
	out := &x.found
	out.Mentions, out.Facts = out.Mentions[:0], out.Facts[:0]
	x.excerpt, x.line = r.excerpt, text.Span{}
	for _, s := range r.segments {
		if x.sharedLine(r.text, s.Start) {
			continue
		}
		x.open(r.text, s.Span)
		x.find(s.layout)
		for i := range x.entities {
			out.Mentions = append(out.Mentions, x.mention(&x.entities[i]))
		}
		if s.layout == prose {
			x.state()
			x.addFacts(out)
		}
	}
	r.found = kg.Extraction{Chunk: r.id, Doc: r.doc, Mentions: copied(out.Mentions), Facts: copied(out.Facts)}
}

// sharedLine reports whether several documents contain the line of a text in which
// the byte at stands.
func (x *reader) sharedLine(s string, at int) bool {
	if at < x.line.Start || at >= x.line.End {
		x.line = text.Span{Start: strings.LastIndexByte(s[:at], '\n') + 1, End: len(s)}
		if n := strings.IndexByte(s[at:], '\n'); n >= 0 {
			x.line.End = at + n
		}
		h := hashLine(strings.TrimSpace(x.line.In(s)))
		x.asked = append(x.asked, askLine|uint32(h)&askMask)
		x.shared = x.lexicon.lines[h]
	}
	return x.shared
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
func (o *Extractor) Entities(asked string, isKnown func(folded string) bool) []kg.Mention {
	x := &finder{sentence: newSentence(o.base)}
	x.cut(asked, text.Span{End: len(asked)})
	x.find(query)
	if isKnown != nil {
		names := x.entities
		x.entities = nil
		clear(x.entityOf)
		x.lookUp(isKnown)
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
