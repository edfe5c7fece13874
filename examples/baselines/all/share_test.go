// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Every system that is built in a store of the replies of three shares finds what it finds built by one process,
// also when it is opened, and no reply is asked for twice.
func TestShares(t *testing.T) {
	var docs []graphrag.Document
	for i := range 24 {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("d%02d", i), Title: fmt.Sprintf("Log %d", i),
			Text: fmt.Sprintf("AAA sailed ship %d with BBB in 19%02d. The ship was built by carpenter %d, who went to sea %d times.", i%7, i, i, i*i)})
	}
	for _, system := range systems(t) {
		t.Run(system.Name, func(t *testing.T) {
			build := func(m *llmtest.Script) *kit.System {
				s, err := system.New(baselinestest.ModelKit(t, m), kit.Common{})
				baselinestest.OK(t, err)
				return s
			}
			find := func(s *kit.System) graphrag.Found {
				defer s.Close()
				f, err := s.Retrieve(t.Context(), graphrag.Question{Text: "Who built ship 3?", K: 3})
				baselinestest.OK(t, err)
				return f
			}
			model := func() *llmtest.Script {
				return llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
			}
			alone := build(model())
			_, err := alone.Index(t.Context(), graphrag.Documents(docs...))
			baselinestest.OK(t, err)

			st, err := disk.Open(t.TempDir(), disk.Options{})
			baselinestest.OK(t, err)
			defer st.Close()
			m := model()
			x, err := index.Open(t.Context(), index.Options{Store: st, Name: "job", System: func() (*kit.System, error) { return build(m), nil }})
			baselinestest.OK(t, err)
			defer x.Close()
			_, err = x.Put(t.Context(), graphrag.Documents(docs...))
			baselinestest.OK(t, err)
			p := index.Progress{Shares: 3}
			for shares := p.Next(); shares != nil; shares = p.Next() {
				for _, s := range shares {
					done, err := x.Do(t.Context(), s)
					baselinestest.OK(t, err)
					p.Add(done)
				}
				if p.Round > 20 {
					t.Fatalf("no end: %+v", p)
				}
			}
			asked := m.Calls()
			open := func() *kit.System {
				s, err := kit.Open(t.Context(), build(m).Frame(), st, "index")
				baselinestest.OK(t, err)
				return s
			}
			together := open()
			_, err = x.Build(t.Context(), together)
			baselinestest.OK(t, err)
			opened := open()
			if m.Calls() != asked {
				t.Errorf("%d replies were missing after %d rounds and when it was opened", m.Calls()-asked, p.Round)
			}
			times := make(map[string]int)
			for _, r := range m.Requests() {
				key, err := json.Marshal(r)
				baselinestest.OK(t, err)
				if times[string(key)]++; times[string(key)] == 2 {
					t.Errorf("asked twice: %.300s", key)
				}
			}
			want := find(alone)
			for _, s := range []*kit.System{together, opened} {
				if diff := cmp.Diff(want, find(s)); diff != "" {
					t.Errorf("(-alone +together):\n%s", diff)
				}
			}
		})
	}
}
