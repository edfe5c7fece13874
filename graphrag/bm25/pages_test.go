// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// What the pages of WildGraphBench give stays as it was, to the last bit of a score.
// Processors that multiply and add in one have others.
func TestHitsOfPages(t *testing.T) {
	if os.Getenv("WILDGRAPHBENCH_DIR") == "" {
		t.Skip("WILDGRAPHBENCH_DIR names no data")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the sums are those of amd64")
	}
	c := benchCorpus(t)
	for size, want := range map[int]string{chunkBytes: "53db442f417f701d", passageBytes: "e20ae8b8a48d3be5"} {
		pieces, _ := cut(c.pages, size)
		ix, err := bm25.BuildTexts(t.Context(), pieces, bm25.Plain())
		if err != nil {
			t.Fatal(err)
		}
		sum := fnv.New64a()
		var dst []rank.Scored[int32]
		for _, q := range c.questions {
			for _, k := range []int{1, 10, 100} {
				dst = ix.Search(q, k, dst)
				for _, r := range dst {
					fmt.Fprintf(sum, "%d %x ", r.ID, math.Float64bits(r.Score))
				}
			}
		}
		if got := fmt.Sprintf("%x", sum.Sum64()); got != want {
			t.Errorf("%d pieces of %d bytes: the hits have the sum %s, want %s", len(pieces), size, got, want)
		}
	}
}
