// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
)

// StageDescribe names the calls for descriptions in accounts.
const StageDescribe = "summarise descriptions"

// describer condenses the descriptions of a thing to one by the model, or to quotes, each with its passages.
type describer func(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error)

func newDescriber(k kit.Kit, o Options) (describer, error) {
	s, err := k.Quoter(offlineWords)
	return kit.Step(k.IndexModel, func(m llm.Model) describer { return writer{m, k.Count, o, k.Language, quoter(s)}.describe }, quoter(s)), err
}

// quoter returns a describer that selects quotes.
func quoter(by summary.Summarizer) describer {
	return func(ctx context.Context, _ string, of []kg.Description) ([]kg.Description, error) {
		texts := make([]string, len(of))
		for i := range of {
			texts[i] = of[i].Text
		}
		s, err := by.Summarize(ctx, texts)
		if err != nil {
			return nil, err
		}
		quotes := make([]kg.Description, len(s.Quotes))
		for i, q := range s.Quotes {
			text := s.Text[q.Start:q.End]
			if source := texts[q.Source][q.SourceStart:q.SourceEnd]; source == text {
				text = source // shares memory with the description
			} else {
				text = strings.Clone(text) // does not keep the summary in memory
			}
			quotes[i] = kg.Description{Text: text, Passages: of[q.Source].Passages}
		}
		return quotes, nil
	}
}

// writer condenses by a model, and by quotes if its reply cannot be used.
type writer struct {
	model    llm.Model
	count    func(string) int
	o        Options
	language string
	quote    describer
}

func (w writer) describe(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error) {
	if tokens := 0; len(of) < w.o.FoldFrom {
		for _, d := range of {
			tokens += w.count(d.Text)
		}
		if tokens < longDescriptions {
			return of, nil
		}
	}
	text, err := w.fold(ctx, subject, of)
	if err := llm.Fatal(err); err != nil {
		return nil, err
	}
	kit.Done(ctx, "describe", err)
	if err == nil {
		return []kg.Description{{Text: text, Passages: passages(of)}}, nil
	}
	w.o.Logger.Warn("no summary of the descriptions, quotes instead", "of", subject, "error", err)
	return w.quote(ctx, subject, of)
}

// fold has the model summarise the sorted descriptions, as many as fit into a prompt. The reply to one
// prompt is the first description in the next.
func (w writer) fold(ctx context.Context, subject string, of []kg.Description) (string, error) {
	texts := make([]string, len(of))
	for i := range of {
		texts[i] = of[i].Text
	}
	slices.Sort(texts)
	var pack []string
	tokens := 0
	for _, t := range texts {
		cost := w.count(t)
		if len(pack) > 1 && tokens+cost > foldTokens {
			partial, err := w.write(ctx, subject, pack)
			if err != nil {
				return "", err
			}
			pack, tokens = []string{partial}, w.count(partial)
		}
		pack, tokens = append(pack, t), tokens+cost
	}
	return w.write(ctx, subject, pack)
}

func (w writer) write(ctx context.Context, subject string, texts []string) (string, error) {
	req, err := prompts.Request(ctx, StageDescribe, "describe", map[string]any{"Words": foldWords, "Language": w.language},
		llm.Data{Label: "subject", Text: subject}, llm.Data{Label: "descriptions", Rows: texts, First: 1})
	if err != nil {
		return "", err
	}
	reply, err := w.model.Generate(ctx, req)
	if err != nil {
		return "", err
	}
	if text := strings.TrimSpace(reply.Text); text != "" {
		return text, nil
	}
	return "", llm.ErrEmpty
}

// passages returns the passages of all descriptions, sorted and distinct.
func passages(of []kg.Description) []int32 {
	var all []int32
	for i := range of {
		all = append(all, of[i].Passages...)
	}
	return distinct(all)
}

func distinct(ids []int32) []int32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
