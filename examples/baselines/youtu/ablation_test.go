// SPDX-License-Identifier: Apache-2.0

package youtu_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Each part of the paper's table 3 that is left out takes its calls and what it finds
// with it.
func TestAblations(t *testing.T) {
	for _, tt := range []struct {
		name      string
		o         youtu.Options
		want      map[string]int // calls by stage, those of the reader aside
		community bool
	}{
		{"all", youtu.Options{}, map[string]int{extract.StageInduce: 1, extract.StageSchema: 6, perception.Stage: 1, agent.StageDecompose: 1, agent.StageReflect: 1}, true},
		{"no agent", youtu.Options{NoAgent: true}, map[string]int{extract.StageInduce: 1, extract.StageSchema: 6, perception.Stage: 1, agent.StageDecompose: 1}, true},
		{"no communities", youtu.Options{NoCommunities: true}, map[string]int{extract.StageInduce: 1, extract.StageSchema: 6, agent.StageDecompose: 1, agent.StageReflect: 1}, false},
		{"no schema", youtu.Options{NoSchema: true}, map[string]int{extract.StageEntities: 6, extract.StageTriples: 6, perception.Stage: 1, agent.StageDecompose: 1, agent.StageReflect: 1}, true},
		{"schema given", youtu.Options{Schema: &extract.Schema{EntityTypes: []extract.SchemaItem{{Name: "event"}}, Relations: []extract.SchemaItem{{Name: "goes_with"}}}},
			map[string]int{extract.StageSchema: 6, perception.Stage: 1, agent.StageDecompose: 1, agent.StageReflect: 1}, true},
	} {
		m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		s, _ := indexed(t, baselinestest.ModelKit(t, m), tt.o, towns(6)...)
		a, err := s.Answer(t.Context(), graphrag.Question{Text: "Which group do the things of the towns go with?", K: 2})
		if err != nil {
			t.Fatal(err)
		}
		got := baselinestest.Stages(m)
		for stage := range got {
			if tt.want[stage] == 0 && stage != extract.StageSchema && stage != agent.StageReflect && stage != perception.Stage && stage != extract.StageInduce {
				delete(got, stage) // of the reader
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		community := slices.ContainsFunc(a.Derived, func(d graphrag.Derived) bool { return d.Kind == "community" })
		if community != tt.community {
			t.Errorf("%s: communities %v", tt.name, community)
		}
	}
}
