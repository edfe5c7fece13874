// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
)

// indexed adds up the indexes of all domains, as if they were one graph.
func (s System) indexed() Index {
	var sum Index
	for _, d := range s.Domains {
		x := d.Index
		if all := float64(sum.Entities + x.Entities); all > 0 {
			share := float64(x.Entities) / all
			sum.AverageDegree += share * (x.AverageDegree - sum.AverageDegree)
			sum.IsolatedShare += share * (x.IsolatedShare - sum.IsolatedShare)
		}
		sum.Chunks, sum.Entities, sum.Relations, sum.MaxDegree = sum.Chunks+x.Chunks, sum.Entities+x.Entities, sum.Relations+x.Relations, max(sum.MaxDegree, x.MaxDegree)
		sum.Bytes, sum.Tokens, sum.Edges = sum.Bytes+x.Bytes, sum.Tokens+x.Tokens, sum.Edges+x.Edges
		sum.Usage = sum.Usage.Add(x.Usage)
		if x.Seconds != nil {
			sum.Seconds = ref(*x.Seconds + deref(sum.Seconds))
		}
	}
	return sum
}

func (r *Report) costTable() page.Table {
	t := page.Table{
		Title: "Cost",
		Groups: []page.Group{
			{Heading: "Index", Columns: []string{"MB", "Chunks", "LLM calls", "Tokens", "Embedded", "Seconds"}, Qualified: true},
			{Heading: "Answers", Columns: []string{"Questions", "LLM calls", "Tokens", "p50 ms", "p99 ms"}, Qualified: true},
			{Heading: "Judge", Columns: []string{"LLM calls", "Tokens"}, Qualified: true},
			{Heading: "Process", Columns: []string{"Peak MiB"}},
		},
		Notes: []string{"Totals of the run. Tokens are prompt and completion together. A megabyte is a million bytes of documents."},
	}
	tokens := func(u graphrag.Usage) string { return display.Digits(u.PromptTokens + u.CompletionTokens) }
	for _, s := range r.Systems {
		if s.NotApplicable != "" {
			addTexts(&t, s.name())
			continue
		}
		index := s.indexed()
		texts := []string{
			decimal(ref(float64(index.Bytes)/1e6), 1), display.Digits(index.Chunks), display.Digits(index.Calls), tokens(index.Usage),
			display.Digits(index.EmbeddedTokens), decimal(index.Seconds, 1), display.Digits(s.Overall.Types[benchmark.All].N),
			display.Digits(s.AnswerUsage.Calls), tokens(s.AnswerUsage), decimal(s.QueryMsP50, 1), decimal(s.QueryMsP99, 1),
			display.Digits(s.JudgeUsage.Calls), tokens(s.JudgeUsage), decimal(s.PeakRSSMB, 0),
		}
		if s.foreign {
			for _, i := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 10} {
				texts[i] = notApplicable
			}
		}
		addTexts(&t, s.name(), texts...)
		for _, part := range []struct {
			of   string
			lost int
		}{{"the index", index.Unread}, {"answers", s.AnswerUsage.Unread}, {"the judge", s.JudgeUsage.Unread}} {
			if part.lost > 0 {
				t.Notes = append(t.Notes, fmt.Sprintf("%s: %s model replies for %s, or parts of them, could not be read and are missing.", s.System, display.Digits(part.lost), part.of))
			}
		}
		if s.Uncited > 0 && s.AnswerUsage.Calls > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s answers cite nothing of what was read for them.", s.System, display.Digits(s.Uncited)))
		}
	}
	return t
}

// refusalTable has the numbers of right and wrong answers and refusals over all questions. It has no rows if
// nothing was refused, unless the systems were allowed to refuse.
func (r *Report) refusalTable() page.Table {
	t := page.Table{
		Title: "Answers and refusals" + r.label.title,
		Groups: []page.Group{
			{Heading: "Answered", Columns: []string{"Right", "Wrong"}, Qualified: true},
			{Heading: "Refused", Columns: []string{"Rightly", "Wrongly"}, Qualified: true}, {Columns: []string{"Unscored"}},
		},
		Notes: []string{
			"Questions. A refusal is wrong when the system had read pages of all the gold of a fact, or of any of the gold of a summary; " +
				"else, and where a question has no answer, it is right. An answer is right at accuracy or recall 1.",
		},
	}
	mode, _ := r.Config["mode"].(string)
	refused := reader.Mode(mode).Rejects()
	for _, s := range r.Systems {
		v := s.Overall.Types[benchmark.All].Verdicts()
		if v == nil {
			addTexts(&t, s.name())
			continue
		}
		n := v.Refusals
		refused = refused || n.RefusedRightly+n.RefusedWrongly > 0
		addTexts(&t, s.name(), display.Digits(n.AnsweredRight), display.Digits(n.AnsweredWrong), display.Digits(n.RefusedRightly), display.Digits(n.RefusedWrongly), display.Digits(n.Unscored))
	}
	if !refused {
		return page.Table{}
	}
	return t
}

// namedGraph is the graph of one or several systems on a domain.
type namedGraph struct {
	domain  string
	systems []string
	index   Index
}

// group returns the names of up to three systems, or of more the first and the number of others.
func (g namedGraph) group() string {
	if n := len(g.systems); n > 3 {
		return fmt.Sprintf("%s + %d", g.systems[0], n-1)
	}
	return strings.Join(g.systems, ", ")
}

// graphs lists the graphs of every domain. Systems with equal graphs share an entry.
func (r *Report) graphs() []namedGraph {
	if len(r.Systems) == 0 {
		return nil
	}
	var out []namedGraph
	add := func(domain string, of func(System) Index) {
		first := len(out)
		for _, s := range r.Systems {
			index := of(s)
			if index.Entities == 0 {
				continue
			}
			same := slices.IndexFunc(out[first:], func(g namedGraph) bool {
				return g.index.Entities == index.Entities && g.index.Relations == index.Relations && g.index.Edges == index.Edges &&
					g.index.AverageDegree == index.AverageDegree && g.index.MaxDegree == index.MaxDegree && g.index.IsolatedShare == index.IsolatedShare
			})
			if same < 0 {
				out = append(out, namedGraph{domain, []string{s.System}, index})
			} else {
				g := &out[first+same]
				g.systems = append(g.systems, s.System)
			}
		}
	}
	for i, d := range r.Systems[0].Domains {
		add(d.Domain, func(s System) Index { return s.Domains[i].Index })
	}
	if len(r.Systems[0].Domains) > 1 {
		add("all domains", System.indexed)
	}
	return out
}

// GraphTable is Table 4 of the paper. It has no rows if no system has a graph.
func (r *Report) GraphTable() page.Table {
	t := page.Table{
		Title: "Graphs", Heading: "Graph",
		Groups: []page.Group{{Columns: []string{"Tokens", "Nodes", "Edges", "Relations", "Max. degree", "Avg. degree", "Isolated %"}}},
		Notes: []string{"As in Table 4 and Figure 4 of the paper: a node is an entity, an edge a pair of entities with at least one fact, " +
			"the average degree 2 · edges / nodes; all domains are one graph in as many parts. Tokens are cl100k. Relations are distinct facts; links between entities and passages do not count."},
	}
	for _, g := range r.graphs() {
		x := g.index
		if long := g.group() + ": " + strings.Join(g.systems, ", ") + "."; len(g.systems) > 3 && !slices.Contains(t.Notes, long) {
			t.Notes = append(t.Notes, long)
		}
		edges := display.Digits(int(x.Edges))
		if x.Edges == 0 && x.MaxDegree > 0 {
			edges = "–" // a degree without edges: the graph is not shown
		}
		addTexts(&t, g.domain+": "+g.group(), display.Digits(int(x.Tokens)), display.Digits(x.Entities), edges, display.Digits(x.Relations),
			display.Digits(x.MaxDegree), decimal(&x.AverageDegree, 2), percent(&x.IsolatedShare))
	}
	if len(t.Rows) == 0 {
		return page.Table{}
	}
	r.addGraphs(&t)
	t.Notes = append(t.Notes, r.schemas...)
	return t
}

// addGraphs adds the published graphs, each under the name of its data, or the reason why none can be compared.
func (r *Report) addGraphs(t *page.Table) {
	if r.Published == nil {
		return
	}
	for _, g := range r.Published.Graphs {
		addTexts(t, g[0]+", published: lightrag", g[1:]...)
		t.Rows[len(t.Rows)-1].Published = true
	}
	if len(r.Published.Graphs) > 0 {
		t.Notes = append(t.Notes, "Published rows: Table 4; which pages have 2.4M tokens the paper does not say.")
	} else if r.Published.Absent[""] != "" {
		t.Notes = append(t.Notes, "Published rows do not stand here: they are about all domains of the release together.")
	}
}

// grown describes the schema of an index and how it grew, "" if there is no schema.
func grown(system, domain string, schema json.RawMessage) string {
	var s struct {
		Nodes, Relations, Attributes []string
		Growth                       struct {
			Decisions []struct {
				Accepted bool `json:"accepted"`
			}
		}
	}
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	accepted := 0
	for _, d := range s.Growth.Decisions {
		if d.Accepted {
			accepted++
		}
	}
	return fmt.Sprintf("The schema of %s on %s has %d types, %d relations and %d attributes; %d of %d proposals were accepted: %s.",
		system, domain, len(s.Nodes), len(s.Relations), len(s.Attributes), accepted, len(s.Growth.Decisions), schemaName(system, domain))
}

// swept returns the titles of the swept types for a heading, and their names for a sentence.
func (r *Report) swept() (title, plural string) {
	var titles, plurals []string
	for _, kind := range r.types {
		if kind.Swept {
			titles, plurals = append(titles, kind.Title), append(plurals, kind.Plural)
		}
	}
	return strings.Join(titles, ", "), strings.Join(plurals, ", ")
}

// sweepTable shows the judged figures for each system and each k: F1, recall and precision of statements, or
// the accuracy on each domain. The best k of a system is marked.
func (r *Report) sweepTable() page.Table {
	prompt := []string{"context_tokens", "evidence_recall", "provenance_recall"}
	title, plural := r.swept()
	charted, of := []string{"accuracy"}, r.domains()
	verdicts := page.Group{Heading: r.label.prefix + "accuracy", Columns: append([]string{"All"}, of...), Qualified: true}
	note := "Table 2 of arXiv 2508.19855 has the accuracies of top-20 and top-10: -k 10 and -k 20 set them beside."
	if slices.ContainsFunc(r.types, func(t benchmark.Type) bool { return t.Swept && t.Statements }) {
		charted, of = []string{"f1_mean_of_questions", "recall"}, nil
		verdicts = page.Group{Heading: title, Columns: titlesOf("f1_mean_of_questions", "f1_of_means", "recall", "precision"), Qualified: true}
		note = "Figure 5 of the paper draws F1 over k for HippoRAG 2 on one domain: it rises to k = 8 and falls to k = 12."
	}
	t := page.Table{
		Title:  capital(plural) + " over top-k" + r.label.title,
		Groups: []page.Group{verdicts, {Heading: "Final prompt", Columns: titlesOf(prompt...)}},
		Notes:  []string{"Percent, over all " + strings.ToLower(title) + " questions of the run; the best k of each system is marked. " + note},
	}
	if r.label.note != "" {
		t.Notes = append(t.Notes, r.label.note)
	}
	for _, key := range charted {
		f, _ := figureOf(key)
		t.Charts = append(t.Charts, page.Chart{Title: f.words(r.label) + ", " + plural + " (%)", X: "top-k"})
	}
	for _, s := range r.Systems {
		var names []string
		var rows [][]estimate
		for _, p := range s.Sweep {
			all := Types{title: p.Type}
			row := all.row(title, "f1_mean_of_questions", "f1_of_means", "recall", "precision")
			if of != nil {
				row = all.row(title, "accuracy")
				for _, domain := range of {
					row = append(row, p.Domains[domain].estimate("accuracy"))
				}
			}
			names = append(names, fmt.Sprintf("%s, k = %d", s.name(), p.K))
			rows = append(rows, s.row(append(row, all.row(title, prompt...)...)))
			for i, key := range charted {
				addPoint(&t.Charts[i], s.System, p.K, all[title].estimate(key))
			}
		}
		addFigures(&t, names, rows)
	}
	return t
}

// domains returns the names of the domains that have questions.
func (r *Report) domains() (names []string) {
	for _, s := range r.Systems[:min(1, len(r.Systems))] {
		for _, d := range s.Domains {
			if d.Types[benchmark.All].N > 0 {
				names = append(names, d.Domain)
			}
		}
	}
	return names
}

// addPoint adds a defined figure at x to the line with a name, which it appends if the chart lacks it.
func addPoint(c *page.Chart, name string, x int, m estimate) {
	if m.value == nil {
		return
	}
	if n := len(c.Lines); n == 0 || c.Lines[n-1].Name != name {
		c.Lines = append(c.Lines, page.Line{Name: name})
	}
	line := &c.Lines[len(c.Lines)-1]
	line.Points = append(line.Points, m.point(float64(x)))
}

// The names of the stages after indexing.
const (
	stageAnswer = "answer"
	stageJudge  = "judge"
)

// health counts the failures of a system, and decides whether it can be compared with others.
func (s *System) health(run *benchmark.Run, of benchmark.SystemRun) {
	if of.NotApplicable != "" {
		return
	}
	doubt := func(format string, args ...any) {
		s.NotCompared = append(s.NotCompared, fmt.Sprintf(format, args...))
	}
	var panics []string
	why := map[string]map[string]int{stageAnswer: {}, stageJudge: {}} // stage → cause → failures
	answers, judging := graphrag.Stage{Name: stageAnswer}, graphrag.Stage{Name: stageJudge}
	for i, d := range of.Domains {
		name, index := run.Dataset.Domains[i].Name, d.Index
		if index.Error != "" {
			doubt("no index of %s: %s", name, index.Error)
		}
		if index.Graph && index.Stats.Chunks > 0 && index.Stats.Entities == 0 {
			doubt("the graph of %s is empty: %s, no entity", name, display.Counted(index.Stats.Chunks, "chunk"))
		}
		for _, g := range index.Stats.Stages {
			s.add(g)
		}
		for _, r := range d.Results {
			if r.Skipped {
				s.partial = true
				continue
			}
			count(&answers, r.Answer.Error != "", declined(r.Answer.Error))
			why[stageAnswer][r.Answer.Error]++
			if strings.HasPrefix(r.Answer.Error, "panic:") {
				panics = append(panics, fmt.Sprintf("question %s: %s", r.Answer.ID, r.Answer.Error))
			}
			if r.Answer.Error == "" {
				// Judging failed also if only the call for an additional figure failed.
				j, lost := r.Judgment, slices.DeleteFunc(r.Judgment.Verdicts(), func(v judge.Verdict) bool { return v.State != judge.Unscored })
				failed := len(lost) > 0 || j.Fact != nil && j.Fact.Protocol.Failures > 0 || j.Summary != nil && j.Summary.Protocol.Failures > 0
				count(&judging, failed, slices.ContainsFunc(lost, func(v judge.Verdict) bool { return declined(v.Cause()) }))
				why[stageJudge][unscored(r)]++
			}
		}
	}
	if n := len(panics); n > 0 {
		doubt("%s, the first at %s", display.Counted(n, "panic"), panics[0])
	}
	s.add(answers)
	s.add(judging)
	s.unscored = why[stageJudge]
	for _, g := range s.Stages {
		if float64(g.Failed) > run.MaxFailed*float64(g.Asked) {
			doubt("%s: %s of %s failed%s", g.Name, display.Digits(g.Failed), display.Digits(g.Asked), mostly(why[g.Name]))
		}
	}
}

// unscored returns the reason why an answer has no score; "" if it has a score.
func unscored(r benchmark.Result) string {
	for _, v := range r.Judgment.Verdicts() {
		if v.State == judge.Unscored {
			return v.Reason
		}
	}
	return ""
}

// mostly names the most frequent cause as a clause, "" if there are no causes.
func mostly(causes map[string]int) string {
	causes = maps.Clone(causes)
	if delete(causes, ""); len(causes) == 0 {
		return ""
	}
	most := slices.MinFunc(slices.Collect(maps.Keys(causes)), func(a, b string) int { return cmp.Or(causes[b]-causes[a], cmp.Compare(a, b)) })
	return ", mostly by: " + cut(display.OneLine(most), 160)
}

// add adds the counts of a stage to the stage of the same name.
func (s *System) add(g graphrag.Stage) {
	i := slices.IndexFunc(s.Stages, func(have graphrag.Stage) bool { return have.Name == g.Name })
	if i < 0 {
		s.Stages = append(s.Stages, g)
		return
	}
	of := &s.Stages[i]
	of.Asked += g.Asked
	of.Failed += g.Failed
	of.Refused += g.Refused
	of.Repaired += g.Repaired
	of.Stale += g.Stale
}

// count counts a piece of work of a stage.
func count(g *graphrag.Stage, failed, refused bool) {
	if g.Asked++; failed {
		g.Failed++
	}
	if refused {
		g.Refused++
	}
}

// declined reports whether the cause of a failure is that a model or a filter refused.
func declined(cause string) bool {
	kind := llm.Kind(cause)
	return kind == llm.ErrRefused || kind == llm.ErrFiltered
}

// notComparedMark follows the name of a system that is not compared.
const notComparedMark = " †"

// name returns the names of the system. A mark follows if it is not compared, and the number of its questions
// if it was not asked all of them.
func (s System) name() string {
	name := strings.Join(append([]string{s.System}, s.Also...), " = ")
	switch {
	case s.partial:
		return fmt.Sprintf("%s (n = %d)", name, s.Overall.Types[benchmark.All].N)
	case len(s.NotCompared) > 0:
		return name + notComparedMark
	}
	return name
}

// compared reports whether the system takes part in comparisons.
func (s System) compared() bool {
	return s.NotApplicable == "" && len(s.NotCompared) == 0 && !s.partial
}

// row unmarks the figures that take no part in comparisons: all figures of a system that failed or was not
// asked everything, and figures of the ranking if provenance is true.
func (s System) row(cells []estimate) []estimate {
	for i, c := range cells {
		cells[i].unmarked = c.unmarked || !s.compared() || s.provenance && c.ranked
	}
	return cells
}

// provenance reports whether a system reads derived texts alone and ranks the pages behind them. Its ranking
// then shows the sources of the texts, not what retrieval found.
func provenance(of benchmark.SystemRun) bool {
	found := false
	for _, d := range of.Domains {
		for _, r := range d.Results {
			if len(r.Answer.Evidence) > 0 {
				return false
			}
			found = found || len(r.Answer.Derived) > 0 && len(r.Answer.Ranked) > 0
		}
	}
	return found
}

// failureTable has a row for each stage of each system with failures.
func (r *Report) failureTable() page.Table {
	t := page.Table{
		Title:  "What failed",
		Groups: []page.Group{{Columns: []string{"Step", "Pieces", "Failed", "%", "Of these refused", "Mended"}}},
	}
	for _, s := range r.Systems {
		for _, g := range s.Stages {
			if g.Failed > 0 || g.Repaired > 0 {
				share := float64(g.Failed) / float64(max(g.Asked, 1))
				addTexts(&t, s.name(), g.Name, display.Digits(g.Asked), display.Digits(g.Failed), percent(&share), display.Digits(g.Refused), display.Digits(g.Repaired))
			}
		}
		if len(s.NotCompared) > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s%s is not compared: %s.", s.System, notComparedMark, strings.Join(s.NotCompared, "; ")))
		}
	}
	if len(t.Rows) == 0 && len(t.Notes) > 0 {
		addTexts(&t, "–")
	}
	return t
}
