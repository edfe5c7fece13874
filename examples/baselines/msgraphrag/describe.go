// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
)

// StageDescribe names the calls for descriptions in accounts.
const StageDescribe = "summarise descriptions"

// describer makes one description of many.
type describer struct {
	kit   baselines.Kit
	o     Options
	quote summary.Summarizer
}

func newDescriber(kit baselines.Kit, o Options) (*describer, error) {
	quote, err := summary.Extractive(summary.ExtractiveOptions{Tokens: offlineWords})
	return &describer{kit, o, quote}, err
}

// describe returns what is left of the descriptions of a thing: one that the
// model wrote, or quotes, each with its passages. One alone stays as it is.
func (d *describer) describe(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error) {
	if len(of) < 2 {
		return of, nil
	}
	if d.kit.Model != nil {
		text, err := d.fold(ctx, subject, of)
		if err == nil {
			return []kg.Description{{Text: text, Passages: passages(of)}}, nil
		}
		if baselines.IfUsable(err) != nil {
			return nil, err
		}
		d.o.Logger.Warn("no summary of the descriptions, quotes instead", "of", subject, "error", err)
	}
	texts := make([]string, len(of))
	for i := range of {
		texts[i] = of[i].Text
	}
	s, err := d.quote.Summarize(ctx, texts)
	if err != nil {
		return nil, err
	}
	quotes := make([]kg.Description, len(s.Quotes))
	for i, q := range s.Quotes {
		quotes[i] = kg.Description{Text: s.Text[q.Start:q.End], Passages: of[q.Source].Passages}
	}
	return quotes, nil
}

// fold has the model summarise the sorted descriptions, as many at a time as fit
// into a prompt; what comes of one prompt is the first description of the next.
func (d *describer) fold(ctx context.Context, subject string, of []kg.Description) (string, error) {
	texts := make([]string, len(of))
	for i := range of {
		texts[i] = of[i].Text
	}
	slices.Sort(texts)
	var pack []string
	tokens := 0
	for _, t := range texts {
		cost := d.kit.CountTokens(t)
		if len(pack) > 1 && tokens+cost > DefaultFoldTokens {
			partial, err := d.write(ctx, subject, pack)
			if err != nil {
				return "", err
			}
			pack, tokens = []string{partial}, d.kit.CountTokens(partial)
		}
		pack, tokens = append(pack, t), tokens+cost
	}
	return d.write(ctx, subject, pack)
}

func (d *describer) write(ctx context.Context, subject string, texts []string) (string, error) {
	parts := []llm.Data{{Label: "subject", Text: subject}}
	for _, t := range texts {
		parts = append(parts, llm.Data{Label: "description", Text: t})
	}
	req, err := request(StageDescribe, "describe", DefaultFoldWords, "", parts...)
	if err != nil {
		return "", err
	}
	reply, err := d.kit.Model.Generate(ctx, req)
	if err != nil {
		return "", err
	}
	if text := strings.TrimSpace(reply.Text); text != "" {
		return text, nil
	}
	return "", llm.ErrEmpty
}

// passages are those of all descriptions, ascending, each once.
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
