// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
)

// The speed that is assumed of a model where none is asked: seconds until a reply
// begins, tokens read and written in a second, and calls at a time while indexing. The
// calls of a question follow one another.
const (
	callSeconds   = .5
	readPerSec    = 2000
	writtenPerSec = 50
	indexAtOnce   = 8
)

// spent is what indexing or a question takes.
type spent struct{ calls, tokens, seconds float64 }

// line is a cost that grows with the number of questions.
type line struct {
	name            string
	index, question spent
}

func (l line) at(questions float64, of func(spent) float64) float64 {
	return of(l.index) + questions*of(l.question)
}

// measures are what costs are counted in.
var measures = []struct {
	name string
	of   func(spent) float64
}{
	{"calls", func(s spent) float64 { return s.calls }},
	{"tokens", func(s spent) float64 { return s.tokens }},
	{"seconds", func(s spent) float64 { return s.seconds }},
}

// breakEvenTables compare what reading triples for each question costs with what
// extracting those of the whole corpus costs once.
func breakEvenTables(run *benchmark.Run, _ uint64, paid bool) ([]report.Table, error) {
	var lines []line
	for i := range run.Systems {
		l, err := lineOf(run, i, !paid)
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	t := report.Table{Title: "cost of N questions", RowHeading: "Questions"}
	for _, m := range measures {
		g := report.ColumnGroup{Heading: m.name}
		for _, l := range lines {
			g.Columns = append(g.Columns, l.name)
		}
		t.Groups = append(t.Groups, g)
	}
	for _, n := range []int{0, 1, 10, 100, 1_000, 10_000, 100_000} {
		row := report.TableRow{Name: cli.Digits(n)}
		for _, m := range measures {
			for _, l := range lines {
				row.Cells = append(row.Cells, report.Cell{Text: cli.Digits(int(l.at(float64(n), m.of) + .5))})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	for _, l := range lines[1:] {
		t.Notes = append(t.Notes, fmt.Sprintf("Where %s and %s cost the same: %s.", lines[0].name, l.name, crossings(lines[0], l)))
	}
	if !paid {
		t.Notes = append(t.Notes, fmt.Sprintf("Offline: calls are those that the prompts lead to; tokens are of the real prompts and of replies of a usual length. "+
			"Seconds are assumed: %g until a reply begins, %d tokens a second read and %d written, %d calls at a time while indexing.", callSeconds, readPerSec, writtenPerSec, indexAtOnce))
	}
	for _, m := range measures {
		t.Notes = append(t.Notes, draw(lines, m.name, m.of)...)
	}
	return []report.Table{t}, nil
}

// lineOf is what a system took: for all its indexes, and for a question on average.
func lineOf(run *benchmark.Run, system int, assumed bool) (line, error) {
	l := line{name: run.Systems[system].Name}
	for _, d := range run.Systems[system].Domains {
		if d.Index.Error != "" {
			return l, fmt.Errorf("%s: no index: %s", l.name, d.Index.Error)
		}
		u := d.Index.Stats.Usage
		l.index.calls += float64(u.Calls + u.CachedCalls)
		l.index.tokens += float64(u.Tokens())
		l.index.seconds += d.Index.Seconds
		if assumed {
			l.index.seconds = assumedSeconds(l.index.calls, float64(u.PromptTokens), float64(u.CompletionTokens)) / indexAtOnce
		}
	}
	results, err := rankings(run, system, "")
	n := float64(max(1, len(results)))
	for _, r := range results {
		u := r.Answer.Usage
		l.question.calls += float64(u.Calls+u.CachedCalls) / n
		l.question.tokens += float64(u.Tokens()) / n
		seconds := r.Answer.Millis / 1000
		if assumed {
			seconds = assumedSeconds(float64(u.Calls), float64(u.PromptTokens), float64(u.CompletionTokens))
		}
		l.question.seconds += seconds / n
	}
	return l, err
}

func assumedSeconds(calls, prompt, completion float64) float64 {
	return calls*callSeconds + prompt/readPerSec + completion/writtenPerSec
}

// crossings says at how many questions two lines meet, by each measure.
func crossings(a, b line) string {
	var out []string
	for _, m := range measures {
		text := "never"
		if n, ok := crossing(a, b, m.of); ok {
			text = "at " + cli.Digits(int(math.Ceil(n))) + " questions"
		}
		out = append(out, m.name+" "+text)
	}
	return strings.Join(out, ", ")
}

// crossing is the number of questions at which two lines meet, if they do.
func crossing(a, b line, of func(spent) float64) (float64, bool) {
	n := (of(b.index) - of(a.index)) / (of(a.question) - of(b.question))
	return n, n >= 0 && !math.IsInf(n, 0) // a 0 by 0 is none
}

// The size of the plot of characters, and its range of questions.
const (
	plotRows, plotColumns = 14, 61
	plotDecades           = 5 // of questions, from 1
)

// draw plots a cost over the questions, both by their logarithm, as lines of
// characters.
func draw(lines []line, name string, of func(spent) float64) []string {
	low, high := math.Inf(1), 0.0
	for _, l := range lines {
		low, high = min(low, l.at(1, of)), max(high, l.at(math.Pow(10, plotDecades), of))
	}
	low, high = math.Floor(math.Log10(max(1, low))), math.Ceil(math.Log10(max(10, high)))
	grid := make([][]byte, plotRows)
	for y := range grid {
		grid[y] = []byte(strings.Repeat(" ", plotColumns))
	}
	for i, l := range lines {
		for x := range plotColumns {
			questions := math.Pow(10, float64(x)*plotDecades/(plotColumns-1))
			at := (math.Log10(max(1, l.at(questions, of))) - low) / max(1, high-low)
			y := plotRows - 1 - int(math.Round(at*(plotRows-1)))
			if y = min(max(y, 0), plotRows-1); grid[y][x] == ' ' {
				grid[y][x] = byte('a' + i)
			} else {
				grid[y][x] = '*' // where lines cross
			}
		}
	}
	var key []string
	for i, l := range lines {
		key = append(key, fmt.Sprintf("%c %s", 'a'+i, l.name))
	}
	out := []string{fmt.Sprintf("%s (1e%.0f to 1e%.0f) over questions (1 to 1e%d): %s, * several", strings.ToUpper(name[:1])+name[1:], low, high, plotDecades, strings.Join(key, ", "))}
	for _, row := range grid {
		out = append(out, "│"+string(row))
	}
	return append(out, "└"+strings.Repeat("─", plotColumns))
}
