// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/internal/check"
)

// life is what a system answers after Index, Insert and Delete.
func life(ctx context.Context, k kit.Kit, of all.System) ([]graphrag.Answer, *kg.Graph, error) {
	s, err := of.New(k, kit.Common{})
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	pages := baselinestest.Pages
	var out []graphrag.Answer
	var first *kg.Graph
	for _, change := range []func() (graphrag.IndexStats, error){
		func() (graphrag.IndexStats, error) { return s.Index(ctx, graphrag.Documents(pages[:4]...)) },
		func() (graphrag.IndexStats, error) { return s.Insert(ctx, graphrag.Documents(pages[4])) },
		func() (graphrag.IndexStats, error) { return s.Delete(ctx, pages[0].ID) },
	} {
		if _, err := change(); err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = s.Graph()
		}
		for _, q := range []string{"Who built the Fram?", "Which ships sailed to Antarctica?", "What raises the tides?"} {
			a, err := s.Answer(ctx, graphrag.Question{Text: q, K: 3})
			if err != nil {
				return nil, nil, err
			}
			out = append(out, a)
		}
	}
	return out, first, nil
}

// Systems that share what they make of documents answer as each by itself, also when
// all are built at once.
func TestShared(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	sharing := slices.DeleteFunc(systems(t), func(s all.System) bool { return s.NoDocuments })
	graphs := make(map[string]*kg.Graph)
	var mu sync.Mutex
	var built sync.WaitGroup
	ctx := memo.With(t.Context())
	for _, s := range sharing {
		built.Go(func() {
			alone, _, err1 := life(t.Context(), k, s)
			shared, graph, err2 := life(ctx, k, s)
			if err1 != nil || err2 != nil {
				t.Errorf("%s: %v, %v", s.Name, err1, err2)
			} else if diff := cmp.Diff(alone, shared); diff != "" {
				t.Errorf("%s answers otherwise with others (-alone +shared):\n%s", s.Name, diff)
			}
			mu.Lock()
			defer mu.Unlock()
			graphs[s.Name] = graph
		})
	}
	built.Wait()
	for _, same := range [][2]string{{"lightrag", "lightrag-mix"}, {"msgraphrag-local", "msgraphrag-drift"}, {"hipporag", "hipporag2"}} {
		check.True(t, graphs[same[0]] != nil && graphs[same[0]] == graphs[same[1]], "%v do not share their graph", same)
	}
}
