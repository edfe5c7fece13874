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
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// standing is a system's place in a ranking.
type standing struct {
	name string
	measured
	second measured
	behind bool // certainly, of the best
}

// ranking orders the systems by the figure that says most of this run: what they
// found where no model judged, else what they answered.
type ranking struct {
	figure, second figure
	standings      []standing
	unranked       []string // they do not have the figure
	failed         []string // and why they are not compared
	detectable     float64  // difference to the best that so many questions show; 0 is not known
}

// rank makes the ranking.
func (r *Report) rank() ranking {
	keys := []string{"accuracy", "f1_mean_of_questions", "ndcg_at_10", "evidence_recall_at_5"}
	if r.label.lexical {
		keys = []string{"ndcg_at_10", "evidence_recall_at_5", "accuracy", "f1_mean_of_questions"}
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return !r.has(benchmark.All, key) })
	var out ranking
	if len(keys) == 0 {
		out.unranked = r.names()
		return out
	}
	out.figure, _ = find(keys[0])
	if len(keys) > 1 {
		out.second, _ = find(keys[1])
	}
	for _, s := range r.Systems {
		m := s.Overall.Types.measured(benchmark.All, out.figure.key)
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
		st := standing{name: s.name(), measured: m}
		if len(keys) > 1 {
			st.second = s.Overall.Types.measured(benchmark.All, out.second.key)
		}
		if p, ok := r.toBest(out.figure, s); ok {
			st.behind = p.behind()
			out.detectable = max(out.detectable, deref(p.Detectable))
		}
		out.standings = append(out.standings, st)
	}
	slices.SortStableFunc(out.standings, func(a, b standing) int { return cmp.Compare(*b.value, *a.value) })
	return out
}

// toBest is the tested pair of a system and the best by a figure, and false of the
// best itself or without a test.
func (r *Report) toBest(f figure, s System) (Pair, bool) {
	i := slices.IndexFunc(r.Pairs, func(p Pair) bool {
		return p.Best && p.Figure == f.key && p.A == s.System && p.PHolm != nil
	})
	if i < 0 {
		return Pair{}, false
	}
	return r.Pairs[i], true
}

// behind reports whether A is certainly behind B.
func (p Pair) behind() bool { return *p.PHolm < .05 && *p.Low > 0 }

// level is how many systems are not certainly behind the best, with it.
func (k ranking) level() int {
	n := 0
	for _, s := range k.standings {
		if !s.behind {
			n++
		}
	}
	return n
}

// certain says in a sentence what is certain and what is not.
func (k ranking) certain(questions int) string {
	behind := len(k.standings) - k.level()
	shows := ""
	if k.detectable > 0 {
		shows = fmt.Sprintf(": %s show differences of about %s points or more", text.Counted(questions, "question"), decimal(ref(math.Ceil(100*k.detectable)), 0))
	}
	switch level := k.level(); {
	case len(k.standings) < 2:
		return ""
	case behind == 0:
		return "No system is certainly better than another" + shows + "."
	case level == 1:
		return k.standings[0].name + " is certainly ahead of all others."
	default:
		var names []string
		for _, s := range k.standings {
			if s.behind {
				names = append(names, s.name)
			}
		}
		return fmt.Sprintf("Certainly behind %s: %s (%s of %d). The others are level with it, as far as can be told%s.",
			k.standings[0].name, strings.Join(names, ", "), text.Counted(behind, "system"), len(k.standings), shows)
	}
}

const (
	rankingRows  = 12
	rankingWidth = 100
	rankingName  = 25
	rankingBar   = 20
)

// WriteRanking writes for a terminal, in lines of a hundred characters, who is ahead by the
// figure that says most of this run, who is certainly behind, and how sure that is.
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
	fill(b, r.label.note)
	return b.Flush()
}

func (k ranking) writeRows(b *bufio.Writer, l label) {
	if len(k.standings) == 0 {
		return
	}
	first, second := k.figure.words(l), k.second.words(l)
	if shown := k.standings[:min(len(k.standings), rankingRows)]; len(shown) > 1 && !slices.ContainsFunc(shown, func(s standing) bool { return percent(s.second.value) != percent(k.standings[0].second.value) }) {
		second = "" // the same in all rows
	}
	name := len("System")
	for _, s := range k.standings {
		name = min(max(name, width(s.name)), rankingName)
	}
	fmt.Fprintf(b, "\n     %s  %s  %13s  %s\n", pad("System", -name), pad(first+", %", -(7+rankingBar)), "95 % interval", second)
	for i, s := range k.standings {
		if i == rankingRows && len(k.standings) > rankingRows+1 {
			fmt.Fprintf(b, "     … and %d more\n", len(k.standings)-i)
			break
		}
		interval, mark := "too few", ""
		if s.interval != nil {
			interval = s.interval.text(" to ")
		}
		if s.behind {
			mark = "  behind"
		}
		said := ""
		if second != "" {
			said = percent(s.second.value)
			if i := s.second.interval; i != nil { // the line has a hundred columns
				said += fmt.Sprintf(" (%.0f–%.0f)", 100*i[0], 100*i[1])
			}
			said = pad(said, -width(second))
		}
		bar := strings.Repeat("█", int(math.Round(rankingBar**s.value)))
		fmt.Fprintf(b, "%3d  %s  %6s %s  %13s  %s%s\n", i+1, pad(cut(text.OneLine(s.name), name), -name), percent(s.value), pad(bar, -rankingBar), interval, said, mark)
	}
	b.WriteByte('\n')
}

// words are the name of a figure, written out.
func (f figure) words(l label) string {
	name := spelled(f.key)
	if f.judged {
		name = l.prefix + name
	}
	if strings.HasPrefix(name, "nDCG") {
		return name
	}
	return sentence(capital(name))
}

// cut shortens a text to so many columns of a terminal.
func cut(s string, n int) string {
	if width(s) <= n {
		return s
	}
	at := 0
	for i, r := range s {
		if at += columns(r); at >= n {
			return s[:i] + "…"
		}
	}
	return s
}

// fill writes a paragraph in lines that a terminal holds; nothing of "".
func fill(b *bufio.Writer, s string) {
	at := 0
	for _, word := range strings.Fields(text.OneLine(s)) {
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
