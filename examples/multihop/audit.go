// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// alignment is a triple of the graph that was linked for one that was read, with the
// passage that it was aligned with: a line of the file that people label.
type alignment struct {
	ID         string  `json:"id"`
	Similarity float64 `json:"similarity"` // of the triple that was read and the one that was linked
	Question   string  `json:"question"`
	Read       string  `json:"read"`   // the triple that was read
	Triple     string  `json:"triple"` // the one that was linked
	Chunk      string  `json:"chunk"`
	Passage    string  `json:"passage"`
	Label      string  `json:"label"`   // for people: one of labels
	Offline    string  `json:"offline"` // stands in for a label: does the passage state both names?
}

// The labels.
const (
	aligned    = "aligned"
	misaligned = "misaligned"
	unsure     = "unsure"
)

// The bands of similarity, and how many alignments of each are sampled: of five bands
// about the hundred that the paper's readers would look at.
const (
	bands   = 5
	perBand = 20
)

// leastLink is the share from which on triples are linked in an audit: far below what
// the system takes, so that the labels show where its limit should be.
const leastLink = .05

// band is the band of a similarity; what is above 1 is in the last.
func band(similarity float64) int { return min(max(int(similarity*bands), 0), bands-1) }

// runAudit writes the sample.
func runAudit(ctx context.Context, s settings, set *benchmark.Dataset, stdout, stderr io.Writer) (err error) {
	if _, err := os.Lstat(s.audit); err == nil {
		return cli.Usagef("-audit: %s is there already and may hold labels: name another file", s.audit)
	}
	src, err := readTriples(s.triples, s.Seed)
	if err != nil {
		return err
	}
	p, err := lab.NewParts(s.Settings, cli.NewLogger(stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.Reachable(ctx); err != nil {
		return err
	}
	var all []alignment
	for _, d := range set.Limited(s.Limit).Domains {
		found, err := alignments(ctx, p.Kit, s.Common(), src, d)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		all = append(all, found...)
	}
	chosen := sampled(all, s.Seed)
	if len(chosen) == 0 {
		return errors.New("-audit: no triple was linked: is the graph of -triples about these passages?")
	}
	err = journal.WriteFile(s.audit, func(w io.Writer) error {
		enc := text.JSON(w)
		for _, a := range chosen {
			if err := enc.Encode(a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s of %s alignments: %s\nSet \"label\" to %s, %s or %s in each line; then: multihop -audited %s\n",
		cli.Digits(len(chosen)), cli.Digits(len(all)), s.audit, aligned, misaligned, unsure, s.audit)
	return err
}

// alignments asks all questions of a domain over a graph from elsewhere, and listens.
func alignments(ctx context.Context, k kit.Kit, c kit.Common, src source, d benchmark.Domain) ([]alignment, error) {
	c.Cut.KeepLinks = true
	chunker, err := c.Cut.Chunker()
	if err != nil {
		return nil, err
	}
	chunks, err := chunker.All(ctx, d.Documents())
	if err != nil {
		return nil, err
	}
	graph, err := src.graph(ctx, c.Cut, d.Documents(), 1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(chunks, func(a, b graphrag.Chunk) int { return cmp.Compare(a.ID, b.ID) })
	parts, err := gear.PartsOf(ctx, k, gear.Options{Graph: graph}, kit.NewCorpus(k, chunks, nil))
	if err != nil {
		return nil, err
	}
	lists := make([][]alignment, len(d.Items))
	err = kit.Each(ctx, len(d.Items), func(ctx context.Context, i int) (err error) {
		lists[i], err = listen(ctx, parts, d.Name, d.Items[i].Question)
		return err
	})
	return slices.Concat(lists...), err
}

// listen asks a question and hears which triples are linked and aligned.
func listen(ctx context.Context, p gear.Parts, domain string, q graphrag.Question) ([]alignment, error) {
	l := &listener{Retriever: p.Align, linked: make(map[string]alignment)}
	graph := p.Graph
	p.Align = l
	p.Graph = func() gear.Graph { return heard{graph(), l} }
	r, err := gear.Over(p, gear.Options{Expand: gear.ExpandAlways, LinkShare: leastLink})
	if err != nil {
		return nil, err
	}
	q.K = gear.DefaultPassages
	if _, err := r.Retrieve(ctx, q); err != nil {
		return nil, err
	}
	for i := range l.out {
		l.out[i].ID, l.out[i].Question = fmt.Sprintf("%s/%s/%d", domain, q.ID, i+1), q.Text
	}
	return l.out, nil
}

// listener hears what one question aligns.
type listener struct {
	graphrag.Retriever
	linked map[string]alignment // by the text of the triple
	names  map[string][2]string
	out    []alignment
}

// heard is a graph that tells the listener what is linked.
type heard struct {
	gear.Graph
	to *listener
}

func (g heard) Link(ctx context.Context, texts []string, k int) ([]gear.Links, error) {
	links, err := g.Graph.Link(ctx, texts, k)
	for i, l := range links {
		if len(l.Best) > 0 && l.Whole > 0 {
			g.to.link(texts[i], g.Triple(l.Best[0].ID), l.Best[0].Score/l.Whole)
		}
	}
	return links, err
}

// link keeps what is most like a triple of all that was linked to it.
func (l *listener) link(read string, t triples.Triple, similarity float64) {
	if known, ok := l.linked[t.Text()]; ok && known.Similarity >= similarity {
		return
	}
	if l.names == nil {
		l.names = make(map[string][2]string)
	}
	l.names[t.Text()] = [2]string{t.Head.Label, t.Tail.Label}
	l.linked[t.Text()] = alignment{Similarity: similarity, Read: read, Triple: t.Text()}
}

// RetrieveAll hears what linked triples are aligned with.
func (l *listener) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	found, err := retrieve.All(ctx, l.Retriever, qs)
	for i, f := range found {
		a, ok := l.linked[qs[i].Text]
		if !ok || len(f.Ranked) == 0 {
			continue
		}
		c := f.Ranked[0].Chunk
		a.Chunk, a.Passage, a.Offline = c.ID, retrieve.Titled(c), offlineLabel(retrieve.Titled(c), l.names[a.Triple])
		if !slices.Contains(l.out, a) {
			l.out = append(l.out, a)
		}
	}
	return found, err
}

// offlineLabel stands in for a label: whether a passage states both names of a triple,
// word for word. It knows neither other names of a thing nor what is said about it.
func offlineLabel(passage string, names [2]string) string {
	words := func(s string) string {
		return " " + strings.Join(strings.FieldsFunc(text.FoldName(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ") + " "
	}
	for _, name := range names {
		if !strings.Contains(words(passage), words(name)) {
			return misaligned
		}
	}
	return aligned
}

// sampled are some alignments of each band, chosen by a hash of theirs and the seed, in
// an order that does not tell the band.
func sampled(all []alignment, seed uint64) []alignment {
	lot := func(a alignment) float64 {
		e := func(s string) triples.Entity { return triples.Entity{ID: s} }
		return point(triples.Triple{Head: e(a.ID), Relation: e(a.Read), Tail: e(a.Triple)}, seed)
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b alignment) int {
		return cmp.Or(cmp.Compare(lot(a), lot(b)), cmp.Compare(a.ID, b.ID))
	})
	var count [bands]int
	return slices.DeleteFunc(all, func(a alignment) bool {
		count[band(a.Similarity)]++
		return count[band(a.Similarity)] > perBand
	})
}
