// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// searches are the two that are compared.
type searches struct {
	generation    store.Generation
	table         store.Table
	effort        float64
	words         graphrag.Retriever // alone
	without, with graphrag.Retriever
}

// open pins what was published and makes searches over it: words and vectors, fused by
// rank, and the same with one expansion through the graph.
func open(ctx context.Context, s store.Store, e *hashed, exact bool) (*searches, error) {
	c, err := s.Open(ctx, collectionName)
	if err != nil {
		return nil, err
	}
	g, err := c.Pin(ctx)
	if err != nil {
		return nil, err
	}
	out := &searches{generation: g}
	if err := out.over(e, exact); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return out, nil
}

func (s *searches) over(e *hashed, exact bool) (err error) {
	if s.table, err = s.generation.Table(chunksTable); err != nil {
		return err
	}
	if exact {
		s.effort = 1
	}
	stored := retrieve.Stored{Table: s.table, Effort: s.effort}
	s.words = stored.Sparse()
	passages, err := retrieve.Fuse(s.words, stored.Dense(e))
	if err != nil {
		return err
	}
	offline, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		return err
	}
	parts := gear.Parts{Passages: passages, Align: s.words, Graph: gear.Stored(s.generation.Triples()), Kit: offline}
	var err1, err2 error
	s.with, err1 = gear.Over(parts, gear.Options{Steps: 1, Expand: gear.ExpandAlways})
	s.without, err2 = gear.Over(parts, gear.Options{Steps: 1, Expand: gear.ExpandNever})
	return errors.Join(err1, err2)
}

// nearest is how many of the ten vectors nearest to those of n questions a search finds
// that does not look at all.
func (s *searches) nearest(ctx context.Context, w *world, e *hashed, n int) (float64, error) {
	found, all := 0, 0
	random := seeded(w.Seed, forQuestion)
	for range n {
		v, err := e.EmbedQuery(ctx, w.anyQuestion(random.below(w.Passages)))
		if err != nil {
			return 0, err
		}
		hits, err := s.table.SearchVectors(ctx, store.VectorQuery{Vector: v, K: evidence, Effort: s.effort}, store.VectorQuery{Vector: v, K: evidence, Effort: 1})
		if err != nil {
			return 0, err
		}
		for _, h := range hits[1] {
			all++
			if slices.Contains(hits[0], h) {
				found++
			}
		}
	}
	return float64(found) / float64(all), nil
}

// evidence is how many passages count.
const evidence = 10

// recall is the share of the two gold passages among the first that are found.
func recall(ctx context.Context, r graphrag.Retriever, q planted) (float64, error) {
	found, err := r.Retrieve(ctx, graphrag.Question{Text: q.Text, K: evidence})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, gold := range q.Gold {
		if slices.ContainsFunc(found.Ranked, func(h graphrag.Hit) bool { return h.Chunk.ID == passageID(gold) }) {
			n++
		}
	}
	return float64(n) / float64(len(q.Gold)), nil
}

// compared is the recall of both ways and of words alone.
type compared struct {
	stats.Comparison
	Words float64 `json:"words"`
}

// compare asks the questions of one kind both ways: A is without the graph, B with it.
func (s *searches) compare(ctx context.Context, w *world, bridged bool) (out compared, err error) {
	var a, b []float64
	for _, q := range w.questions {
		if q.Bridged != bridged {
			continue
		}
		without, err := recall(ctx, s.without, q)
		if err != nil {
			return out, err
		}
		with, err := recall(ctx, s.with, q)
		if err != nil {
			return out, err
		}
		words, err := recall(ctx, s.words, q)
		if err != nil {
			return out, err
		}
		out.Words += words
		a, b = append(a, without), append(b, with)
	}
	out.Words /= float64(len(a))
	out.Comparison, err = stats.Compare(a, b, nil, stats.Options{Seed: w.Seed})
	return out, err
}

// warm reads the files of a folder once, so that questions need not wait for the disk:
// the largest first, so that these go if not all fit into memory.
func warm(dir string) error {
	type file struct {
		name string
		size int64
	}
	var files []file
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, file{name, info.Size()})
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(b.size, a.size) })
	for _, f := range files {
		in, err := os.Open(f.name)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, in)
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// latency is how long a question takes.
type latency struct {
	N   int           `json:"n"`
	P50 time.Duration `json:"p50_ns"`
	P90 time.Duration `json:"p90_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
}

// time asks n questions about passages from all over the corpus, one after the other,
// after half as many that are not timed: of a process that has just begun, each first
// touch of a page of a file takes the system some time.
func (w *world) time(ctx context.Context, r graphrag.Retriever, n int) (latency, error) {
	took := make([]time.Duration, n)
	random := seeded(w.Seed, forQuestion)
	for i := -n / 2; i < n; i++ {
		q := graphrag.Question{Text: w.anyQuestion(random.below(w.Passages)), K: evidence}
		start := time.Now()
		if _, err := r.Retrieve(ctx, q); err != nil {
			return latency{}, err
		}
		if i >= 0 {
			took[i] = time.Since(start)
		}
	}
	slices.Sort(took)
	at := func(percent int) time.Duration { return took[(n*percent+99)/100-1] } // nearest rank
	return latency{n, at(50), at(90), at(99), took[n-1]}, nil
}
