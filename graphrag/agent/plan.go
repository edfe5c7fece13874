// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// Stages name the calls in accounts.
const (
	StageDecompose = "decompose"
	StageReflect   = "reflect"
	StageAspects   = "aspects"
)

// Decomposer takes a question apart. What it returns need not be sound: see [Plan].
type Decomposer func(ctx context.Context, question string) ([]SubQuery, error)

// DecomposeOptions of [DecomposeByModel].
type DecomposeOptions struct {
	Model llm.Model
	// Schema bounds what sub-queries are after; nil leaves them free.
	Schema *extract.Schema
	// Most is how many there may be; 0 means [DefaultSubQueries].
	Most int
}

// DecomposeByModel asks a model, once a question. A reply that cannot be used, and
// a refusal, leave the question as it is: there are no sub-queries then. Any other
// error is an error.
func DecomposeByModel(o DecomposeOptions) (Decomposer, error) {
	if o.Model == nil {
		return nil, errors.New("agent: the model that decomposes is missing")
	}
	if o.Most <= 0 {
		o.Most = DefaultSubQueries
	}
	values, schema := map[string]any{"Schema": o.Schema != nil, "Most": o.Most}, llm.Data{}
	if o.Schema != nil {
		plain, err := json.Marshal(o.Schema.Plain())
		if err != nil {
			return nil, err
		}
		schema = llm.Data{Label: "schema", Text: string(plain)} // its words may be those of pages
	}
	return func(ctx context.Context, question string) ([]SubQuery, error) {
		req, err := prompts.Request(StageDecompose, "decompose", values, llm.Data{Label: "question", Text: question}, schema)
		if err != nil {
			return nil, err
		}
		reply, _, err := llm.Decode[struct {
			SubQueries []subQuery `json:"sub_queries"`
		}](ctx, o.Model, req)
		if llm.OfOneReply(err) {
			return nil, nil
		}
		var out []SubQuery
		for _, s := range reply.SubQueries {
			out = append(out, SubQuery{ID: clean(s.ID), Text: clean(s.Text), Target: Target(clean(s.Target)), Types: cleaned(s.Types), DependsOn: cleaned(s.DependsOn)})
		}
		return out, err
	}, nil
}

// subQuery is what a model writes.
type subQuery struct {
	ID        string   `json:"id"`
	Text      string   `json:"text" llm:"alone"`
	Target    string   `json:"target"`
	Types     []string `json:"types"`
	DependsOn []string `json:"depends_on"`
}

func clean(s string) string { return strings.TrimSpace(llm.Printable(s)) }

// cleaned are the texts of a list that say something.
func cleaned(list []string) (out []string) {
	for _, s := range list {
		if s = clean(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Search finds what helps with a sub-query of a question: q has the question's
// form, K and budget, and the text that is to be looked for.
type Search func(ctx context.Context, q graphrag.Question, sub SubQuery) (graphrag.Found, error)

// Decomposed is a retriever that takes a question apart with decompose, searches for
// its sub-queries and gives the best of each in turn. All sub-queries that wait for
// no other are searched at the same time; one that does is asked together with the
// best fact, or else the beginning of the best chunk, that was found for those that
// it waits for. schema and most are those of [Plan].
func Decomposed(search Search, decompose Decomposer, schema *extract.Schema, most int) (graphrag.Retriever, error) {
	var problems []error
	if search == nil {
		problems = append(problems, errors.New("agent: the search for sub-queries is missing"))
	}
	if decompose == nil {
		problems = append(problems, errors.New("agent: the decomposer is missing"))
	}
	return decomposed{search, decompose, schema, most}, errors.Join(problems...)
}

type decomposed struct {
	search    Search
	decompose Decomposer
	schema    *extract.Schema
	most      int
}

func (d decomposed) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	proposed, err := d.decompose(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("agent: decomposing: %w", err)
	}
	subs, notes := Plan(q.Text, proposed, d.schema, d.most)
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

// carryOut searches for all sub-queries, each as soon as it can be.
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
			f, err := d.search(gctx, asked, s)
			if err != nil {
				return fmt.Errorf("agent: sub-query %s: %w", s.ID, err)
			}
			f.Steps = append([]graphrag.Step{{Kind: "search", Query: asked.Text, Found: chunkIDs(f.Read(q))}}, f.Steps...)
			found[i] = f
			close(done[s.ID])
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return found, nil
}

// best is the one thing that a search found that says most.
func best(f graphrag.Found) string {
	if len(f.Derived) > 0 {
		return clip(f.Derived[0].Text)
	}
	if len(f.Ranked) > 0 {
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

// AspectsByModel asks a model, once for an overview, which parts of the subject to
// search for. It sees the question and the titles of the pages found for it. Aspects
// without a word, and those that say the same as another or as the question, are left
// out; no more than [retrieve.MaxAspects] are kept. A reply that cannot be used, and a
// refusal, name none. Any other error is an error.
func AspectsByModel(m llm.Model) (retrieve.Plan, error) {
	if m == nil {
		return nil, errors.New("agent: the model that names aspects is missing")
	}
	values := map[string]any{"Most": retrieve.MaxAspects}
	return func(ctx context.Context, question string, titles []string) ([]string, error) {
		clipped := make([]string, len(titles))
		for i, t := range titles {
			clipped[i] = clip(strings.Join(strings.Fields(t), " "))
		}
		req, err := prompts.Request(StageAspects, "aspects", values,
			llm.Data{Label: "question", Text: question}, llm.Data{Label: "titles", Text: strings.Join(clipped, "\n")})
		if err != nil {
			return nil, err
		}
		reply, _, err := llm.Decode[struct{ Aspects []string }](ctx, m, req)
		if llm.OfOneReply(err) {
			return nil, nil
		}
		return distinct(cleaned(reply.Aspects), question), err
	}, nil
}

// distinct are the aspects that say something beside the question and each other, as the
// sub-queries of a [Plan].
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
	subs, _ := Plan(question, proposed, nil, retrieve.MaxAspects)
	for _, s := range subs {
		out = append(out, s.Text)
	}
	return out
}

// merge puts together what several searches found, each of which should be heard:
// the first hit of each, then the second of each, and so on, and the same with what
// they derived.
func merge(all []graphrag.Found, want int) graphrag.Found {
	var out graphrag.Found
	hits, derived := make(map[string]graphrag.Hit), make(map[string]graphrag.Derived)
	ids, texts := make([][]string, len(all)), make([][]string, len(all))
	for i, f := range all {
		for _, h := range f.Ranked {
			ids[i] = append(ids[i], h.Chunk.ID)
			if _, ok := hits[h.Chunk.ID]; !ok {
				hits[h.Chunk.ID] = h
			}
		}
		for _, d := range f.Derived {
			texts[i] = append(texts[i], d.Text)
			if _, ok := derived[d.Text]; !ok {
				derived[d.Text] = d
			}
		}
		out.Steps = append(out.Steps, f.Steps...)
		out.Usage = out.Usage.Add(f.Usage)
	}
	out.Ranked = []graphrag.Hit{}
	for place, id := range rank.Interleave(ids...) {
		if place == want {
			break
		}
		h := hits[id]
		h.Score = 1 / float64(place+1)
		out.Ranked = append(out.Ranked, h)
	}
	for _, text := range rank.Interleave(texts...) {
		out.Derived = append(out.Derived, derived[text])
	}
	return out
}
