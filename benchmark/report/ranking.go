// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/internal/display"
)

// standing is a system's place in a ranking.
type standing struct {
	name string
	estimate
	second estimate
	to     Pair // with the best; without a test for the best itself
}

// ranking orders the systems by the most informative figure of this run.
type ranking struct {
	figure, second figure
	standings      []standing
	unranked       []string // without the figure
	failed         []string // not compared, and why
}

// rank orders the systems by the headline figure, and compares each with the best.
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
		m := s.Overall.Types.estimate(benchmark.All, out.figure.key)
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
		st := standing{name: s.name(), estimate: m}
		if len(keys) > 1 {
			st.second = s.Overall.Types.estimate(benchmark.All, out.second.key)
		}
		st.to, _ = r.toBest(out.figure, s)
		out.standings = append(out.standings, st)
	}
	slices.SortStableFunc(out.standings, func(a, b standing) int { return cmp.Compare(*b.value, *a.value) })
	return out
}

// toBest returns the tested pair of a system and the best by a figure, and false for the best itself or
// without a test.
func (r *Report) toBest(f figure, s System) (Pair, bool) {
	i := slices.IndexFunc(r.Pairs, func(p Pair) bool {
		return p.Family == ofBest && p.Figure == f.key && p.A == s.System && p.PHolm != nil
	})
	if i < 0 {
		return Pair{}, false
	}
	return r.Pairs[i], true
}

// of returns the systems of a class.
func (k ranking) of(class string) (names []string) {
	for _, s := range k.standings {
		if s.to.Class() == class {
			names = append(names, s.name)
		}
	}
	return names
}

// certain describes the certain differences in sentences.
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
	if k.standings[0].to.PHolm != nil { // another one of the same mean
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

// detectable describes the range of the least detectable differences between the best and the systems level
// with it.
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
	rankingRest  = 57 // of a line, without the name and the second figure
	rankingWords = 21 // of the second figure
	rankingValue = 16 // the second figure with its interval
)

// WriteRanking writes the ranking for a terminal, in lines of a hundred characters: the leader by the most
// informative figure of this run, the systems that are certainly behind, and the certainty.
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
			if i := s.second.interval; i != nil { // the line has a hundred columns
				said += fmt.Sprintf(" (%.0f–%.0f)", 100*i[0], 100*i[1])
			}
			said = pad(said, -width(second))
		}
		bar := strings.Repeat("█", int(math.Round(rankingBar**s.value)))
		line("%3d  %s  %6s %s  %13s  %s%s", i+1, pad(cut(display.OneLine(s.name), name), -name), percent(s.value), pad(bar, -rankingBar), interval, said, mark)
	}
	b.WriteByte('\n')
}

// words returns the full name of a figure.
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
	at := 0
	for i, r := range s {
		if at += runeWidth(r); at >= n {
			return s[:i] + "…"
		}
	}
	return s
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
