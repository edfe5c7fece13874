// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

var small = settings{Seed: 1, Passages: 4000, Triples: 24000, Questions: 40}

func smallWorld(t *testing.T, s settings) *world {
	t.Helper()
	w, err := newWorld(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// What has a number is the same whatever was made before it, and, if nothing is planted
// there, however much there is.
func TestDeterministic(t *testing.T) {
	a, b := smallWorld(t, small), smallWorld(t, small)
	other := small
	other.Seed = 2
	c := smallWorld(t, other)
	other = small
	other.Passages, other.Triples = 3*small.Passages, 3*small.Triples
	large := smallWorld(t, other)
	var same [2]int
	for i := small.Passages - 1; i >= 0; i-- {
		if p := a.passage(i); p != b.passage(i) || p.Text == c.passage(i).Text {
			t.Fatalf("passage %d: not made of the seed", i)
		} else if p == large.passage(i) {
			same[0]++
		}
		if e := a.triple(i); e != b.triple(i) || e == c.triple(i) {
			t.Fatalf("triple %d: not made of the seed", i)
		} else if e == large.triple(i) {
			same[1]++
		}
	}
	if planted := small.Questions * passagesEach; same[0] < small.Passages-2*planted {
		t.Errorf("%d of %d passages stay as they were when there are more", same[0], small.Passages)
	}
	if share := edgesEach * small.Questions * 2 / (small.Triples / small.Passages); same[1] < small.Passages-share {
		t.Errorf("%d of the first %d triples stay as they were when there are more", same[1], small.Passages)
	}
}

// No two words are one, as they are or as terms of an index; function words are none.
func TestVocabulary(t *testing.T) {
	seen := map[string]bool{}
	for rank, w := range words()[1:] {
		term, ok := analyzer.Term(w)
		if rank+1 < firstWord {
			term, ok = w, !ok
		}
		if !ok || term != w || seen[w] {
			t.Fatalf("rank %d is %q, of which the analyzer makes %q", rank+1, w, term)
		}
		seen[w] = true
	}
}

// Passages are as long as they should be, words as frequent, and hubs as large.
func TestFrequencies(t *testing.T) {
	w := smallWorld(t, small)
	number := map[string]int{}
	for rank, word := range words() {
		number[word] = rank
	}
	octaves, all := make([]int, wordOctaves), 0
	for i := range small.Passages {
		p := w.passage(i)
		fields := strings.Fields(p.Text)
		if n := len(fields); n < 100 || n > 125 {
			t.Fatalf("passage %d has %d words", i, n)
		}
		for _, f := range fields {
			rank := number[strings.ToLower(strings.Trim(f, "."))]
			octaves[int(math.Log2(float64(rank)))]++
			all++
		}
	}
	for o, n := range octaves[:wordOctaves-2] { // names are of the last
		if share := float64(n) / float64(all); math.Abs(share-1.0/wordOctaves) > 0.025 {
			t.Errorf("ranks from %d to %d are %.3f of all words, which is not Zipf's law", 1<<o, 2<<o, share)
		}
	}
	degree := map[string]int{}
	for j := range small.Triples {
		e := w.triple(j)
		degree[e.Head.ID]++
		degree[e.Tail.ID]++
	}
	if share := float64(degree["q1"]) / float64(small.Triples); share < 0.006 || share > 0.02 {
		t.Errorf("the largest hub is in %.4f of the triples", share)
	}
}

// The questions are what they claim to be, by looking at everything.
func TestPlanted(t *testing.T) {
	w := smallWorld(t, small)
	passages, edges := make([]graphrag.Chunk, w.Passages), make([]store.Triple, w.Triples)
	for i := range passages {
		passages[i] = w.passage(i)
	}
	for j := range edges {
		edges[j] = w.triple(j)
	}
	bridged := 0
	for _, q := range w.questions {
		first, second := passages[q.Gold[0]], passages[q.Gold[1]]
		if !share(q.Text, first.Text) {
			t.Errorf("%s: its first passage has no word of it", q.Text)
		}
		if q.Bridged {
			bridged++
		}
		if q.Bridged == share(q.Text, second.Text) {
			t.Errorf("%s: bridged %t, but its second passage has words of it: %t", q.Text, q.Bridged, !q.Bridged)
		}
		core := w.name(q.entity(q.core()))
		words := strings.Fields(core)
		named, distracting := 0, 0
		for _, e := range edges {
			if e.Head.Label == core || e.Tail.Label == core {
				named++
			}
			if slices.ContainsFunc(strings.Fields(e.Head.Label+" "+e.Tail.Label), func(s string) bool { return slices.Contains(words, s) }) {
				distracting++
			}
		}
		if named < 20 || distracting-2 < 200 {
			t.Errorf("%s: %s is in %d triples, and %d share its words", q.Text, core, named, distracting)
		}
		for slot, gold := range q.Gold {
			e := q.edge(slot)
			stating := 0
			for _, p := range passages {
				if strings.Contains(p.Text, w.name(e.head)) && strings.Contains(p.Text, w.name(e.tail)) {
					stating++
				}
			}
			if stating != 1 || !strings.Contains(passages[gold].Text, w.sentence(e)) {
				t.Errorf("%s: %d passages have %q, the gold one: %t", q.Text, stating, w.sentence(e), strings.Contains(passages[gold].Text, w.sentence(e)))
			}
		}
	}
	if bridged != small.Questions/2 {
		t.Errorf("%d of %d questions need the graph", bridged, small.Questions)
	}
}

func TestEmbedder(t *testing.T) {
	w := smallWorld(t, small)
	e := newHashed(w)
	embedtest.Test(t, e)
	row := func(text string) []float32 { v, _ := e.EmbedQuery(t.Context(), text); return v }
	dot := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i] * b[i])
		}
		return sum
	}
	p := w.passage(7).Text
	whole, half, other := row(p), row(p[:len(p)/2]), row(w.passage(8).Text)
	if math.Abs(dot(whole, whole)-1) > 1e-5 || dot(whole, half) < 0.5 || dot(whole, other) > 0.4 {
		t.Errorf("a passage has the products %.3f with itself, %.3f with its half, %.3f with another", dot(whole, whole), dot(whole, half), dot(whole, other))
	}
}

func BenchmarkPassage(b *testing.B) {
	w, err := newWorld(small)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i = (i + 1) % w.Passages {
		w.passage(i)
	}
}

func BenchmarkTriple(b *testing.B) {
	w, err := newWorld(small)
	if err != nil {
		b.Fatal(err)
	}
	for j := 0; b.Loop(); j = (j + 1) % w.Triples {
		w.triple(j)
	}
}

func BenchmarkEmbed(b *testing.B) {
	w, err := newWorld(small)
	if err != nil {
		b.Fatal(err)
	}
	e, text, row := newHashed(w), w.passage(7).Text, make([]float32, dim)
	for b.Loop() {
		clear(row)
		e.embed(text, row)
	}
}
