// SPDX-License-Identifier: Apache-2.0

// Package par runs the iterations of a loop on several goroutines. Neither the result nor the returned error
// depends on their number.
package par

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers returns the number of goroutines for the value of an option: 0 means GOMAXPROCS.
func Workers(n int) int {
	if n == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}

// Ranges divides [0, n) into ranges [lo, hi) of at most size and calls do for each, in ascending order, on the
// given number of workers (0 means GOMAXPROCS), which are numbered from 0; a single worker is the calling
// goroutine. After an error or when ctx is cancelled, no further range is begun. The error is the error of the
// lowest range that failed, or of ctx.
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

// Each calls do for 0 to n-1, as [Ranges] does for ranges of size 1.
func Each(ctx context.Context, n, workers int, do func(i int) error) error {
	return Ranges(ctx, n, 1, workers, func(_, i, _ int) error { return do(i) })
}
