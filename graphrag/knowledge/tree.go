// SPDX-License-Identifier: Apache-2.0

package knowledge

import (
	"context"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
)

// Tree is a knowledge graph on the four levels of Youtu-GraphRAG (arXiv 2508.19855,
// equation 8).
type Tree struct {
	// Facts are levels two and one: the relations of the knowledge graph by their
	// ids, then the attributes by entity.
	Facts []Fact
	// Nodes is the number of nodes that facts join: the entities by their ids, then
	// a node for each attribute.
	Nodes int
	// Communities, those of two members or more, are level four, and their Keywords
	// level three. They are no nodes of the graph, so that no path leads through
	// them.
	Communities []Community
	// Failed are the communities that the model gave no name. They have a
	// generic one.
	Failed []Failure
}

// Fact is a triple of the tree: two entities and how they are related, or an entity
// and its attribute.
type Fact struct {
	// Head is an entity. Tail is one as well, or the node of an attribute.
	Head, Tail int32
	// Relation is the label of the relation, or the key of the attribute.
	Relation string
	// Text says all of it.
	Text string
	// Passages say so.
	Passages []int32
}

// Community is a community with its name.
type Community struct {
	// ID is its number in the partition.
	ID      int32
	Members []int32
	Center  int32
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

// How communities are named (TencentCloudADP/youtu-graphrag): so many by one call,
// with so many members of each.
const (
	batch   = 5
	members = 10
	atOnce  = 8 // calls
)

// Build builds the tree of a knowledge graph and a partition of its
// entities, such as that of perception.ByMembers. The model names the communities,
// five by one call; without one, a community has the name of its centre and a
// description that is quoted from those of its members. Those of one member have no
// name.
//
// A batch that the model cannot name, because its reply is unusable, cut or
// refused, is listed as failed, and so is a community that the reply leaves out.
// Any other error ends the work.
func Build(ctx context.Context, g *kg.Graph, p perception.Partition, model llm.Model) (*Tree, error) {
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
	if err := (&namer{g, model, quote}).name(ctx, t); err != nil {
		return nil, fmt.Errorf("knowledge: %w", err)
	}
	t.grow(g)
	return t, nil
}

// grow lists the facts.
func (t *Tree) grow(g *kg.Graph) {
	for r := range g.Relations {
		rel := &g.Relations[r]
		f := Fact{Head: rel.Head, Tail: rel.Tail, Relation: rel.Label}
		f.Text = g.Entities[rel.Head].Name + " " + rel.Label + " " + g.Entities[rel.Tail].Name
		for _, p := range g.RelationPassages(int32(r)) {
			f.Passages = append(f.Passages, p.ID)
		}
		t.Facts = append(t.Facts, f)
	}
	t.Nodes = len(g.Entities)
	for e := range g.Entities {
		for _, a := range g.Entities[e].Attributes {
			text := g.Entities[e].Name + " " + a.Key + ": " + a.Value
			t.Facts = append(t.Facts, Fact{int32(e), int32(t.Nodes), a.Key, text, a.Passages})
			t.Nodes++
		}
	}
}
