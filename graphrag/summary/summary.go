// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// Describer merges the descriptions that chunks give of an entity or a relation. The passages of the result are
// those on which its text is based. Without descriptions the result is empty. It is safe for concurrent use.
type Describer interface {
	Describe(ctx context.Context, subject string, of []kg.Description) (kg.Description, error)
}

// Summarizer makes one text of several.
//
// The texts are in the order in which they are to be read. If none of them has a word, the summary is empty.
// Summarize does not keep or change its argument, is safe for concurrent use, and stops with the context's
// error when ctx is cancelled.
type Summarizer interface {
	Summarize(ctx context.Context, texts []string) (Summary, error)
}

// Summary is the result of a [Summarizer].
type Summary struct {
	Text string
	// Quotes say where the words come from, in the order of Text. A summary by a model has none.
	Quotes []Quote
}

// Quote says that Text[Start:End] of a summary is the content of the bytes SourceStart to SourceEnd-1 of a
// text, without links and line breaks.
type Quote struct {
	Start, End             int
	Source                 int // index of the quoted text
	SourceStart, SourceEnd int
}

//go:embed prompts/*.txt
var promptFiles embed.FS

var templates = prompts.Must("summary", promptFiles)

// ModelOptions are the options of [ByModel].
type ModelOptions struct {
	// Model writes the summaries. It is required.
	Model llm.Model
	// Tokens is the length that the model is asked for; 0 means 100. A summary may be longer.
	Tokens int
}

// Stage is the name of the step in which summaries are made.
const Stage = "summarize"

// wordsPerToken is a rule of thumb for English.
const wordsPerToken = 0.75

// ByModel returns a summarizer that asks a language model. Errors wrap the errors of the model. Blank texts
// cost no call.
func ByModel(o ModelOptions) (Summarizer, error) {
	checks := opt.Checks{Of: "summary"}
	checks.Want(o.Model != nil, "Model", "missing", "a model")
	opt.Min(&checks, "Tokens", o.Tokens, 0)
	o.Tokens = cmp.Or(o.Tokens, defaultTokens)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return &byModel{o}, nil
}

type byModel struct{ o ModelOptions }

func (m *byModel) Summarize(ctx context.Context, texts []string) (Summary, error) {
	var pieces []prompts.Data
	for _, t := range texts {
		if t = strings.TrimSpace(prompts.Printable(t)); t != "" {
			pieces = append(pieces, prompts.Data{Label: fmt.Sprintf("piece %d", len(pieces)+1), Text: t})
		}
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, fmt.Errorf("summary: summarize texts: %w", err)
	}
	if len(pieces) == 0 {
		return Summary{}, nil
	}
	words := max(1, int(wordsPerToken*float64(m.o.Tokens)))
	req, err := templates.Request(ctx, Stage, "summary", map[string]any{"Count": len(pieces), "Words": words}, pieces...)
	if err != nil {
		return Summary{}, fmt.Errorf("summary: make the prompt: %w", err)
	}
	reply, err := m.o.Model.Generate(ctx, req)
	if err != nil {
		return Summary{}, fmt.Errorf("summary: ask the model: %w", err)
	}
	return Summary{Text: strings.TrimSpace(reply.Text)}, nil
}

// defaultTokens is the length of RAPTOR's summaries (parthsarthi03/raptor, max_tokens of its tree builder).
// Summaries of E²GraphRAG are about ten times as long.
const defaultTokens = 100

// ExtractiveOptions are the options of [Extractive].
type ExtractiveOptions struct {
	// Tokens is the largest number of tokens of a summary; 0 means 100.
	Tokens int
	// CountTokens counts the tokens of a text (see tokens.Counter); nil counts words.
	CountTokens func(string) int
}

// Extractive returns a summarizer that needs no model: a summary is made of
// sentences of the texts, in their order, each with a quote.
//
// A sentence scores by its cosine with the centroid of all sentences, over terms weighted by how often they
// occur and in how few sentences (Radev, Jing, Styś and Tam, "Centroid-based summarization of multiple
// documents", 2004), and sentences are chosen one by one by maximal marginal relevance (Carbonell and
// Goldstein, SIGIR 1998) until no other one fits. Only sentences that state something count: headings,
// navigation, tables, lists of links, questions, and what web pages say of cookies and subscriptions are
// quoted where there is nothing else. A first sentence that is too long by itself is cut after a word.
//
// Equal input gives equal summaries. Only an error of ctx is returned.
func Extractive(o ExtractiveOptions) (Summarizer, error) {
	checks := opt.Checks{Of: "summary"}
	opt.Min(&checks, "Tokens", o.Tokens, 0)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	o.Tokens = cmp.Or(o.Tokens, defaultTokens)
	if o.CountTokens == nil {
		o.CountTokens = countWords
	}
	x := &extractive{o: o, readers: sync.Pool{New: func() any { return &reader{numbers: new(text.Vocabulary).Numbering(text.Default())} }}}
	return x, nil
}

func countWords(s string) (n int) {
	for range strings.FieldsSeq(s) {
		n++
	}
	return n
}

type extractive struct {
	o       ExtractiveOptions
	readers sync.Pool // pool of *reader
}

const (
	// redundancy is the weight of the similarity to a chosen sentence, relative to the score: 1-λ of maximal
	// marginal relevance, with λ = 0.7.
	redundancy = 0.3
	// tooSimilar is the similarity from which a sentence repeats a chosen one.
	tooSimilar = 0.95
)

// quotedKey is the key of a cached summary.
type quotedKey struct {
	by *extractive
	of memo.Digest
}

// Summarize implements [Summarizer]. A summary of several texts is made once under a memo, because the
// systems of a family describe the same things, and stays under a [memo.Keeper] as long as its texts do.
func (x *extractive) Summarize(ctx context.Context, texts []string) (Summary, error) {
	key := quotedKey{x, memo.DigestOf(slices.Values(texts))}
	still := func() (Summary, error) {
		return memo.Still(ctx, key, func() (Summary, error) { return x.summarize(ctx, texts) })
	}
	if len(texts) < 2 {
		return still()
	}
	return memo.Of(ctx, key, still)
}

func (x *extractive) summarize(ctx context.Context, texts []string) (Summary, error) {
	by, _ := x.readers.Get().(*reader)
	defer func() {
		by.reset()
		x.readers.Put(by)
	}()
	sentences, err := by.collect(ctx, texts)
	var chosen []int32
	if err == nil {
		chosen, err = x.choose(ctx, sentences, len(by.seen))
	}
	if err != nil {
		return Summary{}, fmt.Errorf("summary: choose sentences: %w", err)
	}
	slices.Sort(chosen)
	return compose(sentences, chosen), nil
}

// choose selects sentences one by one, each time the one with the largest gain, until no other one fits. A
// choice can only lower the gains of others, and a sentence that does not fit never will: so most of the
// sentences, which may be ten thousand for a name, are examined once.
func (x *extractive) choose(ctx context.Context, sentences []sentence, terms int) (chosen []int32, err error) {
	scores, similar, last := centrality(sentences, terms), make([]float64, len(sentences)), make([]float64, terms)
	gain := func(i int32) float64 { return (1-redundancy)*scores[i] - redundancy*similar[i] }
	left := make([]int32, len(sentences))
	for i := range left {
		left[i] = int32(i)
	}
	for tokens := x.o.Tokens; tokens > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		slices.SortFunc(left, func(a, b int32) int { return cmp.Or(cmp.Compare(gain(b), gain(a)), cmp.Compare(a, b)) })
		cost := 0
		at := slices.IndexFunc(left, func(i int32) bool {
			s := &sentences[i]
			if cost = x.o.CountTokens(s.quote); len(chosen) == 0 && cost > tokens {
				x.cut(s)
				cost = tokens
			}
			return cost <= tokens && s.quote != ""
		})
		if at < 0 {
			break
		}
		tokens -= cost
		next := &sentences[left[at]]
		chosen = append(chosen, left[at])
		for _, t := range next.terms {
			last[t.term] = t.weight
		}
		left = slices.DeleteFunc(left[at+1:], func(i int32) bool {
			similar[i] = max(similar[i], cosine(sentences[i].terms, last))
			return similar[i] > tooSimilar
		})
		for _, t := range next.terms {
			last[t.term] = 0
		}
	}
	return chosen, nil
}

// cosine returns the cosine of two sentences of length 1; other is given by term.
func cosine(terms []weighted, other []float64) (sum float64) {
	for _, t := range terms {
		sum += float64(t.weight * other[t.term])
	}
	return sum
}

// cut shortens a sentence to as many whole words as fit.
func (x *extractive) cut(s *sentence) {
	words := strings.Fields(s.quote)
	low, high := 0, len(words) // low words fit, high+1 words do not
	for low < high {
		middle := (low + high + 1) / 2
		if x.o.CountTokens(strings.Join(words[:middle], " ")) <= x.o.Tokens {
			low = middle
		} else {
			high = middle - 1
		}
	}
	s.quote = strings.Join(words[:low], " ")
	// The span ends with the last word. If marks or control characters, which are not quoted, are within words,
	// it is not shortened.
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

// compose makes the summary of the chosen sentences.
func compose(sentences []sentence, chosen []int32) Summary {
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
