// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"

	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Every record of the replies that a real model gave is read.
func TestRecordedReplies(t *testing.T) {
	type counts struct{ Replies, Mentions, Facts, Problems int }
	got := make(map[string]counts)
	for _, r := range llmtest.Calls(t) {
		for _, verify := range []bool{false, true} {
			kind, x := extractor(t, r, verify)
			if x == nil {
				continue
			}
			out, err := x.Extract(t.Context(), []graphrag.Chunk{{ID: "a#0", Doc: "a", Text: r.Data()}})
			if err != nil {
				t.Fatal(err)
			}
			if verify {
				kind += ", verified"
			}
			c := got[kind]
			got[kind] = counts{c.Replies + 1, c.Mentions + len(out[0].Mentions), c.Facts + len(out[0].Facts), c.Problems + len(out[0].Problems)}
			for _, p := range out[0].Problems {
				t.Logf("%s: %s: %s: %s", kind, p.Kind, p.Text, p.Reason)
			}
		}
	}
	want := map[string]counts{
		"tuples": {38, 291, 248, 0}, "tuples, verified": {38, 289, 246, 4},
		"lines": {38, 299, 264, 0}, "lines, verified": {38, 293, 260, 7},
		"objects": {19, 220, 221, 0}, "objects, verified": {19, 218, 219, 4},
		"triples": {19, 456, 377, 0}, "triples, verified": {19, 456, 377, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// extractor is one that gets the reply, with the kind of the reply; nil for calls
// that are not for an extraction.
func extractor(t *testing.T, r llmtest.Call, verify bool) (string, extract.Extractor) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, r.Reply)
	o := extract.RecordOptions{ModelOptions: extract.ModelOptions{Model: m, Verify: verify}, Types: []string{"x"}, Gleanings: extract.NoGleaning}
	var x extract.Extractor
	var err error
	switch {
	case strings.Contains(r.System, `("entity"`):
		o.Format = extract.Tuples
	case strings.Contains(r.System, "entity<|#|>"):
		o.Format = extract.Lines
	case strings.Contains(r.System, "other_relationships"):
		o.Format = extract.Objects
	case strings.Contains(r.System, `{"triples":`):
		m = llmtest.NewScript("m").Reply(llmtest.Stage(extract.StageEntities), `{"named_entities": []}`).Reply(llmtest.Any, r.Reply)
		x, err = extract.NewOpenIE(extract.ModelOptions{Model: m, Verify: verify})
		o.Format = "triples"
	default:
		return "", nil
	}
	if x == nil {
		x, err = extract.NewRecords(o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(o.Format), x
}
