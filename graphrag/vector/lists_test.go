// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// topical are vectors around centers, and fifty more as queries.
func topical(rng *rand.Rand, n, dim int) (rows, queries [][]float32) {
	centers := make([][]float32, 60)
	for i := range centers {
		centers[i] = randomVector(rng, dim, 1)
	}
	for range n + 50 {
		v := randomVector(rng, dim, .6)
		for j, c := range centers[rng.IntN(len(centers))] {
			v[j] += c
		}
		rows = append(rows, v)
	}
	return rows[:n], rows[n:]
}

// inFolder is an index of rows in a new folder.
func inFolder(t testing.TB, o Options, rows [][]float32) (x *Index, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "index")
	w, err := Create(dir, o)
	if err == nil {
		err = errors.Join(w.Add(rows...), w.Close(t.Context()))
	}
	if err == nil {
		x, err = Open(dir, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x, dir
}

// The default effort finds nearly all of the best rows, all lists find all, and neither
// kernels nor workers nor batches change a bit.
func TestLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	rows, queries := topical(rng, 6000, 24)
	for _, o := range []Options{{Cosine: true, Quantized: true}, {Quantized: true}, {Cosine: true}} {
		o.Dim, o.Lists, o.Workers = 24, 80, 1
		x, dir := inFolder(t, o, rows)
		if err := x.Verify(t.Context()); err != nil || x.Len() != len(rows) || x.lists.number() != o.Lists {
			t.Fatalf("%+v: %d rows, %d lists, %v", o, x.Len(), x.lists.number(), err)
		}
		var found int
		var first [][]rank.Scored[int32]
		for _, q := range queries {
			want := keptOf(t, x, q, Params{K: 10})
			all, errAll := x.SearchWith(q, Params{K: 10, Lists: math.MaxInt}, nil)
			if diff := gocmp.Diff(want, all); errAll != nil || diff != "" {
				t.Fatalf("%+v: all lists: %v (-want +got)\n%s", o, errAll, diff)
			}
			got, err := x.Search(q, 10, nil)
			if err != nil || len(got) != 10 {
				t.Fatalf("%+v: %v, %v", o, got, err)
			}
			for _, hit := range got {
				if hit.Score >= want[9].Score {
					found++
				}
			}
			first = append(first, got)
		}
		if recall := float64(found) / float64(10*len(queries)); recall < .95 {
			t.Errorf("%+v: recall@10 is %.3f", o, recall)
		}
		other, err := Open(dir, Options{Workers: 4})
		if err != nil {
			t.Fatal(err)
		}
		for name, kernels := range map[string]kernels{"fastest": fastest(), "portable": portable()} {
			other.kernels = kernels
			for i, q := range queries {
				got, err := other.Search(q, 10, nil)
				if diff := gocmp.Diff(first[i], got); err != nil || diff != "" {
					t.Fatalf("%+v %s: with 4 workers: %v (-1 +4)\n%s", o, name, err, diff)
				}
			}
			for _, lists := range []int{0, 1, 80} {
				batch, err := other.SearchBatch(t.Context(), queries, Params{K: 10, Lists: lists})
				if err != nil {
					t.Fatal(err)
				}
				for i, q := range queries {
					single, _ := x.SearchWith(q, Params{K: 10, Lists: lists}, nil)
					if diff := gocmp.Diff(single, batch[i]); diff != "" {
						t.Fatalf("%+v %s, %d lists: (-single +batch)\n%s", o, name, lists, diff)
					}
				}
			}
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Lists are read until there are K rows to keep, and those that are found are kept.
func TestKeepWithLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows, queries := topical(rng, 1500, 24)
	rows[7], rows[1499] = make([]float32, 24), make([]float32, 24)
	x, _ := inFolder(t, Options{Dim: 24, Lists: 64, Quantized: true}, rows)
	queries = append(queries[:6], make([]float32, 24))
	for i, keep := range keeps(len(rows)) {
		for _, k := range []int{0, 10, math.MaxInt} {
			batch, err := x.SearchBatch(t.Context(), queries, Params{K: k, Keep: keep, Lists: 1})
			if err != nil {
				t.Fatal(err)
			}
			for j, q := range queries {
				want := keptOf(t, x, q, Params{K: k, Keep: keep})
				exact, _ := x.SearchWith(q, Params{K: k, Keep: keep, Lists: 64}, []rank.Scored[int32]{})
				if diff := gocmp.Diff(want, exact); diff != "" {
					t.Fatalf("condition %d, k=%d, all lists: (-want +got)\n%s", i, k, diff)
				}
				one, err := x.SearchWith(q, Params{K: k, Keep: keep, Lists: 1}, []rank.Scored[int32]{})
				if err != nil || len(one) != len(want) || len(batch[j]) != len(want) {
					t.Fatalf("condition %d, k=%d, one list: %d rows, in the batch %d, want %d; %v", i, k, len(one), len(batch[j]), len(want), err)
				}
				for _, hit := range one {
					if keep != nil && !keep(hit.ID) {
						t.Errorf("condition %d: row %d is not to be kept", i, hit.ID)
					}
				}
			}
		}
	}
}

func TestListsAllocateNothing(t *testing.T) {
	rows, queries := topical(rand.New(rand.NewPCG(3, 8)), 1000, 8)
	x, _ := inFolder(t, Options{Dim: 8, Lists: 20, Quantized: true, Workers: 1}, rows)
	var dst []rank.Scored[int32]
	least := math.Inf(1)
	for range 20 { // a pool may be emptied at any time
		least = min(least, testing.AllocsPerRun(1, func() { dst, _ = x.Search(queries[0], 5, dst[:0]) }))
	}
	if least != 0 {
		t.Errorf("a query allocates %v times", least)
	}
}

// Few rows, equal rows, rows of zeros, and none at all.
func TestListsOfLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{0, 1, 3, 40} {
		for _, equal := range []bool{false, true} {
			rows := someVectors(rng, n, 5, true)
			for i := range rows {
				if equal {
					rows[i] = rows[0]
				}
			}
			x, _ := inFolder(t, Options{Dim: 5, Lists: 7, Quantized: true}, rows)
			for _, q := range someVectors(rng, 9, 5, true) {
				want := keptOf(t, x, q, Params{K: 3})
				got, err := x.SearchWith(q, Params{K: 3, Lists: 7}, []rank.Scored[int32]{})
				if diff := gocmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%d rows: %v (-want +got)\n%s", n, err, diff)
				}
			}
		}
	}
	if _, err := Create(t.TempDir(), Options{Dim: 2, Lists: -1}); err == nil || !strings.Contains(err.Error(), "Lists") {
		t.Errorf("-1 lists: %v", err)
	}
}

// Folders are equal to the byte whatever the workers; nothing of the writing stays.
func TestListsAreDeterministic(t *testing.T) {
	rows, _ := topical(rand.New(rand.NewPCG(3, 6)), 2500, 20)
	var want map[string]string
	for _, workers := range []int{1, 3} {
		_, dir := inFolder(t, Options{Dim: 20, Lists: 30, Quantized: true, Workers: workers}, rows)
		got := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			got[e.Name()] = string(data)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(want, got) || len(got) != 7 {
			t.Errorf("%d workers give other files, or not 7 but %d", workers, len(got))
		}
	}
}

// A writer that was killed or cancelled leaves no index, and damaged lists are refused.
func TestBadLists(t *testing.T) {
	rows, _ := topical(rand.New(rand.NewPCG(3, 7)), 500, 8)
	for looks := range 4 {
		dir := filepath.Join(t.TempDir(), "index")
		w, err := Create(dir, Options{Dim: 8, Lists: 9, Quantized: true})
		if err == nil {
			err = w.Add(rows...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if looks > 0 { // else killed
			if err := w.Close(texttest.NewCountdown(looks)); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
		}
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrFolder) {
			t.Errorf("not finished: %v", err)
		}
	}
	for name, value := range map[string]uint32{"ids": 500, "starts": 7, "centers": math.Float32bits(float32(math.NaN()))} {
		x, dir := inFolder(t, Options{Dim: 8, Lists: 9, Quantized: true}, rows)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint32(data, value)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrFolder) {
			t.Errorf("damaged %s: %v", name, err)
		}
	}
	_, dir := inFolder(t, Options{Dim: 8, Lists: 9}, rows)
	path := filepath.Join(dir, "manifest.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(string(data), `"version": 2`, `"version": 1`, 1)
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil || old == string(data) {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrFolder) || !strings.Contains(err.Error(), "version 1") {
		t.Errorf("an old folder: %v", err)
	}
}
