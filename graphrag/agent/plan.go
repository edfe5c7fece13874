// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/pages"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var templates = prompts.Must("agent", promptFiles)

// Stages of the model calls: the usage of calls is counted by stage.
const (
	StageDecompose = "decompose"
	StageReflect   = "reflect"
	StageAspects   = "aspects"
	StageSearch    = "search"   // a move of [Search]
	StageCondense  = "condense" // condensing the results of a turn
)

// Default limits of [DecomposeByModel], [Options], [SearchOptions] and [ToolOptions].
const (
	// DefaultSubQueries is the most sub-queries of a question (the number of workers in
	// TencentCloudADP/youtu-graphrag; the paper says "a pre-defined maximum").
	DefaultSubQueries = 4
	// DefaultSteps is the most reflections on a question (TencentCloudADP/youtu-graphrag; the paper has none).
	DefaultSteps = 5
	// DefaultTurns and DefaultCalls limit an agent: the data sets chain up to four facts, and a search that
	// finds nothing is repeated once in other words.
	DefaultTurns = 8
	DefaultCalls = 4
	// DefaultRead is the number of tokens that an agent may read if the question sets no budget: about a dozen
	// chunks of 1,200 tokens.
	DefaultRead = 16_000
)

// Decomposer returns the sub-queries of a question. [Decomposed] repairs invalid ones.
type Decomposer func(ctx context.Context, question string) ([]SubQuery, error)

// DecomposeByModel returns a Decomposer that makes one call of a model per question. The schema limits the
// types of sub-queries, unless it is nil; most is the most sub-queries, 0 means [DefaultSubQueries]. After an
// unusable reply or a refusal there are no sub-queries. Any other error is returned.
func DecomposeByModel(m llm.Model, schema *extract.Schema, most int) (Decomposer, error) {
	if m == nil {
		return nil, errors.New("agent: the model that decomposes is missing")
	}
	if most <= 0 {
		most = DefaultSubQueries
	}
	values, shown := map[string]any{"Schema": schema != nil, "Most": most}, prompts.Data{}
	if schema != nil {
		plain, err := json.Marshal(schema.Plain())
		if err != nil {
			return nil, err
		}
		shown = prompts.Data{Label: "schema", Text: string(plain)} // fenced as data, because its words may come from pages
	}
	return func(ctx context.Context, question string) ([]SubQuery, error) {
		req, err := templates.Request(ctx, StageDecompose, "decompose", values, prompts.Data{Label: "question", Text: question}, shown)
		if err != nil {
			return nil, err
		}
		reply, _, err := replies.Decode[proposals](ctx, m, req)
		if llm.OfOneReply(err) {
			return nil, nil
		}
		var out []SubQuery
		for _, s := range reply.SubQueries {
			out = append(out, SubQuery{ID: clean(s.ID), Text: clean(s.text()), Target: clean(s.Target), Types: cleaned(s.Types), DependsOn: cleaned(s.DependsOn)})
		}
		return out, err
	}, nil
}

// proposals is the model's reply.
type proposals struct {
	SubQueries []proposal `json:"sub_queries"`
}

// proposal is a sub-query in a reply; its text may be under another usual key.
type proposal struct {
	ID        string   `json:"id"`
	Text      string   `json:"text" llm:"alone"`
	Question  string   `json:"question,omitempty"`
	SubQuery  string   `json:"sub_query,omitempty"`
	Query     string   `json:"query,omitempty"`
	Target    string   `json:"target" llm:"enum=node|triple|community"`
	Types     []string `json:"types"`
	DependsOn []string `json:"depends_on"`
}

func (p proposal) text() string { return cmp.Or(p.Text, p.Question, p.SubQuery, p.Query) }

// Check makes replies.Decode reject a reply without any non-empty sub-query; empty ones are dropped later.
func (p proposals) Check() error {
	empty := func(s proposal) bool { return clean(s.text()) == "" }
	if len(p.SubQueries) > 0 && len(slices.DeleteFunc(slices.Clone(p.SubQueries), empty)) == 0 {
		return errors.New(`no sub-query has a "text": it is a complete question`)
	}
	return nil
}

func clean(s string) string { return strings.TrimSpace(prompts.Printable(s)) }

// cleaned returns the texts of a list, cleaned, without empty ones.
func cleaned(list []string) (out []string) {
	for _, s := range list {
		if s = clean(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// searchFunc retrieves for a sub-query of a question.
type searchFunc = func(ctx context.Context, q graphrag.Question, sub SubQuery) (graphrag.Found, error)

// Decomposed returns a retriever that searches for the sub-queries of a question and interleaves their results.
// search gets q with the sub-query's text and the question's form, K and budget. Independent sub-queries run
// concurrently; the text of a dependent one is extended by the best fact, or else the beginning of the best
// chunk, of each of its dependencies.
//
// Decomposed drops proposed sub-queries that are empty or repeated, and keeps at most most of them (0 means
// [DefaultSubQueries]). It replaces missing and repeated IDs, and removes unknown targets, unknown types, and
// dependencies that are unknown or circular. If no sub-query is left, the question is the only one. If schema
// is nil, all types are removed. A step describes the changes.
func Decomposed(search func(ctx context.Context, q graphrag.Question, sub SubQuery) (graphrag.Found, error), decompose Decomposer, schema *extract.Schema, most int) (graphrag.Retriever, error) {
	checks := opt.Checks{Of: "agent"}
	checks.Want(search != nil, "the search for sub-queries", "missing", "a function")
	checks.Want(decompose != nil, "the decomposer", "missing", "one, such as DecomposeByModel's")
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return decomposed{search, decompose, schema, most}, nil
}

type decomposed struct {
	search    searchFunc
	decompose Decomposer
	schema    *extract.Schema
	most      int
}

func (d decomposed) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	proposed, err := trace.Do(ctx, "decompose", func(ctx context.Context) ([]SubQuery, error) { return d.decompose(ctx, q.Text) })
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("agent: decomposing the question: %w", err)
	}
	subs, notes := repairPlan(q.Text, proposed, d.schema, d.most)
	all, err := d.carryOut(ctx, q, subs)
	if err != nil {
		return graphrag.Found{}, err
	}
	step := graphrag.Step{Kind: "decompose", Query: q.Text}
	for i := range subs {
		step.Found = append(step.Found, subs[i].ID+": "+subs[i].Text)
	}
	step.Found = append(step.Found, notes...)
	out := merge(all, q.Want())
	out.Steps = append([]graphrag.Step{step}, out.Steps...)
	return out, nil
}

// carryOut searches for all sub-queries, each as soon as its dependencies are done.
func (d decomposed) carryOut(ctx context.Context, q graphrag.Question, subs []SubQuery) ([]graphrag.Found, error) {
	found := make([]graphrag.Found, len(subs))
	done := make(map[string]chan struct{}, len(subs))
	place := make(map[string]int, len(subs))
	for i := range subs {
		done[subs[i].ID], place[subs[i].ID] = make(chan struct{}), i
	}
	g, gctx := errgroup.WithContext(ctx)
	for i := range subs {
		g.Go(func() error {
			s := subs[i]
			asked := q
			asked.Text = s.Text
			for _, id := range s.DependsOn {
				select {
				case <-done[id]:
					asked.Text += "\n" + best(found[place[id]])
				case <-gctx.Done():
					return gctx.Err()
				}
			}
			f, err := trace.Do(gctx, "search", func(ctx context.Context) (graphrag.Found, error) { return d.search(ctx, asked, s) })
			if err != nil {
				return fmt.Errorf("agent: sub-query %s: %w", s.ID, err)
			}
			f.Steps = append([]graphrag.Step{{Kind: "search", Query: asked.Text, Found: chunkIDs(f.Read(q))}}, f.Steps...)
			found[i] = f
			close(done[s.ID])
			return nil
		})
	}
	return found, g.Wait()
}

// best returns the first derived text of a result, or else its first chunk.
func best(f graphrag.Found) string {
	switch {
	case len(f.Derived) > 0:
		return clip(f.Derived[0].Text)
	case len(f.Ranked) > 0:
		return clip(f.Ranked[0].Chunk.Text)
	}
	return ""
}

func chunkIDs(hits []graphrag.Hit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk.ID
	}
	return ids
}

// AspectsByModel returns a Plan that asks a model, by one call per overview, which aspects of the subject to
// search for. The prompt contains the question and the titles of the pages found for it. Aspects that are
// empty, or repeat the question or another aspect, are dropped; at most [pages.MaxAspects] are kept. After an
// unusable reply or a refusal there are none. Any other error is returned.
func AspectsByModel(m llm.Model) (pages.Plan, error) {
	if m == nil {
		return nil, errors.New("agent: the model that names aspects is missing")
	}
	values := map[string]any{"Most": pages.MaxAspects}
	return func(ctx context.Context, question string, titles []string) ([]string, error) {
		clipped := make([]string, len(titles))
		for i, t := range titles {
			clipped[i] = clip(strings.Join(strings.Fields(t), " "))
		}
		req, err := templates.Request(ctx, StageAspects, "aspects", values,
			prompts.Data{Label: "question", Text: question}, prompts.Data{Label: "titles", Text: strings.Join(clipped, "\n")})
		if err != nil {
			return nil, err
		}
		reply, _, err := replies.Decode[struct{ Aspects []string }](ctx, m, req)
		if llm.OfOneReply(err) {
			return nil, nil
		}
		return distinct(cleaned(reply.Aspects), question), err
	}, nil
}

// distinct returns the aspects that repeat neither the question nor each other.
func distinct(aspects []string, question string) []string {
	var proposed []SubQuery
	for _, a := range aspects {
		if fold(a) != "" && fold(a) != fold(question) {
			proposed = append(proposed, SubQuery{Text: a})
		}
	}
	if len(proposed) == 0 {
		return nil
	}
	var out []string
	subs, _ := repairPlan(question, proposed, nil, pages.MaxAspects)
	for _, s := range subs {
		out = append(out, s.Text)
	}
	return out
}

// merge interleaves the results of several searches: the first hit of each, then the second of each, and so on;
// derived texts likewise.
func merge(all []graphrag.Found, want int) (out graphrag.Found) {
	hits, derived := make([][]graphrag.Hit, len(all)), make([][]graphrag.Derived, len(all))
	for i, f := range all {
		hits[i], derived[i] = f.Ranked, f.Derived
		out.Steps = append(out.Steps, f.Steps...)
		out.Usage = out.Usage.Add(f.Usage)
	}
	out.Ranked = []graphrag.Hit{}
	for place, h := range interleaved(hits, func(h graphrag.Hit) string { return h.Chunk.ID }) {
		if place == want {
			break
		}
		h.Score = 1 / float64(place+1)
		out.Ranked = append(out.Ranked, h)
	}
	out.Derived = interleaved(derived, func(d graphrag.Derived) string { return d.Text })
	return out
}

// interleaved interleaves lists; of items with the same name it keeps the first.
func interleaved[T any](lists [][]T, name func(T) string) (out []T) {
	first, names := make(map[string]T), make([][]string, len(lists))
	for i, list := range lists {
		for _, x := range list {
			n := name(x)
			if _, ok := first[n]; !ok {
				first[n] = x
			}
			names[i] = append(names[i], n)
		}
	}
	for _, n := range rank.Interleave(names...) {
		out = append(out, first[n])
	}
	return out
}
