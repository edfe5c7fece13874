// SPDX-License-Identifier: Apache-2.0

package perception_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
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

// birds is a graph of barn owl (0), eagle owl (1), hare (2) and mouse (3), with one attribute, divided into
// hunters and prey.
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

// In a graph of four entities and an attribute, the community of the two owls is node 5, and each owl is a
// member of it; with the facts' edges the owls are two edges apart.
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

// The fact sheet's example: 100 chunks and 23 communities of two or more members take 100 + 5 = 105 calls; the
// five are made here.
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
	// The first batch has all names but one, an id as text and an unknown id; then a refusal; then an
	// unreadable reply, twice; the rest is good.
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
	if len(tree.Communities) != 23 || model.Calls() != 5+1 { // one unreadable reply was requested again
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

// Equation 4 with A (1,0), B (0,1), C (1,1), r1 (.5,0), r2 (0,.5) and the triples
// (A,r1,B), (A,r2,C), (B,r1,C).
func TestEntityVectorsWorked(t *testing.T) {
	entities, relations := []float32{1, 0, 0, 1, 1, 1}, []float32{.5, 0, 0, .5}
	triples := []perception.Triple{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}}
	want := []float32{
		1, 0, .25, .25, .5, 1,
		.5, .5, .5, 0, .5, 1,
		.5, .5, .25, .25, 1, 1,
	}
	got, err := perception.EntityVectors(entities, 2, relations, triples)
	check.True(t, err == nil && slices.Equal(got, want), "%v, %v, want %v", got, err, want)
}

// toy is the example of merging: a has the members 0 and 1, b 2 and 3, c 4 and 5; the relations are directed 0,
// born_in 1, located_in 2.
func toy() (vectors []float32, triples []perception.Triple, initial []int32) {
	for e, relations := range [][]int32{{0, 0, 1}, {0}, {2, 2}, {2}, {0, 1}, {0}} {
		for _, r := range relations {
			triples = append(triples, perception.Triple{Head: int32(e), Relation: r, Tail: int32(e)})
		}
	}
	return []float32{1, 0, .8, .6, 0, 1, -.6, .8, .6, .8, 1, 0}, triples, []int32{0, 0, 1, 1, 2, 2}
}

func byMembers(t testing.TB, vectors []float32, dim int, triples []perception.Triple, o perception.Options) perception.Partition {
	t.Helper()
	return check.Of(perception.ByMembers(t.Context(), vectors, dim, triples, o)).OK(t)
}

func fromLabels(t testing.TB, vectors []float32, dim int, triples []perception.Triple, o perception.Options, labels []int32) perception.Partition {
	t.Helper()
	return check.Of(perception.FromLabels(t.Context(), vectors, dim, triples, o, labels)).OK(t)
}

// By relations and members a and c belong together.
func TestMergeToy(t *testing.T) {
	vectors, triples, initial := toy()
	nodes := fromLabels(t, vectors, 2, triples, perception.Options{}, initial)
	want := []int32{0, 0, 1, 1, 0, 0}
	check.Equal(t, nodes.Labels, want, "by members")
	if got := nodes.Communities[0]; got.Center != 0 || !slices.Equal(got.Keywords, []int32{0, 1, 5, 4}) {
		t.Errorf("centre %d and keywords %v, want 0 and [0 1 5 4]", got.Center, got.Keywords)
	}
	check.Equal(t, len(fromLabels(t, vectors, 2, triples, perception.Options{MaxCommunities: 1}, initial).Communities), 1, "communities")
	check.Equal(t, len(fromLabels(t, vectors, 2, triples, perception.Options{MaxSize: 3}, initial).Communities), 3, "communities of at most 3")
}

// entities draws vectors around some centres, each with its own relations.
func entities(n, dim, centers int, seed uint64) (vectors []float32, triples []perception.Triple) {
	rng := rand.New(rand.NewPCG(seed, 0))
	middle := make([]float32, centers*dim)
	for i := range middle {
		middle[i] = float32(rng.NormFloat64())
	}
	for e := range n {
		c := e % centers
		for i := range dim {
			vectors = append(vectors, middle[c*dim+i]+float32(.2*rng.NormFloat64()))
		}
	}
	for range 2 * n {
		head := rng.IntN(n)
		tail := head%centers + centers*rng.IntN(n/centers)
		triples = append(triples, perception.Triple{Head: int32(head), Relation: int32(head%centers*3 + rng.IntN(3)), Tail: int32(min(tail, n-1))})
	}
	return vectors, triples
}

// Every entity is in exactly one community, with all rules and limits.
func TestPartition(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 60, 400} {
		vectors, triples := entities(n, 5, min(n, 6), uint64(n))
		for i, o := range []perception.Options{
			{}, {MaxCommunities: 3}, {Epsilon: 5, MaxSize: graphrag.Off}, {MaxCommunities: 2}, {Beta: 2}, {Beta: 1},
			{RelationWeight: graphrag.Off}, {Lambda: 2},
		} {
			p := byMembers(t, vectors, 5, triples, o)
			checkPartition(t, fmt.Sprintf("%d entities, options %d", n, i), n, p)
			check.True(t, o.MaxCommunities <= 0 || len(p.Communities) <= o.MaxCommunities,
				"%d entities, options %d: %d communities", n, i, len(p.Communities))
		}
	}
}

func checkPartition(t *testing.T, name string, n int, p perception.Partition) {
	t.Helper()
	seen := make([]int, n)
	for id, c := range p.Communities {
		for _, e := range c.Members {
			seen[e]++
			check.True(t, p.Labels[e] == int32(id),
				"%s: entity %d has label %d, is in %d", name, e, p.Labels[e], id)
		}
		check.True(t, slices.IsSorted(c.Members) && slices.Contains(c.Members, c.Center) && c.Keywords[0] == c.Center, "%s: %+v", name, c)
		check.Equal(t, len(c.Keywords), min(5, len(c.Members)), "%s: %d keywords of %d members", name, len(c.Keywords), len(c.Members))
	}
	check.True(t, !slices.ContainsFunc(seen, func(n int) bool { return n != 1 }), "%s: members %v", name, seen)
}

// Entities with common relations and meanings are grouped: of thirty clusters about six communities remain, and
// none is mixed.
func TestFindsGroups(t *testing.T) {
	vectors, triples := entities(300, 8, 6, 3)
	p := byMembers(t, vectors, 8, triples, perception.Options{})
	check.True(t, len(p.Communities) >= 6 && len(p.Communities) <= 9, "%d communities, want 6 to 9", len(p.Communities))
	for _, c := range p.Communities {
		for _, e := range c.Members {
			check.True(t, e%6 == c.Members[0]%6, "%d and %d are together", e, c.Members[0])
		}
	}
}

// The order of triples and the number of processors do not change the result.
func TestDeterministic(t *testing.T) {
	vectors, triples := entities(500, 6, 9, 5)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := fmt.Sprint(byMembers(t, vectors, 6, triples, perception.Options{Beta: 5}))
	rng := rand.New(rand.NewPCG(4, 4))
	for procs := range 4 {
		runtime.GOMAXPROCS(procs + 1)
		rng.Shuffle(len(triples), func(i, j int) { triples[i], triples[j] = triples[j], triples[i] })
		check.Equal(t, fmt.Sprint(byMembers(t, vectors, 6, triples, perception.Options{Beta: 5})), want, "%d processors", procs+1)
	}
}

func TestBadInput(t *testing.T) {
	vectors, triples, _ := toy()
	nan := slices.Clone(vectors)
	nan[3] = float32(math.NaN())
	for name, c := range map[string]struct {
		vectors []float32
		dim     int
		triples []perception.Triple
		opts    perception.Options
		want    string
	}{
		"no dimension":   {vectors, 0, nil, perception.Options{}, "rows of 0"},
		"broken row":     {vectors, 5, nil, perception.Options{}, "rows of 5"},
		"not a number":   {nan, 2, nil, perception.Options{}, "NaN"},
		"head":           {vectors, 2, []perception.Triple{{6, 0, 0}}, perception.Options{}, "triple 0"},
		"tail":           {vectors, 2, []perception.Triple{{0, 0, -1}}, perception.Options{}, "triple 0"},
		"relation":       {vectors, 2, []perception.Triple{{0, -1, 0}}, perception.Options{}, "triple 0"},
		"weight":         {vectors, 2, triples, perception.Options{RelationWeight: 2}, "RelationWeight is 2"},
		"epsilon":        {vectors, 2, triples, perception.Options{Epsilon: math.NaN()}, "Epsilon is NaN"},
		"size":           {vectors, 2, triples, perception.Options{MaxSize: -2}, "MaxSize is -2"},
		"negative count": {vectors, 2, triples, perception.Options{Keywords: -1}, "Keywords is -1"},
	} {
		_, err := perception.ByMembers(t.Context(), c.vectors, c.dim, c.triples, c.opts)
		check.True(t, err != nil && strings.Contains(err.Error(), c.want), "%s: %v, want …%s…", name, err, c.want)
	}
	check.True(t, check.Err(perception.EntityVectors(vectors, 2, nil, triples)) != nil, "relations out of range")
	p := byMembers(t, nil, 2, nil, perception.Options{})
	check.Equal(t, len(p.Communities), 0, "no entities: %v", p)
	p = byMembers(t, make([]float32, 8), 2, nil, perception.Options{})
	check.Equal(t, len(p.Labels), 4, "zeros: %v", p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(perception.ByMembers(ctx, vectors, 2, triples, perception.Options{})), context.Canceled, "cancelled")
}
