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
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
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
	*setup.Parts
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
	shared, err := setup.NewParts(ctx, s.Settings, log)
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
