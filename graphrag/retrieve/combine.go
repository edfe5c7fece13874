// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"unicode"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/trace"
)

// Batch is a retriever that answers several questions in one call, which saves round trips. It returns one
// result for each question, in their order.
type Batch interface {
	RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error)
}

// callsAtOnce is the least number of concurrent calls of a retriever that is not a [Batch].
const callsAtOnce = 8

// All retrieves for several questions: in one call if r is a [Batch], otherwise in concurrent calls.
func All(ctx context.Context, r graphrag.Retriever, qs []graphrag.Question) ([]graphrag.Found, error) {
	if b, ok := r.(Batch); ok {
		found, err := b.RetrieveAll(ctx, qs)
		if err == nil && len(found) != len(qs) {
			err = fmt.Errorf("retrieve: the retriever returned %d results for %d questions", len(found), len(qs))
		}
		return found, err
	}
	found := make([]graphrag.Found, len(qs))
	err := each(ctx, len(qs), func(i int) (err error) {
		found[i], err = r.Retrieve(ctx, qs[i])
		return err
	})
	return found, err
}

// each calls f for 0 to n-1 concurrently.
func each(ctx context.Context, n int, f func(i int) error) error {
	return par.Each(ctx, n, max(callsAtOnce, runtime.GOMAXPROCS(0)), f)
}

// retrieveOne implements Retrieve by RetrieveAll.
func retrieveOne(ctx context.Context, b Batch, q graphrag.Question) (graphrag.Found, error) {
	found, err := b.RetrieveAll(ctx, []graphrag.Question{q})
	if err != nil {
		return graphrag.Found{}, err
	}
	return found[0], nil
}

// fuseDepth is the least number of chunks asked of each retriever: a chunk at rank 30 of one list may be the
// first of the merged list.
const fuseDepth = 100

// Fuse returns a retriever that asks several retrievers concurrently and merges their rankings by reciprocal
// rank fusion (Cormack and others, SIGIR 2009). Derived texts (without repetitions), steps and usage are joined
// in the order of the retrievers.
func Fuse(retrievers ...graphrag.Retriever) (graphrag.Retriever, error) {
	return FuseOptions{}.Fuse(retrievers...)
}

// FuseOptions are the options of fusion. [Fuse] uses the zero value.
type FuseOptions struct {
	// K is the constant of reciprocal rank fusion, above 0; 0 means 60, as in the paper. A smaller K favours
	// the first ranks.
	K float64
	// Weights has a weight of 0 or more for each retriever; nil means equal weights.
	Weights []float64
}

// Fuse does the same as the function [Fuse], with options.
func (o FuseOptions) Fuse(retrievers ...graphrag.Retriever) (graphrag.Retriever, error) {
	c := opt.Checks{Of: "retrieve: Fuse"}
	if len(retrievers) == 0 || slices.Contains(retrievers, nil) {
		c.Add(errMissing)
	}
	opt.Min(&c, "K", o.K, 0)
	c.Want(o.Weights == nil || len(o.Weights) == len(retrievers), "Weights", len(o.Weights), "one for each retriever")
	for _, w := range o.Weights {
		opt.Min(&c, "Weights", w, 0)
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	o.Weights = slices.Clone(o.Weights)
	return fused{o, slices.Clone(retrievers)}, nil
}

var errMissing = errors.New("a retriever is missing")

type fused struct {
	o   FuseOptions
	all []graphrag.Retriever
}

func (f fused) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	return retrieveOne(ctx, f, q)
}

// RetrieveAll implements [Batch]: each retriever gets all questions in one call of [All].
func (f fused) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	deeper := slices.Clone(qs)
	for i, q := range qs {
		deeper[i].Depth = max(q.Want(), fuseDepth)
	}
	all := make([][]graphrag.Found, len(f.all))
	g, gctx := errgroup.WithContext(ctx)
	for i, r := range f.all {
		g.Go(func() (err error) {
			all[i], err = All(gctx, r, deeper)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]graphrag.Found, len(qs))
	for i, q := range qs {
		lists := make([]graphrag.Found, len(all))
		for j := range all {
			lists[j] = all[j][i]
		}
		out[i] = f.o.Merge(lists, q.Want())
	}
	return out, nil
}

// Merge merges results by reciprocal rank fusion, as [Fuse] does.
func (o FuseOptions) Merge(all []graphrag.Found, want int) graphrag.Found {
	found, _ := merge(all, want, func(lists ...[]rank.Scored[string]) ([]rank.Scored[string], error) {
		ids := make([][]string, len(lists))
		for i, list := range lists {
			for _, x := range list {
				ids[i] = append(ids[i], x.ID)
			}
		}
		return rank.Weighted(cmp.Or(o.K, rank.K), o.Weights, ids...), nil
	})
	return found
}

// Highest merges results so that a chunk has the highest of its scores, which must be comparable between
// results (as in IRCoT of HippoRAG, src/ircot).
func Highest(all []graphrag.Found, want int) (graphrag.Found, error) {
	return merge(all, want, rank.CombMAX)
}

// merge merges several results by a rule for their rankings.
func merge(all []graphrag.Found, want int, rule func(...[]rank.Scored[string]) ([]rank.Scored[string], error)) (graphrag.Found, error) {
	var out graphrag.Found
	hits := make(map[string]graphrag.Hit)
	lists := make([][]rank.Scored[string], len(all))
	for i, found := range all {
		for _, h := range found.Ranked {
			lists[i] = append(lists[i], rank.Scored[string]{ID: h.Chunk.ID, Score: h.Score})
			if _, ok := hits[h.Chunk.ID]; !ok {
				hits[h.Chunk.ID] = h
			}
		}
		for _, d := range found.Derived {
			if !slices.ContainsFunc(out.Derived, func(o graphrag.Derived) bool { return o.Kind == d.Kind && o.Text == d.Text }) {
				out.Derived = append(out.Derived, d)
			}
		}
		out.Steps = append(out.Steps, found.Steps...)
		out.Usage = out.Usage.Add(found.Usage)
	}
	order, err := rule(lists...)
	out.Ranked = []graphrag.Hit{}
	for _, x := range order {
		if len(out.Ranked) == want {
			break
		}
		h := hits[x.ID]
		h.Score = x.Score
		out.Ranked = append(out.Ranked, h)
	}
	return out, err
}

// PerDoc returns a retriever with at most n chunks of one document, so that a long page does not fill the list;
// the next chunks of the ranking replace those left out. If there are too few, it asks r again for a longer
// ranking. An n of 0 is no limit.
func PerDoc(r graphrag.Retriever, n int) (graphrag.Retriever, error) {
	var errs []error
	if r == nil {
		errs = append(errs, errors.New("retrieve: PerDoc: the retriever is missing"))
	}
	if n < 0 {
		errs = append(errs, fmt.Errorf("retrieve: PerDoc: %d chunks of one document, want 0 or more", n))
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	l, ok := r.(Limiter)
	switch {
	case n == 0:
		return r, nil
	case ok:
		return perDocLimiter{limitedPerDoc{r, n}, l}, nil
	}
	return limitedPerDoc{r, n}, nil
}

// perDocLimiter is the retriever of PerDoc for a [Limiter].
type perDocLimiter struct {
	limitedPerDoc
	l Limiter
}

func (p perDocLimiter) Update(ctx context.Context, added, gone []graphrag.Chunk) (Updater, error) {
	u, err := p.l.Update(ctx, added, gone)
	if l, ok := u.(Limiter); ok {
		return perDocLimiter{limitedPerDoc{u, p.n}, l}, err
	}
	return nil, err
}

func (p perDocLimiter) Limit(text string, c graphrag.Condition) graphrag.Retriever {
	return limitedPerDoc{p.l.Limit(text, c), p.n}
}

type limitedPerDoc struct {
	r graphrag.Retriever
	n int
}

func (p limitedPerDoc) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	var usage graphrag.Usage
	want := q.Want()
	for depth := 4 * want; ; depth *= 4 {
		deeper := q
		deeper.Depth = depth
		found, err := p.r.Retrieve(ctx, deeper)
		if err != nil {
			return found, err
		}
		usage = usage.Add(found.Usage)
		all := len(found.Ranked) < depth || depth == 0
		if found.Ranked != nil {
			found.Ranked = p.first(found.Ranked, want)
		}
		if all || len(found.Ranked) == want {
			found.Usage = usage
			return found, nil
		}
	}
}

// first returns the first hits of a ranking, at most n of each document.
func (p limitedPerDoc) first(hits []graphrag.Hit, want int) []graphrag.Hit {
	out := []graphrag.Hit{}
	limit := newLimit(p.n)
	for _, h := range hits {
		if len(out) < want && limit.take(h.Chunk.Doc) {
			out = append(out, h)
		}
	}
	return out
}

// Fit returns the evidence and the derived texts that fit into the given number of tokens. Derived texts get
// half of the tokens, or more if the evidence needs less than half; evidence gets the rest. Both are taken in
// the given order, up to the first that does not fit. If nothing fits, the first chunk is cut. The evidence is
// never nil.
func Fit(evidence []graphrag.Hit, derived []graphrag.Derived, tokens int, count func(string) int) ([]graphrag.Hit, []graphrag.Derived) {
	left := tokens
	for i := 0; i < len(evidence) && len(derived) > 0 && left > tokens/2; i++ {
		left = max(left-count(evidence[i].Chunk.Prompt()), tokens/2)
	}
	used, notes := 0, 0
	for ; notes < len(derived); notes++ {
		n := count(derived[notes].Text)
		if used+n > left {
			break
		}
		used += n
	}
	left = tokens - used
	out := []graphrag.Hit{}
	for _, h := range evidence {
		n := count(h.Chunk.Prompt())
		if n > left {
			if len(out) == 0 && notes == 0 {
				out = append(out, shorten(h, left, count))
			}
			break
		}
		left -= n
		out = append(out, h)
	}
	return out, derived[:notes:notes]
}

// shorten cuts a hit to the whole words that fit into the given number of tokens, and adjusts the end of its
// source span. A lead that takes more than half of the tokens is removed.
func shorten(h graphrag.Hit, tokens int, count func(string) int) graphrag.Hit {
	if count(h.Chunk.Lead) > tokens/2 {
		h.Chunk.Lead = ""
	}
	full := h.Chunk
	var ends []int // end of each word
	inside := false
	for i, r := range full.Text {
		if inside && unicode.IsSpace(r) {
			ends = append(ends, i)
		}
		inside = !unicode.IsSpace(r)
	}
	if inside {
		ends = append(ends, len(full.Text))
	}
	low, high := 0, len(ends) // low words fit, high+1 words do not
	for low < high {
		middle := (low + high + 1) / 2
		h.Chunk.Text = full.Text[:ends[middle-1]]
		if count(h.Chunk.Prompt()) <= tokens {
			low = middle
		} else {
			high = middle - 1
		}
	}
	h.Chunk.Text = ""
	if low > 0 {
		h.Chunk.Text = full.Text[:ends[low-1]]
	}
	// The text of a chunk equals its source span, unless it was cleaned. Cleaning only removes bytes.
	if len(full.Text) == full.End-full.Start {
		h.Chunk.End = full.Start + len(h.Chunk.Text)
	}
	h.Chunk.Tokens = 0 // unknown in the tokens of the splitter
	return h
}

// Scorer scores how well passages answer a question: a number for each, the larger the
// better. [local.Reranker] is one.
//
// [local.Reranker]: https://pkg.go.dev/github.com/wildgraph/wildgraph/graphrag/embed/local#Reranker
type Scorer interface {
	Scores(ctx context.Context, question string, passages []string) ([]float64, error)
}

// rerankDepth is the least number of ranked chunks that are reranked: they take about a second with a BERT of
// six layers on two cores.
const rerankDepth = 50

// Rerank returns a retriever that sorts the chunks of another one by their scores, which are computed with
// their titles: the ranked chunks, and those that a system selected as evidence. Chunks of equal score keep
// their order.
func Rerank(of graphrag.Retriever, by Scorer) graphrag.Retriever { return reranked{of, by} }

type reranked struct {
	of graphrag.Retriever
	by Scorer
}

func (r reranked) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	asked := q
	asked.Depth = max(q.Want(), rerankDepth)
	found, err := r.of.Retrieve(ctx, asked)
	if err != nil || len(found.Ranked)+len(found.Evidence) == 0 {
		return found, err
	}
	var passages []string
	at := make(map[string]int) // index of each chunk, since evidence is often ranked too
	for _, h := range slices.Concat(found.Ranked, found.Evidence) {
		text := h.Chunk.Titled()
		if _, ok := at[text]; !ok {
			at[text] = len(passages)
			passages = append(passages, text)
		}
	}
	scores, err := trace.Do(ctx, "rerank", func(ctx context.Context) ([]float64, error) { return r.by.Scores(ctx, q.Text, passages) }, slog.Int("wildgraph.passages", len(passages)))
	if err != nil {
		return found, fmt.Errorf("retrieve: rerank: %w", err)
	}
	if len(scores) != len(passages) {
		return found, fmt.Errorf("retrieve: rerank: %d scores for %d passages", len(scores), len(passages))
	}
	order := func(hits []graphrag.Hit) []graphrag.Hit {
		hits = slices.Clone(hits)
		for i := range hits {
			hits[i].Score = scores[at[hits[i].Chunk.Titled()]]
		}
		slices.SortStableFunc(hits, func(a, b graphrag.Hit) int { return cmp.Compare(b.Score, a.Score) })
		return hits
	}
	found.Ranked, found.Evidence = order(found.Ranked), order(found.Evidence)
	return found, nil
}
