// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// An index in a folder gives the results of one in memory, bit for bit, over one slab and
// several.
func TestFolder(t *testing.T) {
	for _, o := range []Options{{Dim: 7}, {Dim: 33, Cosine: true}, {Dim: 24, Workers: 3}} {
		for _, n := range []int{0, 1, 5, 2*slabRows + 11} {
			rng := rand.New(rand.NewPCG(uint64(n), 9))
			dir := filepath.Join(t.TempDir(), "index")
			memory := check.Of(New(o)).OK(t)
			w := check.Of(Create(dir, o)).OK(t)
			for range n {
				v := randomVector(rng, o.Dim, 1)
				check.OK(t, errors.Join(memory.Add(v), w.Add(v)))
			}
			check.OK(t, w.Close())
			folder := check.Of(Open(dir, o)).OK(t)
			if folder.Len() != n || folder.opts.Dim != o.Dim {
				t.Errorf("%+v: %d rows of %d", o, folder.Len(), folder.opts.Dim)
			}
			var queries [][]float32
			for range 9 {
				queries = append(queries, randomVector(rng, o.Dim, 3))
			}
			for _, q := range queries {
				got, errGot := folder.Search(q, 10, nil)
				want, errWant := memory.Search(q, 10, nil)
				if errGot != nil || errWant != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("%+v, %d rows: %v, want %v; %v, %v", o, n, got, want, errGot, errWant)
				}
			}
			if err := folder.Add(queries[0]); err == nil || !strings.Contains(err.Error(), "does not grow") {
				t.Errorf("it grows: %v", err)
			}
			if err := folder.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestBadFolders(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "good"), Options{Dim: 2})
	check.OK(t, err)
	check.Is(t, w.Add([]float32{1, 2}, []float32{1}), ErrVector, "another dimension")
	check.Is(t, w.Add([]float32{1, float32(math.NaN())}), ErrVector, "no number")
	check.OK(t, errors.Join(w.Add([]float32{1, 2}), w.Close()))
	x, err := Open(filepath.Join(dir, "good"), Options{})
	check.True(t, err == nil && x.Len() == 1, "what was unusable left something: %v", err)
	_, err = Create(filepath.Join(dir, "good"), Options{Dim: 2})
	check.Fails(t, err, "already", "over another")
	check.True(t, check.Err(Create(filepath.Join(dir, "none"), Options{})) != nil, "without a dimension")
	half := check.Of(Create(filepath.Join(dir, "half"), Options{Dim: 2})).OK(t)
	check.OK(t, errors.Join(half.Add([]float32{1, 2}), half.Abort()))
	check.Is(t, check.Err(Open(filepath.Join(dir, "half"), Options{})), ErrFolder, "a half folder")
	check.OK(t, os.Truncate(filepath.Join(dir, "good", "small"), 8))
	_, err = Open(filepath.Join(dir, "good"), Options{})
	check.True(t, errors.Is(err, ErrFolder) && strings.Contains(err.Error(), "small"), "a cut folder: %v", err)
}
