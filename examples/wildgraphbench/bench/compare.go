// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/judge"
)

// pairing compares a system of one run with a system of another, over the questions that both answered.
type pairing struct {
	a, b             *runFolder
	systemA, systemB string
	questions        []questionKey
	rows             []report.Pair
	flips            []flip
	same             bool // all answers are equal, and their evidence is
}

// flip is a question that exactly one of the two systems answered correctly.
type flip struct {
	questionKey
	gained bool // only the second system was right
	a, b   report.Judgment
}

func (p pairing) name() string {
	if p.systemA == p.systemB {
		return p.systemA
	}
	return p.systemA + " → " + p.systemB
}

// pairings returns pairs of systems of two runs: the named systems, or every system that both runs have.
func pairings(a, b *runFolder) ([]pairing, error) {
	var out []pairing
	switch {
	case a.only != "" || b.only != "":
		x, y := cmp.Or(a.only, b.only), cmp.Or(b.only, a.only)
		if a.answers[x] == nil || b.answers[y] == nil { // named for only one of the runs
			return nil, cli.Usagef("only one of %s and %s has a system %s: name the other's as DIR:SYSTEM", a.dir, b.dir, x)
		}
		out = []pairing{{a: a, b: b, systemA: x, systemB: y}}
	default:
		for _, name := range a.systems {
			if b.answers[name] != nil {
				out = append(out, pairing{a: a, b: b, systemA: name, systemB: name})
			}
		}
	}
	if len(out) == 0 {
		return nil, cli.Usagef("%s has %s, and %s has %s: name two systems as DIR:SYSTEM", a.dir, strings.Join(a.systems, ", "), b.dir, strings.Join(b.systems, ", "))
	}
	for i := range out {
		if err := out[i].fill(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fill compares the answers of both systems.
func (p *pairing) fill() error {
	left, right := p.a.answers[p.systemA], p.b.answers[p.systemB]
	for q := range maps.Keys(left) {
		if _, both := right[q]; both {
			p.questions = append(p.questions, q)
		}
	}
	if len(p.questions) == 0 {
		return fmt.Errorf("%s of %s and %s of %s answered no question of the same domain, id and text: the runs have different data", p.systemA, p.a.dir, p.systemB, p.b.dir)
	}
	slices.SortFunc(p.questions, func(x, y questionKey) int {
		return cmp.Or(cmp.Compare(x.domain, y.domain), cmp.Compare(len(x.id), len(y.id)), cmp.Compare(x.id, y.id), cmp.Compare(x.text, y.text)) // shorter IDs first: p/9 before p/10
	})
	var a, b []report.Judgment
	p.same = true
	for _, q := range p.questions {
		x, y := left[q], right[q]
		p.same = p.same && x.Answer == y.Answer && x.Refused == y.Refused && reflect.DeepEqual(x.Metrics, y.Metrics)
		a, b = append(a, x), append(b, y)
		if x.Fact != nil && y.Fact != nil && x.Fact.State == judge.Scored && y.Fact.State == judge.Scored && x.Fact.Value != y.Fact.Value {
			p.flips = append(p.flips, flip{q, y.Fact.Value > x.Fact.Value, x, y})
		}
	}
	var err error
	p.rows, err = report.Compare(p.systemA, p.systemB, a, b, report.Compared()...)
	return err
}

// correct corrects the p-values of all comparisons as one family (Holm).
func correct(all []pairing) error {
	var rows []report.Pair
	for _, p := range all {
		rows = append(rows, p.rows...)
	}
	err := report.Correct(rows)
	for i := range all {
		n := len(all[i].rows)
		all[i].rows, rows = rows[:n], rows[n:]
	}
	return err
}

// lost returns an error for each figure of which the whole 95 % interval lies more than most below the first
// run's.
func lost(all []pairing, most float64) error {
	var errs []error
	for _, p := range all {
		for _, r := range p.rows {
			if r.High != nil && *r.High < -most {
				errs = append(errs, fmt.Errorf("%s of %s fell by %.1f points, 95 %% interval %.1f to %.1f", report.Words(r.Figure), p.name(), -100*r.Difference, -100**r.High, -100**r.Low))
			}
		}
	}
	return errors.Join(errs...)
}

// runFolder is a finished run in its report folder.
type runFolder struct {
	letter  string // name of the run in tables: A, B, …
	dir     string
	only    string // the named system; "" is all
	config  map[string]any
	systems []string
	answers map[string]map[questionKey]report.Judgment // answers of each system
}

// questionKey identifies a question across runs. The text is part of it, because IDs may be reused.
type questionKey struct{ domain, id, text string }

// readFinished reads the folder of a finished run, given as DIR or DIR:SYSTEM.
func readFinished(letter, arg string) (*runFolder, error) {
	f := &runFolder{letter: letter, dir: arg, answers: map[string]map[questionKey]report.Judgment{}}
	_, err := os.Stat(arg)
	for i := len(arg) - 1; i > 0 && errors.Is(err, fs.ErrNotExist); i-- { // names of systems may have a colon
		if arg[i] == ':' && record.ValidName(arg[i+1:]) {
			f.dir, f.only = arg[:i], arg[i+1:]
			_, err = os.Stat(f.dir)
		}
	}
	if err := f.readConfig(); err != nil {
		return nil, err
	}
	if err := f.readAnswers(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.dir, err)
	}
	if f.only != "" && f.answers[f.only] == nil {
		return nil, cli.Usagef("%s has no system %s; it has %s", f.dir, f.only, strings.Join(f.systems, ", "))
	}
	return f, nil
}

// readConfig reads the settings of a run from its report, which is written last, when the run is finished.
func (f *runFolder) readConfig() error {
	const maxReport = 256 << 20 // largest size of a report in bytes
	name := filepath.Join(f.dir, "report.json")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no report.json, so its run is not finished; start the run again with -out %s to finish it", f.dir, f.dir)
	}
	if err != nil {
		return err
	}
	if info.Size() > maxReport {
		return fmt.Errorf("%s has %d MB, more than the %d MB of a report", name, info.Size()>>20, maxReport>>20)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var r struct {
		Version int            `json:"version"`
		Config  map[string]any `json:"config"`
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return fmt.Errorf("%s is not a report: %w", name, err)
	}
	if r.Version != report.Version {
		return fmt.Errorf("%s has version %d, want %d: make the report again", name, r.Version, report.Version)
	}
	f.config = r.Config
	return nil
}

func (f *runFolder) readAnswers() error {
	in, err := os.Open(filepath.Join(f.dir, report.JudgmentsName))
	if err != nil {
		return err
	}
	defer in.Close() // closing a file that was only read cannot lose data
	for j, err := range report.ReadJudgments(bufio.NewReader(in)) {
		if err != nil {
			return err
		}
		of := f.answers[j.System]
		if of == nil {
			of = map[questionKey]report.Judgment{}
			f.answers[j.System] = of
			f.systems = append(f.systems, j.System)
		}
		j.Ranked = nil // the ranking takes memory, and the figures are enough
		q := questionKey{j.Domain, j.ID, strings.TrimSpace(j.Question)}
		if _, twice := of[q]; twice {
			return fmt.Errorf("%s answers question %s of %s twice", j.System, j.ID, j.Domain)
		}
		of[q] = j
	}
	return nil
}

// judges returns the names of the judges of a run.
func (f *runFolder) judges() []string {
	names := map[string]bool{}
	for _, of := range f.answers {
		for _, j := range of {
			names[j.Judge] = true
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// changed returns the settings that differ between two runs, sorted, as "topk_qa 5 → 10".
func changed(a, b *runFolder) []string {
	keys := map[string]any{}
	maps.Copy(keys, a.config)
	maps.Copy(keys, b.config)
	delete(keys, "systems") // the table shows the systems
	var out []string
	for k := range keys {
		if x, y := settingText(a.config, k), settingText(b.config, k); x != y {
			out = append(out, fmt.Sprintf("%s %s → %s", k, x, y))
		}
	}
	slices.Sort(out)
	return out
}

// settingText returns a value as one short line.
func settingText(config map[string]any, key string) string {
	v, ok := config[key]
	if !ok {
		return "none"
	}
	value, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return clip(strings.Trim(string(value), `"`), 60)
}

// clip cuts a text to one line of at most n characters.
func clip(s string, n int) string {
	r := []rune(display.OneLine(s))
	if len(r) > n {
		r = append(r[:n-1], '…')
	}
	return string(r)
}

// errLost is returned if a figure is lower by more than -max-loss points with 95 % confidence.
var errLost = errors.New("worse than the first run")

// runCompare compares finished runs with the first one: the settings that differ, the paired difference
// of each system with its interval, and the questions that flipped. A folder is given as DIR, for all
// systems that both runs have, or as DIR:SYSTEM.
func runCompare(args []string, stdout, stderr io.Writer) error {
	fs := cli.NewFlags("wildgraphbench compare")
	show := fs.Int("show", 5, "`NUMBER` of questions to show of each system that became right, and that became wrong")
	maxLoss := fs.Float64("max-loss", -1, "exit status 3 if a figure dropped by more than `N` points with 95 % confidence (default: never)")
	if err := cli.Parse(fs, args, stderr); err != nil {
		return err
	}
	if fs.NArg() < 2 || fs.NArg() > 26 {
		return cli.Usagef("want 2 to 26 folders of finished runs, not %d", fs.NArg())
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

// writeComparison writes the comparison of the runs with the first one for people.
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

// comparison has a row for each figure of each pair of systems.
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
		"A difference is certain (*) where p (Holm) is below .05, probable where p alone is. With fewer than %d questions there is neither.", display.Counted(tests, "test"), report.MinQuestions)}
	for _, p := range all {
		if p.b != b {
			continue
		}
		for i, r := range p.rows {
			name := p.name()
			if i > 0 {
				name = ""
			}
			cells := []page.Cell{{Text: report.Words(r.Figure)}, {Text: display.Digits(r.N)}, {Text: points(r.MeanA)}, {Text: points(r.MeanB)}}
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
func signed(f float64) string { return fmt.Sprintf("%+.1f", 100*f+0) } // adding 0 turns -0 into 0

// writeFlips lists the questions that became right, then the questions that became wrong.
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
