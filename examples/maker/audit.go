// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// alignment is a line of the file that people label: a triple read from a passage, the triple of the graph to
// which it was linked, and the passage with which that triple was aligned.
type alignment struct {
	ID         string  `json:"id"`
	Similarity float64 `json:"similarity"` // similarity of the two triples
	Question   string  `json:"question"`
	Read       string  `json:"read"`
	Triple     string  `json:"triple"`
	Passage    string  `json:"passage"`
	Label      string  `json:"label"`           // label by people: aligned, misaligned or unsure
	Model      string  `json:"model,omitempty"` // label by a model
	Rule       string  `json:"rule"`            // misaligned if the passage lacks a name of the triple
	Of         int     `json:"of"`              // number of alignments in its band of similarity
}

const (
	aligned    = "aligned"
	misaligned = "misaligned"
	unsure     = "unsure"
	// bands is the number of bands of similarity, perBand the number of alignments sampled from each: about a
	// hundred in all, as in the study of GeAR's online variant (LiveRAG 2025).
	bands, perBand = 5, 20
)

func band(similarity float64) int { return min(max(int(similarity*bands), 0), bands-1) }

// auditing are the flags of the subcommand audit.
type auditing struct {
	data, questions, docs, graph, model, out string
	plain                                    bool
	limit, tokens                            int
	seed                                     uint64
	sets                                     []string
}

// runAudit asks the questions of data sets, or of a file, over a graph from elsewhere, and
// writes a sample of the alignments to a file.
func runAudit(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	fs := cli.NewFlags("maker audit")
	var a auditing
	fs.StringVar(&a.data, "data", "", "`DIR` of multi-hop data sets")
	fs.StringVar(&a.questions, "questions", "", "`FILE` of questions, in place of -data")
	fs.StringVar(&a.docs, "docs", "", "`FOLDER` or file of the documents for -questions")
	fs.StringVar(&a.graph, "kg", "", "`PATH` of the graph, as in wildgraphbench (default: rules extract it from the passages)")
	fs.StringVar(&a.model, "model", "", "`NAME` of the model that reads triples and labels the sample (default: rules)")
	fs.IntVar(&a.tokens, "budget-tokens", 0, "stop before model calls exceed `N` tokens (0 = no limit)")
	fs.BoolVar(&a.plain, "plain", true, "link triples as the paper does, even if they have a low similarity and no name in common")
	fs.StringVar(&a.out, "out", "", "`FILE` to write: the worksheet, with a line for each alignment")
	fs.IntVar(&a.limit, "limit", 0, "at most `N` questions per domain and type (0 = all)")
	fs.Uint64Var(&a.seed, "seed", 1, "seed of the sample")
	fs.Func("domains", "comma-separated `LIST` of data sets (default: all present)", cli.Names(&a.sets))
	if err := cli.Parse(fs, args, stderr); err != nil {
		return err
	}
	if (a.data == "") == (a.questions == "") || (a.questions == "") != (a.docs == "") || a.out == "" {
		return cli.Usagef("-out FILE is needed, and -data DIR, or -questions FILE with -docs FOLDER")
	}
	if _, err := os.Lstat(a.out); err == nil {
		return cli.Usagef("-out: %s is there already and may hold labels: name another file", a.out)
	}
	set, err := a.load(ctx)
	if err != nil {
		return err
	}
	k, err := kit.Offline(kit.OfflineOptions{Seed: a.seed})
	if err != nil {
		return err
	}
	if a.model != "" {
		dir := filepath.Dir(a.out) // folder of replies and ledger
		client, m, err := cli.OpenModel(a.model, 8, paid.Options{
			File: a.out + ".replies", Run: dir, Tokens: a.tokens, Defaults: cli.Settings(nil, a.seed), Logger: cli.NewLogger(stderr),
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, cli.Account(client, dir, stderr), client.Close()) }()
		k.AnswerModel = m
	}
	var all []alignment
	for _, d := range set.Limited(a.limit).Domains {
		found, err := alignments(ctx, k, a.graph, a.plain, d)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		all = append(all, found...)
	}
	return a.write(ctx, stdout, k.AnswerModel, all)
}

func (a auditing) load(ctx context.Context) (*benchmark.Dataset, error) {
	if a.data != "" {
		return multihop.Load(os.DirFS(a.data), benchmark.LoadOptions{Domains: a.sets})
	}
	docs, err := load.Root(a.docs)
	if err != nil {
		return nil, cli.Usagef("-docs: %w", err)
	}
	f, err := os.Open(a.questions)
	if err != nil {
		return nil, err
	}
	defer f.Close() // closing a file that was only read cannot lose data
	files := cli.NewFiles()
	defer files.Close() // only stops the parser of PDF
	return own.Load(ctx, filepath.Base(a.questions), f, docs, files.Options)
}

// write writes the sample, labelled by the model if there is one, and prints the share of alignments that are
// wrong by the rule.
func (a auditing) write(ctx context.Context, stdout io.Writer, m llm.Model, all []alignment) error {
	chosen := sample(slices.Clone(all), a.seed)
	if len(chosen) == 0 {
		return errors.New("no triple was linked: is the graph of -kg about these passages?")
	}
	if m != nil {
		err := kit.Each(ctx, len(chosen), func(ctx context.Context, i int) (err error) {
			chosen[i].Model, err = byModel(ctx, m, chosen[i])
			return err
		})
		if err != nil {
			return err
		}
	}
	err := journal.WriteFile(a.out, func(w io.Writer) error {
		enc := display.JSON(w)
		for _, x := range chosen {
			if err := enc.Encode(x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var whole tally
	for _, x := range all {
		whole.add(x.Rule)
	}
	_, err = fmt.Fprintf(stdout, "A name of the triple is missing in the passage, %% of all alignments: %s\n%d of them, some of each band of similarity: %s\nFor people: set \"label\" to %s, %s or %s in each line; then: maker audited %s\n",
		rate(whole), len(chosen), a.out, aligned, misaligned, unsure, a.out)
	return err
}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("maker", promptFiles)

// byModel asks a model for the label of an alignment. If the reply cannot be used, the label is unsure.
func byModel(ctx context.Context, m llm.Model, a alignment) (string, error) {
	req, err := templates.Request(ctx, "label alignments", "label", nil, prompts.Data{Label: "triple", Text: a.Triple}, prompts.Data{Label: "passage", Text: a.Passage})
	if err != nil {
		return "", err
	}
	reply, _, err := replies.Decode[struct {
		Label string `json:"label" llm:"enum=aligned|misaligned|unsure"`
	}](ctx, m, req)
	if llm.OfOneReply(err) || err == nil && reply.Label == "" {
		return unsure, nil
	}
	return reply.Label, err
}

// alignments asks all questions of a domain over the graph, and returns the alignments that were made.
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
	parts, err := gear.PartsOf(ctx, k, gear.Options{Graph: graph}, k.Corpus(chunks, nil))
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

// graphOf returns the graph in a file or folder, or if path is empty the graph that rules extract from chunks.
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

// listen asks a question and returns the alignments that were made for it.
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

// listener records, for a question, each triple linked to the graph with its most similar triple there.
type listener struct {
	graphrag.Retriever
	linked map[string]alignment // most similar link of each linked triple, by its text
	names  map[string][2]string
	out    []alignment
}

// listened is a graph that reports links to the listener.
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

// RetrieveAll records the passages that linked triples are aligned with.
func (l *listener) RetrieveAll(ctx context.Context, qs []graphrag.Question) ([]graphrag.Found, error) {
	found, err := retrieve.All(ctx, l.Retriever, qs)
	for i, f := range found {
		a, ok := l.linked[qs[i].Text]
		if !ok || len(f.Ranked) == 0 {
			continue
		}
		a.Passage = f.Ranked[0].Chunk.Titled()
		a.Rule = ruled(a.Passage, l.names[a.Triple])
		if !slices.Contains(l.out, a) {
			l.out = append(l.out, a)
		}
	}
	return found, err
}

// ruled returns aligned if a passage contains both names of a triple, word for word, otherwise misaligned. It
// does not look at other forms of the names, nor at the relation.
func ruled(passage string, names [2]string) string {
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

// sample takes up to perBand alignments of each band, chosen by hash, in an order that hides the band.
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
	for _, a := range all {
		count[band(a.Similarity)]++
	}
	for i := range all {
		all[i].Of = count[band(all[i].Similarity)]
	}
	clear(count[:])
	return slices.DeleteFunc(all, func(a alignment) bool {
		count[band(a.Similarity)]++
		return count[band(a.Similarity)] > perBand
	})
}

// tally counts the labels of a band of alignments.
type tally struct{ right, wrong, of int }

func (t *tally) add(label string) {
	switch label {
	case aligned:
		t.right++
	case misaligned:
		t.wrong++
	}
}

// rate returns the share of wrong alignments in percent, with bands weighted by size, and Wilson's 95 %
// interval for the effective number of labels (Kish).
func rate(list ...tally) string {
	wrong, all, squares, n := 0., 0., 0., 0
	for _, b := range list {
		if m := b.right + b.wrong; m > 0 {
			of := float64(max(b.of, m))
			n += m
			all += of
			wrong += of * float64(b.wrong) / float64(m)
			squares += of * of / float64(m)
		}
	}
	if n == 0 {
		return "n/a"
	}
	effective := all * all / squares
	i, err := stats.Wilson(int(math.Round(wrong/all*effective)), int(math.Round(effective)), stats.Options{})
	if err != nil {
		return "n/a"
	}
	return fmt.Sprintf("%.1f [%.1f, %.1f] of %d", 100*wrong/all, 100*i.Low, 100*i.High, n)
}

// runAudited prints the share of misaligned triples in each band: by people, by a model and by the rule.
func runAudited(_ context.Context, args []string, stdout, _ io.Writer) error {
	if len(args) != 1 {
		return cli.Usagef("use it as: maker audited FILE")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()        // closing a file that was only read cannot lose data
	var by [3][bands]tally // labels by people, a model and the rule
	var problems []error
	for line, err := range journal.ReadLines[alignment](f, journal.LineOptions{Name: args[0]}) {
		x := line.Value
		people := strings.ToLower(strings.TrimSpace(x.Label))
		if err == nil && !slices.Contains([]string{"", aligned, misaligned, unsure}, people) {
			err = &journal.LineError{File: args[0], Line: line.Number, Err: fmt.Errorf("label %.40q is none of %s, %s, %s or empty", people, aligned, misaligned, unsure)}
		}
		if err != nil {
			if problems = append(problems, err); len(problems) == 10 {
				break
			}
			continue
		}
		for i, label := range []string{people, x.Model, x.Rule} {
			t := &by[i][band(x.Similarity)]
			t.add(label)
			t.of = x.Of
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	const row = "%-14s %-26s %-26s %s\n"
	fmt.Fprintf(stdout, row, "similarity", "wrong by people, %", "by a model, %", "by the rule (a name is missing), %")
	for b := range bands {
		fmt.Fprintf(stdout, row, fmt.Sprintf("from %.1f", float64(b)/bands), rate(by[0][b]), rate(by[1][b]), rate(by[2][b]))
	}
	_, err = fmt.Fprintf(stdout, row, "all, weighted", rate(by[0][:]...), rate(by[1][:]...), rate(by[2][:]...))
	return err
}
