// SPDX-License-Identifier: Apache-2.0

package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
)

// Layer is a level of a [Tree].
type Layer int8

// The levels of Youtu-GraphRAG (arXiv 2508.19855, section 3.2), its two lowest, the
// attributes and the facts, in one: attributes alone are no graph.
const (
	EntityLayer Layer = 1 + iota
	KeywordLayer
	CommunityLayer
)

// The relations that hold the levels together (TencentCloudADP/youtu-graphrag).
const (
	HasAttribute  = "has_attribute"  // entity → attribute
	RepresentedBy = "represented_by" // entity → its keyword
	KeywordOf     = "keyword_of"     // keyword → community
	MemberOf      = "member_of"      // entity → community
)

// Tree is a knowledge graph with its attributes, communities and their
// keywords on four levels. Keywords and communities are super-nodes: [Tree.Upto]
// has the graph without them.
type Tree struct {
	// Nodes are the entities by their ids, then the attributes, the keywords and
	// the communities.
	Nodes []Node
	// Edges are the relations of the knowledge graph by their ids, then those to
	// attributes, to keywords, and to communities.
	Edges []Edge
	// Communities of two members or more.
	Communities []Community
	// Failed are the communities that the model gave no name. They have a
	// generic one.
	Failed []Failure

	nodes, edges [CommunityLayer + 1]int // how many there are up to a level
}

// Node is a node of the tree.
type Node struct {
	Layer Layer
	Text  string
	// Attribute is set for "key: value" of an entity.
	Attribute bool
	// Entity is what it is about: the entity itself, that of an attribute or
	// keyword, the centre of a community.
	Entity int32
}

// Edge is an edge of the tree. From and To are places in Nodes.
type Edge struct {
	From, To int32
	Relation string
}

// Community is a community as a super-node.
type Community struct {
	// Node is its place in the tree, ID its number in the partition.
	Node, ID int32
	Members  []int32
	Center   int32
	// Keywords are entities, the best first.
	Keywords          []int32
	Name, Description string
	// Sources are the passages behind the description.
	Sources []int32
}

// Failure is a community without a name of its own.
type Failure struct {
	ID  int32
	Err error
}

// Options of [Build]. The defaults are those of TencentCloudADP/youtu-graphrag.
type Options struct {
	// Model names the communities. Without one, a community has the name of its
	// centre and a description that is quoted from those of its members.
	Model llm.Model
	// Batch is how many communities are named by one call; 0 means 5. Members is
	// how many members of each the model sees; 0 means 10.
	Batch, Members int
	// Concurrency is how many calls are made at a time; 0 means 8. It has no
	// influence on the tree.
	Concurrency int
}

func (o Options) resolve() (Options, error) {
	checks := opt.Checks{Of: "knowledge"}
	opt.Min(&checks, "Batch", o.Batch, 0)
	opt.Min(&checks, "Members", o.Members, 0)
	opt.Min(&checks, "Concurrency", o.Concurrency, 0)
	o.Batch = cmp.Or(o.Batch, 5)
	o.Members = cmp.Or(o.Members, 10)
	o.Concurrency = cmp.Or(o.Concurrency, 8)
	return o, checks.Err()
}

// Build builds the tree of a knowledge graph and a partition of its
// entities, such as that of perception.ByMembers. It makes one call for each
// [Options.Batch] of communities; those of one member have no name and
// no node.
//
// A batch that the model cannot name, because its reply is unusable, cut or
// refused, is listed as failed, and so is a community that the reply leaves out.
// Any other error ends the work.
func Build(ctx context.Context, g *kg.Graph, p perception.Partition, o Options) (*Tree, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	t := &Tree{}
	for id, c := range p.Communities {
		for _, e := range slices.Concat(c.Members, c.Keywords, []int32{c.Center}) {
			if e < 0 || int(e) >= len(g.Entities) {
				return nil, fmt.Errorf("knowledge: community %d has entity %d: there are %d", id, e, len(g.Entities))
			}
		}
		if len(c.Members) > 1 {
			t.Communities = append(t.Communities, Community{ID: int32(id), Members: c.Members, Center: c.Center, Keywords: c.Keywords})
		}
	}
	quote, err := summary.Extractive(summary.ExtractiveOptions{})
	if err != nil {
		return nil, err
	}
	if err := (&namer{g, o, quote}).name(ctx, t); err != nil {
		return nil, fmt.Errorf("knowledge: %w", err)
	}
	t.grow(g)
	return t, nil
}

// grow makes the nodes and edges, level by level.
func (t *Tree) grow(g *kg.Graph) {
	add := func(n Node) int32 {
		t.Nodes = append(t.Nodes, n)
		return int32(len(t.Nodes) - 1)
	}
	link := func(from, to int32, relation string) {
		t.Edges = append(t.Edges, Edge{from, to, relation})
	}
	done := func(layer Layer) { t.nodes[layer], t.edges[layer] = len(t.Nodes), len(t.Edges) }

	for e := range g.Entities {
		add(Node{Layer: EntityLayer, Text: g.Entities[e].Name, Entity: int32(e)})
	}
	for r := range g.Relations {
		link(g.Relations[r].Head, g.Relations[r].Tail, g.Relations[r].Label)
	}
	for e := range g.Entities {
		for _, a := range g.Entities[e].Attributes {
			link(int32(e), add(Node{EntityLayer, a.Key + ": " + a.Value, true, int32(e)}), HasAttribute)
		}
	}
	done(EntityLayer)
	keywords := make([][]int32, len(t.Communities))
	for i, c := range t.Communities {
		for _, k := range c.Keywords {
			node := add(Node{Layer: KeywordLayer, Text: g.Entities[k].Name, Entity: k})
			keywords[i] = append(keywords[i], node)
			link(k, node, RepresentedBy)
		}
	}
	done(KeywordLayer)
	for i := range t.Communities {
		c := &t.Communities[i]
		c.Node = add(Node{Layer: CommunityLayer, Text: c.Name, Entity: c.Center})
		for _, k := range keywords[i] {
			link(k, c.Node, KeywordOf)
		}
		for _, e := range c.Members {
			link(e, c.Node, MemberOf)
		}
	}
	done(CommunityLayer)
}

// Upto returns the tree up to a level and without the super-nodes above, for
// algorithms that should not walk through them: EntityLayer has the knowledge
// graph and its attributes, KeywordLayer also the keywords, CommunityLayer all.
func (t *Tree) Upto(layer Layer) ([]Node, []Edge) {
	if layer < EntityLayer || layer > CommunityLayer {
		return nil, nil
	}
	return t.Nodes[:t.nodes[layer]:t.nodes[layer]], t.Edges[:t.edges[layer]:t.edges[layer]]
}
