// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Vectors ranks texts of any kind by the cosine of their vectors.
type Vectors struct {
	index *vector.Index // nil without texts
}

// NewVectors embeds the texts.
func NewVectors(ctx context.Context, e embed.Embedder, texts []string) (*Vectors, error) {
	if len(texts) == 0 {
		return &Vectors{}, ctx.Err()
	}
	rows, err := e.EmbedDocuments(ctx, texts)
	if err == nil && len(rows) != len(texts) {
		err = fmt.Errorf("the embedder gave %d vectors for %d texts", len(rows), len(texts))
	}
	if err != nil {
		return nil, err
	}
	index, err := vector.New(vector.Options{Dim: len(rows[0]), Cosine: true, Quantized: true})
	if err == nil {
		err = index.Add(rows...)
	}
	return &Vectors{index}, err
}

// Len is the number of texts.
func (v *Vectors) Len() int {
	if v.index == nil {
		return 0
	}
	return v.index.Len()
}

// Best returns the k texts most like a query, best first, equal ones by place.
func (v *Vectors) Best(query []float32, k int) ([]vector.Result, error) {
	if v.index == nil || k <= 0 {
		return nil, nil
	}
	return v.index.Search(query, k, nil)
}

// Least is the lowest cosine of any text, 0 without texts.
func (v *Vectors) Least(query []float32) (float64, error) {
	opposite := make([]float32, len(query))
	for i, x := range query {
		opposite[i] = -x
	}
	found, err := v.Best(opposite, 1)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return -float64(found[0].Score), nil
}

// Scale takes least..most to 0..1, and everything to 1 if they are equal.
func Scale(x, least, most float64) float64 {
	if most <= least {
		return 1
	}
	return (x - least) / (most - least)
}

// Cosines are those of a query with some of the texts, by their places.
func (v *Vectors) Cosines(query []float32, ids []int32) []float64 {
	out := make([]float64, len(ids))
	if v.index == nil {
		return out
	}
	length := 0.0
	for _, x := range query {
		length += float64(x) * float64(x)
	}
	if length == 0 {
		return out
	}
	var row []float32
	for i, id := range ids {
		row = v.index.Vector(id, row[:0])
		for j, x := range row {
			out[i] += float64(x) * float64(query[j])
		}
		out[i] /= math.Sqrt(length)
	}
	return out
}

// neighborsAtOnce is how many texts are compared with all in one pass.
const neighborsAtOnce = 1024

// Neighbors are the k other texts most like each text, best first, equal ones by
// place.
func (v *Vectors) Neighbors(ctx context.Context, k int) ([][]vector.Result, error) {
	out := make([][]vector.Result, 0, v.Len())
	for len(out) < v.Len() {
		first := len(out)
		var rows [][]float32
		for i := first; i < min(first+neighborsAtOnce, v.Len()); i++ {
			rows = append(rows, v.index.Vector(int32(i), nil))
		}
		found, err := v.index.SearchBatch(ctx, rows, k+1)
		if err != nil {
			return nil, err
		}
		for i, near := range found {
			near = slices.DeleteFunc(near, func(r vector.Result) bool { return r.ID == int32(first+i) })
			out = append(out, near[:min(k, len(near))])
		}
	}
	return out, ctx.Err()
}
