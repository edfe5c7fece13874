// SPDX-License-Identifier: Apache-2.0

package fusion_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/fusion"
)

// Golden test G7 (specs/hipporag_linearrag.md, section 9): the steps of IRCoT.
func TestGoldenG7(t *testing.T) {
	type list = []fusion.Scored[string]
	got, err := fusion.CombMAX(list{{"p1", 1}, {"p2", .6}, {"p3", .2}}, list{{"p4", 1}, {"p2", .9}, {"p1", .1}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list{{"p1", 1}, {"p4", 1}, {"p2", .9}, {"p3", .2}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := fusion.CombMAX(list{{"p1", math.NaN()}}); err == nil {
		t.Error("took a score that is no number")
	}
	if got, err := fusion.CombMAX[string](); err != nil || len(got) != 0 {
		t.Errorf("of no lists: %v, %v", got, err)
	}
}
