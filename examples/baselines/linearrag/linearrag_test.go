// SPDX-License-Identifier: Apache-2.0

package linearrag_test

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
)

// With the recorded entities, tf-idf sentences and BM25 passages, the figures of
// the specification (section 11): 61.3 % at 5 with the program's defaults, 67.3
// with its settings for MuSiQue. With the offline kit's own look-up, BM25 for both,
// the defaults find more and the settings for tf-idf cosines less.
func TestMuSiQue(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	k := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
	for text, x := range m.Triples {
		m.Triples[text] = kg.Extraction{Mentions: x.Mentions}
	}
	tfidf := k
	tfidf.Find = byTFIDF(len(m.Docs))
	musique := linearrag.Options{Threshold: .1, Sentences: 4, Iterations: 5, Ratio: 2}
	for _, tt := range []struct {
		name string
		kit  kit.Kit
		o    linearrag.Options
		min  float64
	}{
		{"the kit's look-up", k, linearrag.Options{}, 66},
		{"the kit's, musique", k, musique, 64},
		{"defaults", tfidf, linearrag.Options{}, 64},
		{"musique", tfidf, musique, 67},
		{"musique, no steps", tfidf, linearrag.Options{Threshold: .1, Iterations: 1}, 50},
		{"musique, max", tfidf, linearrag.Options{Threshold: .1, Sentences: 4, Iterations: 5, Ratio: 2, Activation: linearrag.Max}, 50},
	} {
		tt.o.Extract, tt.o.Cut.KeepLinks = m.Triples, true
		s := check.Of(linearrag.New(tt.kit, tt.o)).OK(t)
		r := m.Measure(t, s)
		t.Logf("%-18s R@1 %.1f R@2 %.1f R@5 %.1f R@10 %.1f R@20 %.1f all@5 %.0f", tt.name, r.At[1], r.At[2], r.At[5], r.At[10], r.At[20], r.All[5])
		check.True(t, r.At[5] >= tt.min, "%s: R@5 %.1f, want %v", tt.name, r.At[5], tt.min)
	}
}

func TestOptions(t *testing.T) {
	_, err := linearrag.New(kit.Kit{}, linearrag.Options{Threshold: -1, Sentences: -1, Iterations: -1, Ratio: -1, PassageWeight: -1, Activation: "9"})
	for _, want := range []string{"Threshold is -1", "Sentences is -1", "Iterations is -1", "Ratio is -1", "PassageWeight is -1", "Activation is 9", "no extractor"} {
		check.True(t, err != nil && strings.Contains(err.Error(), want), "%v: want %q", err, want)
	}
}
