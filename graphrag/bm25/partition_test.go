// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The partitions of all terms lie one behind the other, and are found from both sides.
func TestPartitionsOfTerms(t *testing.T) {
	last := 0
	for term := range 1 << 20 {
		p := partitionOf(uint32(term))
		if p != last && (p != last+1 || firstOf(p) != term) || term < firstOf(p) || term >= firstOf(p+1) {
			t.Fatalf("term %d is in partition %d of terms %d to %d, behind %d", term, p, firstOf(p), firstOf(p+1)-1, last)
		}
		last = p
	}
}

// Postings that come document by document are there term by term, of more than there was
// room for.
func TestPartitionsByTerm(t *testing.T) {
	const terms, documents = 5000, 3000
	rng := rand.New(rand.NewPCG(1, 2))
	p, want := newPartitions(documents), make([][]posting, terms)
	p.reach(terms)
	for doc := range posting(documents) {
		for range 50 {
			term := uint32(float64(terms) * rng.Float64() * rng.Float64() * rng.Float64())
			of := doc<<tfBits | posting(rng.IntN(largeTF+1))
			p.add(term, of)
			want[term] = append(want[term], of)
		}
	}
	ends, starts := make([]uint32, terms), p.starts()
	postings := make([]posting, starts[len(p.of)])
	for i := range p.of {
		p.byTerm(i, starts[i], postings, ends)
	}
	if all := slices.Concat(want...); !slices.Equal(postings, all) {
		t.Fatalf("%d postings are not the %d that were added, in order", len(postings), len(all))
	}
	end := 0
	for term, list := range want {
		if end += len(list); int(ends[term]) != end {
			t.Fatalf("the postings of term %d end at %d, want %d", term, ends[term], end)
		}
	}
}

// A batch has no more documents than its postings can name, however short they are.
func TestBatchesOfManyDocuments(t *testing.T) {
	const n = 5 * mostBatch / 2
	starts, _ := cut(n, func(int) (string, string) { return "", "" }, mostBytes)
	if len(starts) < 4 || starts[len(starts)-1] != n {
		t.Fatalf("%d batches, the last ends at %d", len(starts)-1, starts[len(starts)-1])
	}
	for i, start := range starts[1:] {
		if start-starts[i] > mostBatch {
			t.Errorf("a batch has %d documents", start-starts[i])
		}
	}
}
