// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// counter is an embedder that counts texts.
type counter struct {
	mu    sync.Mutex
	texts []string
}

func (c *counter) Name() string { return "vectors" }

func (c *counter) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts = append(c.texts, texts...)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = llmtest.HashVector(t, 8)
	}
	return out, nil
}

func (c *counter) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := c.EmbedDocuments(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

func TestVectorsArePaidOnce(t *testing.T) {
	o := paid.Options{File: file(t)}
	inner := &counter{}
	texts := make([]string, 700)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i%650)
	}
	var all [2][][]float32
	for start := range all {
		c := open(t, o)
		e := embedder(t, c, inner)
		var err error
		all[start], err = e.EmbedDocuments(t.Context(), texts)
		check.Must(t, err == nil && len(inner.texts) == 650, "start %d: %d texts embedded, %v", start, len(inner.texts), err)
		kept := slices.Clone(all[start][0])
		all[start][0][0] = 99
		again, _ := e.EmbedDocuments(t.Context(), texts[:1])
		check.Equal(t, again[0], kept, "the cache hands out its own memory")
		all[start][0] = kept
		_ = c.Close()
	}
	check.Equal(t, all[1], all[0])
	c := open(t, o)
	_, err := embedder(t, c, named{inner, "other"}).EmbedDocuments(t.Context(), texts[:1])
	check.True(t, err == nil && len(inner.texts) == 651, "another name: %d texts, %v", len(inner.texts), err)
	check.True(t, check.Err(paid.CachedEmbedder(named{inner, ""}, nil)) != nil, "an empty name was accepted")
}

// named is an embedder under another name.
type named struct {
	llm.NamedEmbedder
	name string
}

func (n named) Name() string { return n.name }

// requests is an embedder that takes two texts a request, bills every request, and
// may have something wrong with a reply.
type requests struct {
	mu        sync.Mutex
	delivered map[string]int // how often the vector of a text was given
	n         int
	bill      llm.Usage
	wrong     func(n int, vectors [][]float32) ([][]float32, error) // of the n-th request
}

func (r *requests) Name() string { return "vectors" }
func (r *requests) Batch() int   { return 2 }

func (r *requests) EmbedDocuments(ctx context.Context, texts []string) (out [][]float32, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	for _, t := range texts {
		out = append(out, llmtest.HashVector(t, 4))
	}
	used := llm.Usage{EmbeddedTokens: 100 * len(texts)}
	r.bill = r.bill.Add(used)
	metering.RecordUsage(ctx, used)
	if r.wrong != nil {
		out, err = r.wrong(r.n, out)
	}
	if own := (*llm.Error)(nil); errors.As(err, &own) {
		own.Usage = used
	} else if r.delivered == nil {
		r.delivered = map[string]int{}
	}
	for range out {
		r.delivered[texts[0]]++
		texts = texts[1:]
	}
	return out, err
}

func (r *requests) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := r.EmbedDocuments(ctx, []string{text})
	if err != nil || len(v) == 0 {
		return nil, err
	}
	return v[0], nil
}

func numbered(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	return texts
}

// A request that fails costs the requests before it, and those beside it, nothing:
// their vectors are kept. The ledger has what all of them cost, the failed ones
// included.
func TestVectorsAreKeptAsTheyCome(t *testing.T) {
	o := paid.Options{File: file(t)}
	r := &requests{}
	texts := numbered(300)
	for start := range 4 {
		c := open(t, o)
		e := embedder(t, c, r)
		fails := r.n + 4
		r.wrong = func(n int, v [][]float32) ([][]float32, error) {
			if n >= fails && start < 3 {
				return nil, &llm.Error{Kind: llm.ErrInvalidOutput, Billed: llm.BilledYes}
			}
			return v, nil
		}
		out, err := e.EmbedDocuments(t.Context(), texts)
		if start < 3 != errors.Is(err, llm.ErrInvalidOutput) || start == 3 && (err != nil || !slices.Equal(out[7], llmtest.HashVector("text 7", 4))) {
			t.Errorf("start %d: %v", start, err)
		}
		if got := c.Account().Total; got.Usage.EmbeddedTokens != r.bill.EmbeddedTokens || got.Unknown != 0 {
			t.Errorf("start %d: billed %d tokens, in the ledger %+v", start, r.bill.EmbeddedTokens, got)
		}
		_ = c.Close()
	}
	for text, n := range r.delivered {
		check.Must(t, n == 1, "%q was asked for %d times after its vector had come", text, n-1)
	}
}

// What cannot be used is refused with the name of the model and what to do, and is
// asked for again the next time.
func TestBadVectorsAreNotKept(t *testing.T) {
	set := func(x float32) func([][]float32) [][]float32 {
		return func(v [][]float32) [][]float32 {
			last := v[len(v)-1]
			for i := range last {
				last[i] = x
			}
			return v
		}
	}
	for name, spoil := range map[string]func([][]float32) [][]float32{
		"zeros": set(0), "NaN": set(float32(math.NaN())), "infinite": set(float32(math.Inf(1))), "too long": set(3e37),
		"of no length":      func(v [][]float32) [][]float32 { v[0] = nil; return v },
		"of two dimensions": func(v [][]float32) [][]float32 { v[0] = v[0][:3]; return v },
		"too few":           func(v [][]float32) [][]float32 { return v[1:] },
	} {
		r := &requests{}
		e := embedder(t, open(t, paid.Options{File: file(t)}), r)
		r.wrong = func(_ int, v [][]float32) ([][]float32, error) { return spoil(v), nil }
		_, err := e.EmbedDocuments(t.Context(), numbered(2))
		check.True(t, errors.Is(err, transport.ErrBadVector) && strings.Contains(err.Error(), "name another"), "%s: %v", name, err)
		if name != "of two dimensions" { // one vector has but one
			check.True(t, check.Err(e.EmbedQuery(t.Context(), "q")) != nil, "%s: taken for a question", name)
		}
		r.wrong = nil
		out, err := e.EmbedDocuments(t.Context(), numbered(2))
		check.True(t, err == nil && slices.Equal(out[1], llmtest.HashVector("text 1", 4)), "%s: %v, %v", name, out, err)
	}
	empty := &requests{wrong: func(_ int, v [][]float32) ([][]float32, error) { return set(0)(v), nil }}
	e := embedder(t, open(t, paid.Options{File: file(t)}), empty)
	_, err := e.EmbedDocuments(t.Context(), []string{" "})
	check.True(t, err == nil, "zeros for a text that says nothing: %v", err)
}

// A reply of another dimension than the first is refused; if the first was the wrong one,
// it is asked for again at the next start.
func TestDimensionThatChanges(t *testing.T) {
	for _, at := range []int{1, 2, 3, 9} {
		r := &requests{wrong: func(n int, v [][]float32) ([][]float32, error) {
			for i := range v {
				if n == at {
					v[i] = v[i][:3]
				}
			}
			return v, nil
		}}
		o := paid.Options{File: file(t)}
		c := open(t, o)
		check.Is(t, check.Err(embedder(t, c, r).EmbedDocuments(t.Context(), numbered(40))), transport.ErrBadVector, "request %d", at)
		_ = c.Close()
		out := check.Of(embedder(t, open(t, o), r).EmbedDocuments(t.Context(), numbered(40))).OK(t, "request %d", at)
		for i, v := range out {
			if !slices.Equal(v, llmtest.HashVector(fmt.Sprint("text ", i), 4)) {
				t.Errorf("request %d: text %d has %v", at, i, v)
			}
		}
	}
	never := &requests{wrong: func(n int, v [][]float32) ([][]float32, error) {
		for i := range v {
			v[i] = slices.Repeat([]float32{1}, n)
		}
		return v, nil
	}}
	e := embedder(t, open(t, paid.Options{File: file(t)}), never)
	if _, err := e.EmbedDocuments(t.Context(), numbered(9)); !errors.Is(err, transport.ErrBadVector) || never.n > 5 { // batches
		t.Errorf("%d requests: %v", never.n, err)
	}
}
