// SPDX-License-Identifier: Apache-2.0

package par_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/internal/check"
)

func TestRangesCoverEverythingOnce(t *testing.T) {
	for _, n := range []int{0, 1, 7, 64, 1000} {
		for _, size := range []int{1, 7, 64, 5000} {
			for _, workers := range []int{0, 1, 3, 16} {
				times := make([]int32, n)
				err := par.Ranges(t.Context(), n, size, workers, func(worker, lo, hi int) error {
					if worker < 0 || worker >= par.Workers(workers) || lo%size != 0 || hi != min(lo+size, n) {
						return fmt.Errorf("worker %d of %d: %d to %d", worker, workers, lo, hi)
					}
					for i := lo; i < hi; i++ {
						atomic.AddInt32(&times[i], 1)
					}
					return nil
				})
				check.Must(t, err == nil && !slices.ContainsFunc(times, func(k int32) bool { return k != 1 }),
					"%d in ranges of %d with %d workers: %v, %v", n, size, workers, times, err)
			}
		}
	}
}

// Whichever range fails first, the error of the lowest range is returned: all ranges below it started earlier
// and are completed.
func TestLowestErrorWins(t *testing.T) {
	for range 200 {
		err := par.Each(t.Context(), 100, 8, func(i int) error {
			if i < 20 {
				return nil
			}
			if i%2 == 0 {
				runtime.Gosched()
			}
			return fmt.Errorf("%d", i)
		})
		check.Must(t, err != nil && err.Error() == "20", "error %v, want 20", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int32
	err := par.Each(ctx, 1000, 4, func(i int) error {
		if done.Add(1) == 10 {
			cancel()
		}
		return nil
	})
	check.True(t, errors.Is(err, context.Canceled) && done.Load() <= 20, "%d done after the context was cancelled at 10: %v", done.Load(), err)
}
