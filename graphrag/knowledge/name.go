// SPDX-License-Identifier: Apache-2.0

package knowledge

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
)

// Stage names the calls for the names of communities in accounts.
const Stage = "name communities"

// namer gives communities their names and descriptions.
type namer struct {
	g     *kg.Graph
	model llm.Model
	quote summary.Summarizer
}

// name names all communities, a batch at a time.
func (n *namer) name(ctx context.Context, t *Tree) error {
	size := batch
	if n.model == nil {
		size = 1
	}
	batches := (len(t.Communities) + size - 1) / size
	failed := make([][]Failure, batches)
	err := par.Each(ctx, batches, atOnce, func(i int) (err error) {
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

// quoted names a community after its centre and quotes the descriptions of its
// members, the keywords first.
func (n *namer) quoted(ctx context.Context, c *Community) error {
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

var prompts = llm.MustPrompts(promptFiles)

// namingReply is what a model writes.
type namingReply struct {
	Communities []struct {
		ID      json.Number `json:"id"` // also "3", as some models write
		Name    string      `json:"name"`
		Summary string      `json:"summary"`
	} `json:"communities"`
}

var errNoName = errors.New("the reply has no name for it")

// asked has a batch named by the model.
func (n *namer) asked(ctx context.Context, batch []Community) ([]Failure, error) {
	req, err := n.request(batch)
	if err != nil {
		return nil, err
	}
	reply, _, err := llm.Decode[namingReply](ctx, n.model, req)
	if err != nil && !llm.OfOneReply(err) {
		return nil, fmt.Errorf("names of communities: %w", err)
	}
	why := err
	if why == nil {
		why = errNoName
	}
	var failed []Failure
	for i := range batch {
		c := &batch[i]
		for _, s := range reply.Communities {
			if id, err := s.ID.Int64(); err == nil && id == int64(c.ID) && c.Name == "" && why == errNoName {
				c.Name, c.Description = oneLine(llm.Printable(s.Name)), strings.TrimSpace(llm.Printable(s.Summary))
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

// shown are the members that the model sees.
func (n *namer) shown(c *Community) []int32 {
	return c.Members[:min(len(c.Members), members)]
}

func (n *namer) request(batch []Community) (llm.Request, error) {
	var list strings.Builder
	for i := range batch {
		c := &batch[i]
		var names []string
		for _, e := range n.shown(c) {
			names = append(names, oneLine(llm.Printable(n.g.Entities[e].Name)))
		}
		fmt.Fprintf(&list, "id: %d\ncentre: %s\n%d members: %s\n", c.ID, oneLine(llm.Printable(n.g.Entities[c.Center].Name)), len(c.Members), strings.Join(names, "; "))
	}
	req, err := prompts.Request(Stage, "names", nil, llm.Data{Label: "groups", Text: strings.TrimSpace(list.String())})
	req.JSON = true
	return req, err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func distinct(ids []int32) []int32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
