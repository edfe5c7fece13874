// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// What is found within a limit is, to the bit, what an index of those documents alone finds,
// whatever share of them that is and however they are put into indexes.
func TestLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{30, 3000, 20000} {
		texts := zipf(n)
		var parts []*bm25.Index
		var first []int
		for at := 0; at < n; {
			size := min(n-at, 1+r.IntN(n))
			parts, first = append(parts, built(t, texts[at:at+size], bm25.Options{})), append(first, at)
			at += size
		}
		whole, err := bm25.NewCollection(parts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, share := range []float64{0, .001, .01, .1, .5, .95, .999, 1} {
			var permitted []string
			var numbers []int32 // of the permitted among all
			sets := make([]bm25.Docs, len(parts))
			for i, ix := range parts {
				sets[i] = bm25.AllDocs(ix.Len())
				for d := range ix.Len() {
					if r.Float64() >= share {
						sets[i].Remove(int32(d))
						continue
					}
					permitted, numbers = append(permitted, texts[first[i]+d]), append(numbers, int32(first[i]+d))
				}
				if sets[i].Len() == ix.Len() && i%2 == 0 {
					sets[i] = nil
				}
			}
			limited, alone, among := whole.Limit(sets), built(t, permitted, bm25.Options{}), whole.Among(sets)
			keep := func(part int, doc int32) bool { return sets[part] == nil || sets[part].Has(doc) }
			for _, k := range []int{1, 10, 1000} {
				for range 6 {
					query := fmt.Sprintf("w1 w%d w%d w3 w2 w3 w%d often absent", 1+r.IntN(4), 1+r.IntN(30), 1+r.IntN(500))
					var want, got []rank.Scored[int32]
					for _, s := range alone.Search(query, k, nil) {
						want = append(want, rank.Scored[int32]{ID: numbers[s.ID], Score: s.Score})
					}
					for _, f := range limited.Search(query, k, nil, nil) {
						if len(got) < k {
							got = append(got, rank.Scored[int32]{ID: int32(first[f.Part]) + f.Doc, Score: f.Score})
						}
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%d documents in %d indexes, %g permitted, %q (-alone +limited):\n%.2000s", n, len(parts), share, query, diff)
					}
					if diff := cmp.Diff(whole.Search(query, k, keep, nil), among.Search(query, k, nil, nil), cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("%d documents in %d indexes, %g permitted, %q (-kept +among):\n%.2000s", n, len(parts), share, query, diff)
					}
					if a, b := alone.Whole(query), limited.Whole(query); a != b {
						t.Errorf("whole: %g and %g", a, b)
					}
				}
			}
		}
	}
}
