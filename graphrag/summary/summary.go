// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"weak"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

// Summarizer makes one text of several.
//
// Texts come in the order they are to be read in. Without any text worth a word
// the summary is empty. Summarize does not keep or change its argument, is safe
// for concurrent use, and stops with the context's error when ctx is cancelled.
type Summarizer interface {
	// Name identifies the summarizer in reports: kind, length, model.
	Name() string
	Summarize(ctx context.Context, texts []string) (Summary, error)
}

// Summary is what a [Summarizer] says.
type Summary struct {
	Text string
	// Quotes say where the words come from, in the order of Text. A model's
	// summary has none.
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

var prompts = llm.MustPrompts(promptFiles)

// ModelOptions of [ByModel].
type ModelOptions struct {
	// Model writes. It is required.
	Model llm.Model
	// Tokens is the length that is asked for; 0 means 100. Models
	// count badly, so this is no bound.
	Tokens int
}

// Stage names the calls for summaries in accounts.
const Stage = "summarize"

// wordsPerToken is the rule of thumb for English.
const wordsPerToken = 0.75

// ByModel returns a summarizer that asks a language model. Errors are those of
// the model, wrapped. Texts that are blank cost no call.
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

// Name implements [Summarizer].
func (m *byModel) Name() string { return fmt.Sprintf("model/%d/%s", m.o.Tokens, m.o.Model.Name()) }

// Summarize implements [Summarizer].
func (m *byModel) Summarize(ctx context.Context, texts []string) (Summary, error) {
	var pieces []llm.Data
	for _, t := range texts {
		if t = strings.TrimSpace(llm.Printable(t)); t != "" {
			pieces = append(pieces, llm.Data{Label: fmt.Sprintf("piece %d", len(pieces)+1), Text: t})
		}
	}
	if err := ctx.Err(); err != nil {
		return Summary{}, fmt.Errorf("summary: %w", err)
	}
	if len(pieces) == 0 {
		return Summary{}, nil
	}
	words := max(1, int(wordsPerToken*float64(m.o.Tokens)))
	req, err := prompts.Request(Stage, "summary", map[string]any{"Count": len(pieces), "Words": words}, pieces...)
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

// queue is the sentences that may still be chosen, as a heap: the one of the largest gain
// first, equal ones in their order. Gains change only with a choice, and what does not fit
// is passed by, which is most of the sentences where a name is in many.
type queue struct {
	scores, likeness, gain []float64
	heap                   []int32
	chosen                 []float64 // the sentence that was chosen last, by term
}

func newQueue(scores []float64) *queue {
	q := &queue{scores: scores, likeness: make([]float64, len(scores)), gain: make([]float64, len(scores)), heap: make([]int32, len(scores))}
	for i := range q.heap {
		q.heap[i] = int32(i)
	}
	q.order()
	return q
}

// choose takes account of a sentence that was chosen.
func (q *queue) choose(sentences []sentence, chosen []weighted) {
	for _, t := range chosen {
		if int(t.term) >= len(q.chosen) {
			q.chosen = append(q.chosen, make([]float64, int(t.term)+1-len(q.chosen))...)
		}
		q.chosen[t.term] = t.weight
	}
	left := q.heap[:0]
	for _, i := range q.heap {
		q.likeness[i] = max(q.likeness[i], q.cosine(sentences[i].terms))
		if q.likeness[i] <= .95 { // the same again is never worth its place
			left = append(left, i)
		}
	}
	q.heap = left
	for _, t := range chosen {
		q.chosen[t.term] = 0
	}
	q.order()
}

// cosine with the chosen one: both have length 1, and their terms are in order.
func (q *queue) cosine(terms []weighted) float64 {
	sum := 0.0
	for _, t := range terms {
		if int(t.term) >= len(q.chosen) {
			break
		}
		sum += float64(t.weight * q.chosen[t.term])
	}
	return sum
}

// order computes the gains, and makes a heap.
func (q *queue) order() {
	for _, i := range q.heap {
		q.gain[i] = (1-redundancy)*q.scores[i] - redundancy*q.likeness[i]
	}
	for at := len(q.heap)/2 - 1; at >= 0; at-- {
		q.down(at)
	}
}

func (q *queue) pop() (int32, bool) {
	last := len(q.heap) - 1
	if last < 0 {
		return 0, false
	}
	first := q.heap[0]
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.down(0)
	return first, true
}

func (q *queue) down(at int) {
	for {
		child := 2*at + 1
		if child >= len(q.heap) {
			return
		}
		if child+1 < len(q.heap) && q.before(q.heap[child+1], q.heap[child]) {
			child++
		}
		if !q.before(q.heap[child], q.heap[at]) {
			return
		}
		q.heap[at], q.heap[child] = q.heap[child], q.heap[at]
		at = child
	}
}

func (q *queue) before(a, b int32) bool {
	return q.gain[a] > q.gain[b] || q.gain[a] == q.gain[b] && a < b
}
