// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Of four chunks one is refused, one has a record that cannot be used, one has
// nothing in it, and one is garbage; of two descriptions one cannot be had. A change
// counts the whole index, whatever it asks for anew, and so does a saved one.
func TestStages(t *testing.T) {
	m := llmtest.NewScript("m").
		Fail(llmtest.Contains("hawk owl"), &llm.Error{Kind: llm.ErrRefused}).
		Reply(llmtest.Contains("barn owl"), `{"entities": [{"name": "barn owl", "type": "bird", "desc": "An owl."}, {"name": "phoenix", "type": "bird", "desc": "x"}], "relationships": []}`).
		Reply(llmtest.Contains("zilch"), `{"entities": [], "relationships": []}`).
		Reply(llmtest.Any, "I would rather not.")
	open := func() *kit.System {
		k := modelKit(t, m)
		f := kit.Frame{Name: "counted", Kit: k}
		f.ExtractBy(nil, k.RecordsFor(extract.RecordOptions{Format: extract.Objects, Types: []string{"bird"}}))
		f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			d := describer(t, k)
			for _, subject := range []string{"hawk owl", "barn owl"} {
				if _, err := d.Describe(ctx, subject, []kg.Description{{Text: "An owl."}, {Text: "A bird."}}); err != nil {
					return nil, err
				}
			}
			kit.Done(ctx, "report", errors.New("does not fit"))
			return finding(c, ctx)
		}
		s, err := kit.New(f)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := []graphrag.Stage{
		{Name: "extract", Asked: 4, Failed: 2, Refused: 1, Repaired: 1},
		{Name: "describe", Asked: 2, Failed: 1, Refused: 1},
		{Name: "report", Asked: 1, Failed: 1},
	}
	docs := []graphrag.Document{{ID: "1", Text: "A hawk owl."}, {ID: "2", Text: "A barn owl."}, {ID: "3", Text: "There is zilch."}, {ID: "4", Text: "An eagle."}}
	s := open()
	index(t, s, docs[:3]...)
	stats, err := s.Insert(t.Context(), stream(docs[3]))
	if diff := cmp.Diff(want, stats.Stages); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
	dir := t.TempDir()
	if err := s.Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	stats, err = open().Open(t.Context(), dir)
	if diff := cmp.Diff(want, stats.Stages); diff != "" || err != nil {
		t.Errorf("opened (-want +got):\n%s%v", diff, err)
	}
}
