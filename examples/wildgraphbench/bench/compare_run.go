// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// errLost is returned if a figure dropped by more than -max-loss points with 95 % confidence.
var errLost = errors.New("worse than the first run")

// runCompare compares finished runs with the first one: the settings that differ, the paired difference
// of each system with its interval, and the questions that flipped. A folder is given as DIR, for all
// systems that both runs have, or as DIR:SYSTEM.
func runCompare(args []string, stdout, stderr io.Writer) error {
	fs := cli.NewFlags("wildgraphbench compare")
	show := fs.Int("show", 5, "`NUMBER` of flipped questions to show of each system, of each kind")
	maxLoss := fs.Float64("max-loss", -1, "exit status 3 if a figure dropped by more than `N` points with 95 % confidence (default: never)")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return err
	}
	if fs.NArg() < 2 || fs.NArg() > 26 {
		return cli.Usagef("want two folders of finished runs or more, at most 26; there are %d", fs.NArg())
	}
	if *show < 0 {
		return cli.Usagef("-show %d: want 0 or more", *show)
	}
	var runs []*runFolder
	for i, dir := range fs.Args() {
		r, err := readFinished(string(rune('A'+i)), dir)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	var all []pairing
	for _, other := range runs[1:] {
		p, err := pairings(runs[0], other)
		if err != nil {
			return err
		}
		all = append(all, p...)
	}
	if err := correct(all); err != nil {
		return err
	}
	if err := writeComparison(stdout, runs, all, *show); err != nil {
		return err
	}
	if *maxLoss >= 0 {
		if err := lost(all, *maxLoss/100); err != nil {
			return fmt.Errorf("%w: %w", errLost, err)
		}
	}
	return nil
}

// writeComparison writes the comparison for people.
func writeComparison(w io.Writer, runs []*runFolder, all []pairing, show int) error {
	for _, r := range runs {
		fmt.Fprintf(w, "%s  %s: %s, kit %s, judge %s\n", r.letter, clip(r.dir, 200), settingText(r.config, "dataset"), settingText(r.config, "kit"), clip(strings.Join(r.judges(), ", "), 100))
	}
	for _, other := range runs[1:] {
		what := "nothing in the settings"
		if c := changed(runs[0], other); len(c) > 0 {
			what = strings.Join(c, "; ")
		}
		fmt.Fprintf(w, "%s differs from %s in: %s\n", other.letter, runs[0].letter, what)
		if a, b := strings.Join(runs[0].judges(), ", "), strings.Join(other.judges(), ", "); a != b {
			fmt.Fprintln(w, "   The judges differ: judged figures compare judges as well as systems.")
		}
	}
	fmt.Fprintln(w)
	for _, other := range runs[1:] {
		if err := report.WriteText(w, comparison(runs[0], other, all)); err != nil {
			return err
		}
	}
	for _, p := range all {
		if p.same {
			fmt.Fprintf(w, "\n%s: %s and %s have the same answers and the same evidence: what differs in the settings changes nothing.\n", p.name(), p.a.letter, p.b.letter)
		}
		p.writeFlips(w, show)
	}
	return nil
}

// comparison has a row for each system and figure of two runs.
func comparison(a, b *runFolder, all []pairing) page.Table {
	t := page.Table{
		Title: fmt.Sprintf("%s and %s", a.letter, b.letter), Heading: "System",
		Groups: []page.Group{{Columns: []string{"Figure", "Questions", a.letter, b.letter, b.letter + " − " + a.letter, "95 % interval", "p", "p (Holm)", "Difference"}}},
	}
	tests := 0
	for _, p := range all {
		for _, r := range p.rows {
			tests = max(tests, r.Tests)
		}
	}
	t.Notes = []string{fmt.Sprintf("Percent and points, paired over the same questions, by source page. Interval and p are of one method; p (Holm) is corrected for the %s that are shown here, of all figures, systems and runs. "+
		"A difference is certain (*) where p (Holm) is below .05, probable where p alone is. With fewer than %d questions there is neither.", text.Counted(tests, "test"), report.MinQuestions)}
	for _, p := range all {
		if p.b != b {
			continue
		}
		for i, r := range p.rows {
			name := p.name()
			if i > 0 {
				name = ""
			}
			cells := []page.Cell{{Text: report.Words(r.Figure)}, {Text: text.Digits(r.N)}, {Text: points(r.MeanA)}, {Text: points(r.MeanB)}}
			sure := page.Cell{Text: signed(r.Difference), Best: r.Class() == report.Certain}
			if cells = append(cells, sure); r.PHolm == nil {
				cells = append(cells, page.Cell{Text: "too few"}, page.Cell{Text: "–"}, page.Cell{Text: "–"}, page.Cell{Text: "–"})
			} else {
				cells = append(cells, page.Cell{Text: signed(*r.Low) + " to " + signed(*r.High)},
					page.Cell{Text: fmt.Sprintf("%.4f", *r.P)}, page.Cell{Text: fmt.Sprintf("%.4f", *r.PHolm)}, page.Cell{Text: r.Class()})
			}
			t.Rows = append(t.Rows, page.Row{Name: name, Cells: cells})
		}
		if left, right := len(p.a.answers[p.systemA])-len(p.questions), len(p.b.answers[p.systemB])-len(p.questions); left+right > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %d questions that %s alone has, and %d that %s alone has, are left out.", p.name(), left, a.letter, right, b.letter))
		}
	}
	return t
}

func points(f float64) string { return fmt.Sprintf("%.1f", 100*f) }
func signed(f float64) string { return fmt.Sprintf("%+.1f", 100*f+0) } // no -0

// writeFlips lists the questions that became right, and the questions that became wrong.
func (p pairing) writeFlips(w io.Writer, show int) {
	for _, gained := range []bool{true, false} {
		some := slices.DeleteFunc(slices.Clone(p.flips), func(f flip) bool { return f.gained != gained })
		if len(some) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s, %s to %s: %d became %s\n", p.name(), p.a.letter, p.b.letter, len(some), map[bool]string{true: "right", false: "wrong"}[gained])
		for i, f := range some {
			if i == show {
				fmt.Fprintf(w, "  … and %d more: -show %d\n", len(some)-i, len(some))
				break
			}
			fmt.Fprintf(w, "  %s  %s\n     gold  %s\n     %s     %s\n     %s     %s\n", clip(f.id, 40), clip(f.text, 160), clip(f.a.Reference, 160),
				p.a.letter, answerLine(f.a), p.b.letter, answerLine(f.b))
		}
	}
}

// answerLine returns an answer in one line.
func answerLine(j report.Judgment) string {
	switch {
	case j.Error != "":
		return "failed: " + clip(j.Error, 150)
	case j.Refused:
		return "refused"
	}
	return clip(j.Answer, 160)
}
