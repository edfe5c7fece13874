// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/llm"
)

// Stages of global search in accounts.
const (
	StageMap  = "map reports"
	StageRate = "rate reports"
)

// point is a statement of a batch of reports about a question.
type point struct {
	Description string
	Score       float64
}

// mapped asks a model for the points of each batch and reduces them.
func (s *global) mapped(m llm.Model) chooser {
	return func(ctx context.Context, question string, reports []int32) ([]graphrag.Derived, []int32, error) {
		batches := s.batches(reports)
		points := make([][]point, len(batches))
		err := kit.Each(ctx, len(batches), func(ctx context.Context, i int) (err error) {
			points[i], err = s.points(ctx, m, question, batches[i])
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		derived, used := s.reduce(batches, points)
		return derived, used, nil
	}
}

// points is one map step. A reply that cannot be read has no points.
func (s *global) points(ctx context.Context, m llm.Model, question string, batch []int32) ([]point, error) {
	req, err := request(ctx, StageMap, "map", mapWords, question, llm.Data{Label: "reports", Text: s.table(batch)})
	if err != nil {
		return nil, err
	}
	reply, err := decode[struct{ Points []point }](ctx, m, req)
	return reply.Points, err
}

// reduce returns the best points that fit, without empty ones, and the reports that they cite.
func (s *global) reduce(batches [][]int32, points [][]point) ([]graphrag.Derived, []int32) {
	type noted struct {
		point
		batch int
	}
	var all []noted
	for i, of := range points {
		for _, p := range of {
			if p.Score > 0 && strings.TrimSpace(p.Description) != "" {
				all = append(all, noted{p, i})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b noted) int { return cmp.Compare(b.Score, a.Score) })
	var out []graphrag.Derived
	var used []int32
	left := s.o.ReduceTokens
	for _, p := range all {
		behind := cited(p.Description, batches[p.batch])
		text := s.pointText(p.point, behind)
		if left -= s.kit.Count(text); left < 0 {
			break
		}
		var sources []int32
		for _, r := range behind {
			sources = append(sources, s.reports.Reports[r].Sources...)
			if !slices.Contains(used, r) {
				used = append(used, r)
			}
		}
		out = append(out, s.derived("point", text, distinct(sources)))
	}
	return out, used
}

// pointText returns a point as it is read: titles of reports replace the marks, which need the table.
func (s *global) pointText(p point, behind []int32) string {
	text := fmt.Sprintf("%s (importance %g", report.Unmarked(p.Description), p.Score)
	for i, r := range behind {
		text += []string{"; from the reports ", ", "}[min(i, 1)] + "“" + s.reports.Reports[r].Title + "”"
	}
	return text + ")"
}

var citation = regexp.MustCompile(`(?i)\breports\s*\(([^()]*)\)`)

// cited returns the reports of a batch that a text names by id.
func cited(text string, batch []int32) []int32 {
	var out []int32
	for _, mark := range citation.FindAllStringSubmatch(text, -1) {
		for _, number := range strings.FieldsFunc(mark[1], func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.ParseInt(number, 10, 32)
			if id := int32(n); err == nil && slices.Contains(batch, id) && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}
