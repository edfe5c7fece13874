// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"context"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/perception"
)

// Under a memo the communities of a graph are found once, for each set of options.
func TestCommunitiesAreFoundOnce(t *testing.T) {
	k, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	chunks := []graphrag.Chunk{{ID: "a", Text: "Skien is a town in Norway."}, {ID: "b", Text: "Larvik is a town in Norway."}}
	g := &kg.Graph{
		Entities:  []kg.Entity{{Name: "Skien"}, {Name: "Norway"}, {Name: "Larvik"}},
		Relations: []kg.Relation{{Head: 0, Tail: 1, Label: "in"}, {Head: 2, Tail: 1, Label: "in"}},
	}
	find := func(ctx context.Context, o Options) *perception.Community {
		t.Helper()
		p, err := divided(ctx, o, kit.NewCorpus(k, chunks, g))
		if err != nil {
			t.Fatal(err)
		}
		return &p.Communities[0]
	}
	under := memo.With(t.Context())
	first := find(under, Options{})
	if find(under, Options{NoAgent: true}) != first {
		t.Error("found twice")
	}
	other := Options{Communities: perception.Options{Seed: 7}}
	if find(t.Context(), Options{}) == first || find(under, other) == first {
		t.Error("shared without a memo, or with other options")
	}
}
