// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Index is a BM25 index, in memory or in a folder that is mapped there. It is
// immutable and safe for concurrent use.
type Index struct {
	inverted
	alone *Collection // of this index
}

func newIndex(o Options, terms *text.Vocabulary, lengths []uint32) *Index {
	ix := &Index{inverted: newInverted(o, terms, lengths)}
	ix.alone = collect([]*Index{ix})
	return ix
}

// Len returns the number of documents.
func (ix *Index) Len() int { return len(ix.lengths) }

// alike tells whether indexes can be one.
func alike(parts []*Index) error {
	settings := func(ix *Index) string {
		o := ix.options
		return fmt.Sprintf("k1 %g, b %g, titles %d, analyzer %s", o.K1, o.B, o.TitleWeight, o.Analyzer.Name())
	}
	total := 0
	for i, p := range parts {
		if a, b := settings(parts[0]), settings(p); a != b {
			return fmt.Errorf("index %d has other options than the first: %s and %s", i+1, b, a)
		}
		total += p.Len()
	}
	if total > math.MaxInt32 {
		return fmt.Errorf("%d documents: split them over several indexes of at most %d", total, math.MaxInt32)
	}
	return nil
}
