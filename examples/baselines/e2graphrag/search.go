// SPDX-License-Identifier: Apache-2.0

package e2graphrag

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

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
