// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/judge/model"
	"github.com/wildgraph/wildgraph/judge/short"
)

// Profiles of judges that are not models: by words, and by the model of -entail-model.
const (
	profileLexical    = "lexical"
	profileEntailment = "entailment"
)

// runParts adds the judges of a run to its shared parts.
type runParts struct {
	*lab.Parts
	judges []profiled
	entail *local.Entailment // of -entail-model, or nil
}

// profiled is a judge with the name of its profile, "" for the offline judge.
type profiled struct {
	judge.Judge
	profile string
}

func newParts(ctx context.Context, s settings, d data, log *slog.Logger) (*runParts, error) {
	for _, name := range s.judgeProfiles {
		if d.short != (name == short.Profile) && name != short.LiveRAGProfile {
			return nil, cli.Usagef("-judge-profile %s does not judge the questions of %s", name, d.Name)
		}
	}
	shared, err := lab.NewParts(ctx, s.Settings, log)
	if err != nil {
		return nil, err
	}
	p := &runParts{Parts: shared}
	if p.entail, err = p.OpenEntailment(ctx, s.entailModel); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if !s.ByModel() && slices.ContainsFunc(d.Domains, func(d benchmark.Domain) bool { return strings.HasPrefix(d.Name, anonyName) }) {
		if p.Kit.Read, err = newChooser(p.Kit.Read); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	profiles := s.judgeProfiles
	switch {
	case len(profiles) > 0:
	case p.entail != nil:
		profiles = []string{profileEntailment}
	case d.short:
		profiles = []string{short.Profile}
	case shared.Judge == nil:
		profiles = []string{""}
	case d.Published != nil && len(d.Published.Beside(d.Dataset).Rows) > 0: // the paper's metric, to compare with its rows
		profiles = []string{string(model.Paper)}
	default:
		profiles = []string{string(model.Joint)}
	}
	for _, name := range profiles {
		j, err := p.judge(name, s, d)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.judges = append(p.judges, profiled{j, name})
	}
	return p, nil
}

// judge makes the judge of a profile.
func (p *runParts) judge(profile string, s settings, d data) (judge.Judge, error) {
	o := judge.Options{Grounded: s.grounded}
	switch profile {
	case short.LiveRAGProfile:
		return short.NewLiveRAG(p.Judge)
	case short.Profile:
		return p.short(d)
	case profileEntailment:
		return judge.ByEntailment(p.entail), nil
	case profileLexical, "":
		return lexical.New(o)
	}
	return model.New(p.Judge, model.Options{Options: o, Profile: model.Profile(profile)})
}

// short returns the judge of the multi-hop data sets, which has rules for each.
func (p *runParts) short(d data) (judge.Judge, error) {
	o := short.Options{Model: p.Judge, Schemes: multihop.Schemes()}
	if p.Embedder != nil {
		o.Embedder = p.Embedder
	}
	plain, err := short.New(o)
	if err != nil {
		return nil, err
	}
	var hidden []string
	for _, t := range d.Types {
		if _, ok := o.Schemes[t.Key]; !ok {
			hidden = append(hidden, t.Key)
		}
	}
	if len(hidden) == 0 {
		return plain, nil
	}
	other, err := anonyrag.New(anonyrag.Options{Model: p.Judge})
	return judgeByType{plain, other, hidden}, err
}

// judgeByType selects the judge by the data set of a question.
type judgeByType struct {
	*short.Judge
	hidden *anonyrag.Judge
	types  []string // of questions with hidden names
}

// Name implements [judge.Judge].
func (j judgeByType) Name() string { return j.Judge.Name() + "+" + j.hidden.Name() }

// Fact implements [judge.Judge].
func (j judgeByType) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	if slices.Contains(j.types, c.Type) {
		return j.hidden.Fact(ctx, c)
	}
	return j.Judge.Fact(ctx, c)
}

// liveRAG returns the means on the scales of the LiveRAG challenge, with the published row of GeAR-s.
func liveRAG(r *report.Report) page.Table {
	t := page.Table{Title: "Scales of the LiveRAG challenge", Heading: "System", Groups: []page.Group{{Columns: []string{"Correctness (-1 to 2)", "Faithfulness (-1 to 1)"}}}}
	add := func(name string, correctness float64, faithfulness string) {
		t.Rows = append(t.Rows, page.Row{Name: name, Cells: []page.Cell{{Text: fmt.Sprintf("%.3f", correctness)}, {Text: faithfulness}}})
	}
	for _, s := range r.Systems {
		v := s.Overall.Types[benchmark.All].Verdicts()
		if v == nil || v.Accuracy == nil {
			continue
		}
		faithfulness := "n/a"
		if f, ok := v.Scores["faithfulness"]; ok {
			faithfulness = fmt.Sprintf("%.3f", short.FaithfulnessPoints(f))
		}
		add(s.System, short.CorrectnessPoints(*v.Accuracy), faithfulness)
	}
	add("gear, published", 0.876, "0.529")
	t.Notes = []string{"Published row: arXiv 2507.17399, on other data: FineWeb-10BT and the challenge's questions."}
	return t
}
