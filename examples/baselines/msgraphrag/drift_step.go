// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/vector"
	"github.com/wildgraph/wildgraph/llm"
)

// Stages of DRIFT in accounts.
const (
	StageHyde   = "hypothetical answer"
	StagePrimer = "primer"
	StageStep   = "follow-up"
)

// The words of what the model writes; the code says about 2,000 characters of an
// intermediate answer.
const (
	hydeWords   = 500
	primerWords = 350
	stepWords   = 500
)

// primed are the reports nearest to an answer that could be: the model makes one
// up in the form of a report, offline it is the question.
func (d *drift) primed(ctx context.Context, question string) ([]int32, error) {
	s := d.global
	if len(s.shuffled) == 0 {
		return nil, nil
	}
	like := question
	if d.kit.Model != nil {
		template := s.shuffled[rand.New(rand.NewPCG(d.o.Shuffle, 0)).IntN(len(s.shuffled))]
		req, err := request(StageHyde, "hyde", hydeWords, question, llm.Data{Label: "report", Text: s.reports.Reports[template].Text()})
		if err != nil {
			return nil, err
		}
		reply, err := d.kit.Model.Generate(ctx, req)
		if err := baselines.IfUsable(err); err != nil {
			return nil, err
		}
		like = cmp.Or(strings.TrimSpace(reply.Text), question)
	}
	query, err := d.embedder.EmbedQuery(ctx, like)
	if err != nil {
		return nil, err
	}
	near := make([]float64, len(s.vectors))
	order := slices.Sorted(slices.Values(s.shuffled))
	for _, r := range order {
		near[r] = vector.Cosine(query, s.vectors[r])
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(near[b], near[a]) })
	return order[:min(len(order), d.o.Reports)], nil
}

var primerSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["intermediate_answer","score","follow_up_queries"],` +
	`"properties":{"intermediate_answer":{"type":"string"},"score":{"type":"number"},"follow_up_queries":{"type":"array","items":{"type":"string"}}}}`)

// prime answers from each fold of the reports, and puts the answers together.
func (d *drift) prime(ctx context.Context, question string, reports []int32) (action, error) {
	root := action{query: question}
	var docs []string
	for _, r := range reports {
		of := d.global.reportOf(r)
		root.derived = append(root.derived, of)
		docs = append(docs, of.Docs...)
	}
	slices.Sort(docs)
	root.docs = slices.Compact(docs)
	folds := split(reports, d.o.Folds)
	if d.kit.Model == nil {
		for _, fold := range folds {
			root.next = append(root.next, question+" "+d.global.reports.Reports[fold[0]].Title)
		}
		return root, nil
	}
	said := make([]struct {
		Answer string   `json:"intermediate_answer"`
		Score  float64  `json:"score"`
		Next   []string `json:"follow_up_queries"`
	}, len(folds))
	err := baselines.Each(ctx, len(folds), func(ctx context.Context, i int) error {
		req, err := request(StagePrimer, "primer", primerWords, question, llm.Data{Label: "reports", Text: d.global.table(folds[i])})
		if err != nil {
			return err
		}
		req.Schema, req.SchemaName = primerSchema, "primer"
		reply := &said[i]
		*reply, _, err = decode(ctx, d.kit.Model, req, *reply)
		return err
	})
	if err != nil {
		return root, err
	}
	var answers []string
	for _, s := range said {
		if a := strings.TrimSpace(s.Answer); a != "" {
			answers = append(answers, a)
		}
		root.score += s.Score / float64(len(said))
		root.next = append(root.next, s.Next...)
	}
	root.answer = strings.Join(answers, "\n\n")
	return root, nil
}

// decode reads a reply into a T; one that cannot be read leaves the zero value.
func decode[T any](ctx context.Context, m llm.Model, req llm.Request, zero T) (T, llm.Reply, error) {
	value, reply, err := llm.Decode[T](ctx, m, req)
	if err != nil {
		return zero, reply, baselines.IfUsable(err)
	}
	return value, reply, nil
}

// split divides a list into so many parts of nearly equal length, fewer if there
// is less.
func split(list []int32, parts int) [][]int32 {
	var out [][]int32
	for i := range parts {
		lo, hi := i*len(list)/parts, (i+1)*len(list)/parts
		if lo < hi {
			out = append(out, list[lo:hi])
		}
	}
	return out
}

var stepSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["response","score","follow_up_queries"],` +
	`"properties":{"response":{"type":"string"},"score":{"type":"number"},"follow_up_queries":{"type":"array","items":{"type":"string"}}}}`)

// step answers one question by local search.
func (d *drift) step(ctx context.Context, query string, q graphrag.Question) (action, error) {
	a := action{query: query}
	vector, err := d.embedder.EmbedQuery(ctx, query)
	if err != nil {
		return a, err
	}
	entities, err := d.local.entities(vector)
	if err != nil {
		return a, err
	}
	order := d.local.sources(entities, vector)
	a.ranked = d.hits(order, NameDrift, max(q.K, q.Depth))
	if d.kit.Model == nil {
		return a, nil
	}
	a.derived = d.local.context(entities)
	chunks := d.local.read(d.hits(order, NameDrift, len(order)), len(order))
	var parts []llm.Data
	for _, x := range a.derived {
		parts = append(parts, llm.Data{Label: x.Kind, Text: x.Text})
		a.docs = append(a.docs, x.Docs...)
	}
	for _, h := range chunks {
		parts = append(parts, llm.Data{Label: "passage", Text: h.Chunk.Text})
		a.docs = append(a.docs, h.Chunk.Doc)
	}
	slices.Sort(a.docs)
	a.docs = slices.Compact(a.docs)
	if len(parts) == 0 {
		return a, nil // nothing to answer from
	}
	req, err := request(StageStep, "step", stepWords, query, parts...)
	if err != nil {
		return a, err
	}
	req.Schema, req.SchemaName = stepSchema, "step"
	var said struct {
		Response string   `json:"response"`
		Score    float64  `json:"score"`
		Next     []string `json:"follow_up_queries"`
	}
	if said, _, err = decode(ctx, d.kit.Model, req, said); err != nil {
		return a, err
	}
	a.answer, a.score, a.next = strings.TrimSpace(said.Response), said.Score, said.Next
	return a, nil
}

func shuffle[T any](seed, stream uint64, list []T) {
	rand.New(rand.NewPCG(seed, stream)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
