// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("construct", promptFiles)

// Stages of calls in accounts.
const (
	StageState = "state facts"
	StageAsk   = "write questions"
	StageCheck = "check questions"
	StagePages = "check pages"
)

// ByModel uses a language model. An unusable reply is an error of one reply (llm.OfOneReply): its item is
// dropped, with the reason, and the build continues.
type ByModel struct{ m llm.Model }

var (
	_ Stater  = ByModel{}
	_ Asker   = ByModel{}
	_ Checker = ByModel{}
)

// NewByModel uses m.
func NewByModel(m llm.Model) ByModel { return ByModel{m} }

// Limits of the texts in a prompt, in bytes.
const (
	sectionBytes = 24_000
	pageBytes    = 24_000
	bodyBytes    = 600
	shownGold    = 8
	goldBytes    = 300
)

// State implements Stater. Long sections are shown in pieces.
func (b ByModel) State(ctx context.Context, a *Article, s Section) ([]Stated, error) {
	var out []Stated
	for _, piece := range pieces(s.Body, sectionBytes) {
		if len(Marks(piece)) == 0 {
			continue
		}
		req, err := templates.Request(ctx, StageState, "state", nil,
			prompts.Data{Label: "article", Text: a.Title}, prompts.Data{Label: "section", Text: strings.Join(s.Path, " > ")}, prompts.Data{Label: "text", Text: piece})
		if err != nil {
			return nil, err
		}
		reply, _, err := replies.Decode[struct {
			Triples []struct {
				Sentence, Statement string
			}
		}](ctx, b.m, req)
		if err != nil {
			return nil, fmt.Errorf("section %q: %w", strings.Join(s.Path, " > "), err)
		}
		for _, t := range reply.Triples {
			out = append(out, Stated{t.Sentence, t.Statement})
		}
	}
	return out, nil
}

// pieces cuts a text at paragraphs, or else at the limit.
func pieces(s string, limit int) []string {
	var out []string
	for len(s) > limit {
		end := strings.LastIndexByte(s[:limit], '\n') + 1
		if end < limit/2 {
			end = len(display.Head(s, limit))
		}
		out, s = append(out, s[:end]), s[end:]
	}
	return append(out, s)
}

// Ask implements Asker.
func (b ByModel) Ask(ctx context.Context, d Draft) (string, error) {
	name, data := "ask", []prompts.Data{
		{Label: "title", Text: d.Title}, {Label: "section", Text: strings.Join(d.Path, " > ")},
		{Label: "sentence", Text: d.Triples[0].Sentence}, {Label: "statement", Text: d.statement()},
		{Label: "reference URLs", Rows: d.Triples[0].URLs, First: 1},
	}
	if d.Type == wildgraph.Summary {
		rows := make([]string, 0, shownGold)
		for _, t := range d.Triples[:min(len(d.Triples), shownGold)] {
			rows = append(rows, display.Head(t.Statement, goldBytes))
		}
		name, data = "overview", []prompts.Data{
			{Label: "path", Text: strings.Join(d.Path, " > ")}, {Label: "text", Text: display.Head(d.Body, bodyBytes)},
			{Label: "statements", Rows: rows, First: 1},
		}
	}
	req, err := templates.Request(ctx, StageAsk, name, map[string]any{"Several": d.Type == wildgraph.MultiFact}, data...)
	if err != nil {
		return "", err
	}
	for again := false; ; again = true {
		reply, _, err := replies.Decode[struct{ Question string }](ctx, b.m, req)
		wrong, words := questionFault(reply.Question, d)
		if err != nil || wrong == "" {
			return reply.Question, err
		}
		if again {
			return "", &llm.Error{Kind: llm.ErrInvalidOutput, Err: fmt.Errorf("the question %q: %s (%q)", display.Head(reply.Question, bodyBytes), wrong, words)}
		}
		req.Messages = append(slices.Clip(req.Messages), llm.Message{Role: llm.Assistant, Text: reply.Question}, llm.Message{
			Role: llm.User, Text: "That question cannot be used. " + wrong + " Ask in other words, in the same form. The names of what it asks about may stand as they are.\n\n" + prompts.Fenced(prompts.Data{Label: "words", Text: words}),
		})
	}
}

// Supports implements Checker.
func (b ByModel) Supports(ctx context.Context, question string, d Draft) (Verdict, error) {
	v, err := decide[struct {
		Supported *bool
		Reason    string
	}](ctx, b.m, StageCheck, "support", checkData(question, d))
	return Verdict{v.Supported != nil && *v.Supported, v.Reason}, err
}

// Joint implements Checker.
func (b ByModel) Joint(ctx context.Context, question string, d Draft) (Verdict, error) {
	v, err := decide[struct {
		Needed *bool `json:"all_needed"`
		Reason string
	}](ctx, b.m, StageCheck, "joint", checkData(question, d))
	return Verdict{v.Needed != nil && *v.Needed, v.Reason}, err
}

// Backed implements Checker, with one call for each triple.
func (b ByModel) Backed(ctx context.Context, d Draft) ([]Verdict, error) {
	out := make([]Verdict, len(d.Triples))
	for i, t := range d.Triples {
		data := append([]prompts.Data{{Label: "statement", Text: t.Statement}}, pageExcerpts(citedBy(d.Pages, t), t.Statement)...)
		v, err := decide[struct {
			Keep   *bool
			Reason string
		}](ctx, b.m, StageCheck, "backed", data)
		if err != nil {
			if llm.OfOneReply(err) {
				continue
			}
			return nil, err
		}
		out[i] = Verdict{v.Keep != nil && *v.Keep, v.Reason}
	}
	return out, nil
}

// Keep reports whether a page can be cited. The reason for a rejection begins with its category.
func (b ByModel) Keep(ctx context.Context, article string, p Page) (Verdict, error) {
	v, err := decide[struct {
		Keep     *bool
		Category string `llm:"enum=ok|error|login|index|empty|other"`
		Reason   string
	}](ctx, b.m, StagePages, "keep", []prompts.Data{
		{Label: "article", Text: article}, {Label: "cited as", Text: p.Title}, {Label: "page", Text: display.Head(p.Text, pageBytes)},
	})
	return Verdict{v.Keep == nil || *v.Keep, display.OneLine(v.Category + ": " + v.Reason)}, err
}

func decide[T any](ctx context.Context, m llm.Model, stage, name string, data []prompts.Data) (T, error) {
	var none T
	req, err := templates.Request(ctx, stage, name, nil, data...)
	if err != nil {
		return none, err
	}
	v, _, err := replies.Decode[T](ctx, m, req)
	return v, err
}

func checkData(question string, d Draft) []prompts.Data {
	data := []prompts.Data{{Label: "question", Text: question}, {Label: "answer", Text: d.statement()}}
	return slices.Concat(data, pageExcerpts(d.Pages, d.statement()))
}

// pageExcerpts returns the parts of pages that are relevant to a statement.
func pageExcerpts(pages []Page, statement string) []prompts.Data {
	var out []prompts.Data
	for i, p := range pages[:min(len(pages), maxCheck)] {
		out = append(out, prompts.Data{Label: fmt.Sprintf("page %d", i+1), Text: p.Title + "\n\n" + Excerpt(p.Text, statement, pageBytes)})
	}
	return out
}
