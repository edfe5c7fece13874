// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// corpus is one domain with what was extracted from it.
type corpus struct {
	domain  string
	pages   map[string]page
	chunks  []graphrag.Chunk
	found   []kg.Extraction
	bytes   int // of the pages
	elapsed time.Duration
}

// page is the text of a document without the targets of its links, and the way
// back to the bytes of its file.
type page struct {
	clean   string
	mapping text.Mapping
}

// read cuts the pages of a domain at the paper's setting and extracts from them.
func read(ctx context.Context, d benchmark.Domain, workers int) (*corpus, error) {
	c := &corpus{domain: d.Name, pages: map[string]page{}}
	chunker, err := chunk.New(chunk.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	docs := func(yield func(graphrag.Document, error) bool) {
		for doc, err := range d.Documents() {
			c.bytes += len(doc.Text)
			clean, mapping := text.StripLinks(doc.Text)
			c.pages[doc.ID] = page{clean, mapping}
			doc.Text = clean
			if !yield(doc, err) {
				return
			}
		}
	}
	if c.chunks, err = chunker.All(ctx, docs); err != nil {
		return nil, err
	}
	offline, err := rules.New(rules.Options{Workers: workers})
	if err != nil {
		return nil, err
	}
	start := time.Now()
	c.found, err = offline.Extract(ctx, c.chunks)
	c.elapsed = time.Since(start)
	return c, err
}

// item is one thing to judge. Start and End are bytes of the page: of the
// entity, or of the sentence of the triple.
type item struct {
	Domain   string `json:"domain"`
	Page     string `json:"page"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	Kind     string `json:"kind"` // entity or triple
	Text     string `json:"text"`
	Type     string `json:"type,omitempty"` // of an entity
	Sentence string `json:"sentence,omitempty"`
}

// draw returns n entities and n triples, each kind in the order of the pages.
func (c *corpus) draw(n int, seed uint64) []item {
	if n == 0 {
		return nil
	}
	entities, triples := c.items()
	return append(pick(entities, n, seed), pick(triples, n, seed)...)
}

// items are all entities and triples, those that are one under one key.
func (c *corpus) items() (entities, triples map[string][]item) {
	entities, triples = map[string][]item{}, map[string][]item{}
	for i, x := range c.found {
		ch := c.chunks[i]
		sentences := text.Sentences(ch.Text)
		for _, m := range x.Mentions {
			it := c.item(ch, m.Span, "entity", m.Name)
			it.Type = m.Type
			for _, s := range sentences {
				if s.Start <= m.Span.Start && m.Span.Start < s.End {
					it.Sentence = s.In(ch.Text)
				}
			}
			key := text.FoldName(m.Name)
			entities[key] = append(entities[key], it)
		}
		for _, f := range x.Facts {
			it := c.item(ch, f.Span, "triple", show(f.Triple))
			it.Sentence = ch.Text[f.Span.Start:f.Span.End]
			key := text.FoldName(f.Head) + "\t" + f.Relation + "\t" + text.FoldName(f.Tail)
			triples[key] = append(triples[key], it)
		}
	}
	return entities, triples
}

// add adds the keys of all items.
func (c *corpus) add(to map[item]bool) {
	entities, triples := c.items()
	for _, kind := range []map[string][]item{entities, triples} {
		for _, items := range kind {
			for _, it := range items {
				to[it.key()] = true
			}
		}
	}
}

func show(t graphrag.Triple) string {
	return fmt.Sprintf("(%s; %s; %s)", t.Head, t.Relation, t.Tail)
}

func (c *corpus) item(ch graphrag.Chunk, s kg.Span, kind, words string) item {
	p := c.pages[ch.Doc]
	at := p.mapping.Span(text.Span{Start: ch.Start + s.Start, End: ch.Start + s.End})
	return item{Domain: c.domain, Page: ch.Doc, Start: at.Start, End: at.End, Kind: kind, Text: words}
}

// pick draws n keys, and one item of each.
func pick(items map[string][]item, n int, seed uint64) []item {
	keys := make([]string, 0, len(items))
	for key := range items {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	var out []item
	for _, key := range keys[:min(n, len(keys))] {
		out = append(out, items[key][rng.IntN(len(items[key]))])
	}
	slices.SortFunc(out, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Text, b.Text))
	})
	return out
}

// graph returns the graph of the domain: a node for each entity that was
// found, one spelling or another; an edge for each triple.
func (c *corpus) graph() (*graph.Graph, error) {
	ids := map[string]int32{}
	id := func(name string) int32 {
		key := text.FoldName(name)
		n, ok := ids[key]
		if !ok {
			n = int32(len(ids))
			ids[key] = n
		}
		return n
	}
	var edges []graph.Edge
	for _, x := range c.found {
		for _, m := range x.Mentions {
			id(m.Name)
		}
		for _, f := range x.Facts {
			edges = append(edges, graph.Edge{From: id(f.Head), To: id(f.Tail), Weight: 1})
		}
	}
	return graph.New(len(ids), edges, graph.Options{Precision: graph.Unweighted})
}

// printStats prints the row of the domain, with a head above the first.
func (c *corpus) printStats(out io.Writer, first bool) error {
	g, err := c.graph()
	if err != nil {
		return err
	}
	mentions, facts := 0, 0
	for _, x := range c.found {
		mentions += len(x.Mentions)
		facts += len(x.Facts)
	}
	s := g.Stats()
	if first {
		fmt.Fprintf(out, "%-18s %7s %9s %8s %8s %8s %8s %8s %9s %9s\n", "domain", "chunks", "mentions", "facts",
			"nodes", "edges", "avg deg", "max deg", "isolated", "MB/s")
	}
	_, err = fmt.Fprintf(out, "%-18s %7d %9d %8d %8d %8d %8.2f %8d %9.2f %9.1f\n", c.domain, len(c.chunks), mentions, facts,
		s.Nodes, s.Edges, s.AverageDegree, s.MaxDegree, s.IsolatedShare, float64(c.bytes)/1e6/c.elapsed.Seconds())
	return err
}
