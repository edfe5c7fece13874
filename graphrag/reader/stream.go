// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Streamer is a [Reader] that also hands out an answer while it is written. Each
// Answer that is yielded has a longer beginning of the text, the last is what Read
// would return. An error ends the stream.
type Streamer interface {
	Stream(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error]
}

// Stream reads piece by piece if the reader is a [Streamer], else all at once.
func Stream(ctx context.Context, r Reader, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error] {
	if s, ok := r.(Streamer); ok {
		return s.Stream(ctx, q, evidence, derived)
	}
	return func(yield func(graphrag.Answer, error) bool) {
		yield(r.Read(ctx, q, evidence, derived))
	}
}
