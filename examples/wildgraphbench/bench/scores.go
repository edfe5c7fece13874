// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// score is a file of predictions of another program: -score NAME=FILE.
type score struct{ name, file string }

func parseScore(v string) (score, error) {
	name, file, err := parseNamed(v, "FILE")
	return score{name, file}, err
}

// parseNamed reads NAME=WHAT. The name must be a valid file name.
func parseNamed(v, what string) (name, value string, err error) {
	name, value, ok := strings.Cut(v, "=")
	switch {
	case !ok || name == "" || value == "":
		err = errors.New("want NAME=" + what)
	case !benchmark.ValidName(name):
		err = fmt.Errorf("the name %q may hold letters, digits, '-', '_', '.' and ':', it becomes a file name", name)
	}
	return name, value, err
}

// readScores reads the predictions before the run. With partial they need not answer every question.
func readScores(scores []score, set *benchmark.Dataset, limit int, partial bool) ([]benchmark.Entry, error) {
	want := questions(set, limit)
	if partial {
		want = nil
	}
	known := make(map[string]bool)
	for _, q := range questions(set, 0) {
		known[q] = true
	}
	var out []benchmark.Entry
	for _, sc := range scores {
		f, err := os.Open(sc.file)
		if err != nil {
			return nil, err
		}
		p, err := benchmark.ReadPredictions(sc.name, sc.file, f, want, func(q string) bool { return known[q] })
		if errors.Is(err, benchmark.ErrGaps) {
			err = fmt.Errorf("%w; or accept it with -partial", err)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if err := p.Locate(set); err != nil {
			return nil, err
		}
		out = append(out, p.Entry())
	}
	return out, nil
}

// questions lists the texts of the questions that a run with this limit asks.
func questions(set *benchmark.Dataset, limit int) []string {
	var out []string
	for it := range set.Limited(limit).Items() {
		out = append(out, it.Question.Text)
	}
	return out
}

// minimum is a lower bound on a figure of every system: -min KEY=VALUE.
type minimum struct {
	key   string
	value float64
}

func parseMinimum(v string) (minimum, error) {
	key, text, ok := strings.Cut(v, "=")
	if !ok || !slices.Contains(report.Keys(), key) {
		return minimum{}, fmt.Errorf("want KEY=VALUE, KEY one of %s", strings.Join(report.Keys(), ", "))
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) {
		return minimum{}, fmt.Errorf("%q is not a number", text)
	}
	if key != "context_tokens" && (value < 0 || value > 1) {
		return minimum{}, fmt.Errorf("%s is a share from 0 to 1, of which the tables show percent: want %g for %g %%, not %s", key, value/100, value, text)
	}
	return minimum{key, value}, nil
}

// missed returns an error for each figure over all domains and types below -min, with the questions below
// it, the lowest first.
func missed(minima []minimum, records *benchmark.Run, r *report.Report) error {
	var problems []error
	for i, sys := range r.Systems {
		if sys.NotApplicable != "" {
			continue
		}
		all := sys.Overall.Types[benchmark.All]
		for _, m := range minima {
			switch got, ok := all.Figure(m.key); {
			case !ok:
				problems = append(problems, fmt.Errorf("%s has no %s", sys.System, m.key))
			case got < m.value:
				problems = append(problems, fmt.Errorf("%s of %s is %.4f, below %g%s", m.key, sys.System, got, m.value, m.below(records.Systems[i])))
			}
		}
	}
	return errors.Join(problems...)
}

// mostNamed bounds the questions below a minimum that are named.
const mostNamed = 10

// below lists the questions of a system whose figure is below the minimum, a line each.
func (m minimum) below(of benchmark.SystemRun) string {
	lines := make(map[float64][]string)
	for _, d := range of.Domains {
		for _, r := range d.Results {
			got, ok := report.OfQuestion(m.key, r)
			if !ok || got >= m.value {
				continue
			}
			line := fmt.Sprintf("\n  %s: %.100s: %.4g", text.OneLine(r.Item.Question.ID), text.OneLine(r.Item.Question.Text), got)
			if why := verdict(r).Reason; why != "" && slices.Index(report.Keys(), m.key) >= slices.Index(report.Keys(), "accuracy") { // of a judge
				line += fmt.Sprintf(", %.200s", text.OneLine(why))
			}
			lines[got] = append(lines[got], line)
		}
	}
	var all []string
	for _, got := range slices.Sorted(maps.Keys(lines)) {
		all = append(all, lines[got]...)
	}
	if more := len(all) - mostNamed; more > 0 {
		all = append(all[:mostNamed], fmt.Sprintf("\n  and %s more", text.Counted(more, "question")))
	}
	return strings.Join(all, "")
}
