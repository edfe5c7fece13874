// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Embedder turns texts into vectors, such that texts of like content have a
// large dot product. A value of langchaingo's embeddings.Embedder is one, and
// the other way round.
//
// All vectors of one embedder have the same length, whatever the text, also
// the empty one. EmbedDocuments returns one vector for each text, in order;
// none for none. Both methods are safe for concurrent use, and when ctx is
// cancelled they return an error that satisfies errors.Is with the context's.
// Package embedtest checks these rules.
type Embedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Model is what is known of an embedder beside its vectors. The embedders of
// this package are models; those of others need not be.
type Model interface {
	// Name identifies the embedder and all that its vectors depend on: equal
	// names, equal vectors. An index stores it to refuse others.
	Name() string
	// Dim is the length of the vectors.
	Dim() int
}

// parallel calls work(0) to work(n-1) from several goroutines, a few
// neighbours at a time, and returns early with the error of ctx. Workers 0
// means GOMAXPROCS.
func parallel(ctx context.Context, workers, n int, work func(i int)) error {
	const grain = 16
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, (n+grain-1)/grain) {
		wg.Go(func() {
			for ctx.Err() == nil {
				first := int(next.Add(grain)) - grain
				if first >= n {
					return
				}
				for i := first; i < min(first+grain, n) && ctx.Err() == nil; i++ {
					work(i)
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
