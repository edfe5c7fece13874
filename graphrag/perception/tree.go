// SPDX-License-Identifier: Apache-2.0

package perception

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Tree is a knowledge graph on the four levels of Youtu-GraphRAG (arXiv 2508.19855, equation 8).
type Tree struct {
	// Facts are levels two and one: the relations of the knowledge graph, in the order of their ids, then the
	// attributes by entity. [Tree.Join] appends the memberships of communities.
	Facts []Fact
	// Nodes is the number of nodes: the entities by their ids, then a node for each attribute, and after
	// [Tree.Join] one for each community.
	Nodes int
	// Communities with two or more members are level four, their Keywords level three.
	Communities []Named
	// Failed lists the communities that the model did not name. They have a generic name.
	Failed []Failure
}

// Fact is a triple of the tree: two entities and their relation, or an entity and its attribute.
type Fact struct {
	// Head is an entity. Tail is an entity, or the node of an attribute or a community.
	Head, Tail int32
	// Relation is the label of the relation, or the key of the attribute.
	Relation string
	// Text is the whole fact as a text.
	Text string
	// Passages are the passages that state the fact.
	Passages []int32
}

// Named is a [Community] with its name and description.
type Named struct {
	// ID is the number of the community in the partition.
	ID      int32
	Members []int32
	Center  int32
	// Keywords are representative entities, the best first.
	Keywords          []int32
	Name, Description string
	// Sources are the passages on which the description is based.
	Sources []int32
}

// Failure is a community that the model did not name.
type Failure struct {
	ID  int32
	Err error
}

// How communities are named (TencentCloudADP/youtu-graphrag): the number of communities in one call, and the
// number of members shown for each.
const (
	batch   = 5
	members = 10
	atOnce  = 8 // number of concurrent calls
)

// NewTree builds the tree of a knowledge graph and a partition of its entities, such as the result of
// [ByMembers]. The model names the communities, five by one call; without one, a community has the name of
// its centre and a description that is quoted from the descriptions of its members. Communities of one
// member have no name.
//
// A batch that the model cannot name, because its reply is unusable, cut or refused, is listed
// as failed, and so is a community that the reply leaves out. Any other error ends the work.
func NewTree(ctx context.Context, g *kg.Graph, p Partition, model llm.Model) (*Tree, error) {
	t := &Tree{}
	for id, c := range p.Communities {
		for _, e := range slices.Concat(c.Members, c.Keywords, []int32{c.Center}) {
			if e < 0 || int(e) >= len(g.Entities) {
				return nil, fmt.Errorf("perception: community %d has entity %d: the graph has %d entities", id, e, len(g.Entities))
			}
		}
		if len(c.Members) > 1 {
			t.Communities = append(t.Communities, Named{ID: int32(id), Members: c.Members, Center: c.Center, Keywords: c.Keywords})
		}
	}
	quote, err := summary.Extractive(summary.ExtractiveOptions{})
	if err != nil {
		return nil, err
	}
	if err := (&namer{g, model, quote}).name(ctx, t); err != nil {
		return nil, fmt.Errorf("perception: name communities: %w", err)
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

// MemberOf is the relation between an entity and its community.
const MemberOf = "member_of"

// Join makes each community a node of the graph, and its membership a fact of each member
// (section 3.2.1). No passage states such a fact.
func (t *Tree) Join(g *kg.Graph) {
	for _, c := range t.Communities {
		for _, e := range c.Members {
			t.Facts = append(t.Facts, Fact{Head: e, Tail: int32(t.Nodes), Relation: MemberOf, Text: g.Entities[e].Name + " " + MemberOf + " " + c.Name})
		}
		t.Nodes++
	}
}

// Stage is the name of the step in which communities are named.
const Stage = "name communities"

// namer gives communities their names and descriptions.
type namer struct {
	g     *kg.Graph
	model llm.Model
	quote summary.Summarizer
}

// name names all communities, in concurrent batches.
func (n *namer) name(ctx context.Context, t *Tree) error {
	size := batch
	if n.model == nil {
		size = 1
	}
	batches := (len(t.Communities) + size - 1) / size
	failed := make([][]Failure, batches)
	err := share.Each(ctx, batches, atOnce, func(ctx context.Context, i int) (err error) {
		some := t.Communities[i*size : min((i+1)*size, len(t.Communities))]
		if n.model == nil {
			return n.quoted(ctx, &some[0])
		}
		failed[i], err = n.asked(ctx, some)
		return err
	})
	t.Failed = slices.Concat(failed...)
	return cmp.Or(ctx.Err(), err)
}

// quoted names a community after its center, and quotes the descriptions of members, keywords first.
func (n *namer) quoted(ctx context.Context, c *Named) error {
	c.Name = n.g.Entities[c.Center].Name
	var texts []string
	var sources [][]int32
	seen := make(map[int32]bool)
	for _, of := range [][]int32{c.Keywords, c.Members} {
		for _, e := range of {
			if seen[e] {
				continue
			}
			seen[e] = true
			said := n.g.EntityDescriptions(e)
			for _, d := range said[:min(len(said), members)] {
				texts, sources = append(texts, d.Text), append(sources, d.Passages)
			}
		}
	}
	s, err := n.quote.Summarize(ctx, texts)
	c.Description = s.Text
	for _, q := range s.Quotes {
		c.Sources = append(c.Sources, sources[q.Source]...)
	}
	c.Sources = distinct(c.Sources)
	return err
}

//go:embed prompts/*.txt
var promptFiles embed.FS

var templates = prompts.Must("perception", promptFiles)

// namingReply is the form of a reply of the model.
type namingReply struct {
	Communities []struct {
		ID      int    `json:"id"`
		Name    string `json:"name"`
		Summary string `json:"summary"`
	} `json:"communities"`
}

var errNoName = errors.New("the reply has no name for the community")

// asked asks the model for the names of a batch.
func (n *namer) asked(ctx context.Context, named []Named) ([]Failure, error) {
	req, err := n.request(ctx, named)
	if err != nil {
		return nil, err
	}
	reply, _, err := replies.Decode[namingReply](ctx, n.model, req)
	if err != nil && !llm.OfOneReply(err) {
		return nil, fmt.Errorf("names of communities: %w", err)
	}
	why := cmp.Or(err, errNoName)
	var failed []Failure
	for i := range named {
		c := &named[i]
		for _, s := range reply.Communities {
			if s.ID == int(c.ID) && c.Name == "" && why == errNoName {
				c.Name, c.Description = oneLine(prompts.Printable(s.Name)), strings.TrimSpace(prompts.Printable(s.Summary))
			}
		}
		if c.Name == "" {
			c.Name, c.Description = fmt.Sprintf("Community %d", c.ID), ""
			failed = append(failed, Failure{c.ID, why})
			continue
		}
		for _, e := range n.shown(c) {
			for _, p := range n.g.EntityPassages(e) {
				c.Sources = append(c.Sources, p.ID)
			}
		}
		c.Sources = distinct(c.Sources)
	}
	return failed, nil
}

// shown returns the members that the model sees.
func (n *namer) shown(c *Named) []int32 {
	return c.Members[:min(len(c.Members), members)]
}

func (n *namer) request(ctx context.Context, named []Named) (llm.Request, error) {
	var list strings.Builder
	for i := range named {
		c := &named[i]
		var names []string
		for _, e := range n.shown(c) {
			names = append(names, oneLine(prompts.Printable(n.g.Entities[e].Name)))
		}
		fmt.Fprintf(&list, "id: %d\ncentre: %s\n%d members: %s\n", c.ID, oneLine(prompts.Printable(n.g.Entities[c.Center].Name)), len(c.Members), strings.Join(names, "; "))
	}
	req, err := templates.Request(ctx, Stage, "names", nil, prompts.Data{Label: "groups", Text: strings.TrimSpace(list.String())})
	req.JSON = true
	return req, err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func distinct(ids []int32) []int32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
