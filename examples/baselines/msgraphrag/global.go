// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// GlobalOptions of [NewGlobal]. The zero value is the setting of the code.
type GlobalOptions struct {
	Options
	// Tokens is the largest number of tokens of reports in a prompt, ReduceTokens of points in the last one.
	Tokens       int `default:"12000" min:"0" source:"its program"`
	ReduceTokens int `default:"12000" min:"0" source:"its program"`
	// Shuffle is the seed for the order of the reports.
	Shuffle uint64 `default:"86" source:"its program"`
	// Dynamic selects relevant reports from the top of the hierarchy down. KeepParent keeps a report even if
	// reports of its parts are kept. Threshold is the least rating, up to 5, of a relevant report.
	Dynamic, KeepParent bool `source:"its program"`
	Threshold           int  `default:"1" min:"0" max:"5" source:"its program"`
}

// name returns the name of the system in reports.
func (o GlobalOptions) name() string {
	if o.Dynamic {
		return NameDynamic
	}
	return NameGlobal
}

// NewGlobal returns the system that reads the reports.
func NewGlobal(k kit.Kit, o GlobalOptions) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	o.AllReports = o.AllReports || o.Dynamic
	return frame(o.name(), k, o.Options, c, func(ctx context.Context, x *index) (graphrag.Retriever, error) {
		return newGlobal(ctx, x, o)
	})
}

// chooser makes the context of a question from reports, and returns the positions of the reports used, too.
type chooser func(ctx context.Context, question string, reports []int32) ([]graphrag.Derived, []int32, error)

// global searches by reading reports.
type global struct {
	*index
	o        GlobalOptions
	texts    retrieve.Texts // texts of all reports
	tokens   []int          // length of each report
	choose   chooser
	rate     rater
	shuffled []int32   // reports that are read, in random order
	weight   []float64 // number of chunks with members of each report's community, scaled to 1
}

func newGlobal(ctx context.Context, x *index, o GlobalOptions) (*global, error) {
	s := &global{index: x, o: o}
	texts := make([]string, len(x.reports.Reports))
	s.tokens = make([]int, len(texts))
	for i := range texts {
		texts[i] = x.reports.Reports[i].Text()
		s.tokens[i] = x.kit.Count(texts[i])
	}
	var err error
	if s.texts, err = x.corpus.Find(ctx, text.Strings(texts)); err != nil {
		return nil, err
	}
	s.choose = kit.Step[chooser](x.kit.AnswerModel, s.mapped, s.nearest)
	s.rate = kit.Step[rater](x.kit.AnswerModel, s.ratedBy, s.likened)
	s.weight = make([]float64, len(texts))
	most := 1.0
	for i := range s.weight {
		s.weight[i] = float64(len(s.naming(int32(i))))
		most = max(most, s.weight[i])
	}
	for i := range s.weight {
		s.weight[i] /= most
	}
	read := make([]bool, len(x.hierarchy.Communities))
	for _, c := range x.cover {
		if c >= 0 {
			read[c] = true
		}
	}
	for i := range x.reports.Reports {
		if read[x.reports.Reports[i].Community] {
			s.shuffled = append(s.shuffled, int32(i))
		}
	}
	shuffle(o.Shuffle, 0, s.shuffled)
	return s, nil
}

// naming returns the chunks, ascending, that name a member of the community of a report.
func (s *global) naming(place int32) (chunks []int32) {
	for _, v := range s.hierarchy.Communities[s.reports.Reports[place].Community].Nodes {
		for _, p := range s.corpus.Graph.EntityPassages(v) {
			chunks = append(chunks, p.ID)
		}
	}
	return distinct(chunks)
}

// Retrieve chooses the reports and reads them; with a model by map and reduce.
func (s *global) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	reports := s.shuffled
	if len(reports) == 0 || strings.TrimSpace(q.Text) == "" {
		return graphrag.Nothing(), nil
	}
	var err error
	if s.o.Dynamic {
		if reports, err = s.dynamic(ctx, q.Text); err != nil {
			return graphrag.Found{}, err
		}
	}
	derived, used, err := s.choose(ctx, q.Text, reports)
	if err != nil {
		return graphrag.Found{}, err
	}
	if len(derived) == 0 {
		return graphrag.Nothing(), nil
	}
	likeness, err := s.units.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	step := graphrag.Step{Kind: "reports", Query: q.Text}
	for _, r := range used {
		step.Found = append(step.Found, s.reports.Reports[r].Title)
	}
	ranked, err := s.corpus.InOrder(ctx, s.behind(used, likeness, q.Want()), q.Want(), s.o.name())
	return graphrag.Found{Ranked: ranked, Evidence: []graphrag.Hit{}, Derived: derived, Steps: []graphrag.Step{step}}, err
}

// nearest returns the reports most similar to the question, above 0, that fit into ReduceTokens.
func (s *global) nearest(ctx context.Context, question string, reports []int32) ([]graphrag.Derived, []int32, error) {
	likeness, err := s.texts.Scores(ctx, question, nil)
	if err != nil {
		return nil, nil, err
	}
	ids := slices.DeleteFunc(slices.Sorted(slices.Values(reports)), func(r int32) bool { return likeness[r] <= 0 })
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(likeness[b], likeness[a]) })
	ids = tokens.Within(ids, s.o.ReduceTokens, func(r int32) int { return s.tokens[r] })
	var out []graphrag.Derived
	for _, r := range ids {
		out = append(out, s.reportOf(r))
	}
	return out, ids, nil
}

func (s *global) reportOf(place int32) graphrag.Derived {
	r := &s.reports.Reports[place]
	return s.derived("report", r.Text(), r.Sources)
}

// behind returns the chunks behind the reports, report by report: the sources of a report, then other chunks
// that name its members, each by similarity to the question. It stops after the report that reaches n chunks.
func (s *global) behind(reports []int32, likeness []float64, n int) []int32 {
	var order []int32
	taken := make(map[int32]bool)
	take := func(ids []int32) {
		fresh := slices.DeleteFunc(distinct(slices.Clone(ids)), func(p int32) bool { return taken[p] })
		for _, p := range fresh {
			taken[p] = true
		}
		slices.SortFunc(fresh, func(a, b int32) int {
			return cmp.Or(cmp.Compare(likeness[b], likeness[a]), cmp.Compare(a, b))
		})
		order = append(order, fresh...)
	}
	for _, place := range reports {
		if len(order) >= n && s.corpus.PerDoc == 0 {
			break
		}
		take(s.reports.Reports[place].Sources)
		take(s.naming(place))
	}
	return order
}

// batches divides reports into prompts. In a prompt they are ordered by weight, then by rating.
func (s *global) batches(reports []int32) [][]int32 {
	var out [][]int32
	left := 0
	for _, r := range reports {
		if len(out) == 0 || s.tokens[r] > left {
			out, left = append(out, nil), s.o.Tokens
		}
		left -= s.tokens[r]
		out[len(out)-1] = append(out[len(out)-1], r)
	}
	for _, batch := range out {
		slices.SortFunc(batch, func(a, b int32) int {
			return cmp.Or(cmp.Compare(s.weight[b], s.weight[a]), cmp.Compare(s.reports.Reports[b].Rating, s.reports.Reports[a].Rating), cmp.Compare(a, b))
		})
	}
	return out
}

// table returns the reports of a prompt as a table.
func (s *global) table(batch []int32) string {
	var b strings.Builder
	b.WriteString("id|title|occurrence weight|content|rank\n")
	for _, place := range batch {
		r := &s.reports.Reports[place]
		cells := []string{
			strconv.Itoa(int(place)), column(r.Title), strconv.FormatFloat(s.weight[place], 'f', 3, 64), column(r.Text()), strconv.FormatFloat(r.Rating, 'f', 1, 64),
		}
		b.WriteString(strings.Join(cells, "|") + "\n")
	}
	return b.String()
}

// column returns a cell of the table, in quotes if it needs them.
func column(s string) string {
	if !strings.ContainsAny(s, "|\"\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

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
	shuffle(s.o.Shuffle, 0, out)
	return out, nil
}

// rater is a function that rates how relevant the reports of communities are to the question, from 0 to 5.
// place maps each community to its report.
type rater func(ctx context.Context, question string, communities []int32, place map[int32]int32) ([]int, error)

// likened rates reports by similarity to the question.
func (s *global) likened(ctx context.Context, question string, communities []int32, place map[int32]int32) ([]int, error) {
	likeness, err := s.texts.Scores(ctx, question, nil)
	out := make([]int, len(communities))
	for i, c := range communities {
		out[i] = int(math.Round(maxRating * min(max(0, likeness[place[c]]), 1)))
	}
	return out, err
}

// ratedBy lets the model rate, with one call for each report.
func (s *global) ratedBy(m llm.Model) rater {
	return func(ctx context.Context, question string, communities []int32, _ map[int32]int32) ([]int, error) {
		out := make([]int, len(communities))
		err := kit.Each(ctx, len(communities), func(ctx context.Context, i int) error {
			req, err := request(ctx, StageRate, "rate", 0, question, prompts.Data{Label: "report", Text: s.reports.Of(communities[i]).Text()})
			if err != nil {
				return err
			}
			reply, _, err := replies.Decode[struct {
				Reason string
				Rating float64
			}](ctx, m, req)
			if err != nil {
				out[i] = 1 // the report is kept, as in the code
				return llm.Fatal(err)
			}
			out[i] = int(math.Max(0, math.Min(reply.Rating, maxRating)))
			return nil
		})
		return out, err
	}
}

// Names of the stages of global search in usage figures.
const (
	StageMap  = "map reports"
	StageRate = "rate reports"
)

// point is a statement on a question that a model took from reports.
type point struct {
	Description string
	Score       float64
}

// mapped returns a chooser that asks a model for the points of each batch and reduces them.
func (s *global) mapped(m llm.Model) chooser {
	return func(ctx context.Context, question string, reports []int32) ([]graphrag.Derived, []int32, error) {
		batches := s.batches(reports)
		points := make([][]point, len(batches))
		err := kit.Each(ctx, len(batches), func(ctx context.Context, i int) error {
			req, err := request(ctx, StageMap, "map", mapWords, question, prompts.Data{Label: "reports", Text: s.table(batches[i])})
			if err != nil {
				return err
			}
			reply, err := decode[struct{ Points []point }](ctx, m, req) // an unreadable one has no points
			points[i] = reply.Points
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		derived, used := s.reduce(batches, points)
		return derived, used, nil
	}
}

// reduce returns the best points that fit into ReduceTokens, none empty, and the reports that they cite.
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

// pointText returns a point for the last prompt. Titles of reports replace their numbers, which need the table.
func (s *global) pointText(p point, behind []int32) string {
	text := fmt.Sprintf("%s (importance %g", report.Unmarked(p.Description), p.Score)
	for i, r := range behind {
		text += []string{"; from the reports ", ", "}[min(i, 1)] + "“" + s.reports.Reports[r].Title + "”"
	}
	return text + ")"
}

var citation = regexp.MustCompile(`(?i)\breports\s*\(([^()]*)\)`)

// cited returns the reports of a batch whose numbers a text cites.
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
