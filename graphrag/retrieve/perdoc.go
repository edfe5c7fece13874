// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
)

// PerDoc returns a retriever with at most n chunks of one document, so that a long
// page does not fill the list; what is left out makes room for the next in the
// ranking. It looks deeper into r until there are enough, which asks r again. n 0
// is no limit.
func PerDoc(r graphrag.Retriever, n int) (graphrag.Retriever, error) {
	var errs []error
	if r == nil {
		errs = append(errs, errors.New("retrieve: PerDoc: the retriever is missing"))
	}
	if n < 0 {
		errs = append(errs, fmt.Errorf("retrieve: PerDoc: %d chunks of one document, want 0 or more", n))
	}
	if n == 0 {
		return r, errors.Join(errs...)
	}
	return perDoc{r, n}, errors.Join(errs...)
}

type perDoc struct {
	r graphrag.Retriever
	n int
}

func (p perDoc) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	var usage graphrag.Usage
	want := q.Want()
	for depth := 4 * want; ; depth *= 4 {
		deeper := q
		deeper.Depth = depth
		found, err := p.r.Retrieve(ctx, deeper)
		if err != nil {
			return found, err
		}
		usage = usage.Add(found.Usage)
		all := len(found.Ranked) < depth || depth == 0
		if found.Ranked != nil {
			found.Ranked = p.first(found.Ranked, want)
		}
		if all || len(found.Ranked) == want {
			found.Usage = usage
			return found, nil
		}
	}
}

// Capped are the hits but those beyond the first n of their document; n 0 keeps all.
// It is for what was merged of rankings that each keep to the limit.
func Capped(hits []graphrag.Hit, n int) []graphrag.Hit {
	if n == 0 || hits == nil {
		return hits
	}
	return perDoc{n: n}.first(hits, len(hits))
}

// first are the first hits, no more than n of a document.
func (p perDoc) first(hits []graphrag.Hit, want int) []graphrag.Hit {
	out := []graphrag.Hit{}
	limit := newLimit(p.n)
	for _, h := range hits {
		if len(out) < want && limit.take(h.Chunk.Doc) {
			out = append(out, h)
		}
	}
	return out
}
