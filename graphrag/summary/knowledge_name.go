// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

// StageNaming names the calls for the names of communities in accounts.
const StageNaming = "name communities"

// namer gives communities their names and descriptions.
type namer struct {
	g     *kg.Graph
	o     KnowledgeOptions
	quote Summarizer
}

func newNamer(g *kg.Graph, o KnowledgeOptions) (*namer, error) {
	quote, err := Extractive(ExtractiveOptions{})
	return &namer{g, o, quote}, err
}

// name names all communities, a batch at a time.
func (n *namer) name(ctx context.Context, t *KnowledgeTree) error {
	batch := n.o.Batch
	if n.o.Model == nil {
		batch = 1
	}
	batches := (len(t.Communities) + batch - 1) / batch
	usage, failed := make([]graphrag.Usage, batches), make([][]NamingFailure, batches)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(n.o.Workers)
	for i := range batches {
		group.Go(func() (err error) {
			if err := inner.Err(); err != nil {
				return err
			}
			some := t.Communities[i*batch : min((i+1)*batch, len(t.Communities))]
			if n.o.Model == nil {
				return n.quoted(inner, &some[0])
			}
			failed[i], usage[i], err = n.asked(inner, some)
			return err
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i := range batches {
		t.Failed = append(t.Failed, failed[i]...)
		t.Usage = t.Usage.Add(usage[i])
	}
	return err
}

// quoted names a community after its centre and quotes what is said about its
// members, the keywords first.
func (n *namer) quoted(ctx context.Context, c *KnowledgeCommunity) error {
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
			for _, d := range n.g.Entities[e].Descriptions[:min(len(n.g.Entities[e].Descriptions), n.o.Members)] {
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

//go:embed prompts/knowledge_*.txt
var namingFiles embed.FS

var namingPrompts = template.Must(template.ParseFS(namingFiles, "prompts/knowledge_*.txt"))

var namingSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["communities"],"properties":{"communities":` +
	`{"type":"array","items":{"type":"object","additionalProperties":false,"required":["id","name","summary"],"properties":` +
	`{"id":{"type":"integer"},"name":{"type":"string"},"summary":{"type":"string"}}}}}}`)

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
func (n *namer) asked(ctx context.Context, batch []KnowledgeCommunity) ([]NamingFailure, graphrag.Usage, error) {
	req, err := n.request(batch)
	if err != nil {
		return nil, graphrag.Usage{}, err
	}
	said, reply, err := llm.Decode[namingReply](ctx, n.o.Model, req)
	usage := reply.Usage
	if err != nil {
		if !ofOneReport(err) {
			return nil, usage, fmt.Errorf("names of communities: %w", err)
		}
		if failed := (*llm.Error)(nil); errors.As(err, &failed) {
			usage = failed.Usage
		}
	}
	why := err
	if why == nil {
		why = errNoName
	}
	var failed []NamingFailure
	for i := range batch {
		c := &batch[i]
		for _, s := range said.Communities {
			if id, err := s.ID.Int64(); err == nil && id == int64(c.ID) && c.Name == "" && why == errNoName {
				c.Name, c.Description = oneLine(printable(s.Name)), strings.TrimSpace(printable(s.Summary))
			}
		}
		if c.Name == "" {
			c.Name, c.Description = fmt.Sprintf("Community %d", c.ID), ""
			failed = append(failed, NamingFailure{c.ID, why})
			continue
		}
		for _, e := range n.shown(c) {
			for _, p := range n.g.EntityPassages(e) {
				c.Sources = append(c.Sources, p.ID)
			}
		}
		c.Sources = distinct(c.Sources)
	}
	return failed, usage, nil
}

// shown are the members that the model sees.
func (n *namer) shown(c *KnowledgeCommunity) []int32 {
	return c.Members[:min(len(c.Members), n.o.Members)]
}

func (n *namer) request(batch []KnowledgeCommunity) (llm.Request, error) {
	var list strings.Builder
	for i := range batch {
		c := &batch[i]
		var names []string
		for _, e := range n.shown(c) {
			names = append(names, oneLine(printable(n.g.Entities[e].Name)))
		}
		fmt.Fprintf(&list, "id: %d\ncentre: %s\nmembers: %s\nnumber of members: %d\n\n",
			c.ID, oneLine(printable(n.g.Entities[c.Center].Name)), strings.Join(names, "; "), len(c.Members))
	}
	groups := strings.TrimSpace(list.String())
	fence := llm.NewFence(groups)
	values := struct{ Nonce, Groups string }{fence.Nonce(), fence.Wrap("groups", groups)}
	var messages []llm.Message
	for _, part := range []struct {
		role llm.Role
		name string
	}{{llm.System, "knowledge_system.txt"}, {llm.User, "knowledge_user.txt"}} {
		var b strings.Builder
		if err := namingPrompts.ExecuteTemplate(&b, part.name, values); err != nil {
			return llm.Request{}, fmt.Errorf("prompt: %w", err)
		}
		messages = append(messages, llm.Message{Role: part.role, Text: strings.TrimSpace(b.String())})
	}
	return llm.Request{
		Messages: messages, Schema: namingSchema, SchemaName: "communities",
		MaxTokens: n.o.MaxTokens, Temperature: n.o.Temperature, Stage: StageNaming,
	}, nil
}
