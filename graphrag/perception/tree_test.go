// SPDX-License-Identifier: Apache-2.0

package perception_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// birds is a graph of barn owl (0), eagle owl (1), hare (2) and mouse (3), with
// one attribute, and its partition into hunters, prey and nothing else.
func birds() (*kg.Graph, perception.Partition) {
	b, err := kg.NewBase(kg.Options{})
	if err != nil {
		panic(err)
	}
	fact := func(head, relation, tail string) kg.Fact {
		return kg.Fact{Triple: graphrag.Triple{Head: head, Relation: relation, Tail: tail}}
	}
	err = b.Insert(
		kg.Extraction{
			Chunk: "a#0", Doc: "a", Facts: []kg.Fact{fact("barn owl", "finds", "mouse")},
			Mentions:   []kg.Mention{{Name: "barn owl", Description: "The barn owl finds a mouse under the snow by ear."}},
			Attributes: []kg.Attribute{{Entity: "barn owl", Key: "face", Value: "white"}},
		},
		kg.Extraction{Chunk: "b#0", Doc: "b", Facts: []kg.Fact{fact("eagle owl", "takes", "hare")}},
	)
	if err != nil {
		panic(err)
	}
	g, err := b.Graph(context.Background())
	if err != nil {
		panic(err)
	}
	return g, perception.Partition{Communities: []perception.Community{
		{Members: []int32{0, 1}, Center: 1, Keywords: []int32{1, 0}}, {Members: []int32{2}, Center: 2}, {Members: []int32{3}, Center: 3},
	}}
}

func TestBuild(t *testing.T) {
	g, p := birds()
	tree := check.Of(perception.NewTree(t.Context(), g, p, nil)).OK(t)
	want := []perception.Fact{
		{Head: 0, Tail: 3, Relation: "finds", Text: "barn owl finds mouse", Passages: []int32{0}},
		{Head: 1, Tail: 2, Relation: "takes", Text: "eagle owl takes hare", Passages: []int32{1}},
		{Head: 0, Tail: 4, Relation: "face", Text: "barn owl face: white", Passages: []int32{0}},
	}
	diff := cmp.Diff(want, tree.Facts)
	check.True(t, diff == "" && tree.Nodes == 5, "%d nodes\n%s", tree.Nodes, diff)
	c := tree.Communities[0]
	check.True(t, len(tree.Communities) == 1 && strings.Contains(c.Description, "by ear") &&
		slices.Equal(c.Sources, []int32{0}) && slices.Equal(c.Keywords, []int32{1, 0}), "%+v", tree.Communities)
}

// In a graph of four entities and an attribute, the community of the two owls is node 5, and each
// owl is a member of it: with the edges of the facts the owls are two steps apart.
func TestJoin(t *testing.T) {
	g, p := birds()
	tree := check.Of(perception.NewTree(t.Context(), g, p, nil)).OK(t)
	tree.Join(g)
	want := []perception.Fact{
		{Head: 0, Tail: 5, Relation: "member_of", Text: "barn owl member_of eagle owl"},
		{Head: 1, Tail: 5, Relation: "member_of", Text: "eagle owl member_of eagle owl"},
	}
	diff := cmp.Diff(want, tree.Facts[3:])
	check.True(t, diff == "" && tree.Nodes == 6, "%d nodes\n%s", tree.Nodes, diff)
}

// The sheet's check: 100 chunks and 23 communities of two or more are 100 + 5 =
// 105 calls; the five are made here.
func TestCalls(t *testing.T) {
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	var p perception.Partition
	x := kg.Extraction{Chunk: "a#0", Doc: "a"}
	for i := range int32(48) {
		x.Mentions = append(x.Mentions, kg.Mention{Name: fmt.Sprintf("thing %02d", i)})
		if i%2 == 1 && i < 46 {
			p.Communities = append(p.Communities, perception.Community{Members: []int32{i - 1, i}, Center: i, Keywords: []int32{i}})
		} else if i >= 46 {
			p.Communities = append(p.Communities, perception.Community{Members: []int32{i}, Center: i})
		}
	}
	check.OK(t, b.Insert(x))
	g := check.Of(b.Graph(t.Context())).OK(t)
	// Names of the first batch but one, with an id as text and one that nobody
	// asked for; then a refusal; then what cannot be read, twice; the rest is good.
	model := llmtest.NewScript("namer").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		text := req.Messages[1].Text
		switch {
		case strings.Contains(text, "id: 0\n"):
			return llm.Reply{Text: `{"communities": [{"id": "0", "name": "zero", "summary": "s"}, {"id": 1, "name": "one", "summary": ""},
				{"id": 2, "name": "two", "summary": ""}, {"id": 3, "name": " ", "summary": ""}, {"id": 99, "name": "none", "summary": ""}]}`}
		case strings.Contains(text, "id: 20\n"):
			return llm.Reply{Text: "Sorry."}
		}
		var all []string
		for i := 5; i < 20; i++ {
			all = append(all, fmt.Sprintf(`{"id": %d, "name": "name %d", "summary": "s"}`, i, i))
		}
		return llm.Reply{Text: `{"communities": [` + strings.Join(all, ",") + `]}`}
	})
	tree := check.Of(perception.NewTree(t.Context(), g, p, model)).OK(t)
	if len(tree.Communities) != 23 || model.Calls() != 5+1 { // one reply could not be read and was asked for again
		t.Errorf("%d communities, %d calls", len(tree.Communities), model.Calls())
	}
	var failed []int32
	for _, f := range tree.Failed {
		failed = append(failed, f.ID)
	}
	want := []int32{3, 4, 20, 21, 22}
	check.Equal(t, failed, want, "failed")
	for i, want := range map[int]string{0: "zero", 2: "two", 3: "Community 3", 7: "name 7", 22: "Community 22"} {
		check.Equal(t, tree.Communities[i].Name, want, "community %d", i)
	}
}

func TestErrors(t *testing.T) {
	g, p := birds()
	denied := llmtest.NewScript("namer").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth})
	check.Is(t, check.Err(perception.NewTree(t.Context(), g, p, denied)), llm.ErrAuth, "denied")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(perception.NewTree(ctx, g, p, nil)), context.Canceled, "cancelled")
	p.Communities[0].Center = 9
	check.True(t, check.Err(perception.NewTree(t.Context(), g, p, nil)) != nil, "an entity that is not there")
	tree, err := perception.NewTree(t.Context(), &kg.Graph{}, perception.Partition{}, nil)
	check.True(t, err == nil && len(tree.Facts) == 0, "nothing: %+v, %v", tree, err)
}

func ExampleByMembers() {
	const bornIn, directed = 0, 1
	// Two directors, two films, two towns.
	entities := []float32{1, 0, .9, .1, .5, .5, .4, .6, 0, 1, .1, .9}
	relations := []float32{.2, .8, .8, .2}
	triples := []perception.Triple{
		{Head: 0, Relation: directed, Tail: 2}, {Head: 1, Relation: directed, Tail: 3},
		{Head: 0, Relation: bornIn, Tail: 4}, {Head: 1, Relation: bornIn, Tail: 5},
	}
	vectors, err := perception.EntityVectors(entities, 2, relations, triples)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := perception.ByMembers(context.Background(), vectors, 6, triples, perception.Options{Beta: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range p.Communities {
		fmt.Println(c.Members, "centre", c.Center)
	}
	// Output:
	// [0 1] centre 0
	// [2 3] centre 2
	// [4 5] centre 4
}
