// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/judge/model"
)

// pages makes a run of three questions about each of four pages. System a meets
// half of the gold of the questions about the last two pages, b all of it.
func pages() *benchmark.Run {
	set := &benchmark.Dataset{
		Name: "Pages", Types: []benchmark.Type{{Key: "fact", Title: "Fact", Short: "Fact", K: 5}},
		Domains: []benchmark.Domain{{Name: "d"}},
	}
	a, b := benchmark.SystemRun{Name: "a", Domains: make([]benchmark.DomainRun, 1)}, benchmark.SystemRun{Name: "b", Domains: make([]benchmark.DomainRun, 1)}
	for i := range 12 {
		page := fmt.Sprintf("page %d", i/3)
		it := benchmark.Item{Type: "fact", Gold: []benchmark.Unit{{page}, {"other"}}}
		it.Question.ID = fmt.Sprint(i)
		set.Domains[0].Items = append(set.Domains[0].Items, it)
		result := func(docs ...string) benchmark.Result {
			r := benchmark.Result{Domain: "d", Item: it}
			for _, d := range docs {
				r.Answer.Ranked = append(r.Answer.Ranked, record.Ranked{Doc: d})
			}
			r.Evidence = it.Measure(r.Answer)
			return r
		}
		half := result(page)
		if i < 6 {
			half = result(page, "other")
		}
		a.Domains[0].Results = append(a.Domains[0].Results, half)
		b.Domains[0].Results = append(b.Domains[0].Results, result(page, "other"))
	}
	return &benchmark.Run{Dataset: set, Config: map[string]any{}, Systems: []benchmark.SystemRun{a, b}}
}

// Questions about one page are not independent: the interval is one over four
// pages and not over twelve questions, and the permutation test swaps pages.
func TestPagesAreTheUnit(t *testing.T) {
	r := check.Of(New(pages())).OK(t)
	// Each value is ¼ from the mean, so the squared standard error is
	// 12·(1/16)/(11·12), and 4·(¾)² less those squares over 12² for the pages;
	// 3.182 is the 97.5 % point of Student's t with 3 degrees of freedom.
	got := r.Systems[0].Overall.Types[benchmark.All].Intervals["evidence_recall_at_5"]
	low := 0.75 - 3.1824463*math.Sqrt(0.75/132+1.5/144)
	check.True(t, math.Abs(got[0]-low) <= 1e-6 && got[1] == 1, "interval %v, want %v to 1", got, low)
	// Two pages differ, by 3·½ each, of the five with the two halves that are added: a mean of 3/15,
	// its squared error (2·.9² + 2·.6² + 1.5² + .6²)·(5/4)/15², and t with 4 degrees of freedom. By
	// questions p would be below .05.
	if p := r.Pairs[0]; p.Figure != "evidence_recall_at_5" || p.N != 12 || p.Difference != 0.25 || math.Abs(*p.P-0.29426) > 1e-5 || p.Class() != Level {
		t.Errorf("%+v", p)
	}
	var latex strings.Builder
	want := fmt.Sprintf(`a & 75.00 {\scriptsize(%.1f--100.0)} &`, 100*got[0])
	if err := r.WriteLaTeX(&latex); err != nil || !strings.Contains(latex.String(), want) || !strings.Contains(latex.String(), `b & \textbf{100.00} {\scriptsize(`) {
		t.Errorf("%v, %s is not in %s", err, want, &latex)
	}
}

// Cells that a spreadsheet would compute are marked as text.
func TestCSVText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "bm25": "bm25", "a=b": "a=b", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\tx": "' x", "\rx": "' x", "*": "'*", "'*": "''*",
	} {
		check.Equal(t, csvText(text), want, "%q", text)
	}
}

// standings returns the standing of a first system and of one system of each class.
func standings(classes ...string) (k ranking) {
	k.figure, _ = figureOf("accuracy")
	for i, class := range classes {
		value := 1 - float64(i)/8
		of := standing{name: string(rune('a' + i)), estimate: estimate{value: &value}}
		if class != "" {
			p := map[string][2]float64{Certain: {.001, .01}, Probable: {.02, .2}, Level: {.3, .9}}[class]
			of.to = Pair{P: &p[0], PHolm: &p[1], Detectable: ref(.123)}
		}
		k.standings = append(k.standings, of)
	}
	return k
}

// The sentences agree with the p-values, in three classes.
func TestCertain(t *testing.T) {
	for _, tt := range []struct {
		k                ranking
		certain, verdict string
	}{
		{standings(""), "", "a has 100.0 % lexical accuracy."},
		{standings("", ""), "Too few questions to tell which is better: 24.", "a leads with 100.0 % lexical accuracy."},
		{standings("", Level), "No system is certainly behind a (p below .05). Level with it: 1 system. Over 24 questions a true difference of 13 points is found with probability .8, after the correction.",
			"a leads with 100.0 % lexical accuracy; of the others one is level."},
		{standings("", Certain, Certain), "Certainly ahead of all others: a (p below .05 after Holm's correction for 2 comparisons with it).", "a leads with 100.0 % lexical accuracy; of the others 2 are certainly behind."},
		{standings("", Level, Probable, Certain), "Certainly behind a: d (p below .05 after Holm's correction for 3 comparisons with it). Probably behind: c (p below .05 before the correction alone). " +
			"Level with it: 1 system. Over 24 questions a true difference of 13 points is found with probability .8, after the correction.",
			"a leads with 100.0 % lexical accuracy; of the others one is certainly behind, one is probably behind, one is level."},
	} {
		check.Equal(t, tt.k.certain(24), tt.certain)
		check.Equal(t, tt.k.verdict(label{prefix: "Lexical "}), tt.verdict)
	}
	equal := standings("", Level, Level, Level)
	for i := range equal.standings {
		equal.standings[i].value = ref(.5)
	}
	check.Equal(t, equal.verdict(label{}), "All 4 systems have 50.0 % accuracy.")
	equal.standings[2].to.Detectable = ref(.4)
	check.Equal(t, equal.detectable(), "13 (b) to 40 points (c)")
	equal.standings[3].value = ref(.25)
	check.Equal(t, equal.verdict(label{}), "a, b and c lead with 50.0 % accuracy; of the others 3 are level.")
}

// The answering model and the judging model are shown as two facts; neither is derived from the other.
func TestWhoAnsweredAndWhoJudged(t *testing.T) {
	own, other := benchmark.SystemRun{Name: "own"}, benchmark.SystemRun{Name: "other", Foreign: true}
	lexical, joint, paper := lexical.Procedure.Info, model.Joint.Procedure().Info, model.Paper.Procedure().Info
	for _, tt := range []struct {
		kit           string
		judge         judge.Info
		systems       []benchmark.SystemRun
		title, prefix string
		found, beside bool // whether evidence ranks the systems, and whether published rows are shown
		note          string
	}{
		{"offline", lexical, []benchmark.SystemRun{own}, "extracted answers, lexical judge", "Lexical ", true, false, "no language model wrote them"},
		{"offline", paper, []benchmark.SystemRun{own}, "extracted answers, judged by a model", "Model-judged ", false, false, "Verdicts are a language model's."},
		{"offline", joint, []benchmark.SystemRun{other}, "answers made elsewhere, judged by a model", "Model-judged ", false, false, "All answers were made elsewhere"},
		{"model", paper, []benchmark.SystemRun{other}, "answers made elsewhere, judged by a model", "Model-judged ", false, false, "do not compare with published ones"},
		{"model+offline", joint, []benchmark.SystemRun{own, other}, "extracted answers and answers made elsewhere, judged by a model", "Model-judged ", false, false, "Those of other were made elsewhere."},
		{"offline", judge.Entailment.Info, []benchmark.SystemRun{own}, "extracted answers, judged by entailment", "Entailed ", true, false, "follows from another"},
		{"model", lexical, []benchmark.SystemRun{own}, "a model's answers, lexical judge", "Lexical ", true, false, "Verdicts compare words"},
		{"model", paper, []benchmark.SystemRun{own}, "a model's answers, judged by a model", "Model-judged ", false, true, "Answers are a language model's."},
		{"offline+model", joint, []benchmark.SystemRun{own}, "a model's answers, judged by a model", "Model-judged ", false, false, "do not compare with published ones"},
		{"", judge.Info{}, []benchmark.SystemRun{own}, "other judge", "", false, false, "from outside of the library"},
	} {
		l := labelOf(&benchmark.Run{Dataset: &benchmark.Dataset{}, Kit: tt.kit, JudgeInfo: tt.judge, Systems: tt.systems})
		check.Equal(t, []any{l.title, l.prefix, l.found, l.published}, []any{" (" + tt.title + ")", tt.prefix, tt.found, tt.beside}, "%s, %v", tt.kit, tt.judge)
		check.Contains(t, l.note, tt.note, "%s, %v", tt.kit, tt.judge)
		check.Equal(t, strings.Contains(l.note, "published"), !tt.beside, "%s, %v: published rows in the note", tt.kit, tt.judge)
		by := l.by(System{foreign: tt.systems[0].Foreign})
		check.True(t, (by == elsewhere) == tt.systems[0].Foreign, "%s, %v: answered by %q", tt.kit, tt.judge, by)
	}
}

// For any names, no line is wider than the terminal and no character controls it.
func TestRankingOfOddNames(t *testing.T) {
	half := .5
	r := &Report{Config: map[string]any{"dataset": "set \x1b[2J" + strings.Repeat(" of words", 40), "judge": "j"}}
	k := ranking{}
	k.figure, _ = figureOf("accuracy")
	k.second = k.figure
	k.standings = []standing{{estimate: estimate{value: &half}, second: estimate{}}}
	for range 20 {
		k.standings = append(k.standings, standing{name: strings.Repeat("e\u0301梟\n", 60), estimate: estimate{value: &half, interval: &Interval{0, 1}}, second: estimate{value: &half, interval: &Interval{0, 1}}, to: standings("", Probable).standings[1].to})
	}
	var out strings.Builder
	b := bufio.NewWriter(&out)
	k.writeRows(b, r.label)
	check.OK(t, b.Flush())
	check.OK(t, r.WriteRanking(&out))
	for line := range strings.Lines(out.String()) {
		check.True(t, width(line) <= 101 && !strings.ContainsRune(line, '\x1b'), "%q", line)
	}
	check.True(t, strings.Contains(out.String(), "… and 9 more") && strings.Contains(out.String(), " 50.00 █████████ "), "%v", out.String())
}

// Columns are aligned, whatever characters the names have.
func TestWideNames(t *testing.T) {
	table := page.Table{Title: "t", Heading: "System", Groups: []page.Group{{Columns: []string{"R@5"}}}}
	for _, name := range []string{"wild", "梟と鷹の百科", "한국어", "cafe\u0301", "ﬁｌｅ"} {
		table.Rows = append(table.Rows, page.Row{Name: name, Cells: []page.Cell{{Text: "50.00"}}})
	}
	var out strings.Builder
	check.OK(t, WriteText(&out, table))
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		// Six characters of two columns each make twelve.
		before, _, found := strings.Cut(line, " │")
		check.True(t, found && width(before) == 12, "%q is %d wide", before, width(before))
	}
	for s, want := range map[string]int{"a": 1, "梟": 2, "ｌ": 2, "e\u0301": 1, "\u200b": 0, "한": 2, "–": 1} {
		got := width(s)
		check.Equal(t, got, want, "%q is %d wide", s, got)
	}
}
