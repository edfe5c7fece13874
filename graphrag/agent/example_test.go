// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// A search over three pages that reflects by one rule: as long as a page says who
// built the ship, it looks for the builder.
func ExampleReflecting() {
	ctx := context.Background()
	pages, err := retrieve.NewSparse(ctx, []graphrag.Chunk{
		{ID: "archer", Doc: "archer", Text: "Colin Archer was born in Larvik."},
		{ID: "fram", Doc: "fram", Text: "The ship Fram was built by Colin Archer."},
		{ID: "larvik", Doc: "larvik", Text: "Larvik is a town in Norway."},
	}, bm25.Options{})
	if err != nil {
		panic(err)
	}
	reflect := func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		first := m.Found.Ranked[0].Chunk.Text
		_, builder, ok := strings.Cut(strings.TrimSuffix(first, "."), "built by ")
		if !ok || len(m.Turns) > 1 {
			return agent.Move{Thought: "All is known.", Answered: true}, nil
		}
		return agent.Move{Thought: "The builder is " + builder, Query: "Where was " + builder + " born?"}, nil
	}
	r, err := agent.Reflecting(pages, pages, reflect, agent.Options{})
	if err != nil {
		panic(err)
	}
	found, err := r.Retrieve(ctx, graphrag.Question{Text: "Where was the builder of the ship Fram born?", K: 1})
	if err != nil {
		panic(err)
	}
	for _, s := range found.Steps {
		fmt.Println(s.Kind, s.Query, s.Found)
	}
	// Output:
	// reflect Where was Colin Archer born? [The builder is Colin Archer]
	// search Where was Colin Archer born? [archer]
	// reflect  [All is known.]
	// stop  [answered]
}
