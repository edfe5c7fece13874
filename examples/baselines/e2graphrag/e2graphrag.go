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
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Name of the system in reports.
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
		Name: Name, Common: o.Common, Kit: k, Needs: []string{"Find"}, Problems: c.Err(),
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

// search returns the nodes for a question, the best first, and a step that describes the search.
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
		occurrences[n] = s.terms.occurrences(known, s.tree.Nodes[n].Text)
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

// meeting returns the chunks that contain two terms with a path. Paths become shorter until at most
// Chunks are left. If none is left then, it returns the chunks of the step before, and false.
func (s *searcher) meeting(known []int32) (chunks []int32, enough bool) {
	byLength := make([][]int32, s.o.Path+1) // chunks by the terms of the path
	for i, a := range known {
		for _, b := range known[i+1:] {
			path := s.terms.path(a, b)
			if path == nil || len(path) > s.o.Path {
				continue
			}
			byLength[len(path)] = append(byLength[len(path)], s.terms.both(a, b)...)
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

// byTerms orders chunks by the number of different terms in them, the length of the run of
// neighbouring chunks, and the occurrences of the terms. The order is stable.
func (s *searcher) byTerms(chunks, known []int32) {
	runs := s.runs(chunks)
	has, count := make(map[int32]int), make(map[int32]int)
	for _, c := range chunks {
		for _, t := range known {
			if n := s.terms.count(t, c); n > 0 {
				has[c]++
				count[c] += n
			}
		}
	}
	slices.SortStableFunc(chunks, func(a, b int32) int {
		return cmp.Or(cmp.Compare(has[b], has[a]), cmp.Compare(runs[b], runs[a]), cmp.Compare(count[b], count[a]))
	})
}

// runs returns, for each chunk, the length of its run of neighbouring chunks of a page.
func (s *searcher) runs(chunks []int32) map[int32]int {
	lengths := make(map[int32]int)
	chunks = slices.Sorted(slices.Values(chunks))
	for lo := 0; lo < len(chunks); {
		hi := lo + 1
		for hi < len(chunks) && chunks[hi] == chunks[hi-1]+1 && s.corpus.Chunks[chunks[hi]].Doc == s.corpus.Chunks[chunks[lo]].Doc {
			hi++
		}
		for _, c := range chunks[lo:hi] {
			lengths[c] = hi - lo
		}
		lo = hi
	}
	return lengths
}
