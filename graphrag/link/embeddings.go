// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Embeddings compares names by the cosine of their vectors, each name with all others, exactly. It is made for
// some ten thousand names; for more use [Trigrams].
type Embeddings struct {
	Embedder embed.Embedder
}

// Neighbors implements [Similarity]. With a [memo.Keeper] in the context it compares only the names that are
// new, or have another vector, since its last call; the result is the same.
func (e Embeddings) Neighbors(ctx context.Context, names []string, threshold float64, limit int) ([][]scored, error) {
	if len(names) == 0 || limit <= 0 {
		return make([][]scored, len(names)), ctx.Err()
	}
	vectors, index, err := e.embed(ctx, names)
	if err != nil {
		return nil, err
	}
	n := neighborhood{vectors: vectors, index: index, cut: cut{threshold, limit}, digests: digests(names, vectors)}
	return memo.Kept[lastResult](ctx).next(ctx, n)
}

// cut limits a list of neighbours: at most limit of them, with a similarity of at least threshold.
type cut struct {
	threshold float64
	limit     int
}

// lastResult stores the last call of Neighbors and its result.
type lastResult struct {
	mu      sync.Mutex
	cut     cut
	digests []memo.Digest
	lists   [][]scored
}

// neighborhood holds the arguments of a call of Neighbors.
type neighborhood struct {
	cut
	digests []memo.Digest // digest of each name and its vector
	vectors [][]float32
	index   *vector.View
}

// next computes the lists of a call from the last call's lists, and stores them.
func (l *lastResult) next(ctx context.Context, n neighborhood) ([][]scored, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lists, unsure := l.translated(n)
	searched := make([][]scored, len(unsure))
	depth := n.limit + 1
	if len(unsure) < len(lists) {
		depth = len(lists) // a new name may be near to names whose neighbours it is not
	}
	if err := par.Each(ctx, len(unsure), 0, func(i int) error {
		hits, err := n.index.Search(n.vectors[unsure[i]], depth)
		if err != nil {
			return fmt.Errorf("link: comparing names: %w", err)
		}
		searched[i] = slices.Clone(slices.DeleteFunc(hits, func(h scored) bool { return h.ID == unsure[i] || h.Score < n.threshold }))
		return nil
	}); err != nil {
		return nil, err
	}
	for i, u := range unsure {
		for _, h := range searched[i] {
			_, also := slices.BinarySearch(unsure, h.ID)
			if !also && !slices.ContainsFunc(lists[h.ID], func(s scored) bool { return s.ID == u }) {
				lists[h.ID] = append(lists[h.ID], scored{ID: u, Score: h.Score})
			}
		}
		lists[u] = searched[i]
	}
	for i, list := range lists {
		lists[i] = rank.Best(list, n.limit)
	}
	l.cut, l.digests, l.lists = n.cut, n.digests, lists
	out := make([][]scored, len(lists))
	for i, list := range lists {
		out[i] = slices.Clone(list)
	}
	return out, nil
}

// translated returns the lists of the last call with the indexes of the names in this call, without names that
// no longer exist, and, in ascending order, the names to search for: those that are new, and those whose list
// was full and lost a name. These are all names if their order changed or more than half are new.
func (l *lastResult) translated(n neighborhood) (lists [][]scored, unsure []int32) {
	places := make(map[memo.Digest]int32, len(n.digests))
	for i, d := range n.digests {
		places[d] = int32(i)
	}
	lists = make([][]scored, len(n.digests))
	known := make([]bool, len(lists))
	to := make([]int32, len(l.digests))
	kept, before := 0, int32(-1)
	for i, d := range l.digests {
		place, ok := places[d]
		if to[i] = place; !ok {
			to[i] = -1
			continue
		}
		known[place] = true
		kept++
		if place <= before {
			kept = math.MinInt
		}
		before = place
	}
	if l.cut != n.cut || 2*kept < len(lists) {
		clear(known)
		to = nil
	}
	for i, place := range to {
		if place < 0 {
			continue
		}
		for _, h := range l.lists[i] {
			if to[h.ID] >= 0 {
				lists[place] = append(lists[place], scored{ID: to[h.ID], Score: h.Score})
			}
		}
		known[place] = len(lists[place]) == len(l.lists[i]) || len(l.lists[i]) < n.limit
	}
	for i := range lists {
		if !known[i] {
			unsure = append(unsure, int32(i))
		}
	}
	return lists, unsure
}

func digests(names []string, vectors [][]float32) []memo.Digest {
	out := make([]memo.Digest, len(names))
	for i, v := range vectors {
		bits := unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
		out[i] = memo.DigestOf(slices.Values([]string{names[i], bits}))
	}
	return out
}

// embed returns the vectors of names, of which there is at least one, and a view to search them.
func (e Embeddings) embed(ctx context.Context, names []string) ([][]float32, *vector.View, error) {
	vectors, err := e.Embedder.EmbedDocuments(ctx, names)
	if err == nil && len(vectors) != len(names) {
		err = fmt.Errorf("the embedder gave %d vectors for %d names", len(vectors), len(names))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("link: embedding names: %w", err)
	}
	index, err := memo.Kept[vector.Pool](ctx).View(vector.Options{Dim: len(vectors[0]), Cosine: true, Workers: 1}, vectors)
	if err != nil {
		return nil, nil, fmt.Errorf("link: comparing names: %w", err)
	}
	return vectors, index, nil
}

// Index implements [Linker].
func (e Embeddings) Index(ctx context.Context, names []string) (NameIndex, error) {
	ix := &embeddedNames{embedder: e.Embedder}
	if len(names) == 0 {
		return ix, ctx.Err()
	}
	var err error
	_, ix.index, err = e.embed(ctx, names)
	return ix, err
}

type embeddedNames struct {
	embedder embed.Embedder
	index    *vector.View // nil if there are no names
}

func (ix *embeddedNames) Nearest(ctx context.Context, name string, k int) ([]scored, error) {
	if ix.index == nil || k <= 0 {
		return nil, ctx.Err()
	}
	v, err := ix.embedder.EmbedQuery(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("link: embedding %q: %w", display.Beginning(name), err)
	}
	hits, err := ix.index.Search(v, k)
	if err != nil {
		return nil, fmt.Errorf("link: nearest names: %w", err)
	}
	return hits, nil
}
