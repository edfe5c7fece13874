// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
)

// errQuota is the error with which extraction sometimes fails.
var errQuota = errors.New("the quota is used up")

// faulty is an extractor that fails on request.
type faulty struct {
	extract.Extractor
	fail *atomic.Bool
}

func (f faulty) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	if f.fail.Load() {
		f.Extractor.Extract(ctx, chunks[:len(chunks)/2])
		return nil, errQuota
	}
	return f.Extractor.Extract(ctx, chunks)
}

// walking is a small system with a graph: BM25 over the chunks, and random walks from the entities of the best
// one.
func walking(t testing.TB, fail *atomic.Bool) *kit.System {
	t.Helper()
	k := offline(t)
	x := check.Of(k.Triples()).OK(t)
	s, err := kit.New(kit.Frame{
		Name: "walking", Kit: k, Extract: kit.Extraction{Extractor: faulty{x.Extractor, fail}, Whole: true},
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			flat, err := retrieve.NewSparse(ctx, c.Chunks, bm25.Options{})
			if err != nil {
				return nil, err
			}
			view, err := c.Graph.View(kg.ViewOptions{Passages: true})
			if err != nil {
				return nil, err
			}
			walk, err := ppr.New(view.Graph, ppr.Options{})
			if err != nil {
				return nil, err
			}
			return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
				found, err := flat.Retrieve(ctx, q)
				if err != nil || len(found.Ranked) == 0 {
					return found, err
				}
				best := slices.IndexFunc(c.Chunks, func(x graphrag.Chunk) bool { return x.ID == found.Ranked[0].Chunk.ID })
				ranks, err := walk.Solve(ctx, []ppr.Seed{{Node: view.Passage(int32(best)), Weight: 1}}, nil)
				if err != nil {
					return found, err
				}
				hits, err := c.ByScore(ctx, ranks[view.Entities:], q.Want(), "walk")
				return graphrag.Found{Ranked: hits}, err
			}), nil
		},
	})
	check.OK(t, err)
	return s
}

// page returns version v of document n of a corpus about ships, ports and people.
func page(n, v int) graphrag.Document {
	ship, port, person := n%5, (n+v)%4, (n*3+v)%6
	return graphrag.Document{
		ID:    fmt.Sprintf("page%02d.md", n),
		Title: fmt.Sprintf("Ship Aurora%c", 'A'+ship),
		Text:  fmt.Sprintf("The Aurora%c sailed to Port%c in 19%02d. Captain Person%c commanded the Aurora%c.", 'A'+ship, 'A'+port, v, 'A'+person, 'A'+ship),
	}
}

// Readers ask while documents are inserted and deleted and changes fail: every answer equals that of a new
// index over the documents of some committed state.
func TestReadersAndWriters(t *testing.T) {
	const readers, changes, docs = 32, 40, 12
	var fail atomic.Bool
	s := walking(t, &fail)
	q := graphrag.Question{Text: "Who commanded the AuroraB in PortC?", K: 3, Depth: 8}

	// committed are the states so far, each as a map of document to version.
	var mu sync.Mutex
	committed := []map[int]int{{0: 0, 1: 0, 2: 0}}
	check.OK(t, check.Err(s.Index(t.Context(), graphrag.Documents(page(0, 0), page(1, 0), page(2, 0)))))
	var done atomic.Bool
	answers := make([][]graphrag.Answer, readers)
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			for first := true; first || !done.Load(); first = false {
				a, err := s.Answer(t.Context(), q)
				if err != nil {
					t.Error(err)
					return
				}
				if n := len(answers[r]); n == 0 || !cmp.Equal(answers[r][n-1], a) {
					answers[r] = append(answers[r], a)
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	now := maps.Clone(committed[0])
	for range changes {
		next := maps.Clone(now)
		var err error
		ctx, cancel := context.WithCancel(t.Context())
		n, v := rng.IntN(docs), rng.IntN(100)
		bad := rng.IntN(3)
		fail.Store(bad == 1)
		if bad == 2 {
			cancel()
		}
		if rng.IntN(3) == 0 {
			delete(next, n)
			_, err = s.Delete(ctx, page(n, 0).ID)
		} else {
			next[n] = v
			_, err = s.Insert(ctx, graphrag.Documents(page(n, v)))
		}
		cancel()
		switch {
		case bad == 1 && !errors.Is(err, errQuota), bad == 2 && !errors.Is(err, context.Canceled), bad == 0 && err != nil:
			t.Fatalf("change %d: %v", bad, err)
		case err == nil:
			now = next
			mu.Lock()
			committed = append(committed, now)
			mu.Unlock()
		}
	}
	done.Store(true)
	wg.Wait()

	fail.Store(false)
	var possible []graphrag.Answer
	for _, state := range committed {
		var all []graphrag.Document
		for _, n := range slices.Sorted(maps.Keys(state)) {
			all = append(all, page(n, state[n]))
		}
		rebuilt := walking(t, &fail)
		check.OK(t, check.Err(rebuilt.Index(t.Context(), graphrag.Documents(all...))))
		a := check.Of(rebuilt.Answer(t.Context(), q)).OK(t)
		possible = append(possible, a)
	}
	seen := 0
	for r, of := range answers {
		for _, a := range of {
			if !slices.ContainsFunc(possible, func(p graphrag.Answer) bool { return cmp.Equal(p, a) }) {
				t.Fatalf("reader %d got an answer of no committed state:\n%.2000s", r, cmp.Diff(possible[len(possible)-1], a))
			}
			seen++
		}
	}
	check.True(t, len(committed) >= changes/4 && seen >= readers, "%d states and %d answers: the test saw too little", len(committed), seen)
}
