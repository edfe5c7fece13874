// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"weak"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// defaultTokens is the length of RAPTOR's summaries (parthsarthi03/raptor,
// max_tokens of its tree builder). E²GraphRAG's are about ten times as long.
const defaultTokens = 100

// ExtractiveOptions of [Extractive].
type ExtractiveOptions struct {
	// Tokens is the most a summary may have; 0 means 100.
	Tokens int
	// CountTokens counts the tokens of a text, see tokens.Counter; nil counts
	// words.
	CountTokens func(string) int
	// Analyzer makes the terms; nil means text.Default().
	Analyzer text.Analyzer
}

// Extractive returns a summarizer that needs no model: a summary is made of
// sentences of the texts, in their order, each with a quote.
//
// A sentence scores by its cosine with the centroid of all sentences, over terms
// weighted by how often they occur and in how few sentences (Radev, Jing, Styś
// and Tam, "Centroid-based summarization of multiple documents", 2004), and
// sentences are chosen one by one by maximal marginal relevance (Carbonell and
// Goldstein, SIGIR 1998) until no other one fits. Only sentences that state
// something count: headings, navigation, tables, lists of links, questions, and
// what web pages say of cookies and subscriptions are quoted where there is
// nothing else. A first sentence that is too long by itself is cut after a word.
//
// Equal input gives equal summaries. Only an error of ctx is returned.
func Extractive(o ExtractiveOptions) (Summarizer, error) {
	checks := opt.Checks{Of: "summary"}
	opt.Min(&checks, "Tokens", o.Tokens, 0)
	o.Tokens = cmp.Or(o.Tokens, defaultTokens)
	if o.CountTokens == nil {
		o.CountTokens = countWords
	}
	if o.Analyzer == nil {
		o.Analyzer = text.Default()
	}
	x := &extractive{o: o, readers: make(chan weak.Pointer[reader], runtime.GOMAXPROCS(0))}
	for range cap(x.readers) {
		x.readers <- weak.Pointer[reader]{}
	}
	return x, checks.Err()
}

func countWords(s string) (n int) {
	for range strings.FieldsSeq(s) {
		n++
	}
	return n
}

type extractive struct {
	o ExtractiveOptions
	// readers are those that are free: as many as there are processors, because who makes a
	// summary holds all its sentences. What they remember, some 10 MB each where a corpus is
	// described, is theirs only as long as they are at work between collections of garbage:
	// a summarizer lives as long as its kit.
	readers chan weak.Pointer[reader]
}

// Name implements [Summarizer].
func (x *extractive) Name() string { return fmt.Sprintf("extractive/%d", x.o.Tokens) }

// redundancy is how much likeness to a chosen sentence counts against a score
// (1-λ of maximal marginal relevance, λ = 0.7).
const redundancy = 0.3

// quotedKey is the key of a summary.
type quotedKey struct {
	by *extractive
	of memo.Digest
}

// Summarize implements [Summarizer]. One of several texts is made once under a memo: the
// systems of a family describe the same things.
func (x *extractive) Summarize(ctx context.Context, texts []string) (Summary, error) {
	if len(texts) < 2 {
		return x.summarize(ctx, texts)
	}
	return memo.Of(ctx, quotedKey{x, memo.DigestOf(slices.Values(texts))}, func() (Summary, error) { return x.summarize(ctx, texts) })
}

func (x *extractive) summarize(ctx context.Context, texts []string) (Summary, error) {
	var by *reader
	select {
	case free := <-x.readers:
		if by = free.Value(); by == nil {
			by = &reader{analyzer: x.o.Analyzer}
		}
		defer func() { x.readers <- weak.Make(by) }()
	case <-ctx.Done():
		return Summary{}, fmt.Errorf("summary: %w", ctx.Err())
	}
	sentences, err := x.collect(ctx, by, texts)
	if err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	chosen, left := []int(nil), x.o.Tokens
	queue := newQueue(centrality(sentences))
	for left > 0 {
		if err := ctx.Err(); err != nil {
			return Summary{}, fmt.Errorf("summary: %w", err)
		}
		next, ok := queue.pop()
		if !ok {
			break
		}
		s := &sentences[next]
		cost := x.o.CountTokens(s.quote)
		if len(chosen) == 0 && cost > left {
			x.cut(s)
			cost = left
		}
		if cost > left || s.quote == "" {
			continue
		}
		left -= cost
		chosen = append(chosen, int(next))
		queue.choose(sentences, s.terms)
	}
	slices.Sort(chosen)
	return compose(sentences, chosen), nil
}

// cut shortens a sentence to as many whole words as the limit allows.
func (x *extractive) cut(s *sentence) {
	words := strings.Fields(s.quote)
	low, high := 0, len(words) // low words fit, high+1 do not
	for low < high {
		middle := (low + high + 1) / 2
		if x.o.CountTokens(strings.Join(words[:middle], " ")) <= x.o.Tokens {
			low = middle
		} else {
			high = middle - 1
		}
	}
	s.quote = strings.Join(words[:low], " ")
	// The span ends with the last word. Marks and control characters that are
	// not quoted may stand within words; then it stays as it is.
	end := s.span.Start
	for _, w := range words[:low] {
		at := strings.Index(s.of.clean[end:s.span.End], w)
		if at < 0 {
			return
		}
		end += at + len(w)
	}
	s.span.End = end
}

// compose makes a summary of the chosen sentences.
func compose(sentences []sentence, chosen []int) Summary {
	size := len(chosen)
	for _, i := range chosen {
		size += len(sentences[i].quote)
	}
	var b strings.Builder
	b.Grow(size)
	var out Summary
	out.Quotes = slices.Grow(out.Quotes, len(chosen))
	for _, i := range chosen {
		s := sentences[i]
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		start := b.Len()
		b.WriteString(s.quote)
		place := s.of.mapping.Span(s.span)
		out.Quotes = append(out.Quotes, Quote{
			Start: start, End: b.Len(), Source: s.of.index, SourceStart: place.Start, SourceEnd: place.End,
		})
	}
	out.Text = b.String()
	return out
}
