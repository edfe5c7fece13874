// SPDX-License-Identifier: Apache-2.0

package perception

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Triple is a fact: two entities and the relation between them, by number.
type Triple struct {
	Head, Relation, Tail int32
}

// EntityVectors represents entities by their triples (Youtu-GraphRAG,
// equation 4): the mean, over the triples of an entity, of the vectors of head,
// relation and tail side by side; a triple belongs to its head and its tail, and once to an
// entity that is both. entities and relations hold a vector of dim
// components for each entity and relation, row after row; the result has a row of
// 3·dim for each entity. An entity without triples gets its own vector and zeros.
func EntityVectors(entities []float32, dim int, relations []float32, triples []Triple) ([]float32, error) {
	n, err := checkVectors("entities", entities, dim)
	rels, relErr := checkVectors("relations", relations, dim)
	if err := errors.Join(err, relErr); err != nil {
		return nil, err
	}
	if err := checkTriples(triples, n, rels); err != nil {
		return nil, err
	}
	sums, counts := make([]float64, n*3*dim), make([]int, n)
	add := func(e int32, t Triple) {
		row := sums[int(e)*3*dim:][:3*dim]
		for i := range dim {
			row[i] += float64(entities[int(t.Head)*dim+i])
			row[dim+i] += float64(relations[int(t.Relation)*dim+i])
			row[2*dim+i] += float64(entities[int(t.Tail)*dim+i])
		}
		counts[e]++
	}
	for _, t := range slices.SortedFunc(slices.Values(triples), compareTriples) { // sums do not depend on the order given
		add(t.Head, t)
		if t.Tail != t.Head {
			add(t.Tail, t)
		}
	}
	out := make([]float32, len(sums))
	for e := range n {
		row := sums[e*3*dim:][:3*dim]
		scale := 1 / float64(counts[e])
		if counts[e] == 0 {
			for i := range dim {
				row[i] = float64(entities[e*dim+i])
			}
			scale = 1
		}
		for i, x := range row {
			out[e*3*dim+i] = float32(x * scale)
		}
	}
	return out, nil
}

func compareTriples(a, b Triple) int {
	return cmp.Or(cmp.Compare(a.Head, b.Head), cmp.Compare(a.Tail, b.Tail), cmp.Compare(a.Relation, b.Relation))
}

// checkVectors returns the number of rows.
func checkVectors(what string, vectors []float32, dim int) (int, error) {
	if dim < 1 || len(vectors)%dim != 0 || len(vectors)/dim > math.MaxInt32 {
		return 0, fmt.Errorf("perception: %s: %d components do not make rows of %d", what, len(vectors), dim)
	}
	for i, x := range vectors {
		if x-x != 0 {
			return 0, fmt.Errorf("perception: %s: component %d of row %d is %v, not a finite number", what, i%dim, i/dim, x)
		}
	}
	return len(vectors) / dim, nil
}

func checkTriples(triples []Triple, entities, relations int) error {
	within := func(id int32, n int) bool { return id >= 0 && int(id) < n }
	for i, t := range triples {
		if !within(t.Head, entities) || !within(t.Tail, entities) || !within(t.Relation, relations) {
			return fmt.Errorf("perception: triple %d is (%d, %d, %d) for %d entities and %d relations",
				i, t.Head, t.Relation, t.Tail, entities, relations)
		}
	}
	return nil
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}
