// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

// Layer is a level of a [KnowledgeTree].
type Layer int8

// The levels of Youtu-GraphRAG (arXiv 2508.19855, section 3.2).
const (
	AttributeLayer Layer = 1 + iota
	EntityLayer
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

// KnowledgeTree is a knowledge graph with its attributes, communities and their
// keywords on four levels. Keywords and communities are super-nodes: [KnowledgeTree.Upto]
// has the graph without them.
type KnowledgeTree struct {
	// Nodes are the entities by their ids, then the attributes, the keywords and
	// the communities.
	Nodes []KnowledgeNode
	// Edges are the relations of the knowledge graph by their ids, then those to
	// attributes, to keywords, and to communities.
	Edges []KnowledgeEdge
	// Communities of two members or more.
	Communities []KnowledgeCommunity
	// Failed are the communities that the model gave no name. They have a
	// generic one.
	Failed []NamingFailure
	Usage  graphrag.Usage

	nodes, edges [CommunityLayer + 1]int // how many there are up to a level
}

// KnowledgeNode is a node of the tree.
type KnowledgeNode struct {
	Layer Layer
	Text  string
	// Entity is what it is about: the entity itself, that of an attribute or
	// keyword, the centre of a community.
	Entity int32
}

// KnowledgeEdge is an edge of the tree. From and To are places in Nodes.
type KnowledgeEdge struct {
	From, To int32
	Relation string
}

// KnowledgeCommunity is a community as a super-node.
type KnowledgeCommunity struct {
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

// NamingFailure is a community without a name of its own.
type NamingFailure struct {
	ID  int32
	Err error
}

// Defaults of [KnowledgeOptions] (TencentCloudADP/youtu-graphrag).
const (
	DefaultNamingBatch   = 5
	DefaultNamingMembers = 10
)

// KnowledgeOptions of [Knowledge].
type KnowledgeOptions struct {
	// Model names the communities. Without one, a community has the name of its
	// centre and a description that is quoted from those of its members.
	Model llm.Model
	// Batch is how many communities are named by one call, Members how many
	// members of each the model sees; 0 means the defaults.
	Batch, Members int
	// MaxTokens bounds the reply, and Temperature is passed on; zero values
	// leave both to the server.
	MaxTokens   int
	Temperature *float64
	// Workers is how many calls are made at the same time; 0 means
	// [DefaultWorkers] or more. It has no influence on the tree.
	Workers int
}

func (o KnowledgeOptions) resolve() (KnowledgeOptions, error) {
	var errs []error
	for _, c := range []struct {
		name  string
		value int
	}{{"Batch", o.Batch}, {"Members", o.Members}, {"MaxTokens", o.MaxTokens}, {"Workers", o.Workers}} {
		if c.value < 0 {
			errs = append(errs, fmt.Errorf("summary: %s is %d, want 0 or more", c.name, c.value))
		}
	}
	setDefault(&o.Batch, DefaultNamingBatch)
	setDefault(&o.Members, DefaultNamingMembers)
	o.Workers = workersOrDefault(o.Workers)
	return o, errors.Join(errs...)
}

// Knowledge builds the tree of a knowledge graph and a partition of its
// entities, such as that of community.Dual. It makes one call for each
// [KnowledgeOptions.Batch] of communities; those of one member have no name and
// no node.
//
// A batch that the model cannot name, because its reply is unusable, cut or
// refused, is listed as failed, and so is a community that the reply leaves out.
// Any other error ends the work.
func Knowledge(ctx context.Context, g *kg.Graph, p community.DualPartition, o KnowledgeOptions) (*KnowledgeTree, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	t := &KnowledgeTree{}
	for id, c := range p.Communities {
		for _, e := range slices.Concat(c.Members, c.Keywords, []int32{c.Center}) {
			if e < 0 || int(e) >= len(g.Entities) {
				return nil, fmt.Errorf("summary: community %d has entity %d: there are %d", id, e, len(g.Entities))
			}
		}
		if len(c.Members) > 1 {
			t.Communities = append(t.Communities, KnowledgeCommunity{ID: int32(id), Members: c.Members, Center: c.Center, Keywords: c.Keywords})
		}
	}
	n, err := newNamer(g, o)
	if err != nil {
		return nil, err
	}
	if err := n.name(ctx, t); err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	t.grow(g)
	return t, nil
}

// grow makes the nodes and edges, level by level.
func (t *KnowledgeTree) grow(g *kg.Graph) {
	add := func(layer Layer, text string, entity int32) int32 {
		t.Nodes = append(t.Nodes, KnowledgeNode{layer, text, entity})
		return int32(len(t.Nodes) - 1)
	}
	link := func(from, to int32, relation string) {
		t.Edges = append(t.Edges, KnowledgeEdge{from, to, relation})
	}
	done := func(layer Layer) { t.nodes[layer], t.edges[layer] = len(t.Nodes), len(t.Edges) }

	for e := range g.Entities {
		add(EntityLayer, g.Entities[e].Name, int32(e))
	}
	for r := range g.Relations {
		link(g.Relations[r].Head, g.Relations[r].Tail, g.Relations[r].Label)
	}
	for e := range g.Entities {
		for _, a := range g.Entities[e].Attributes {
			link(int32(e), add(AttributeLayer, a.Key+": "+a.Value, int32(e)), HasAttribute)
		}
	}
	done(EntityLayer)
	keywords := make([][]int32, len(t.Communities))
	for i, c := range t.Communities {
		for _, k := range c.Keywords {
			node := add(KeywordLayer, g.Entities[k].Name, k)
			keywords[i] = append(keywords[i], node)
			link(k, node, RepresentedBy)
		}
	}
	done(KeywordLayer)
	for i := range t.Communities {
		c := &t.Communities[i]
		c.Node = add(CommunityLayer, c.Name, c.Center)
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
// Nothing is below the entities but attributes, which alone are no graph.
func (t *KnowledgeTree) Upto(layer Layer) ([]KnowledgeNode, []KnowledgeEdge) {
	if layer < EntityLayer || layer > CommunityLayer {
		return nil, nil
	}
	return t.Nodes[:t.nodes[layer]:t.nodes[layer]], t.Edges[:t.edges[layer]:t.edges[layer]]
}
