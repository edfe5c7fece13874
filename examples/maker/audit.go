// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// alignment is a triple of the graph that was linked for one that was read, with the
// passage that it was aligned with: a line of the file that people label.
type alignment struct {
	ID         string  `json:"id"`
	Similarity float64 `json:"similarity"` // of the triple that was read and the one that was linked
	Question   string  `json:"question"`
	Read       string  `json:"read"`
	Triple     string  `json:"triple"`
	Passage    string  `json:"passage"`
	Label      string  `json:"label"`   // for people: aligned, misaligned or unsure
	Offline    string  `json:"offline"` // stands in for a label: does the passage state both names?
}

const (
	aligned    = "aligned"
	misaligned = "misaligned"
	unsure     = "unsure"
	// bands of similarity, and the alignments of each that are sampled: about the hundred
	// that the readers of GeAR's online variant (LiveRAG 2025) looked at.
	bands, perBand = 5, 20
)

func band(similarity float64) int { return min(max(int(similarity*bands), 0), bands-1) }

// runAudit asks the questions of multi-hop data sets over a graph from elsewhere, and
// writes a sample of the alignments to a file.
func runAudit(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := cli.NewFlags("maker audit")
	data := fs.String("data", "", "`DIR` of multi-hop data sets")
	graph := fs.String("kg", "", "`PATH` of the graph, as of wildgraphbench (default: what rules extract from the passages)")
	plain := fs.Bool("plain", true, "link as the paper does, without a least similarity and without a name in common")
	out := fs.String("out", "", "`FILE` to write")
	limit := fs.Int("limit", 0, "at most `N` questions per domain and type (0 = all)")
	seed := fs.Uint64("seed", 1, "seed of the sample")
	var sets []string
	lab.List(fs, &sets, "domains", "comma-separated `LIST` of data sets (default: all present)")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return err
	}
	if *data == "" || *out == "" {
		return cli.Usagef("-data DIR and -out FILE are needed")
	}
	if _, err := os.Lstat(*out); err == nil {
		return cli.Usagef("-out: %s is there already and may hold labels: name another file", *out)
	}
	set, err := multihop.Load(os.DirFS(*data), multihop.Options{Sets: sets})
	if err != nil {
		return err
	}
	k, err := kit.Offline(kit.OfflineOptions{Seed: *seed})
	if err != nil {
		return err
	}
	var all []alignment
	for _, d := range set.Limited(*limit).Domains {
		found, err := alignments(ctx, k, *graph, *plain, d)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		all = append(all, found...)
	}
	chosen := sample(all, *seed)
	if len(chosen) == 0 {
		return errors.New("no triple was linked: is the graph of -kg about these passages?")
	}
	err = journal.WriteFile(*out, func(w io.Writer) error {
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
	_, err = fmt.Fprintf(stdout, "%d of %d alignments: %s\nSet \"label\" to %s, %s or %s in each line; then: maker audited %s\n", len(chosen), len(all), *out, aligned, misaligned, unsure, *out)
	return err
}

// alignments asks all questions of a domain over the graph, and listens.
func alignments(ctx context.Context, k kit.Kit, path string, plain bool, d benchmark.Domain) ([]alignment, error) {
	chunker, err := kit.Cut{KeepLinks: true}.Chunker()
	if err != nil {
		return nil, err
	}
	chunks, err := chunker.All(ctx, d.Documents())
	if err != nil {
		return nil, err
	}
	graph, err := graphOf(ctx, k, path, chunks)
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
		lists[i], err = listen(ctx, parts, plain, d.Name, d.Items[i].Question)
		return err
	})
	return slices.Concat(lists...), err
}

// graphOf is the graph of a file or folder, or that of what rules extract from the chunks.
func graphOf(ctx context.Context, k kit.Kit, path string, chunks []graphrag.Chunk) (*triples.Index, error) {
	if path != "" {
		return triples.Load(ctx, path, nil)
	}
	rules, err := k.Triples()
	if err != nil {
		return nil, err
	}
	found, err := rules.Extract(ctx, chunks)
	if err != nil {
		return nil, err
	}
	named := func(s string) triples.Entity { return triples.Entity{ID: s, Label: s} }
	return triples.New(ctx, func(yield func(triples.Triple, error) bool) {
		for _, f := range found {
			for _, fact := range f.Facts {
				if !yield(triples.Triple{Head: named(fact.Head), Relation: named(fact.Relation), Tail: named(fact.Tail)}, nil) {
					return
				}
			}
		}
	}, triples.Options{})
}

// listen asks a question and records the triples that are linked and aligned.
func listen(ctx context.Context, p gear.Parts, plain bool, domain string, q graphrag.Question) ([]alignment, error) {
	l := &listener{Retriever: p.Align, linked: map[string]alignment{}, names: map[string][2]string{}}
	graph := p.Graph
	p.Align = l
	p.Graph = func() gear.Graph { return listened{graph(), l} }
	r, err := gear.Over(p, gear.Options{Expand: gear.ExpandAlways, PlainLinks: plain})
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

// listener records what one question aligns.
type listener struct {
	graphrag.Retriever
	linked map[string]alignment // by the text of the triple: the most similar one that was read
	names  map[string][2]string
	out    []alignment
}

// listened is a graph that tells the listener what is linked.
type listened struct {
	gear.Graph
	to *listener
}

func (g listened) Link(ctx context.Context, texts []string, k int) ([]gear.Links, error) {
	links, err := g.Graph.Link(ctx, texts, k)
	for i, l := range links {
		if len(l.Best) == 0 || l.Whole <= 0 {
			continue
		}
		t, similarity := g.Triple(l.Best[0].ID), l.Best[0].Score/l.Whole
		if known, ok := g.to.linked[t.Text()]; !ok || known.Similarity < similarity {
			g.to.names[t.Text()] = [2]string{t.Head.Label, t.Tail.Label}
			g.to.linked[t.Text()] = alignment{Similarity: similarity, Read: texts[i], Triple: t.Text()}
		}
	}
	return links, err
}

// RetrieveAll records what linked triples are aligned with.
func (l *listener) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	found, err := retrieve.All(ctx, l.Retriever, qs)
	for i, f := range found {
		a, ok := l.linked[qs[i].Text]
		if !ok || len(f.Ranked) == 0 {
			continue
		}
		a.Passage = retrieve.Titled(f.Ranked[0].Chunk)
		a.Offline = offlineLabel(a.Passage, l.names[a.Triple])
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

// sample takes some alignments of each band, chosen by hash, in an order that does not
// tell the band.
func sample(all []alignment, seed uint64) []alignment {
	lot := func(a alignment) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d\xff%s\xff%s\xff%s", seed, a.ID, a.Read, a.Triple)
		return h.Sum64()
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

// runAudited prints how much of each band is misaligned, by people and by the stand-in.
func runAudited(_ context.Context, args []string, stdout, _ io.Writer) error {
	if len(args) != 1 {
		return cli.Usagef("use it as: maker audited FILE")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()                         // only read
	var counts [bands + 1][2]map[string]int // the last is all of the sample
	for i := range counts {
		counts[i] = [2]map[string]int{{}, {}}
	}
	var problems []error
	for line, err := range jsonl.Read[alignment](f, jsonl.Options{Name: args[0]}) {
		x := line.Value
		label := strings.ToLower(strings.TrimSpace(x.Label))
		if err == nil && !slices.Contains([]string{"", aligned, misaligned, unsure}, label) {
			err = &jsonl.Error{File: args[0], Line: line.Number, Err: fmt.Errorf("label %.40q is none of %s, %s, %s or empty", label, aligned, misaligned, unsure)}
		}
		if err != nil {
			if problems = append(problems, err); len(problems) == 10 {
				break
			}
			continue
		}
		for _, at := range []int{band(x.Similarity), bands} {
			counts[at][0][label]++
			counts[at][1][x.Offline]++
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%-12s %-28s %s\n", "similarity", "misaligned by people, %", "by the offline stand-in, %")
	for i, c := range counts {
		name := fmt.Sprintf("from %.1f", float64(i)/bands)
		if i == bands {
			name = "all"
		}
		fmt.Fprintf(stdout, "%-12s %-28s %s\n", name, rate(c[0]), rate(c[1]))
	}
	return nil
}

// rate is the share that is misaligned, with Wilson's 95 % interval.
func rate(c map[string]int) string {
	n := c[aligned] + c[misaligned]
	i, err := stats.Wilson(c[misaligned], n, stats.Options{})
	if n == 0 || err != nil {
		return "n/a"
	}
	return fmt.Sprintf("%.1f [%.1f, %.1f] of %d", 100*i.Estimate, 100*i.Low, 100*i.High, n)
}
