// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxRead limits the cached texts in bytes; the parsed readings take about three times as much. A passage is
// evidence for many questions.
const maxRead = 16 << 20

// library caches parsed texts and numbers all terms in them. It is safe for concurrent use.
type library struct {
	analyzer text.Analyzer

	mu       sync.Mutex
	readings map[shownText]*reading
	size     int
	numbers  *text.Numbering
	seen     []uint32 // number of the last text that contains each term
	texts    uint32
	room     []int32
}

func newLibrary(a text.Analyzer) *library {
	return &library{analyzer: a, readings: make(map[shownText]*reading), numbers: new(text.Vocabulary).Numbering(a)}
}

// full reports whether the library has to be replaced by an empty one.
func (l *library) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size > maxRead
}

// read parses a text, or returns its cached reading.
func (l *library) read(from shownText) *reading {
	l.mu.Lock()
	r := l.readings[from]
	l.mu.Unlock()
	if r != nil {
		return r
	}
	r = newReading(from, l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readings[from] == nil {
		l.readings[from] = r
		l.size += len(from.lead) + len(from.title) + len(from.text)
	}
	return l.readings[from]
}

// terms returns the numbers of the terms of a text, each once, in the order of the text.
func (l *library) terms(s string) []int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.room, _ = l.list(l.room[:0], s, len(s))
	return slices.Clone(l.room)
}

// first appends the terms of the first most words of a text to dst, and returns the number of words, most+1 if
// there are more.
func (l *library) first(dst []int32, s string, most int) (list []int32, words int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list(dst, s, most)
}

func (l *library) list(list []int32, s string, most int) (_ []int32, words int) {
	l.texts++
	if l.texts == 0 {
		clear(l.seen)
		l.texts = 1
	}
	l.analyzer.Words(s, func(word []byte) bool {
		words++
		id := l.numbers.Number(word)
		if n := int(id) + 1 - len(l.seen); n > 0 {
			l.seen = append(l.seen, make([]uint32, n)...)
		}
		if id >= 0 && l.seen[id] != l.texts {
			l.seen[id] = l.texts
			list = append(list, id)
		}
		return words <= most
	})
	return list, words
}

// number returns the number of a word's term, -1 for a stop word.
func (l *library) number(word []byte) int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.numbers.Number(word)
}

// term returns the term with a number.
func (l *library) term(number int32) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.numbers.Terms().At(int(number)))
}

// lexicon renumbers the terms of the library for one answer: from 0 in the order of occurrence, beginning with
// the terms of the question.
type lexicon struct {
	known  *library
	number map[int32]int32 // number in the lexicon, by number in the library
	met    []int32         // number in the library, by number in the lexicon
}

// place returns the number in the lexicon of a term of the library.
func (l *lexicon) place(id int32) int32 {
	n, ok := l.number[id]
	if !ok {
		n = int32(len(l.met))
		l.number[id], l.met = n, append(l.met, id)
	}
	return n
}

// local returns the numbers here of terms of the library.
func (l *lexicon) local(known []int32) []int32 {
	out := make([]int32, len(known))
	for i, id := range known {
		out[i] = l.place(id)
	}
	return out
}

// Reader answers a question from evidence.
//
// evidence is the ranked chunks, best first; derived is text made from sources, such as facts of a graph or
// summaries. Both may be empty. Answer.Evidence and Answer.Derived are the texts that were read, and the
// citations index them; Ranked is set by the caller. Read neither keeps nor changes its arguments, is safe
// for concurrent use, and returns the error of ctx when ctx is cancelled.
type Reader interface {
	// Name describes the reader in reports: kind, mode, model.
	Name() string
	Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error)
}

// Func is a function that implements [Reader]. Its name is "function".
type Func func(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error)

// Name returns "function".
func (Func) Name() string { return "function" }

// Read calls f.
func (f Func) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	return f(ctx, q, evidence, derived)
}

// Mode says how a reader answers if the evidence does not contain the answer. The empty Mode means Open.
type Mode string

// The values of Mode.
const (
	Open   Mode = "open"   // answer in any case
	Reject Mode = "reject" // refuse with the text Refusal
	Cited  Mode = "cited"  // as Reject, and refuse if no evidence is cited
)

func (m Mode) check(checks *opt.Checks) {
	checks.Want(m == "" || m == Open || m.Rejects(), "Mode", strconv.Quote(string(m)), fmt.Sprintf("%q, %q or %q", Open, Reject, Cited))
}

// Rejects reports whether the mode refuses if the evidence does not contain the answer.
func (m Mode) Rejects() bool { return m == Reject || m == Cited }

// Refusal is the text of an answer that refuses.
const Refusal = "The evidence does not contain the answer."

// refuse returns the refusal of a reader that found no answer in the evidence.
func refuse(evidence []graphrag.Hit, derived []graphrag.Derived) graphrag.Answer {
	return graphrag.Answer{Text: Refusal, Refused: true, Found: graphrag.Found{Evidence: evidence, Derived: derived}}
}

// SpanFinder finds in each passage the words that answer a question; a score above 0 means that they do.
// Spans of package graphrag/embed/local implements it.
type SpanFinder interface {
	Name() string
	Find(ctx context.Context, question string, passages []string) ([]text.Match, error)
}

// BySpans returns a reader that answers with words that find finds in the evidence: with these alone for the
// form Short, otherwise with the sentence around them. It refuses if no passage has a span with a score above
// 0. Its confidence is the probability that find assigns to the words rather than to no answer. Lists and
// overviews are read by otherwise.
func BySpans(find SpanFinder, otherwise Reader) Reader { return spans{find, otherwise} }

type spans struct {
	find      SpanFinder
	otherwise Reader
}

func (s spans) Name() string { return "spans/" + s.find.Name() + "+" + s.otherwise.Name() }

func (s spans) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	if q.Form == graphrag.List || q.Form == graphrag.Overview {
		return s.otherwise.Read(ctx, q, evidence, derived)
	}
	passages := make([]string, len(evidence))
	for i, h := range evidence {
		passages[i] = h.Chunk.Text
	}
	found, err := s.find.Find(ctx, q.Text, passages)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("reader: find spans: %w", err)
	}
	best := -1
	for i, f := range found {
		if f.Score > 0 && (best < 0 || f.Score > found[best].Score) {
			best = i
		}
	}
	if best < 0 {
		return refuse(evidence, nil), nil
	}
	c, span := evidence[best].Chunk, found[best]
	start, end := span.Start, span.End
	if q.Form != graphrag.Short {
		for _, sentence := range text.Sentences(c.Text) {
			if sentence.Start <= span.Start && span.Start < sentence.End {
				start, end = sentence.Start, max(sentence.End, span.End)
			}
		}
	}
	a := graphrag.Answer{Text: c.Text[start:end], Confidence: 1 / (1 + math.Exp(-span.Score)), Found: graphrag.Found{Evidence: evidence}}
	cited := graphrag.Citation{End: len(a.Text), Evidence: best, SourceStart: c.Start, SourceEnd: c.End}
	if isSourceSpan(c) {
		cited.SourceStart, cited.SourceEnd = c.Start+start, c.Start+end
	}
	a.Citations = []graphrag.Citation{cited}
	return a, nil
}
