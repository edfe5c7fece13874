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
	"github.com/wildgraph/wildgraph/internal/check"
)

type square int

type cube int

func TestOf(t *testing.T) {
	var made atomic.Int32
	get := func(ctx context.Context, n int) int {
		return check.Of(memo.Of(ctx, square(n), func() (int, error) { made.Add(1); return n * n, nil })).OK(t)
	}
	bare := t.Context()
	check.True(t, get(bare, 3)+get(bare, 3) == 18 && made.Load() == 2, "without a memo it was made %d times, want 2", made.Load())
	made.Store(0)
	ctx := memo.With(bare)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() { check.Equal(t, get(ctx, i%4), (i%4)*(i%4), "%d²", i%4) })
	}
	all.Wait()
	check.Equal(t, made.Load(), 4, "made %d times", made.Load())
	v, _ := memo.Of(ctx, cube(2), func() (int, error) { return 8, nil })
	check.Equal(t, v, 8, "keys of two types are one")
}

// A computation that failed or was cancelled is repeated.
func TestFailed(t *testing.T) {
	ctx := memo.With(t.Context())
	bad := errors.New("bad")
	_, err := memo.Of(ctx, square(1), func() (int, error) { return 0, bad })
	check.True(t, err == bad, "%v", err)
	v, err := memo.Of(ctx, square(1), func() (int, error) { return 1, nil })
	check.True(t, v == 1 && err == nil, "%v %v", v, err)
	begun, end := make(chan struct{}), make(chan struct{})
	go memo.Of(ctx, square(2), func() (int, error) { close(begun); <-end; return 4, nil })
	<-begun
	short, stop := context.WithCancel(ctx)
	stop()
	check.Is(t, check.Err(memo.Of(short, square(2), func() (int, error) { return 0, nil })), context.Canceled, "who waits and is stopped got")
	close(end)
	v, err = memo.Of(ctx, square(2), func() (int, error) { return 5, nil })
	check.True(t, v == 4 && err == nil, "%d, %v; want 4", v, err)
}

// If a caller panics, others try, and looking up a known value costs only its key.
func TestAfterPanic(t *testing.T) {
	ctx := memo.With(t.Context())
	func() {
		defer func() { check.True(t, recover() != nil, "the panic was kept") }()
		memo.Of(ctx, square(1), func() (int, error) { panic("bad") })
	}()
	get := func() {
		v, err := memo.Of(ctx, square(1), func() (int, error) { return 1, nil })
		check.True(t, v == 1 && err == nil, "%v %v", v, err)
	}
	get()
	n := testing.AllocsPerRun(10, get)
	check.True(t, n <= 3, "%g allocations for what there is", n)
}

func TestDigest(t *testing.T) {
	seen := make(map[memo.Digest]string)
	for _, texts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"b", "a"}} {
		d := memo.DigestOf(slices.Values(texts))
		other, ok := seen[d]
		check.True(t, !ok, "%q and %s have one digest", texts, other)
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

func TestStill(t *testing.T) {
	made := 0
	var keeper memo.Keeper
	for i, step := range []struct {
		kept bool
		turn bool
		of   []int
		made int
	}{
		{of: []int{3, 3}, made: 2}, // without a Keeper nothing is kept
		{kept: true, of: []int{1, 2, 3, 1}, made: 3},
		{kept: true, turn: true, of: []int{3, 4, 1}, made: 1},
		{kept: true, of: []int{2, 4}, made: 0},   // the last values are kept until the next turn
		{kept: true, of: []int{-1, -1}, made: 2}, // failed computations are not kept
		{kept: true, turn: true, of: []int{4, 1}, made: 0},
		{kept: true, turn: true, of: []int{4, 3}, made: 1},
	} {
		ctx, before := t.Context(), made
		if step.kept {
			ctx = keeper.With(ctx)
		}
		if step.turn {
			keeper.Turn()
		}
		for _, n := range step.of {
			got, err := memo.Still(ctx, square(n), func() (int, error) {
				if made++; n < 0 {
					return 0, errors.New("less than none")
				}
				return n * n, nil
			})
			check.True(t, (err != nil) == (n < 0) && (err != nil || got == n*n),
				"step %d: %d of %d, %v", i, got, n, err)
		}
		check.Equal(t, made-before, step.made, "step %d made", i)
	}
	kept := keeper.With(t.Context())
	*memo.Kept[[]int](kept) = []int{7}
	got := *memo.Kept[[]int](kept)
	check.True(t, len(got) == 1 && len(*memo.Kept[[]int](t.Context())) == 0, "%v is kept", got)
}
