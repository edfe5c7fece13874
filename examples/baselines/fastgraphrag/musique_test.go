// SPDX-License-Identifier: Apache-2.0

package fastgraphrag_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/naiverag"
)

// Questions that take two steps or more are what walks are for: with the
// triples of a model, all passages of the answer are found more often than by
// comparing passages with the question.
func TestMuSiQue(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	kit, cut := baselinestest.OfflineKit(t), baselines.Cut{KeepLinks: true}
	walk, err := fastgraphrag.New(kit, fastgraphrag.Options{Cut: cut, Extract: m.Triples})
	if err != nil {
		t.Fatal(err)
	}
	flat, err := naiverag.New(kit, naiverag.Options{Cut: cut})
	if err != nil {
		t.Fatal(err)
	}
	walked, compared := m.Measure(t, walk), m.Measure(t, flat)
	t.Logf("R@5 %.1f and all@5 %.0f; compared %.1f and %.0f", walked.At[5], walked.All[5], compared.At[5], compared.All[5])
	if walked.At[5] < compared.At[5] || walked.All[5] < compared.All[5] {
		t.Error("walking finds less")
	}
}
