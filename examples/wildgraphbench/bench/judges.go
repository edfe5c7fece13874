// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/judge"
)

// runParts adds the judges of a run to its shared parts.
type runParts struct {
	*setup.Parts
	judges []profiled
}

// profiled is a judge with the name of its profile, "" for the rules that judge without a choice and a model,
// and have no published figures.
type profiled struct {
	judge.Judge
	profile string
}

func newParts(ctx context.Context, s settings, d *benchmark.Dataset, log *slog.Logger) (*runParts, error) {
	var chosen []judge.Procedure
	for _, name := range s.judgeProfiles {
		j := slices.IndexFunc(d.Judges, func(j judge.Procedure) bool { return j.Profile == name })
		if j < 0 {
			return nil, cli.Usagef("-judge-profile %s does not judge the questions of %s", name, d.Name)
		}
		chosen = append(chosen, d.Judges[j])
	}
	shared, err := setup.NewParts(ctx, s.Settings, log)
	if err != nil {
		return nil, err
	}
	p := &runParts{Parts: shared}
	by := judge.Parts{Options: judge.Options{Grounded: s.grounded}, Model: p.Judge}
	if p.Embedder != nil {
		by.Embedder = p.Embedder
	}
	entail, err := p.OpenEntailment(ctx, s.entailModel)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if entail != nil {
		by.Entailer = entail
	}
	if !s.ByModel() && slices.ContainsFunc(d.Types, func(t benchmark.Type) bool { return t.Choices }) {
		if p.Kit.Read, err = newChooser(p.Kit.Read); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	impossible := func(j judge.Procedure) bool { return !j.Possible(by) }
	if possible := slices.DeleteFunc(slices.Clone(d.Judges), impossible); len(possible) == 0 {
		return nil, errors.Join(cli.Usagef("%s has no judge without a model: name one by -judge-model", d.Name), p.Close())
	} else if len(chosen) == 0 || slices.ContainsFunc(chosen, impossible) { // a dry run opens no model that entails
		chosen = possible[:1]
	}
	for _, procedure := range chosen {
		j, err := procedure.New(by)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		profile := procedure.Profile
		if len(s.judgeProfiles) == 0 && !procedure.NeedsModel && !procedure.NeedsEntailer && !procedure.Published {
			profile = ""
		}
		p.judges = append(p.judges, profiled{j, profile})
	}
	return p, nil
}

// scalesOf returns the means of a run in the units of the judge's scales.
func scalesOf(r *report.Report, s *judge.Scales) page.Table {
	t := page.Table{Title: s.Title, Heading: "System", Groups: []page.Group{{}}, Notes: []string{s.Note}}
	last := page.Row{Name: s.Row}
	for _, c := range s.Columns {
		t.Groups[0].Columns = append(t.Groups[0].Columns, c.Title)
		last.Cells = append(last.Cells, page.Cell{Text: fmt.Sprintf("%.3f", c.Published)})
	}
	for _, system := range r.Systems {
		v := system.Overall.Types[benchmark.All].Verdicts()
		if v == nil || v.Accuracy == nil {
			continue
		}
		row := page.Row{Name: system.System}
		for _, c := range s.Columns {
			value, ok := *v.Accuracy, true
			if c.Score != "" {
				value, ok = v.Scores[c.Score]
			}
			cell := page.Cell{Text: "n/a"}
			if ok {
				cell.Text = fmt.Sprintf("%.3f", c.Points(value))
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, last)
	return t
}

// chooser answers multiple choice without a model: it takes the option whose words, together with the
// question's, are best covered by two consecutive sentences of the evidence. The other reader answers
// other questions.
type chooser struct {
	reader.Reader
	words *text.Standard
}

func newChooser(other reader.Reader) (reader.Reader, error) {
	words, err := text.New(text.Options{NoStems: true})
	return chooser{other, words}, err
}

// Name implements [reader.Reader].
func (c chooser) Name() string { return "chooser+" + c.Reader.Name() }

var option = regexp.MustCompile(`(?m)^([A-D])\. (.+)$`)

// Read implements [reader.Reader].
func (c chooser) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	options := option.FindAllStringSubmatchIndex(q.Text, -1)
	if len(options) < 2 || len(evidence)+len(derived) == 0 {
		return c.Reader.Read(ctx, q, evidence, derived)
	}
	var windows []string
	for _, h := range evidence {
		windows = append(windows, pairs(h.Chunk.Text)...)
	}
	for _, d := range derived {
		windows = append(windows, d.Text)
	}
	stem := q.Text[:options[0][0]]
	best, answer := -1.0, ""
	for _, at := range options {
		held := 0.0
		for _, w := range windows {
			held = max(held, c.share(q.Text[at[4]:at[5]], w)*(1+c.share(stem, w)))
		}
		if held > best {
			best, answer = held, q.Text[at[0]:at[1]]
		}
	}
	return graphrag.Answer{Text: answer, Found: graphrag.Found{Evidence: evidence, Derived: derived}}, ctx.Err()
}

// share returns the share of the distinct words of a text, without function words and single letters,
// that a window contains.
func (c chooser) share(s, window string) float64 {
	has := make(map[string]bool)
	c.words.Words(window, func(word []byte) bool { has[string(word)] = true; return true })
	all, here := make(map[string]bool), 0
	c.words.Words(s, func(word []byte) bool {
		r, n := utf8.DecodeRune(word)
		single := n == len(word) && !unicode.IsDigit(r) && r < 0x2e80
		if _, ok := c.words.Term(string(word)); ok && !single && !all[string(word)] {
			all[string(word)] = true
			if has[string(word)] {
				here++
			}
		}
		return true
	})
	return float64(here) / float64(max(len(all), 1))
}

// pairs returns the sentences of a text, each with the next one.
func pairs(s string) []string {
	var out []string
	sentences := text.Sentences(s)
	for i, p := range sentences {
		window := p.In(s)
		if i+1 < len(sentences) {
			window += " " + sentences[i+1].In(s)
		}
		out = append(out, strings.TrimSpace(window))
	}
	return out
}
