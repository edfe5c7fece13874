// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
)

// WriteHTML writes an HTML page with all tables, questions and answers.
func (r *Report) WriteHTML(w io.Writer, run *benchmark.Run) error {
	k := r.rank()
	p := page.Page{
		Title: r.heading(), Summary: r.summary() + unfinished(run), Strong: r.label.strong, Note: r.label.note,
		Verdict: k.verdict(r.label), Certainty: strings.Join(strings.Fields(r.Payoff.sentence()+" "+k.interval(r.questions())+" "+k.certain(r.questions())), " "), Remarks: k.failed,
		Run: r.pageRun(run), Settings: settings(r.Config), Help: helps(), Tables: r.Tables(),
	}
	if len(k.unranked) > 0 && len(k.standings) > 0 {
		p.Remarks = append(p.Remarks, "Not ranked: "+strings.Join(k.unranked, ", ")+".")
	}
	for _, said := range []string{r.seeds(k.figure), r.unscored()} {
		if said != "" {
			p.Remarks = append(p.Remarks, said)
		}
	}
	return p.Write(w)
}

// verdict returns a sentence that names the leader; "" without a ranking.
func (k ranking) verdict(l label) string {
	if len(k.standings) == 0 {
		return ""
	}
	what := fmt.Sprintf("%.1f %% %s", 100**k.standings[0].value, lower(k.figure.words(l)))
	var leaders, others []string
	for _, s := range k.standings {
		if *s.value == *k.standings[0].value {
			leaders = append(leaders, s.name)
		}
	}
	for _, class := range []struct{ key, is, are string }{
		{Certain, "is certainly behind", "are certainly behind"}, {Probable, "is probably behind", "are probably behind"}, {Level, "is level", "are level"},
	} {
		switch n := len(k.of(class.key)); {
		case n == 1:
			others = append(others, "one "+class.is)
		case n > 1:
			others = append(others, display.Digits(n)+" "+class.are)
		}
	}
	said := k.standings[0].name + " leads with " + what
	switch n := len(leaders); {
	case len(k.standings) == 1:
		return k.standings[0].name + " has " + what + "."
	case n == len(k.standings):
		return fmt.Sprintf("All %s systems have %s.", display.Digits(n), what)
	case n > 3:
		said = fmt.Sprintf("%s and %s others lead with %s", leaders[0], display.Digits(n-1), what)
	case n > 1:
		said = strings.Join(leaders[:n-1], ", ") + " and " + leaders[n-1] + " lead with " + what
	}
	if len(others) > 0 {
		said += "; of the others " + strings.Join(others, ", ")
	}
	return said + "."
}

// interval returns a sentence on the interval of the leader's figure.
func (k ranking) interval(questions int) string {
	switch {
	case len(k.standings) == 0:
		return ""
	case k.standings[0].interval == nil:
		return fmt.Sprintf("%s are too few for an interval.", display.Counted(questions, "question"))
	}
	i := k.standings[0].interval
	return fmt.Sprintf("95 %% interval %.1f to %.1f over %s.", 100*i[0], 100*i[1], display.Counted(questions, "question"))
}

// unfinished says which part of a run is missing.
func unfinished(run *benchmark.Run) string {
	asked, missing := 0, 0
	for _, s := range run.Systems {
		for _, d := range s.Domains {
			for _, r := range d.Results {
				if s.NotApplicable == "" && (r.Pending || !r.Skipped) {
					asked++
				}
				if r.Pending {
					missing++
				}
			}
		}
	}
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf(" Unfinished: %s of %s answers are there. The figures are over these, and a system that lacks one is not compared.", display.Digits(asked-missing), display.Digits(asked))
}

func settings(c map[string]any) []page.Setting {
	var out []page.Setting
	for _, k := range slices.Sorted(maps.Keys(c)) {
		if k != "fingerprints" {
			out = append(out, page.Setting{Name: k, Value: strings.Trim(fmt.Sprint(c[k]), "[]")})
		}
	}
	return out
}

func (r *Report) pageRun(run *benchmark.Run) *page.Run {
	places := make(map[string]int)
	order := r.order()
	systems := make([]System, len(order))
	for i, n := range order {
		systems[i] = r.Systems[n]
	}
	out := &page.Run{Measures: r.measures(systems)}
	for _, s := range systems {
		why := s.NotCompared
		if s.partial {
			why = append([]string{"only " + display.Counted(s.Overall.Types[benchmark.All].N, "question")}, why...)
		}
		out.Systems = append(out.Systems, page.System{Name: s.System, Note: strings.Join(why, "; ")})
	}
	for i, t := range run.Dataset.Types {
		places[t.Key] = i
		out.Types = append(out.Types, page.Type{Title: t.Title, Fact: !t.Statements})
	}
	for d, domain := range run.Dataset.Domains {
		out.Domains = append(out.Domains, domain.Name)
		for n, it := range domain.Items {
			q := page.Question{ID: it.Question.ID, Domain: d, Type: places[it.Type], Text: it.Question.Text, Statements: it.GoldStatements()}
			for _, u := range it.Gold {
				q.Gold = append(q.Gold, u)
			}
			for _, s := range order {
				of := run.Systems[s]
				q.Answers = append(q.Answers, pageAnswer(run, of, of.Domains[d].Results[n]))
			}
			out.Questions = append(out.Questions, q)
		}
	}
	return out
}

// order returns the systems in the order of the ranking, then the unranked ones in the order of the run.
// Systems that were not run are omitted.
func (r *Report) order() []int {
	place := make(map[string]int)
	for i, s := range r.rank().standings {
		place[s.name] = i - len(r.Systems)
	}
	var out []int
	for i, s := range r.Systems {
		if s.NotApplicable == "" {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return place[r.Systems[a].name()] - place[r.Systems[b].name()] })
	return out
}

// measures returns the figures of the systems, first the kind that says most about this run.
func (r *Report) measures(systems []System) []page.Measure {
	keys := slices.Concat(keysIn(ofVerdicts), keysIn(ofFinds))
	if r.label.found {
		keys = slices.Concat(keysIn(ofFinds), keysIn(ofVerdicts))
	}
	var out []page.Measure
	for _, key := range keys {
		f, _ := figureOf(key)
		if len(systems) == 0 || !r.has(benchmark.All, key) {
			continue
		}
		m := page.Measure{Key: key, Title: f.words(r.label), Help: f.help, Class: r.classes(f, systems)}
		m.Values = append(m.Values, r.values(f, systems, func(s System) Types { return s.Overall.Types }))
		for d := range systems[0].Domains {
			m.Values = append(m.Values, r.values(f, systems, func(s System) Types { return s.Domains[d].Types }))
		}
		out = append(out, m)
	}
	return out
}

// values returns the values of a figure by type of questions and by system; the first type means all of them.
func (r *Report) values(f figure, systems []System, of func(System) Types) [][]page.Value {
	var out [][]page.Value
	kinds := []string{benchmark.All}
	for _, t := range r.types {
		kinds = append(kinds, t.Key)
	}
	for _, kind := range kinds {
		row := make([]page.Value, len(systems))
		for i, s := range systems {
			if f.ranked && s.provenance {
				continue
			}
			m := of(s)[kind].estimate(f.key)
			row[i].Mean = m.value
			if m.interval != nil {
				row[i].Low, row[i].High = &m.interval[0], &m.interval[1]
			}
		}
		out = append(out, row)
	}
	return out
}

// classes returns the class of each system's difference from the best; nil if nothing was tested.
func (r *Report) classes(f figure, systems []System) []string {
	out := make([]string, len(systems))
	tested := false
	for i, s := range systems {
		p, ok := r.toBest(f, s)
		tested = tested || ok
		switch {
		case ok:
			out[i] = p.Class()
		case s.compared() && !(f.ranked && s.provenance):
			out[i] = Level // the best system itself
		}
	}
	if !tested {
		return nil
	}
	return out
}

// lower returns a text with a small first letter, unless it begins with an abbreviation.
func lower(s string) string {
	if len(s) > 1 && strings.ToUpper(s[:2]) == s[:2] {
		return s
	}
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

// pageAnswer converts an answer and its judgment to the form of package page.
func pageAnswer(run *benchmark.Run, of benchmark.SystemRun, r benchmark.Result) page.Answer {
	switch {
	case r.Pending:
		return page.Answer{State: page.Pending}
	case of.NotApplicable != "" || r.Skipped:
		return page.Answer{}
	}
	out := shown(r.Answer)
	if run.NoTimings || of.Foreign {
		out.Costs.Millis = 0
	}
	if !provenance(of) {
		out.Found = r.Evidence.RecallAt5
	}
	switch j := r.Judgment; {
	case r.Answer.Error != "":
		out.State, out.Reason = page.Failed, r.Answer.Error
	case r.Answer.Searched:
		out.State = page.Searched
	case j.Fact != nil:
		judgeFact(&out, j.Fact.Verdict, r.Answer.Refused)
	case j.Summary != nil:
		judgeSummary(&out, j.Summary, r.Answer.Refused)
	}
	return out
}

func judgeFact(out *page.Answer, v judge.Verdict, refused bool) {
	out.Reason = v.Reason
	switch {
	case v.State != judge.Scored:
		out.State = page.Unscored
		return
	case v.Value == 1:
		out.State = page.Right
	case refused:
		out.State = page.Refused
	default:
		out.State = page.Wrong
	}
	out.Score = &v.Value
}

func judgeSummary(out *page.Answer, j *judge.SummaryJudgment, refused bool) {
	f1 := j.F1()
	out.Reason = j.Recall.Reason
	if p := j.Precision.Reason; p != "" && p != out.Reason {
		out.Reason = strings.TrimPrefix(out.Reason+"; "+p, "; ")
	}
	out.Predicted = j.Predicted
	for _, m := range j.Matches {
		out.Matches = append(out.Matches, [2]int{m.Gold, m.Predicted})
	}
	switch {
	case f1.State != judge.Scored:
		out.State, out.Reason = page.Unscored, f1.Reason
		return
	case refused:
		out.State = page.Refused
	default:
		out.State = page.Scored
	}
	out.Score = &f1.Value
	out.Verdict = fmt.Sprintf("recall %.0f %%, precision %.0f %%", 100*j.Recall.Value, 100*j.Precision.Value)
	if c := j.Counts; c.Gold > 0 {
		out.Verdict += fmt.Sprintf(" (%d of %d gold statements stated, %d of %d statements in the gold)", c.GoldMet, c.Gold, c.PredictedMet, c.Predicted)
	}
}

// shown converts an answer without its judgment to the form of package page.
func shown(a record.Answer) page.Answer {
	out := page.Answer{
		Text: a.Text, Ranked: a.Ranked, Steps: a.Steps,
		Costs: page.Costs{
			Context: a.ContextTokens(), Calls: a.Usage.Calls, Prompt: a.Usage.PromptTokens, Completion: a.Usage.CompletionTokens, Millis: a.Millis,
		},
	}
	if a.Uncounted || a.Foreign || a.Error != "" {
		out.Costs.Context = -1
	}
	for _, e := range a.Evidence {
		out.Passages = append(out.Passages, page.Passage{Doc: e.Doc, Chunk: e.Chunk, Tokens: e.Tokens, Text: e.Excerpt, Quotes: e.Quotes})
	}
	for _, d := range a.Derived {
		out.Passages = append(out.Passages, page.Passage{Docs: d.Docs, Tokens: d.Tokens, Text: d.Excerpt})
	}
	for _, c := range a.Citations {
		switch c.Of {
		case "":
			out.Citations = append(out.Citations, page.Citation{Start: c.Start, End: c.End, Passage: c.Evidence})
		case graphrag.OfDerived:
			out.Citations = append(out.Citations, page.Citation{Start: c.Start, End: c.End, Passage: len(a.Evidence) + c.Evidence})
		}
	}
	return out
}
