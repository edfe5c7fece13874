// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

// What a sentence must be like to be quoted before others: prose, neither a
// fragment nor a wall of words.
const (
	minWords    = 5
	maxWords    = 90
	minLetters  = 0.6 // share of letters among the characters that are not blank
	maxLinkPart = 0.6 // share of bytes that stripping the links takes away
)

// sentence may be quoted.
type sentence struct {
	quote string // without links, on one line
	of    *source
	span  text.Span  // in the text without links
	terms []weighted // by term, length 1
}

// source is a text and its place among those that are summarised.
type source struct {
	index   int
	clean   string
	mapping text.Mapping
}

// weighted is a component of a sparse vector.
type weighted struct {
	term   int32
	weight float64
}

// reading is what there is in a text by itself. The same texts are in many summaries.
type reading struct {
	clean     string
	mapping   text.Mapping
	sentences []said
	terms     []counted // of all sentences
}

// said is a sentence with words.
type said struct {
	quote    string
	span     text.Span
	prose    bool
	from, to int // its terms among all, in the order of their first appearance
}

// readKey is the key of a reading: the name of the analyzer stands for its terms.
type readKey struct{ analyzer, text string }

// longestKept is the longest text whose reading is kept, in bytes. What names and facts are
// described by are sentences; longer texts are in few summaries, and many.
const longestKept = 2000

func (x *extractive) once(ctx context.Context, by *reader, s string) (*reading, error) {
	if len(s) > longestKept {
		return read(by, s), nil
	}
	return memo.Of(ctx, readKey{x.o.Analyzer.Name(), s}, func() (*reading, error) { return read(by, s), nil })
}

func read(by *reader, s string) *reading {
	r := new(reading)
	r.clean, r.mapping = text.StripLinks(s)
	by.said, by.terms = by.said[:0], by.terms[:0]
	for _, span := range text.Sentences(r.clean) {
		one := said{quote: plain(span.In(r.clean)), span: span, from: len(by.terms)}
		words := by.count(one.quote)
		if words == 0 {
			continue
		}
		by.terms = append(by.terms, by.counts...)
		one.to = len(by.terms)
		source := r.mapping.Span(span)
		one.prose = isProse(one.quote, words, source.End-source.Start) && one.to > one.from
		by.said = append(by.said, one)
	}
	r.sentences, r.terms = slices.Clone(by.said), slices.Clone(by.terms)
	return r
}

// collect returns the sentences of prose of all texts, or, if there are none,
// all that has words, in memory of the reader. The one error is that of ctx.
func (x *extractive) collect(ctx context.Context, by *reader, texts []string) ([]sentence, error) {
	g, err := x.shared(ctx)
	if err != nil {
		return nil, err
	}
	by.begin(g)
	defer by.end()
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := x.once(ctx, by, s)
		if err != nil {
			return nil, err
		}
		of := &source{i, r.clean, r.mapping} // not what was read: a name may be in ten thousand sentences
		for _, one := range r.sentences {
			next := sentence{quote: one.quote, of: of, span: one.span, terms: by.places(r.terms[one.from:one.to])}
			slices.SortFunc(next.terms, func(a, b weighted) int { return cmp.Compare(a.term, b.term) })
			if one.prose {
				by.prose = append(by.prose, next)
			} else {
				by.rest = append(by.rest, next)
			}
		}
	}
	found := by.prose
	if len(found) == 0 {
		found = by.rest
	}
	weigh(found, len(by.numbered))
	return found, nil
}

// plain returns a sentence as it is quoted: without marks of markdown at its
// beginning, control characters and line breaks.
func plain(s string) string {
	if isPlain(s) {
		return s
	}
	s = strings.TrimLeft(llm.Printable(s), marks)
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "**", "")), " ")
}

// isPlain tells that there is nothing to do: nearly all sentences are of letters and
// single blanks.
func isPlain(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == last && (c == ' ' || c == '*') || i == 0 && strings.IndexByte(marks, c) >= 0 {
			return false
		}
		last = c
	}
	return last != ' '
}

// marks stand before a sentence, and are not quoted.
const marks = "#*->+|=•_~` \t\r\n"

// boilerplate are words of what web pages say about themselves.
var boilerplate = []string{
	"cookie", "privacy policy", "terms of use", "terms of service", "all rights reserved", "copyright ©", "javascript",
	"your browser", "newsletter", "subscribe", "sign up", "sign in", "log in", "click ", "adblock",
}

// isStatement tells a sentence with a full stop or an exclamation mark from
// headings, captions, titles of links, and questions.
func isStatement(quote string) bool {
	s := strings.TrimRight(quote, "\"'”’»)]*_ ")
	last, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(".!…。！।۔", last) && !strings.HasPrefix(quote, "Image ")
}

// isProse tells a sentence of so many words, made of so many bytes of a text,
// from navigation, tables and fragments.
func isProse(quote string, words, bytes int) bool {
	if words < minWords || words > maxWords || float64(bytes-len(quote)) > maxLinkPart*float64(bytes) ||
		strings.ContainsRune(quote, '|') || strings.Contains(quote, "](") || !isStatement(quote) {
		return false
	}
	folded := strings.ToLower(quote)
	if slices.ContainsFunc(boilerplate, func(p string) bool { return strings.Contains(folded, p) }) {
		return false
	}
	letters, all := 0, 0
	for _, r := range quote {
		if r != ' ' {
			all++
		}
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			letters++
		}
	}
	return float64(letters) >= minLetters*float64(all)
}

// weigh turns counts into weights, (1 + ln tf)·ln(1 + n/df), and scales each
// sentence to length 1.
func weigh(sentences []sentence, terms int) {
	rare := make([]float64, terms)
	for _, s := range sentences {
		for _, t := range s.terms {
			rare[t.term]++
		}
	}
	for t, df := range rare {
		if df > 0 {
			rare[t] = math.Log(1 + float64(len(sentences))/df)
		}
	}
	for _, s := range sentences {
		sum := 0.0
		for j, t := range s.terms {
			w := (1 + math.Log(t.weight)) * rare[t.term]
			s.terms[j].weight = w
			sum += float64(w * w)
		}
		length := math.Sqrt(sum)
		for j := range s.terms {
			s.terms[j].weight /= length
		}
	}
}

// centrality returns the cosine of each sentence with the centroid of all.
func centrality(sentences []sentence) []float64 {
	size := 0
	for _, s := range sentences {
		for _, t := range s.terms {
			size = max(size, int(t.term)+1)
		}
	}
	centroid, sum := make([]float64, size), 0.0
	for _, s := range sentences {
		for _, t := range s.terms {
			centroid[t.term] += t.weight
		}
	}
	for _, w := range centroid {
		sum += float64(w * w)
	}
	scores := make([]float64, len(sentences))
	if sum == 0 {
		return scores
	}
	for i, s := range sentences {
		for _, t := range s.terms {
			scores[i] += float64(t.weight * centroid[t.term])
		}
		scores[i] /= math.Sqrt(sum)
	}
	return scores
}

// glossary numbers terms, under a memo for all who read.
type glossary struct {
	mu    sync.Mutex
	terms *text.Vocabulary
}

func newGlossary() *glossary { return &glossary{terms: text.NewVocabulary()} }

func (g *glossary) number(term string) int32 {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, _ := g.terms.Add([]byte(term))
	return int32(n)
}

// glossaryKey is the key of the glossary of readings that are shared.
type glossaryKey struct{ analyzer string }

// shared is the glossary of the memo, nil if there is none: then no readings are shared, and
// each reader has its own.
func (x *extractive) shared(ctx context.Context) (*glossary, error) {
	if !memo.Under(ctx) {
		return nil, nil
	}
	return memo.Of(ctx, glossaryKey{x.o.Analyzer.Name()}, func() (*glossary, error) { return newGlossary(), nil })
}

// reader reads texts, one after the other. It remembers words and keeps its memory.
type reader struct {
	analyzer text.Analyzer
	shared   *glossary // nil if the glossary is the reader's own
	glossary *glossary
	words    *text.Vocabulary
	number   []int32   // of the term of each word, -1 for none
	counts   []counted // of the sentence
	place    []int32   // of a term among the counts, from 1; 0 between sentences
	local    []int32   // of a term among those of a summary, from 1; 0 between summaries
	numbered []int32   // the terms that have one

	said        []said     // of a text
	terms       []counted  // of its sentences
	prose, rest []sentence // of a summary
	weights     []weighted // of their terms
}

// counted is how often a term is in a sentence.
type counted struct{ term, times int32 }

// rememberedWords is how many words a reader remembers.
const rememberedWords = 1 << 17

// begin begins a summary, under a glossary that is shared or, for nil, the reader's own.
func (r *reader) begin(shared *glossary) {
	clear(r.prose) // they hold texts
	clear(r.rest)
	r.prose, r.rest, r.weights = r.prose[:0], r.rest[:0], r.weights[:0]
	if r.words != nil && r.shared == shared && r.words.Len() <= rememberedWords {
		return
	}
	r.shared, r.glossary = shared, shared
	if shared == nil {
		r.glossary = newGlossary()
	}
	r.words, r.number = text.NewVocabulary(), r.number[:0]
}

func (r *reader) term(word []byte) int32 {
	n, added := r.words.Add(word)
	if added {
		t := int32(-1)
		if term, ok := r.analyzer.Term(string(word)); ok {
			t = r.glossary.number(term)
		}
		r.number = append(r.number, t)
	}
	return r.number[n]
}

// count counts the words of a sentence, and its terms, in the order of their first
// appearance, until the next sentence.
func (r *reader) count(s string) (words int) {
	for _, c := range r.counts {
		r.place[c.term] = 0
	}
	r.counts = r.counts[:0]
	r.analyzer.Words(s, func(word []byte) bool {
		words++
		t := r.term(word)
		if t < 0 {
			return true
		}
		if int(t) >= len(r.place) {
			r.place = append(r.place, make([]int32, int(t)+1-len(r.place))...)
		}
		if r.place[t] == 0 {
			r.counts = append(r.counts, counted{term: t})
			r.place[t] = int32(len(r.counts))
		}
		r.counts[r.place[t]-1].times++
		return true
	})
	return words
}

// places are the terms of a sentence by their places among those of the summary, in the
// order in which these come up, until the next summary.
func (r *reader) places(of []counted) []weighted {
	start := len(r.weights)
	for _, c := range of {
		if int(c.term) >= len(r.local) {
			r.local = append(r.local, make([]int32, int(c.term)+1-len(r.local))...)
		}
		if r.local[c.term] == 0 {
			r.numbered = append(r.numbered, c.term)
			r.local[c.term] = int32(len(r.numbered))
		}
		r.weights = append(r.weights, weighted{r.local[c.term] - 1, float64(c.times)})
	}
	return r.weights[start:len(r.weights):len(r.weights)]
}

// end ends a summary, and returns how many terms it had.
func (r *reader) end() int {
	n := len(r.numbered)
	for _, t := range r.numbered {
		r.local[t] = 0
	}
	r.numbered = r.numbered[:0]
	return n
}
