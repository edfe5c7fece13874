// SPDX-License-Identifier: Apache-2.0

// Package par spreads a loop over goroutines. The result does not depend
// on their number, nor does the error that is reported.
package par

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers returns the number of goroutines of an option: 0 means GOMAXPROCS.
func Workers(n int) int {
	if n == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}

// Ranges calls do for the ranges [lo, hi) of at most size that make up [0, n), in ascending order, from as
// many goroutines as there are workers (0: GOMAXPROCS), numbered from 0; a single one is the caller's own.
// After an error or when ctx is cancelled no further range is begun. The error comes from the lowest range
// that failed, or from ctx.
func Ranges(ctx context.Context, n, size, workers int, do func(worker, lo, hi int) error) error {
	var (
		next   atomic.Int64
		mu     sync.Mutex
		failed error
		lowest = n
	)
	work := func(worker int) {
		for ctx.Err() == nil {
			lo := int(next.Add(int64(size))) - size
			if lo >= n {
				return
			}
			if err := do(worker, lo, min(lo+size, n)); err != nil {
				next.Store(int64(n))
				mu.Lock()
				defer mu.Unlock()
				if lo < lowest {
					lowest, failed = lo, err
				}
				return
			}
		}
	}
	var group sync.WaitGroup
	for w := 1; w < min(Workers(workers), (n+size-1)/size); w++ {
		group.Go(func() { work(w) })
	}
	work(0)
	group.Wait()
	if failed != nil {
		return failed
	}
	return ctx.Err()
}

// Each is [Ranges] for ranges of one.
func Each(ctx context.Context, n, workers int, do func(i int) error) error {
	return Ranges(ctx, n, 1, workers, func(_, i, _ int) error { return do(i) })
}
