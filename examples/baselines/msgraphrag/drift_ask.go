// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm"
)

// asking takes the steps by a model.
type asking struct {
	*drift
	model llm.Model
}

// hypothetical has the model write a hypothetical answer in the form of a report (HyDE).
func (w asking) hypothetical(ctx context.Context, question string) (string, error) {
	s := w.global
	template := s.shuffled[rand.New(rand.NewPCG(w.o.Shuffle, 0)).IntN(len(s.shuffled))]
	req, err := request(ctx, StageHyde, "hyde", hydeWords, question, llm.Data{Label: "report", Text: s.reports.Reports[template].Text()})
	if err != nil {
		return "", err
	}
	reply, err := w.model.Generate(ctx, req)
	return cmp.Or(strings.TrimSpace(reply.Text), question), llm.Fatal(err)
}

// prime answers from each fold of the reports and joins the answers.
func (w asking) prime(ctx context.Context, root *action, folds [][]int32) error {
	type reply struct {
		Answer string   `json:"intermediate_answer"`
		Score  float64  `json:"score"`
		Next   []string `json:"follow_up_queries"`
	}
	replies := make([]reply, len(folds))
	err := kit.Each(ctx, len(folds), func(ctx context.Context, i int) error {
		req, err := request(ctx, StagePrimer, "primer", primerWords, root.query, llm.Data{Label: "reports", Text: w.global.table(folds[i])})
		if err != nil {
			return err
		}
		replies[i], err = decode[reply](ctx, w.model, req)
		return err
	})
	if err != nil {
		return err
	}
	var answers []string
	for _, r := range replies {
		if a := strings.TrimSpace(r.Answer); a != "" {
			answers = append(answers, a)
		}
		root.score += r.Score / float64(len(replies))
		root.next = append(root.next, r.Next...)
	}
	root.answer = strings.Join(answers, "\n\n")
	return nil
}

// answer has the model answer from the context of local search.
func (w asking) answer(ctx context.Context, question string, a *action, entities, order []int32) error {
	a.derived = w.local.context(entities)
	var parts []llm.Data
	for _, x := range a.derived {
		parts = append(parts, llm.Data{Label: x.Kind, Text: x.Text})
		a.from = graphrag.Merged(a.from, x.Provenance)
	}
	all := w.corpus.InOrder(order, len(order), NameDrift)
	for _, h := range w.local.read(all, graphrag.Question{K: len(all)}) {
		parts = append(parts, llm.Data{Label: "passage", Text: strings.TrimSpace(h.Chunk.Title + "\n" + h.Chunk.Text)})
		a.from = graphrag.Merged(a.from, graphrag.ProvenanceOf(h.Chunk))
	}
	if len(parts) == 0 {
		return nil // without evidence there is no answer
	}
	// A follow-up contains words of the reports, so it is fenced like them.
	req, err := request(ctx, StageStep, "step", stepWords, question, append(parts, llm.Data{Label: "questions asked", Text: strings.Join(a.known, "\n")}, llm.Data{Label: "question on the way", Text: a.query})...)
	if err != nil {
		return err
	}
	reply, err := decode[struct {
		Response string   `json:"response"`
		Score    float64  `json:"score"`
		Next     []string `json:"follow_up_queries"`
	}](ctx, w.model, req)
	a.answer, a.score, a.next = strings.TrimSpace(reply.Response), reply.Score, reply.Next
	return err
}

// read returns the best answers that fit.
func (w asking) read(_ graphrag.Question, root action, actions []action, ranked []graphrag.Hit) graphrag.Found {
	slices.SortStableFunc(actions, func(a, b action) int { return cmp.Compare(b.score, a.score) })
	var answers []graphrag.Derived
	for _, a := range append([]action{root}, actions...) {
		if a.answer != "" && a.score > 0 {
			answers = append(answers, graphrag.Derived{Kind: "answer", Text: a.query + "\n" + a.answer, Provenance: a.from})
		}
	}
	if answers = w.fit(answers); len(answers) == 0 {
		return graphrag.Nothing()
	}
	return graphrag.Found{Ranked: ranked, Evidence: []graphrag.Hit{}, Derived: answers}
}

// decode decodes a reply. A reply that cannot be read gives the zero value.
func decode[T any](ctx context.Context, m llm.Model, req llm.Request) (T, error) {
	value, _, err := llm.Decode[T](ctx, m, req)
	if err != nil {
		var zero T
		return zero, llm.Fatal(err)
	}
	return value, nil
}
