// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// standing is the place of a system in a ranking.
type standing struct {
	name string
	estimate
	second estimate
	to     Pair // compared with the best; empty for the best itself
}

// ranking orders the systems by the figure that says most about this run.
type ranking struct {
	figure, second figure
	standings      []standing
	unranked       []string // systems without the figure
	failed         []string // systems that are not compared, with the reason
}

// rank orders the systems by the headline figure, each with its comparison to the best.
func (r *Report) rank() ranking {
	keys := []string{"accuracy", "f1_mean_of_questions", "ndcg_at_10", "evidence_recall_at_5"}
	if r.label.found {
		keys = []string{"ndcg_at_10", "evidence_recall_at_5", "accuracy", "f1_mean_of_questions"}
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return !r.has(benchmark.All, key) })
	var out ranking
	if len(keys) == 0 {
		out.unranked = r.names()
		return out
	}
	out.figure, _ = figureOf(keys[0])
	if len(keys) > 1 {
		out.second, _ = figureOf(keys[1])
	}
	for _, s := range r.Systems {
		m := s.Overall.Types[benchmark.All].estimate(out.figure.key)
		if len(s.NotCompared) > 0 {
			out.failed = append(out.failed, s.System+" is not compared: "+strings.Join(s.NotCompared, "; ")+".")
			continue
		}
		if m.value == nil || out.figure.ranked && s.provenance || !s.compared() {
			name := s.name()
			if s.NotApplicable != "" {
				name += " (" + s.NotApplicable + ")"
			}
			out.unranked = append(out.unranked, name)
			continue
		}
		st := standing{name: s.name(), estimate: m, second: s.Overall.Types[benchmark.All].estimate(out.second.key)}
		st.to, _ = r.toBest(out.figure, s)
		out.standings = append(out.standings, st)
	}
	slices.SortStableFunc(out.standings, func(a, b standing) int { return cmp.Compare(*b.value, *a.value) })
	return out
}

// toBest returns the tested comparison of a system with the best by a figure. It is false for the best system
// itself and for a comparison without a test.
func (r *Report) toBest(f figure, s System) (Pair, bool) {
	i := slices.IndexFunc(r.Pairs, func(p Pair) bool {
		return p.Family == ofBest && p.Figure == f.key && p.A == s.System && p.PHolm != nil
	})
	if i < 0 {
		return Pair{}, false
	}
	return r.Pairs[i], true
}

// of returns the names of the systems whose difference from the best is of a class.
func (k ranking) of(class string) (names []string) {
	for _, s := range k.standings {
		if s.to.Class() == class {
			names = append(names, s.name)
		}
	}
	return names
}

// certain says in sentences which differences are certain.
func (k ranking) certain(questions int) string {
	certain, probable, level := k.of(Certain), k.of(Probable), k.of(Level)
	tested := len(certain) + len(probable) + len(level)
	switch {
	case len(k.standings) < 2:
		return ""
	case tested == 0:
		return fmt.Sprintf("Too few questions to tell which is better: %s.", display.Digits(questions))
	}
	best := k.standings[0].name
	if k.standings[0].to.PHolm != nil { // several systems share the highest mean
		best = "the best"
	}
	corrected := "p below .05"
	if tested > 1 {
		corrected = fmt.Sprintf("p below .05 after Holm's correction for %s with it", display.Counted(tested, "comparison"))
	}
	var said []string
	switch {
	case len(certain) == tested:
		said = append(said, fmt.Sprintf("Certainly ahead of all others: %s (%s).", best, corrected))
	case len(certain) > 0:
		said = append(said, fmt.Sprintf("Certainly behind %s: %s (%s).", best, strings.Join(certain, ", "), corrected))
	default:
		said = append(said, fmt.Sprintf("No system is certainly behind %s (%s).", best, corrected))
	}
	if len(probable) > 0 {
		said = append(said, fmt.Sprintf("Probably behind: %s (p below .05 before the correction alone).", strings.Join(probable, ", ")))
	}
	if len(level) > 0 {
		said = append(said, fmt.Sprintf("Level with it: %s. Over %s a true difference of %s is found with probability .8, after the correction.",
			display.Counted(len(level), "system"), display.Counted(questions, "question"), k.detectable()))
	}
	return strings.Join(said, " ")
}

// detectable says how large a true difference between the best system and the systems level with it the test
// would find with probability .8.
func (k ranking) detectable() string {
	var level []standing
	for _, s := range k.standings {
		if s.to.Class() == Level {
			level = append(level, s)
		}
	}
	slices.SortStableFunc(level, func(a, b standing) int { return cmp.Compare(*a.to.Detectable, *b.to.Detectable) })
	least := func(s standing) float64 { return math.Ceil(100 * *s.to.Detectable) }
	first, last := level[0], level[len(level)-1]
	if least(first) == least(last) {
		return fmt.Sprintf("%.0f points", least(last))
	}
	return fmt.Sprintf("%.0f (%s) to %.0f points (%s)", least(first), first.name, least(last), last.name)
}

const (
	rankingRows  = 12
	rankingWidth = 100
	rankingBar   = 17
	rankingRest  = 57 // columns without the name and the second figure
	rankingWords = 21 // columns for the name of the second figure
	rankingValue = 16 // columns for the second figure with its interval
)

// WriteRanking writes the ranking for a terminal, in lines of a hundred characters: the leader by the figure
// that says most about this run, the systems that are certainly behind, and how certain the order is.
func (r *Report) WriteRanking(w io.Writer) error {
	b := bufio.NewWriter(w)
	fill(b, r.heading()+": "+r.summary())
	k := r.rank()
	k.writeRows(b, r.label)
	fill(b, k.certain(r.questions()))
	fill(b, r.Payoff.sentence())
	if len(k.unranked) > 0 {
		fill(b, "Not ranked: "+strings.Join(k.unranked, ", ")+".")
	}
	for _, why := range k.failed {
		fill(b, why)
	}
	fill(b, r.seeds(k.figure))
	fill(b, r.unscored())
	fill(b, r.label.note)
	return b.Flush()
}

func (k ranking) writeRows(b *bufio.Writer, l label) {
	if len(k.standings) == 0 {
		return
	}
	first, second := cut(k.figure.words(l)+", %", 7+rankingBar), ""
	if k.second.key != "" {
		second = pad(cut(k.second.words(l), rankingWords), -rankingValue)
	}
	name := len("System")
	for _, s := range k.standings {
		name = min(max(name, width(s.name)), rankingWidth-rankingRest-width(second))
	}
	line := func(format string, args ...any) {
		b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
	}
	line("\n     %s  %s  %13s  %s", pad("System", -name), pad(first, -(7+rankingBar)), "95 % interval", second)
	for i, s := range k.standings {
		if i == rankingRows && len(k.standings) > rankingRows+1 {
			fmt.Fprintf(b, "     … and %d more\n", len(k.standings)-i)
			break
		}
		interval := tooFew
		if s.interval != nil {
			interval = s.interval.text(" to ")
		}
		mark := map[string]string{Certain: "  behind", Probable: "  behind?"}[s.to.Class()]
		said := ""
		if second != "" {
			said = percent(s.second.value)
			if i := s.second.interval; i != nil { // rounded, to fit into the line
				said += fmt.Sprintf(" (%.0f–%.0f)", 100*i[0], 100*i[1])
			}
			said = pad(said, -width(second))
		}
		bar := strings.Repeat("█", int(math.Round(rankingBar**s.value)))
		line("%3d  %s  %6s %s  %13s  %s%s", i+1, pad(cut(display.OneLine(s.name), name), -name), percent(s.value), pad(bar, -rankingBar), interval, said, mark)
	}
	b.WriteByte('\n')
}

// words returns the full name of a figure, with the kind of judge if it is judged.
func (f figure) words(l label) string {
	name := Words(f.key)
	switch {
	case f.judged && l.prefix != "":
		return l.prefix + name
	case strings.HasPrefix(name, "nDCG"):
		return name
	}
	return capital(name)
}

// cut shortens a text to n columns of a terminal.
func cut(s string, n int) string {
	if width(s) <= n {
		return s
	}
	all, at := uniseg.NewGraphemes(s), 0
	for all.Next() && at+all.Width() < n {
		at += all.Width()
	}
	from, _ := all.Positions()
	return s[:from] + "…"
}

// fill writes a paragraph in lines of rankingWidth columns; nothing for "".
func fill(b *bufio.Writer, s string) {
	at := 0
	for _, word := range strings.Fields(display.OneLine(s)) {
		switch {
		case at == 0:
		case at+1+width(word) > rankingWidth:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += width(word)
	}
	if at > 0 {
		b.WriteByte('\n')
	}
}

// tooFew is printed in place of an interval or a test if there are too few questions.
const tooFew = "too few"

// Families of pairs. The p-values of a family are corrected together, for each figure.
const (
	// ofBest are the pairs of the best system and every other; the verdict of a report is about these.
	ofBest = "best"
	// ofBaselines are the pairs of a system and a baseline.
	ofBaselines = "baselines"
)

// Classes of the difference between the systems of a pair.
const (
	Certain  = "certain"  // p-value below .05 after correction
	Probable = "probable" // p-value below .05 only without correction
	Level    = "level"    // p-value of .05 or more
)

// Pair compares two systems on the questions for which both have the figure.
type Pair struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Figure string `json:"figure"`
	// Family is "best", where B has the highest mean of all systems, or "baselines", where B is a baseline.
	Family string `json:"family,omitempty"`
	N      int    `json:"n"`
	// MeanA and MeanB are the means of the systems over the N questions that both have.
	MeanA float64 `json:"-"`
	MeanB float64 `json:"-"`
	// Difference is the mean of B minus the mean of A, Low and High the bounds of its 95 % interval over source
	// pages. The interval excludes 0 exactly if P is below .05.
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	// P is the p-value, PHolm the p-value after correction for the number of tests in the family, Tests. With
	// fewer than [MinQuestions] questions there is neither an interval nor a test.
	P     *float64 `json:"p,omitempty"`
	PHolm *float64 `json:"p_holm,omitempty"`
	Tests int      `json:"tests,omitempty"`
	// Detectable is the smallest true difference that the corrected test would find with probability .8.
	Detectable *float64 `json:"detectable,omitempty"`

	compared stats.Comparison
}

// Class returns [Certain], [Probable] or [Level]; "" without a test.
func (p Pair) Class() string {
	switch {
	case p.PHolm == nil:
		return ""
	case *p.PHolm < .05:
		return Certain
	case *p.P < .05:
		return Probable
	}
	return Level
}

// pairs tests, for each headline figure, the best system and every baseline against every other system.
func pairs(systems []benchmark.SystemRun) (all []Pair, err error) {
	for _, f := range allFigures {
		if !f.compared {
			continue
		}
		var measured []benchmark.SystemRun
		for _, s := range systems {
			if !f.ranked || !provenance(s) {
				measured = append(measured, s)
			}
		}
		best := f.best(measured)
		for _, of := range []struct {
			family string
			has    func(i, j int) bool // reports whether to test systems i and j
		}{
			{ofBest, func(i, j int) bool { return j == best }},
			{ofBaselines, func(i, j int) bool { return measured[i].Baseline && !(measured[j].Baseline && j < i) }},
		} {
			var family []Pair
			for i, a := range measured {
				for j, b := range measured {
					if i == j || !of.has(i, j) {
						continue
					}
					p, err := f.compare(a, b)
					if p.Family = of.family; err == nil {
						family = append(family, p)
					} else if !errors.Is(err, stats.ErrTooFew) {
						return nil, err
					}
				}
			}
			if err := Correct(family); err != nil {
				return nil, err
			}
			all = append(all, family...)
		}
	}
	return all, nil
}

// best returns the index of the system with the highest mean, the first of several; -1 if no system has a mean.
func (f figure) best(systems []benchmark.SystemRun) int {
	best, highest := -1, 0.0
	for i, s := range systems {
		var all sample
		for _, d := range s.Domains {
			for _, r := range d.Results {
				all.add(f.of(r), r)
			}
		}
		if m := all.mean(); m != nil && (best < 0 || *m > highest) {
			best, highest = i, *m
		}
	}
	return best
}

// compare tests two systems of a run over their common questions.
func (f figure) compare(a, b benchmark.SystemRun) (Pair, error) {
	var left, right []benchmark.Result
	for d := range a.Domains {
		left, right = append(left, a.Domains[d].Results...), append(right, b.Domains[d].Results...)
	}
	return f.pair(a.Name, b.Name, left, right)
}

// pair tests two systems by their results, which are of the same questions in the same order.
func (f figure) pair(a, b string, ofA, ofB []benchmark.Result) (Pair, error) {
	var left, right sample
	for i, r := range ofA {
		if x, y := f.of(r), f.of(ofB[i]); x != nil && y != nil {
			left.add(x, r)
			right.add(y, r)
		}
	}
	c, err := stats.Compare(left.values, right.values, stats.Number(left.sources), stats.Options{})
	if err != nil {
		return Pair{}, fmt.Errorf("report: comparing %s and %s by %s: %w", a, b, f.key, err)
	}
	p := Pair{A: a, B: b, Figure: f.key, N: left.questions, Difference: c.Effect.Estimate, MeanA: c.MeanA, MeanB: c.MeanB, compared: c}
	if p.N >= MinQuestions {
		if !f.size { // a difference of shares is in -1..1
			c.Effect.Low, c.Effect.High = max(c.Effect.Low, -1), min(c.Effect.High, 1)
		}
		p.Low, p.High, p.P = &c.Effect.Low, &c.Effect.High, &c.P
	}
	return p, nil
}

// Compare tests a system of one run against a system of another by figures whose keys are among [Compared]. The
// judgments must be of the same questions in the same order. Figures that fewer than two pages have are omitted.
// Call [Correct] with all pairs that are shown together.
func Compare(nameA, nameB string, a, b []Judgment, keys ...string) ([]Pair, error) {
	results := func(all []Judgment) []benchmark.Result {
		out := make([]benchmark.Result, len(all))
		for i, j := range all {
			out[i] = benchmark.Result{
				Domain: j.Domain, Item: benchmark.Item{Question: graphrag.Question{ID: j.ID, Text: j.Question}, Gold: j.Gold},
				Judgment: record.Judgment{Fact: j.Fact, Summary: j.Summary}, Evidence: j.Metrics,
			}
		}
		return out
	}
	left, right := results(a), results(b)
	var out []Pair
	for _, key := range keys {
		f, _ := figureOf(key)
		if p, err := f.pair(nameA, nameB, left, right); err == nil {
			out = append(out, p)
		} else if !errors.Is(err, stats.ErrTooFew) {
			return nil, err
		}
	}
	return out, nil
}

// Correct corrects the p-values of all tested pairs as one family, by Holm's method.
func Correct(all []Pair) error {
	var tested []*Pair
	var p []float64
	for i := range all {
		if all[i].P != nil {
			tested, p = append(tested, &all[i]), append(p, *all[i].P)
		}
	}
	corrected, err := stats.Holm(p)
	if err != nil {
		return fmt.Errorf("report: correcting p-values: %w", err)
	}
	for i, of := range tested {
		of.PHolm, of.Tests = &corrected[i], len(tested)
		of.Detectable = ref(of.compared.Detectable(len(tested)))
	}
	return nil
}

// pairTable shows the pairs of a family, with the number of tests in the correction.
func (r *Report) pairTable(family, title, heading string) page.Table {
	t := page.Table{Title: title, Heading: heading, Groups: []page.Group{{Columns: []string{"Figure", "Questions", "Points", "95 % interval", "p", "p (Holm)", "Difference", "Detectable"}}}}
	var tests []string
	for _, p := range r.Pairs {
		if p.Family != family {
			continue
		}
		f, _ := figureOf(p.Figure)
		name := lower(f.words(r.label))
		if said := fmt.Sprintf("%d by %s", p.Tests, name); p.Tests > 0 && !slices.Contains(tests, said) {
			tests = append(tests, said)
		}
		texts := []string{name, display.Digits(p.N), points(p.Difference), tooFew, "–", "–", "–", "–"}
		if p.P != nil {
			texts = append(texts[:3], points(*p.Low)+" to "+points(*p.High), pValue(*p.P), pValue(*p.PHolm), p.Class(), points(*p.Detectable))
		}
		addTexts(&t, p.B+" − "+p.A, texts...)
	}
	if len(tests) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Paired over the same questions, by source page. Interval and p are of one method; p (Holm) is corrected within this table, for each figure by itself (%s). "+
			"A difference is certain where p (Holm) is below .05, probable where p alone is. Detectable: true differences of so many points are found with probability .8 after the correction.", strings.Join(tests, ", ")))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("With fewer than %d questions there is neither interval nor test.", MinQuestions))
	return t
}

// writePairs writes the pairs as CSV, as fractions; unknown values are empty.
func (r *Report) writePairs(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"a", "b", "figure", "family", "tests", "n", "difference", "low", "high", "p", "p_holm", "class"}}
	for _, p := range r.Pairs {
		row := []string{csvText(p.A), csvText(p.B), csvText(p.Figure), p.Family, strconv.Itoa(p.Tests), strconv.Itoa(p.N)}
		for _, v := range []*float64{&p.Difference, p.Low, p.High, p.P, p.PHolm} {
			row = append(row, csvNumber(deref(v), v != nil))
		}
		rows = append(rows, append(row, p.Class()))
	}
	return out.WriteAll(rows)
}
