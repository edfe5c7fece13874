// SPDX-License-Identifier: Apache-2.0

package vector_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/internal/check"
)

// A view finds what an index of its rows finds, bit for bit: with equal vectors, in any order, after changes,
// and when its index has grown for a later view.
func TestView(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fresh := func() []float32 {
		v := make([]float32, 5)
		for i := range v {
			v[i] = float32(rng.IntN(3)) // many equal scores
		}
		return v
	}
	opts := vector.Options{Dim: 5, Cosine: true, Workers: 1}
	var pool vector.Pool
	var list [][]float32
	for range 300 {
		list = append(list, fresh())
	}
	list = append(list, list[7], list[7]) // the same row three times
	same := func(v *vector.View, list [][]float32) {
		t.Helper()
		ix := check.Of(vector.New(opts)).OK(t)
		check.OK(t, ix.Add(list...))
		check.Equal(t, v.Len(), len(list), "vectors")
		query := fresh()
		for _, k := range []int{0, 1, 3, 10, 299, 1000} {
			want, err := ix.Search(query, k, nil)
			got, also := v.Search(query, k)
			diff := cmp.Diff(want, got, cmpopts.EquateEmpty())
			check.Must(t, diff == "" && err == nil && also == nil, "k %d: %v, %v\n%s", k, err, also, diff)
		}
		want, err := ix.Scores(query, nil)
		got, also := v.Scores(query, nil)
		diff := cmp.Diff(want, got)
		check.Must(t, diff == "" && err == nil && also == nil, "scores: %v, %v\n%s", err, also, diff)
	}
	var views []*vector.View
	var lists [][][]float32
	for change := range 40 {
		v := check.Of(pool.View(opts, list)).OK(t)
		views, lists = append(views, v), append(lists, slices.Clone(list))
		switch change % 4 {
		case 0:
			list = slices.Insert(list, rng.IntN(len(list)), fresh(), fresh())
		case 1:
			list = slices.Delete(list, 10, 12+rng.IntN(20))
		case 2:
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		case 3:
			list = append(list, list[rng.IntN(len(list))])
		}
	}
	for i, v := range views {
		same(v, lists[i])
	}
	joined := check.Of(vector.Join(func(yield func(*vector.View, int32) bool) {
		_ = yield(views[3], 5) && yield(views[20], 0) && yield(views[3], 1)
	})).OK(t)
	same(joined, [][]float32{lists[3][5], lists[20][0], lists[3][1]})
	v, err := pool.View(vector.Options{Dim: 5}, [][]float32{{1, 2, 3}})
	check.True(t, err != nil && v == nil, "a vector of another dimension gave %v", v)
	runtime.KeepAlive(views)
}

func Example() {
	index, err := vector.New(vector.Options{Dim: 3, Cosine: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = index.Add(
		[]float32{1, 0, 0},
		[]float32{3, 4, 0},
		[]float32{0, 0, 1},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	hits, err := index.Search([]float32{2, 0, 0}, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hit := range hits {
		fmt.Printf("row %d: %.2f\n", hit.ID, hit.Score)
	}
	// Output:
	// row 0: 1.00
	// row 1: 0.60
}
