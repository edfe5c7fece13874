// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/llm"
)

// Stages of global search in accounts.
const (
	StageMap  = "map reports"
	StageRate = "rate reports"
)

// nothing is the answer when no report says anything: it costs no call.
func nothing() baselines.Found {
	return baselines.Found{Answer: &graphrag.Answer{Text: reader.Refusal, Refused: true}}
}

// point is what a batch of reports says about a question.
type point struct {
	Description string
	Score       float64
}

var mapSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["points"],"properties":{"points":` +
	`{"type":"array","items":{"type":"object","additionalProperties":false,"required":["description","score"],"properties":` +
	`{"description":{"type":"string"},"score":{"type":"number"}}}}}}`)

// mapped asks for the points of each batch and returns those that say something,
// the best first, as far as they fit, and the reports that they cite.
func (s *global) mapped(ctx context.Context, question string, reports []int32) ([]graphrag.Derived, []int32, error) {
	batches := s.batches(reports)
	points := make([][]point, len(batches))
	err := baselines.Each(ctx, len(batches), func(ctx context.Context, i int) (err error) {
		points[i], err = s.points(ctx, question, batches[i])
		return err
	})
	if err != nil {
		return nil, nil, err
	}
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
		text := fmt.Sprintf("Analyst %d\nImportance Score: %g\n%s", p.batch+1, p.Score, strings.TrimSpace(p.Description))
		if left -= s.kit.CountTokens(text); left < 0 {
			break
		}
		var sources []int32
		for _, r := range cited(p.Description, batches[p.batch]) {
			sources = append(sources, s.reports.Reports[r].Sources...)
			if !slices.Contains(used, r) {
				used = append(used, r)
			}
		}
		out = append(out, s.derived("point", text, distinct(sources)))
	}
	return out, used, nil
}

// points is one map step. A reply that cannot be read has no points.
func (s *global) points(ctx context.Context, question string, batch []int32) ([]point, error) {
	req, err := request(StageMap, "map", DefaultMapWords, question, llm.Data{Label: "reports", Text: s.table(batch)})
	if err != nil {
		return nil, err
	}
	req.Schema, req.SchemaName = mapSchema, "points"
	said, _, err := llm.Decode[struct{ Points []point }](ctx, s.kit.Model, req)
	if err != nil {
		return nil, baselines.IfUsable(err)
	}
	return said.Points, nil
}

var citation = regexp.MustCompile(`(?i)\breports\s*\(([^()]*)\)`)

// cited are the reports of a batch that a text names by id.
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

// alike are the reports that are most like the question, by vectors and by
// words; others are left out.
func (s *global) alike(question string, query []float32, among func(int32) bool) []int32 {
	type scored struct {
		id    int32
		score float64
	}
	var near []scored
	for i, v := range s.vectors {
		if among(int32(i)) {
			if c := vector.Cosine(query, v); c > 0 {
				near = append(near, scored{int32(i), c})
			}
		}
	}
	slices.SortFunc(near, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	byVector := make([]int32, len(near))
	for i, n := range near {
		byVector[i] = n.id
	}
	var byWords []int32
	for _, r := range s.words.Search(question, s.words.Len(), nil) {
		if among(r.ID) {
			byWords = append(byWords, r.ID)
		}
	}
	var out []int32
	for _, f := range rank.RRF(byVector, byWords) {
		out = append(out, f.ID)
	}
	return out
}
