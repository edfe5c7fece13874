// SPDX-License-Identifier: Apache-2.0

package e2graphrag

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Name of the system in reports.
const Name = "e2graphrag"

// Options of the system. The zero value is the setting of the code
// (YiboZhao624/E-2GraphRAG).
type Options struct {
	kit.Common
	// Group is the number of neighbours in a summary, Summary its length in tokens.
	Group   int `default:"5" source:"its program"`
	Summary int `default:"1000" min:"0" source:"its program"`
	// Path bounds the terms of a path between two terms of the question, 2 to 4, Chunks the
	// chunks of a local question.
	Path   int `default:"4" source:"its program"`
	Chunks int `default:"25" min:"0" source:"its program"`
}

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	c.Want(o.Group > 1, "Group", o.Group, "2 or more, or 0 for the default")
	c.Want(o.Path >= 2 && o.Path <= 4, "Path", o.Path, "2 to 4, or 0 for the default")
	return kit.New(kit.Frame{
		Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding}, Problems: c.Err(),
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) },
	})
}

// searcher is an index of one corpus. Node i of the tree is chunk i; summaries follow the chunks.
type searcher struct {
	o      Options
	corpus *kit.Corpus
	tree   *summary.Tree
	terms  *termIndex
	texts  retrieve.Texts // the nodes
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*searcher, error) {
	s := &searcher{o: o, corpus: c}
	summarizer, err := k.Summarizer(o.Summary)
	if err != nil {
		return nil, err
	}
	var docs [][]string
	for i, chunk := range c.Chunks {
		if i == 0 || c.Chunks[i-1].Doc != chunk.Doc {
			docs = append(docs, nil)
		}
		docs[len(docs)-1] = append(docs[len(docs)-1], chunk.Text)
	}
	if s.tree, err = summary.Sequential(ctx, docs, summary.SequentialOptions{Summarizer: summarizer, Group: o.Group}); err != nil {
		return nil, err
	}
	if s.terms, err = newTermIndex(ctx, c.Chunks); err != nil {
		return nil, err
	}
	s.texts, err = c.Find(ctx, text.NewList(len(s.tree.Nodes), func(i int) string {
		if i < len(c.Chunks) {
			return retrieve.Titled(c.Chunks[i])
		}
		return s.tree.Nodes[i].Text
	}))
	return s, err
}

// Retrieve finds chunks with several terms of the question, or else chunks and summaries that are
// similar to it. K nodes are read.
func (s *searcher) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	nodes, step, err := s.search(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	var chunks []int32
	found := graphrag.Found{Evidence: []graphrag.Hit{}, Steps: []graphrag.Step{step}}
	for place, n := range nodes {
		switch {
		case int(n) < len(s.corpus.Chunks):
			chunks = append(chunks, n)
			if place < q.Reads() {
				found.Evidence = append(found.Evidence, graphrag.Hit{Chunk: s.corpus.Chunks[n], Score: 1 / float64(len(chunks)), Source: Name})
			}
		case place < q.Reads():
			found.Derived = append(found.Derived, graphrag.Derived{Kind: "summary", Text: s.tree.Nodes[n].Text, Provenance: s.corpus.Provenance(s.tree.Sources(n))})
		}
	}
	found.Ranked = s.corpus.InOrder(chunks, q.Want(), Name)
	return found, nil
}
