// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"context"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
)

// maxRating is the highest rating of a report (graphrag/config/defaults.py).
const maxRating = 5

// dynamic descends the hierarchy from its top (graphrag/query/context_builder/
// dynamic_community_selection.py): a report that is relevant to the question is kept, and the reports of
// its parts are rated; a part that is kept replaces its parent. If a level has no relevant report, the
// whole next level is rated, down to Level. It returns the places of the reports, shuffled.
func (s *global) dynamic(ctx context.Context, question string) ([]int32, error) {
	levels := make([][]int32, s.hierarchy.Levels)
	place := make(map[int32]int32, len(s.reports.Reports))
	for i := range s.reports.Reports {
		c := s.reports.Reports[i].Community
		place[c] = int32(i)
		levels[s.hierarchy.Communities[c].Level] = append(levels[s.hierarchy.Communities[c].Level], c)
	}
	kept := make(map[int32]bool)
	var queue []int32
	for level := 0; level < len(levels) && (len(queue) > 0 || len(kept) == 0 && level <= s.index.o.Level); level++ {
		if len(queue) == 0 {
			queue = levels[level]
		}
		ratings, err := s.rate(ctx, question, queue, place)
		if err != nil {
			return nil, err
		}
		var next []int32
		for i, c := range queue {
			if ratings[i] < s.o.Threshold {
				continue
			}
			kept[c] = true
			community := &s.hierarchy.Communities[c]
			if !s.o.KeepParent {
				delete(kept, community.Parent)
			}
			for _, child := range community.Children {
				if _, ok := place[child]; ok {
					next = append(next, child)
				}
			}
		}
		queue = next
	}
	var out []int32
	for i := range s.reports.Reports {
		if kept[s.reports.Reports[i].Community] {
			out = append(out, int32(i))
		}
	}
	return s.shuffle(out), nil
}

// rater rates the relevance of the reports of communities to the question, from 0 to 5. place has the
// place of each report.
type rater func(ctx context.Context, question string, communities []int32, place map[int32]int32) ([]int, error)

// likened rates by similarity.
func (s *global) likened(ctx context.Context, question string, communities []int32, place map[int32]int32) ([]int, error) {
	likeness, err := s.texts.Scores(ctx, question, nil)
	out := make([]int, len(communities))
	for i, c := range communities {
		out[i] = int(math.Round(maxRating * min(max(0, likeness[place[c]]), 1)))
	}
	return out, err
}

// ratedBy has the model rate, one call for each report.
func (s *global) ratedBy(m llm.Model) rater {
	return func(ctx context.Context, question string, communities []int32, _ map[int32]int32) ([]int, error) {
		out := make([]int, len(communities))
		err := kit.Each(ctx, len(communities), func(ctx context.Context, i int) error {
			req, err := request(ctx, StageRate, "rate", 0, question, llm.Data{Label: "report", Text: s.reports.Of(communities[i]).Text()})
			if err != nil {
				return err
			}
			reply, _, err := llm.Decode[struct {
				Reason string
				Rating float64
			}](ctx, m, req)
			if err != nil {
				out[i] = 1 // as in the code: the report is kept
				return llm.Fatal(err)
			}
			out[i] = int(math.Max(0, math.Min(reply.Rating, maxRating)))
			return nil
		})
		return out, err
	}
}
