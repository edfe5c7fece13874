// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"
	"sync/atomic"
)

// forBlocks calls do for the ranges [lo, hi) of at most size that make up
// [0, n), from several goroutines numbered below workers. The ranges do not
// depend on the number of goroutines. It returns the error of a cancelled
// context, and then not all of the work is done.
func forBlocks(ctx context.Context, n, size, workers int, do func(worker, lo, hi int)) error {
	blocks := (n + size - 1) / size
	var next atomic.Int64
	work := func(worker int) {
		for ctx.Err() == nil {
			b := int(next.Add(1)) - 1
			if b >= blocks {
				return
			}
			do(worker, b*size, min((b+1)*size, n))
		}
	}
	var group sync.WaitGroup
	for w := 1; w < min(workers, blocks); w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			work(w)
		}()
	}
	work(0)
	group.Wait()
	return ctx.Err()
}
