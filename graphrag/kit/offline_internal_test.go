// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/memo"
)

// Under a memo LSA is fitted once to a corpus, for each seed.
func TestLSAIsFittedOnce(t *testing.T) {
	corpus := []string{"The Fram sailed to Antarctica.", "The Gjøa sailed the Northwest Passage."}
	fit := func(ctx context.Context, seed uint64, corpus []string) embed.Embedder {
		t.Helper()
		e, err := lsa(seed)(ctx, corpus)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	under := memo.With(t.Context())
	first := fit(under, 1, corpus)
	if fit(under, 1, corpus) != first {
		t.Error("the same corpus was fitted twice")
	}
	if fit(t.Context(), 1, corpus) == first || fit(under, 2, corpus) == first || fit(under, 1, corpus[:1]) == first {
		t.Error("shared without a memo, with another seed or of another corpus")
	}
}
