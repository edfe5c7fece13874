// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

// grown asks every question four times, under other IDs.
func grown(r *benchmark.Runner) *benchmark.Runner {
	for i, d := range r.Dataset.Domains {
		items := slices.Clone(d.Items)
		for _, suffix := range []string{"b", "c", "d"} {
			for _, it := range d.Items {
				it.Question.ID += suffix
				items = append(items, it)
			}
		}
		r.Dataset.Domains[i].Items = items
	}
	return r
}

// The best system is compared with every other, and every system with the baselines, each a family;
// with few questions there is a difference and nothing that says how sure it is.
func TestPairs(t *testing.T) {
	for _, tt := range []struct {
		name string
		many bool
	}{{"7 questions", false}, {"28 questions", true}} {
		r := study("", nil)
		scholar := r.Systems[1]
		r.Systems = append(r.Systems, scholar, r.Systems[0])
		r.Systems[2].Name, r.Systems[3].Name = "pupil", "twin"
		r.Systems[1].Baseline = true
		if tt.many {
			r = grown(r)
		}
		rep := check.Of(run(t, r)).OK(t)
		var got []string
		for _, p := range rep.Pairs {
			if p.Figure != "accuracy" {
				continue
			}
			got = append(got, fmt.Sprint(p.A, " ", p.B, " ", p.Family))
			if p.Family == "best" && p.Difference < 0 {
				t.Errorf("%s: the best is worse: %+v", tt.name, p)
			}
			if tested := p.P != nil && p.PHolm != nil && p.Low != nil && p.High != nil && p.Detectable != nil && p.Tests == 3; tested != tt.many {
				t.Errorf("%s: %+v", tt.name, p)
			}
		}
		want := []string{"scholar parrot best", "pupil parrot best", "twin parrot best", "scholar parrot baselines", "scholar pupil baselines", "scholar twin baselines"}
		check.Equal(t, got, want, "%s: pairs", tt.name)
		_, text, _ := strings.Cut(tables(t, rep), "The best system and the others")
		text, _, _ = strings.Cut(text, "With fewer than")
		for _, want := range []string{"Best − other", "System − baseline", "parrot − scholar", "pupil − scholar"} {
			if !strings.Contains(tables(t, rep), want) {
				t.Errorf("%s: the tables lack %q", tt.name, want)
			}
		}
		if !tt.many && !strings.Contains(text, "too few") || strings.Contains(text, "scholar − ") {
			t.Errorf("%s:\n%s", tt.name, text)
		}
		all := rep.Systems[0].Overall.Types[benchmark.All]
		check.True(t, (len(all.Intervals) > 0) == tt.many, "%s: intervals %v", tt.name, all.Intervals)
	}
}

// Where the best system is a baseline, either table has it on its side.
func TestBestBaseline(t *testing.T) {
	r := study("", nil)
	r.Systems[0].Baseline = true
	rep := check.Of(run(t, r)).OK(t)
	if text := tables(t, rep); len(rep.Pairs) != 6 || strings.Count(text, "parrot − scholar") != 3 || strings.Count(text, "scholar − parrot") != 3 {
		t.Errorf("%d pairs\n%s", len(rep.Pairs), text)
	}
}

// reviewer ranks the pages behind its reports, and reads no chunk; blind finds
// nothing.
type reviewer struct{ scholar }

func (r *reviewer) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	a, err := r.scholar.Answer(ctx, q)
	a.Evidence = []graphrag.Hit{}
	slices.SortStableFunc(a.Ranked, func(x, y graphrag.Hit) int { // what is asked for first
		return strings.Index(q.Text, strings.TrimSuffix(y.Chunk.Doc, ".txt")) - strings.Index(q.Text, strings.TrimSuffix(x.Chunk.Doc, ".txt"))
	})
	return a, err
}

type blind struct{ scholar }

func (b *blind) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	return graphrag.Answer{Text: "Animals eat.", Found: graphrag.Nothing()}, nil
}

// A ranking of what reports were made from is in the table, and is neither compared
// nor the best of its column, nor does it keep another from being it.
func TestRankingOfProvenance(t *testing.T) {
	r := grown(study("", nil))
	r.Options.CountTokens, r.Options.Found = nil, true
	notes := []graphrag.Derived{{Kind: "report", Text: "A report.", Provenance: graphrag.Provenance{Docs: []string{"owl.txt"}}}}
	r.Systems = []benchmark.Entry{
		r.Systems[1],
		{Name: "blind", New: func(string) (benchmark.System, error) { return &blind{}, nil }},
		{Name: "reviewer", New: func(string) (benchmark.System, error) { return &reviewer{scholar{notes: notes}}, nil }},
		{Name: "unsure", New: func(string) (benchmark.System, error) { return &unsure{reviewer{scholar{notes: notes}}}, nil }},
	}
	rep := check.Of(run(t, r)).OK(t)
	all := rep.Systems[2].Overall.Types[benchmark.All]
	check.True(t, *all.MRR == 1 && all.Found == nil && all.ContextTokens == nil, "%+v", all)
	// What is read of reports alone holds no source text, also where nothing was found: the
	// share of the statements in it is not that of the questions without a report.
	scholar, unsure := rep.Systems[0].Overall.Types[benchmark.All], rep.Systems[3].Overall.Types[benchmark.All]
	if scholar.Found == nil || unsure.Found != nil || unsure.RecallAt5 == nil {
		t.Errorf("found in source text %v, in reports %v; recall %v", scholar.Found, unsure.Found, unsure.RecallAt5)
	}
	for _, p := range rep.Pairs {
		if p.Figure == "evidence_recall_at_5" && (p.A == "reviewer" || p.B == "reviewer") {
			t.Errorf("compared: %+v", p)
		}
	}
	evidence := rep.Tables()[1]
	for i, cell := range evidence.Rows[2].Cells[:8] {
		check.True(t, !cell.Best && evidence.Rows[0].Cells[i].Best, "column %d: reviewer %+v, scholar %+v", i, cell, evidence.Rows[0].Cells[i])
	}
	check.Contains(t, strings.Join(evidence.Notes, " "), "reviewer reads no chunk", "notes %q", evidence.Notes)
	for _, cell := range rep.Tables()[0].Rows[0].Cells { // all answered alike
		check.True(t, !cell.Best, "the best of equal ones: %+v", cell)
	}
}

// unsure is a reviewer without a report on tits.
type unsure struct{ reviewer }

func (u *unsure) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	if strings.Contains(q.Text, "tit") {
		return graphrag.Answer{Text: "Animals eat.", Found: graphrag.Found{Ranked: []graphrag.Hit{}, Evidence: []graphrag.Hit{}}}, nil
	}
	return u.reviewer.Answer(ctx, q)
}

// wobbly says something else with each seed; its figures are of all of them.
type wobbly struct {
	benchtest.Parrot
	seed int
}

func (w *wobbly) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	a, err := w.Parrot.Answer(ctx, q)
	if w.seed == 1 {
		a.Text = "Nothing."
	}
	return a, err
}

// Of questions asked again by systems with other seeds, the report says what the seeds change, and
// of which systems nothing; a second start builds nothing.
func TestSeeds(t *testing.T) {
	built := 0
	start := func(dir string) (*report.Report, error) {
		r := study(dir, nil)
		fresh := func(seed int) (benchmark.System, error) {
			built++
			return &wobbly{benchtest.Parrot{Calls: new(atomic.Int64)}, seed}, nil
		}
		r.Systems = []benchmark.Entry{r.Systems[0], {
			Name: "wobbly", New: func(string) (benchmark.System, error) { return fresh(0) }, Again: func(_ string, repeat int) (benchmark.System, error) { return fresh(repeat) },
		}}
		r.Options.Repeat = 3
		return run(t, r)
	}
	dir := t.TempDir()
	rep, err := start(dir)
	check.OK(t, err)
	s := rep.Systems[1]
	if built != 6 || *s.Same != 0 || s.BySeed["accuracy"] != (report.Interval{0, 1}) || s.Overall.Types["all"].N != 21 {
		t.Errorf("built %d, same %v, by seed %v", built, *s.Same, s.BySeed)
	}
	var text strings.Builder
	check.OK(t, rep.WriteRanking(&text))
	for _, want := range []string{"Accuracy over 3 seeds, from the least to the most: wobbly 0.0 to 100.0.", "no ranking of parrot: asked again", "2 systems and 7 questions", "Too few questions to tell which is better: 7."} {
		check.Contains(t, strings.Join(strings.Fields(text.String()), " "), want)
	}
	_, err = start(dir)
	check.True(t, err == nil && built == 6, "a second start built %d: %v", built-6, err)
}
