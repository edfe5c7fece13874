// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/construct"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// A question that repeats its statement is asked for once more, and then there is none.
func TestAskRepeats(t *testing.T) {
	const copied, good = `{"question": "Who found that kelp forests recovered within a decade?"}`, `{"question": "What did James A. Estes of Santa Cruz report of kelp?"}`
	d := construct.Draft{Type: wildgraph.SingleFact, Triples: []construct.Triple{{Statement: "James A. Estes of Santa Cruz found that kelp forests recovered within a decade."}}}
	for _, replies := range [][]string{{good}, {copied, good}, {copied, copied}} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, replies...)
		q, err := construct.NewByModel(m).Ask(t.Context(), d)
		if last := replies[len(replies)-1]; m.Calls() != len(replies) || (q != "") != (last == good) || (err == nil) != (last == good) {
			t.Errorf("%q: %q, %v after %d calls", replies, q, err, m.Calls())
		}
	}
}

// A sentence that was copied without marks and links is that of the section, or its loss is said.
func TestGroundUnmarked(t *testing.T) {
	a := construct.Parse("# Otter\n\nOtters rest in *rafts*,[^1] wrapped in [kelp](https://w.example/Kelp).[^1] They sleep.\n\n[^1]: [\"On rafts\"](https://rafts.example/)\n", "otter.md", construct.Options{})
	g := construct.NewGrounds(a.Citations(), func(string) bool { return true })
	s := a.Sections()[slices.IndexFunc(a.Sections(), func(s construct.Section) bool { return len(construct.Marks(s.Body)) > 0 })]
	gold, dropped := g.Ground(a, s, []construct.Stated{{"Otters rest in rafts, wrapped in kelp.", "Otters rest in rafts."}, {"They sleep.", "Otters sleep."}})
	if len(gold.Triples) != 1 || gold.Triples[0].Count != 1 || len(dropped) != 1 || dropped[0].Reason != "no citation mark" {
		t.Errorf("%+v, %+v", gold, dropped)
	}
}
