// SPDX-License-Identifier: Apache-2.0

// Package e2graphrag is E²GraphRAG (Zhao and others, "E²GraphRAG: Streamlining Graph-based RAG for High
// Efficiency and Effectiveness", arXiv 2505.24226, and YiboZhao624/E-2GraphRAG): a tree of summaries of
// neighbouring chunks, and a graph of words that occur in the same sentence.
//
// A question is local or global. Local: two of its terms with a path of at most four terms occur in the same
// chunk; while there are more than 25 such chunks, paths become shorter. If none is left, the chunks of the
// last step are ranked by the number of different terms, the length of the run of neighbours, and the number of
// occurrences. Global: without a term, the chunks and summaries most similar to the question; with terms that
// never share a chunk, the 50 most similar, ranked by occurrences of the terms. As in the code, a path only
// admits a pair of terms, which must still share a chunk.
//
// Where this differs from the code, and why:
//
//   - Terms are the stems of words that may be nouns or names by the tables of package rules; the code has a
//     tagger and a recognizer of names.
//   - K nodes are read, not 25: of the 25 chunks of a local question, which the code does not rank, the most
//     similar. Neighbours are separate, so that each can be cited.
//   - Each page has a tree; the code has one text. Upper levels summarize summaries (in the code their
//     numbers), and are ranked by their terms like chunks (the code drops them there).
//   - Sentences are cut after 32 terms, and up to 32 terms of a question are used.
//
// Indexing takes a call for each summary, a quarter of the chunks of long pages and
// none for a page of one chunk; a question takes the answer's alone.
package e2graphrag

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Name is the name of the system in reports.
const Name = "e2graphrag"

// Info describes the system.
var Info = kit.InfoOf(kit.Info{
	Name: Name, Source: "Zhao and others 2025", Paper: "arXiv 2505.24226",
	Costs: "1 per four chunks of long pages",
}, Options{}, New)

// Options of the system. The zero value is the setting of the code (YiboZhao624/E-2GraphRAG).
type Options struct {
	kit.Common
	// Group is the number of neighbours in a summary, Summary its length in tokens.
	Group   int `default:"5" source:"its program"`
	Summary int `default:"1000" min:"0" source:"its program"`
	// Path is the largest number of terms of a path between two terms of the question, 2 to 4. Chunks is the
	// largest number of chunks of a local question.
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
		Name: Name, Common: o.Common, Kit: k, Needs: []string{"Find"}, Problems: c.Err(),
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) },
	})
}

// searcher is an index of one corpus. The nodes of the tree are the chunks, in their order, then the summaries.
type searcher struct {
	o      Options
	corpus *kit.Corpus
	tree   *summary.Tree
	terms  *termIndex
	texts  retrieve.Texts // texts of the nodes
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
			return c.Chunks[i].Titled()
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
	found.Ranked, err = s.corpus.InOrder(ctx, chunks, q.Want(), Name)
	return found, err
}

// search returns the nodes that are read for a question, the best first, and a step that describes the search.
func (s *searcher) search(ctx context.Context, question string) ([]int32, graphrag.Step, error) {
	line, _, _ := strings.Cut(strings.TrimSpace(question), "\n")
	known := s.terms.in(line, maxTerms)
	step := graphrag.Step{Query: line}
	for _, t := range known {
		step.Found = append(step.Found, string(s.terms.words.At(int(t))))
	}
	if len(known) == 0 {
		step.Kind = "global"
		nodes, err := s.similar(ctx, question, s.o.Chunks)
		return nodes, step, err
	}
	if chunks, enough := s.meeting(known); len(chunks) > 0 {
		likeness, err := s.texts.Scores(ctx, question, nil)
		if err != nil {
			return nil, step, err
		}
		step.Kind = "local"
		slices.SortFunc(chunks, func(a, b int32) int { return cmp.Or(cmp.Compare(likeness[b], likeness[a]), cmp.Compare(a, b)) })
		if !enough {
			step.Kind = "local, too many"
			s.byTerms(chunks, known)
		}
		return chunks[:min(len(chunks), s.o.Chunks)], step, nil
	}
	step.Kind = "global, by terms"
	nodes, err := s.similar(ctx, question, 2*s.o.Chunks)
	occurrences := make(map[int32]int)
	for _, n := range nodes {
		for _, term := range s.terms.inOrder(s.terms.words.Lookup(s.terms.analyzer), s.tree.Nodes[n].Text) {
			if slices.Contains(known, term) {
				occurrences[n]++
			}
		}
	}
	slices.SortStableFunc(nodes, func(a, b int32) int { return cmp.Compare(occurrences[b], occurrences[a]) })
	return nodes[:min(len(nodes), s.o.Chunks)], step, err
}

// similar returns the n nodes most similar to the question.
func (s *searcher) similar(ctx context.Context, question string, n int) ([]int32, error) {
	best, err := s.texts.Best(ctx, question, n)
	out := make([]int32, len(best))
	for i, x := range best {
		out[i] = x.ID
	}
	return out, err
}

// meeting returns the chunks that contain two terms between which there is a path. It takes ever shorter paths
// until at most Chunks are left. If none is left, it returns the chunks of the step before, and false.
func (s *searcher) meeting(known []int32) (chunks []int32, enough bool) {
	byLength := make([][]int32, s.o.Path+1) // chunks by the number of terms of the path
	for i, a := range known {
		for _, b := range known[i+1:] {
			if n := s.terms.path(a, b); n > 0 && n <= s.o.Path {
				byLength[n] = append(byLength[n], s.terms.both(a, b)...)
			}
		}
	}
	var before []int32
	for h := s.o.Path; h > 0; h-- {
		now := slices.Concat(byLength[:h+1]...)
		slices.Sort(now)
		now = slices.Compact(now)
		if len(now) <= s.o.Chunks {
			if len(now) == 0 {
				return before, false
			}
			return now, true
		}
		before = now
	}
	return before, false
}

// byTerms orders chunks by the number of different terms in them, then by the length of the run of neighbouring
// chunks, then by the number of occurrences of the terms. The order is stable.
func (s *searcher) byTerms(chunks, known []int32) {
	runs := s.runs(chunks)
	has, count := make(map[int32]int), make(map[int32]int)
	for _, c := range chunks {
		for _, t := range known {
			n := s.terms.count(t, c)
			has[c] += min(n, 1)
			count[c] += n
		}
	}
	slices.SortStableFunc(chunks, func(a, b int32) int {
		return cmp.Or(cmp.Compare(has[b], has[a]), cmp.Compare(runs[b], runs[a]), cmp.Compare(count[b], count[a]))
	})
}

// runs returns for each chunk the length of the run of neighbouring chunks of the same page.
func (s *searcher) runs(chunks []int32) map[int32]int {
	lengths := make(map[int32]int)
	chunks = slices.Sorted(slices.Values(chunks))
	for lo, hi := 0, 0; lo < len(chunks); lo = hi {
		for hi = lo + 1; hi < len(chunks) && chunks[hi] == chunks[hi-1]+1 && s.corpus.Chunks[chunks[hi]].Doc == s.corpus.Chunks[chunks[lo]].Doc; {
			hi++
		}
		for _, c := range chunks[lo:hi] {
			lengths[c] = hi - lo
		}
	}
	return lengths
}

// maxTerms is the largest number of terms of a sentence that form pairs, for pages without a full stop, and of
// terms of a question.
const maxTerms = 32

// termIndex has the terms of a corpus, their pairs in sentences, and their counts in chunks.
type termIndex struct {
	analyzer text.Analyzer
	words    *text.Vocabulary
	graph    *graph.Graph // weight of an edge: number of sentences with both terms
	chunks   [][]posting  // chunks of each term in order, with counts
}

type posting struct{ chunk, count int32 }

func newTermIndex(ctx context.Context, chunks []graphrag.Chunk) (*termIndex, error) {
	t := &termIndex{analyzer: nouns{text.Default()}}
	number := new(text.Vocabulary).Numbering(t.analyzer)
	t.words = number.Terms()
	var sentences [][]int32
	for i, c := range chunks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		counts := make(map[int32]int32)
		for _, s := range text.Sentences(c.Text) {
			found := t.inOrder(number, s.In(c.Text))
			for _, term := range found {
				counts[term]++
			}
			sentences = slices.AppendSeq(sentences, slices.Chunk(found, maxTerms))
		}
		t.chunks = append(t.chunks, make([][]posting, t.words.Len()-len(t.chunks))...)
		for term, n := range counts {
			t.chunks[term] = append(t.chunks[term], posting{int32(i), n})
		}
	}
	var err error
	t.graph, err = graph.New(t.words.Len(), pairs(t.words.Len(), sentences))
	return t, err
}

// inOrder returns the terms of a text, with repetitions.
func (t *termIndex) inOrder(number *text.Numbering, s string) (found []int32) {
	number.Text(s, func(terms []int32) bool {
		found = append(found, terms...)
		return true
	})
	return slices.DeleteFunc(found, func(term int32) bool { return term < 0 })
}

// pairs returns the pairs of different terms in a sentence, each weighted by the number of times they are in one.
func pairs(terms int, sentences [][]int32) (edges []graph.Edge) {
	in := make([][]int32, terms) // sentences of each term, as often as it occurs in them
	for i, sentence := range sentences {
		for _, term := range sentence {
			in[term] = append(in[term], int32(i))
		}
	}
	last := make([]int, terms) // number of edges when the last edge from each term was added
	for b, all := range in {
		earlier := len(edges)
		for _, i := range all {
			for _, a := range sentences[i] {
				if int(a) >= b {
					continue
				}
				if last[a] <= earlier {
					edges = append(edges, graph.Edge{From: a, To: int32(b)})
					last[a] = len(edges)
				}
				edges[last[a]-1].Weight++
			}
		}
	}
	return edges
}

// in returns the different terms of a text that occur in the corpus, in the order of the text.
func (t *termIndex) in(s string, most int) (found []int32) {
	for _, term := range t.inOrder(t.words.Lookup(t.analyzer), s) {
		if !slices.Contains(found, term) && len(found) < most {
			found = append(found, term)
		}
	}
	return found
}

// both returns the chunks that contain both terms, in order.
func (t *termIndex) both(a, b int32) (chunks []int32) {
	for _, p := range t.chunks[a] {
		if t.count(b, p.chunk) > 0 {
			chunks = append(chunks, p.chunk)
		}
	}
	return chunks
}

// count returns how often a chunk contains a term.
func (t *termIndex) count(term, chunk int32) int {
	in := t.chunks[term]
	if i, ok := slices.BinarySearchFunc(in, chunk, func(p posting, c int32) int { return int(p.chunk - c) }); ok {
		return int(in[i].count)
	}
	return 0
}

// path returns the number of terms of a shortest path between two terms, both included; 0 if it has more than
// four. It visits every edge at most once.
func (t *termIndex) path(a, b int32) int {
	if t.graph.Degree(a) > t.graph.Degree(b) {
		a, b = b, a
	}
	beside := t.graph.Neighbors(b)
	if _, ok := slices.BinarySearch(beside, a); ok {
		return 2
	}
	near := make(map[int32]bool, len(beside))
	for _, n := range beside {
		near[n] = true
	}
	first := t.graph.Neighbors(a)
	if slices.ContainsFunc(first, func(n int32) bool { return near[n] }) {
		return 3
	}
	for _, n := range first {
		for _, m := range t.graph.Neighbors(n) {
			if near[m] {
				return 4
			}
		}
	}
	return 0
}

// nouns is an analyzer that keeps words that may be nouns or names.
type nouns struct{ text.Analyzer }

func (a nouns) Term(word string) (string, bool) {
	if !rules.MayBeNoun(word) {
		return "", false
	}
	return a.Analyzer.Term(word)
}
