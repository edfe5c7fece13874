// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
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
				return check.Of(system.New(baselinestest.ModelKit(t, m), kit.Common{})).OK(t)
			}
			find := func(s *kit.System) graphrag.Found {
				defer s.Close()
				return check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "Who built ship 3?", K: 3})).OK(t)
			}
			model := func() *llmtest.Script {
				return llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
			}
			alone := build(model())
			check.OK(t, check.Err(alone.Index(t.Context(), graphrag.Documents(docs...))))

			st := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
			defer st.Close()
			m := model()
			x := check.Of(index.Open(t.Context(), index.Options{Store: st, Name: "job", System: func() (*kit.System, error) { return build(m), nil }})).OK(t)
			defer x.Close()
			check.OK(t, check.Err(x.Put(t.Context(), graphrag.Documents(docs...))))
			p := index.Progress{Shares: 3}
			for shares := p.Next(); shares != nil; shares = p.Next() {
				for _, s := range shares {
					done := check.Of(x.Do(t.Context(), s)).OK(t)
					p.Add(done)
				}
				check.Must(t, p.Round <= 20, "no end: %+v", p)
			}
			asked := m.Calls()
			open := func() *kit.System { return check.Of(kit.Open(t.Context(), build(m).Frame(), st, "index")).OK(t) }
			together := open()
			check.OK(t, check.Err(x.Build(t.Context(), together)))
			opened := open()
			check.Equal(t, m.Calls(), asked, "%d replies were missing after %d rounds and when it was opened", m.Calls()-asked, p.Round)
			times := make(map[string]int)
			for _, r := range m.Requests() {
				key := check.Of(json.Marshal(r)).OK(t)
				if times[string(key)]++; times[string(key)] == 2 {
					t.Errorf("asked twice: %.300s", key)
				}
			}
			want := find(alone)
			for _, s := range []*kit.System{together, opened} {
				check.Equal(t, find(s), want, "(-alone +together)")
			}
		})
	}
}
