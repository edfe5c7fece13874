// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/wildgraph/wildgraph/graphrag/cluster"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

const (
	// The centers are trained on a sample: faiss takes 39 to 256 rows a center and 10
	// iterations from random rows, and what more of either gives is little.
	trainRows       = 50
	trainIterations = 10
	trainSeed       = 1
	// assignRows are given their lists at a time.
	assignRows = 1 << 14
)

// invert sorts what was added into lists: it trains the centers, finds the list of each
// row, and writes the codes again in the order of the lists. Rows and codes are read
// where they lie; in memory are the sample, the centers, and 8 bytes a row.
func (w *Writer) invert(ctx context.Context) error {
	rows, letGo, err := w.rows.View()
	if err != nil {
		return err
	}
	centers, err := w.train(ctx, rows)
	var labels []int32
	if err == nil {
		labels, err = w.assign(ctx, centers, rows)
	}
	if err := errors.Join(err, letGo()); err != nil {
		return err
	}
	ids, starts := sorted(labels, centers.n)
	w.meta.Lists = centers.n
	return errors.Join(w.putLists(centers, ids, starts), w.sortCodes(ids))
}

// train finds the centers by k-means over the directions of a sample.
func (w *Writer) train(ctx context.Context, rows []float32) (*Index, error) {
	o := w.x.opts
	centers, err := New(Options{Dim: o.Dim, Workers: o.Workers})
	if err != nil || w.meta.Rows == 0 {
		return centers, err
	}
	rng := rand.New(rand.NewPCG(trainSeed, uint64(w.meta.Rows)))
	sample := w.sample(rng, rows)
	n := len(sample) / o.Dim
	k := min(o.Lists, n)
	start := make([]float32, 0, k*o.Dim)
	for _, i := range rng.Perm(n)[:k] {
		start = append(start, sample[i*o.Dim:(i+1)*o.Dim]...)
	}
	found, err := cluster.KMeans(ctx, sample, o.Dim, k, cluster.KMeansOptions{Start: start, MaxIterations: trainIterations, Workers: o.Workers})
	if err != nil {
		return nil, fmt.Errorf("lists: %w", err)
	}
	for i := range found.K {
		center := found.Centroids[i*o.Dim : (i+1)*o.Dim]
		scale(center, norm(center))
		if err := centers.Add(center); err != nil {
			return nil, err
		}
	}
	return centers, nil
}

// sample draws rows without putting them back, in their order (Knuth, "The Art of
// Computer Programming", volume 2, 3.4.2, algorithm S), and scales them to length 1.
func (w *Writer) sample(rng *rand.Rand, rows []float32) []float32 {
	dim, left := w.x.opts.Dim, min(w.meta.Rows, trainRows*w.x.opts.Lists)
	sample := make([]float32, 0, left*dim)
	for i := 0; left > 0; i++ {
		if rng.IntN(w.meta.Rows-i) < left {
			row := rows[i*w.x.stride:][:dim]
			sample = append(sample, row...)
			scale(sample[len(sample)-dim:], norm(row))
			left--
		}
	}
	return sample
}

// assign finds the list of each row.
func (w *Writer) assign(ctx context.Context, centers *Index, rows []float32) ([]int32, error) {
	labels := make([]int32, 0, w.meta.Rows)
	batch := make([][]float32, 0, assignRows)
	for len(labels) < w.meta.Rows {
		batch = batch[:0]
		for i := len(labels); i < min(len(labels)+assignRows, w.meta.Rows); i++ {
			batch = append(batch, rows[i*w.x.stride:][:w.x.opts.Dim])
		}
		nearest, err := centers.SearchBatch(ctx, batch, Params{K: 1})
		if err != nil {
			return nil, err
		}
		for _, list := range nearest {
			labels = append(labels, list[0].ID)
		}
	}
	return labels, nil
}

// sorted are the rows list by list, and where each list begins and the last one ends.
func sorted(labels []int32, lists int) (ids, starts []int32) {
	starts = make([]int32, lists+1)
	for _, list := range labels {
		starts[list+1]++
	}
	for i := range lists {
		starts[i+1] += starts[i]
	}
	ids = make([]int32, len(labels))
	next := append([]int32(nil), starts...)
	for id, list := range labels {
		ids[next[list]] = int32(id)
		next[list]++
	}
	return ids, starts
}

func (w *Writer) putLists(centers *Index, ids, starts []int32) error {
	for i := range centers.n {
		w.centers.Append(centers.row(i)[:w.x.opts.Dim]...)
	}
	w.starts.Append(starts...)
	w.ids.Append(ids...)
	return w.w.Err()
}

// sortCodes writes codes and bounds in the order of ids, for those that were written in
// the order of adding.
func (w *Writer) sortCodes(ids []int32) error {
	values, errValues := sortArray(w.w, w.values, "codes", ids, w.x.stride)
	bounds, errBounds := sortArray(w.w, w.bounds, "bounds", ids, 1)
	w.values, w.bounds = values, bounds
	return errors.Join(errValues, errBounds)
}

// sortArray writes the array of a name with the rows of another one in the order of
// ids, and drops that; one without rows stays so.
func sortArray[T any](w *flat.Writer, from flat.Array[T], name string, ids []int32, width int) (flat.Array[T], error) {
	to, err := flat.NewArray[T](w, name)
	if err != nil {
		return from, err
	}
	added, letGo, err := from.View()
	if err != nil {
		return to, err
	}
	if len(added) > 0 {
		for _, id := range ids {
			to.Append(added[int(id)*width : (int(id)+1)*width]...)
		}
	}
	return to, errors.Join(letGo(), from.Drop(w), w.Err())
}
