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

// Describer merges the descriptions that chunks give of a thing. The passages of the result are those that its text is
// based on. Without descriptions the result is empty. It is safe for concurrent use.
type Describer interface {
	Describe(ctx context.Context, subject string, of []kg.Description) (kg.Description, error)
}

// Summarizer makes one text of several.
//
// Texts come in the order they are to be read in. Without any text worth a word
// the summary is empty. Summarize does not keep or change its argument, is safe
// for concurrent use, and stops with the context's error when ctx is cancelled.
type Summarizer interface {
	Summarize(ctx context.Context, texts []string) (Summary, error)
}

// Summary is the result of a [Summarizer].
type Summary struct {
	Text string
	// Quotes say where the words come from, in the order of Text. A model's summary has none.
	Quotes []Quote
}

// Quote says that Text[Start:End] of a summary is what bytes SourceStart to
// SourceEnd of a text say, without links and line breaks.
type Quote struct {
	Start, End             int
	Source                 int // index of the text
	SourceStart, SourceEnd int
}

//go:embed prompts/*.txt
var promptFiles embed.FS

var templates = prompts.Must("summary", promptFiles)

// ModelOptions of [ByModel].
type ModelOptions struct {
	// Model writes. It is required.
	Model llm.Model
	// Tokens is the length that is asked for; 0 means 100. Models count badly, so this is no bound.
	Tokens int
}

// Stage names the calls for summaries in accounts.
const Stage = "summarize"

// wordsPerToken is the rule of thumb for English.
const wordsPerToken = 0.75

// ByModel returns a summarizer that asks a language model. Errors wrap the errors
// of the model. Texts that are blank cost no call.
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

// Summarize implements [Summarizer].
func (m *byModel) Summarize(ctx context.Context, texts []string) (Summary, error) {
	var pieces []prompts.Data
	for _, t := range texts {
		if t = strings.TrimSpace(prompts.Printable(t)); t != "" {
			pieces = append(pieces, prompts.Data{Label: fmt.Sprintf("piece %d", len(pieces)+1), Text: t})
		}
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	if len(pieces) == 0 {
		return Summary{}, nil
	}
	words := max(1, int(wordsPerToken*float64(m.o.Tokens)))
	req, err := templates.Request(ctx, Stage, "summary", map[string]any{"Count": len(pieces), "Words": words}, pieces...)
	if err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	reply, err := m.o.Model.Generate(ctx, req)
	if err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	return Summary{Text: strings.TrimSpace(reply.Text)}, nil
}

// defaultTokens is the length of RAPTOR's summaries (parthsarthi03/raptor,
// max_tokens of its tree builder). E²GraphRAG's are about ten times as long.
const defaultTokens = 100

// ExtractiveOptions of [Extractive].
type ExtractiveOptions struct {
	// Tokens is the most a summary may have; 0 means 100.
	Tokens int
	// CountTokens counts the tokens of a text, see tokens.Counter; nil counts words.
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
	readers sync.Pool // of *reader
}

const (
	// redundancy is the weight of the similarity to a chosen sentence against the score
	// (1-λ of maximal marginal relevance, λ = 0.7).
	redundancy = 0.3
	// tooSimilar is the similarity from which on a sentence repeats a chosen one.
	tooSimilar = 0.95
)

// quotedKey is the key of a summary.
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
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	slices.Sort(chosen)
	return compose(sentences, chosen), nil
}

// choose takes sentences one by one, the one with the largest gain first, until no other one
// fits. Gains change only with a choice, and a sentence that does not fit never will: so most
// sentences of a name that is in ten thousand of them are looked at once.
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

// cosine of a sentence with another one, given by term: both have length 1.
func cosine(terms []weighted, other []float64) (sum float64) {
	for _, t := range terms {
		sum += float64(t.weight * other[t.term])
	}
	return sum
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
