// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options of an [Extractor]. The zero value reads English.
type Options struct {
	// Workers is the number of chunks read at a time; 0 means one per processor. It does not change the result.
	Workers int
}

// Extractor finds entities and triples by rules. It is an extract.Extractor.
type Extractor struct {
	workers int
	base    *lexicon // lexicon of the tables alone, for questions
}

// New returns an extractor. It fails if Workers is negative.
func New(o Options) (*Extractor, error) {
	checks := opt.Checks{Of: "rules"}
	opt.Min(&checks, "Workers", o.Workers, 0)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return &Extractor{workers: o.Workers, base: tableLexicon()}, nil
}

// Extract implements extract.Extractor. It learns how the corpus writes its words from the chunks of the call,
// so a corpus should be given in one call. Under a [memo.Keeper], a chunk of the previous call is read again
// only if the corpus now writes one of its words or names differently. The span of a mention contains exactly
// its name, except that runs of white space are single blanks in the name.
func (o *Extractor) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	type kept struct {
		sync.Mutex
		*corpus
	}
	k := memo.Kept[kept](ctx)
	k.Lock()
	defer k.Unlock()
	c := k.corpus
	if k.corpus = nil; c == nil || len(c.lexicon.class) > 2*len(c.lexicon.words)+1<<16 { // over half of the words were deleted
		c = &corpus{lexicon: newLexicon()}
	}
	all, err := c.change(ctx, chunks, o.workers)
	if err != nil {
		return nil, fmt.Errorf("rules: read chunks: %w", err)
	}
	k.corpus = c // kept only if the change succeeded
	out := make([]kg.Extraction, len(all))
	for i, r := range all {
		out[i] = r.found
	}
	return out, nil
}

// reader finds entities and facts in chunks, for one worker. Its buffers are reused.
type reader struct {
	finder
	facts  []openFact
	hedged bool // the sentence is reported speech: its facts weigh less
	phrase []byte
	found  kg.Extraction // mentions and facts of the current chunk
	line   text.Span     // line that sharedLine looked up last
	shared bool          // result of sharedLine for that line
}

// extract finds the mentions and facts in the segments of one chunk.
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

// sharedLine reports whether the line of s that contains the byte at offset at is in several documents.
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

// copied returns a copy of a list without spare capacity, nil if it is empty.
func copied[T any](list []T) []T { return append([]T(nil), list...) }

func (x *finder) mention(e *entity) kg.Mention {
	return kg.Mention{Name: x.name(e), Type: typeNames[e.typ], Span: kg.Span{Start: int(e.start), End: int(e.end)}}
}

// addFacts appends the facts found in the current sentence.
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

// Entities returns the entities of a question, in the order of the question: quoted strings, capitalized names,
// dates, and, in any case, names for which isKnown returns true. isKnown is called for runs of up to eight
// words as [text.FoldName] folds them, the longest first; it may be nil. Spans are bytes of the question. The
// question is only split, not understood: the type of thing it asks for is not among its entities.
//
// It is safe for concurrent use if isKnown is.
func (o *Extractor) Entities(question string, isKnown func(folded string) bool) []kg.Mention {
	x := &finder{sentence: newSentence(o.base)}
	x.cut(question, text.Span{End: len(question)})
	x.find(query)
	if isKnown != nil {
		names := x.entities
		x.entities = nil
		clear(x.entityOf)
		x.lookUp(isKnown)
		// Where two names overlap, the known name is kept; if they are equal, with the type of the other.
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

// QuestionNames returns the named entities of a question: names found by the rules and names for which knows
// returns true (see [Extractor.Entities]), the longest where they overlap, so that a known word does not split
// an unknown name. A known name in lower case counts only if it has several words.
func (o *Extractor) QuestionNames(question string, knows func(folded string) bool) []string {
	all := o.Entities(question, nil)
	for _, m := range o.Entities(question, knows) {
		if strings.ContainsFunc(question[m.Span.Start:m.Span.End], func(r rune) bool {
			return unicode.IsUpper(r) || unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.IsLower(r)
		}) || strings.Contains(m.Name, " ") {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b kg.Mention) int {
		return cmp.Or(cmp.Compare(b.Span.End-b.Span.Start, a.Span.End-a.Span.Start), cmp.Compare(a.Span.Start, b.Span.Start))
	})
	var chosen []kg.Mention
	for _, m := range all {
		if !slices.ContainsFunc(chosen, func(o kg.Mention) bool { return m.Span.Start < o.Span.End && o.Span.Start < m.Span.End }) {
			chosen = append(chosen, m)
		}
	}
	slices.SortFunc(chosen, func(a, b kg.Mention) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	names := make([]string, len(chosen))
	for i, m := range chosen {
		names[i] = m.Name
	}
	return names
}

// Themes returns the topics of a question without its names: its runs of content words, in order and each once.
// They replace the keywords that a model would return.
func Themes(question string, names []string) []string {
	rest := question
	for _, n := range names {
		rest = strings.ReplaceAll(rest, n, "\n")
	}
	var out []string
	start, end := -1, 0
	flush := func() {
		if start >= 0 && !slices.ContainsFunc(out, func(x string) bool { return strings.EqualFold(x, rest[start:end]) }) {
			out = append(out, rest[start:end])
		}
		start = -1
	}
	words := text.Default()
	words.Spans(rest, func(word []byte, lo, hi int) {
		_, content := words.Term(string(word))
		if start >= 0 && (!content || lo > end && strings.Trim(rest[end:lo], " -’'") != "") {
			flush()
		}
		if content {
			if start < 0 {
				start = lo
			}
			end = hi
		}
	})
	flush()
	return out
}

// MayBeNoun reports whether a word, in lower case, may be a noun or a name. It is false for English words
// of closed classes, adverbs, verb forms and adjectives of the tables, and for words that end like an
// adverb or a past tense. It replaces a part-of-speech tagger and does not look at the context.
func MayBeNoun(word string) bool {
	l := tableLexicon()
	c := l.class[l.words[word]]
	switch {
	case c&(noun|thing|role|kin|place|given|unit) != 0:
		return true
	case c != 0:
		return c&(function|adverb|anyVerb|modifier) == 0
	}
	return !strings.HasSuffix(word, "ly") && !(len(word) > 4 && strings.HasSuffix(word, "ed"))
}
