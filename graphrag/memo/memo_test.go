// SPDX-License-Identifier: Apache-2.0

package memo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/memo"
)

type square int

type cube int

func TestOf(t *testing.T) {
	var made atomic.Int32
	get := func(ctx context.Context, n int) int {
		v, err := memo.Of(ctx, square(n), func() (int, error) { made.Add(1); return n * n, nil })
		if err != nil {
			t.Error(err)
		}
		return v
	}
	bare := t.Context()
	if get(bare, 3)+get(bare, 3) != 18 || made.Load() != 2 {
		t.Errorf("without a memo it was made %d times, want 2", made.Load())
	}
	made.Store(0)
	ctx := memo.With(bare)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if got := get(ctx, i%4); got != (i%4)*(i%4) {
				t.Errorf("%d² is %d", i%4, got)
			}
		})
	}
	all.Wait()
	if made.Load() != 4 {
		t.Errorf("made %d times, want 4", made.Load())
	}
	if v, _ := memo.Of(ctx, cube(2), func() (int, error) { return 8, nil }); v != 8 {
		t.Errorf("keys of two types are one: %d", v)
	}
}

// What fails, or was given up, is made again.
func TestFailed(t *testing.T) {
	ctx := memo.With(t.Context())
	bad := errors.New("bad")
	if _, err := memo.Of(ctx, square(1), func() (int, error) { return 0, bad }); err != bad {
		t.Error(err)
	}
	if v, err := memo.Of(ctx, square(1), func() (int, error) { return 1, nil }); v != 1 || err != nil {
		t.Error(v, err)
	}
	begun, end := make(chan struct{}), make(chan struct{})
	go memo.Of(ctx, square(2), func() (int, error) { close(begun); <-end; return 4, nil })
	<-begun
	short, stop := context.WithCancel(ctx)
	stop()
	if _, err := memo.Of(short, square(2), func() (int, error) { return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits and is stopped got %v", err)
	}
	close(end)
	if v, err := memo.Of(ctx, square(2), func() (int, error) { return 5, nil }); v != 4 || err != nil {
		t.Errorf("%d, %v; want 4", v, err)
	}
}

// Who panics lets others try, and what there is costs its key alone.
func TestAfterPanic(t *testing.T) {
	ctx := memo.With(t.Context())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was kept")
			}
		}()
		memo.Of(ctx, square(1), func() (int, error) { panic("bad") })
	}()
	get := func() {
		if v, err := memo.Of(ctx, square(1), func() (int, error) { return 1, nil }); v != 1 || err != nil {
			t.Error(v, err)
		}
	}
	get()
	if n := testing.AllocsPerRun(10, get); n > 3 {
		t.Errorf("%g allocations for what there is", n)
	}
}

func TestDigest(t *testing.T) {
	seen := make(map[memo.Digest]string)
	for _, texts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"b", "a"}} {
		d := memo.DigestOf(slices.Values(texts))
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %s have one digest", texts, other)
		}
		seen[d] = fmt.Sprintf("%q", texts)
	}
}

// Two systems need the words of a page; they are counted once.
func Example() {
	type wordsOf struct{ page string }
	count := func(ctx context.Context, page string) (int, error) {
		return memo.Of(ctx, wordsOf{page}, func() (int, error) {
			fmt.Println("counting", page)
			return 3, nil
		})
	}
	ctx := memo.With(context.Background())
	for range 2 {
		fmt.Println(count(ctx, "fram.md"))
	}
	// Output:
	// counting fram.md
	// 3 <nil>
	// 3 <nil>
}

func TestEach(t *testing.T) {
	made := 0
	squares := func(ctx context.Context, name string, of ...int) []int {
		t.Helper()
		out, err := memo.Each(ctx, name, len(of), func(i int) int { return of[i] }, func(i int) (int, error) {
			if made++; of[i] < 0 {
				return 0, errors.New("less than none")
			}
			return of[i] * of[i], nil
		})
		if err != nil {
			return nil
		}
		return out
	}
	var keeper memo.Keeper
	kept := keeper.With(t.Context())
	for _, step := range []struct {
		ctx  context.Context
		name string
		of   []int
		want []int
		made int
	}{
		{t.Context(), "a", []int{3}, []int{9}, 1},
		{t.Context(), "a", []int{3}, []int{9}, 1}, // nothing keeps it
		{kept, "a", []int{1, 2, 3}, []int{1, 4, 9}, 3},
		{kept, "a", []int{3, 4, 1}, []int{9, 16, 1}, 1},
		{kept, "b", []int{3}, []int{9}, 1},
		{kept, "a", []int{-1}, nil, 1},
		{kept, "a", []int{4, 2}, []int{16, 4}, 1}, // what failed is not the last time, and 2 is gone
		{kept, "a", nil, []int{}, 0},
	} {
		before := made
		if got := squares(step.ctx, step.name, step.of...); !slices.Equal(got, step.want) || (got == nil) != (step.want == nil) || made-before != step.made {
			t.Errorf("%s of %v: %v by making %d, want %v by %d", step.name, step.of, got, made-before, step.want, step.made)
		}
	}
	*memo.Kept[[]int](kept) = []int{7}
	if got := *memo.Kept[[]int](kept); len(got) != 1 || len(*memo.Kept[[]int](t.Context())) != 0 {
		t.Errorf("%v is kept", got)
	}
}
