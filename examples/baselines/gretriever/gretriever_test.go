// SPDX-License-Identifier: Apache-2.0

package gretriever_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/gretriever"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
)

// stated is an extractor of the triples in a chunk: one a line, with "|" between the parts.
type stated struct{}

func (stated) Name() string { return "stated" }

func (stated) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		out[i] = kg.Extraction{Chunk: c.ID, Doc: c.Doc}
		for line := range strings.Lines(c.Text) {
			if p := strings.Split(strings.TrimSpace(line), "|"); len(p) == 3 {
				out[i].Facts = append(out[i].Facts, kg.Fact{Triple: graphrag.Triple{Head: p[0], Relation: p[1], Tail: p[2]}})
			}
		}
	}
	return out, ctx.Err()
}

func indexed(t *testing.T, o gretriever.Options, pages ...string) *kit.System {
	t.Helper()
	o.Extract = stated{}
	s := check.Of(gretriever.New(baselinestest.OfflineKit(t), o)).OK(t)
	var docs []graphrag.Document
	for i, text := range pages {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("%d.md", i), Text: text})
	}
	baselinestest.Index(t, s, docs...)
	return s
}

func docs(hits []graphrag.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.Chunk.Doc)
	}
	return out
}

// The subgraph joins the entities that the question names through others, each triple with the pages that state
// it, and these pages are ranked first.
func TestPartOfTheGraph(t *testing.T) {
	s := indexed(t, gretriever.Options{}, "dell curry|played for|hornets\nstephen curry|child of|dell curry", "dell curry|educated at|virginia tech",
		"virginia tech|located in|blacksburg", "warriors|located in|oakland", "dell curry|was born in|harrisonburg")
	found, err := s.Retrieve(t.Context(), graphrag.Question{Text: "Where was the father of Stephen Curry, of whom he is a child, educated? In Virginia?", K: 9})
	check.OK(t, err)
	got := make(map[string][]string)
	for _, d := range found.Derived {
		got[d.Text] = d.Docs
	}
	for fact, of := range map[string]string{"stephen curry, child of, dell curry": "0.md", "dell curry, educated at, virginia tech": "1.md"} {
		check.Equal(t, got[fact], []string{of}, "%s", fact)
	}
	ranked := docs(found.Ranked)
	check.True(t, len(ranked) >= 2 && ranked[0] == "0.md" && ranked[1] == "1.md" && !strings.Contains(strings.Join(ranked, " "), "3.md"), "ranked %v", ranked)
	check.True(t, got["warriors, located in, oakland"] == nil, "another part of the graph was selected")
}

// A question without a word of the graph, and one about names that are not in it, select nothing.
func TestNothingToSelect(t *testing.T) {
	s := indexed(t, gretriever.Options{}, "dell curry|played for|hornets")
	for _, q := range []string{"", "why is it so", "Who built the Fram?", "??"} {
		found, err := s.Retrieve(t.Context(), graphrag.Question{Text: q, K: 3})
		check.True(t, err == nil && len(found.Ranked) == 0 && len(found.Derived) == 0, "%q: %+v, %v", q, found, err)
	}
}

// A name with a hundred thousand relations: the subgraph has the relations with prizes, and no others.
func TestHub(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "hub|meets|thing %d\n", i)
	}
	s := indexed(t, gretriever.Options{Common: kit.Common{Cut: kit.Cut{Size: 20_000}}}, b.String())
	found, err := s.Retrieve(t.Context(), graphrag.Question{Text: "Does the hub meet thing 77?", K: 3})
	check.True(t, err == nil && len(found.Derived) != 0 && len(found.Derived) <= 50, "%d triples, %v", len(found.Derived), err)
}

func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	s, err := gretriever.New(k, gretriever.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text)
	for _, fact := range a.Derived {
		fmt.Println(fact.Kind, fact.Text, fact.Docs)
	}
	// Output:
	// The Fram was built by Colin Archer.
	// fact Amundsen, sailed on, Fram [amundsen.md]
	// fact Colin Archer, built for, Fridtjof Nansen [fram.md]
	// fact Colin Archer, built ship in, Larvik [fram.md]
	// fact Fram, in, 1893 [fram.md]
	// fact Fram, mentions, Larvik [fram.md]
	// fact Fram, to, Antarctica [amundsen.md]
	// fact Fram, was built by, Colin Archer [fram.md]
}
