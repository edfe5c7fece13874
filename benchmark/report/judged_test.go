// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/zoo"
	"github.com/wildgraph/wildgraph/judge"
)

// thorough also says what precision can be, and what is grounded.
type thorough struct{ zoo.Exact }

func (t thorough) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	j, err := t.Exact.Fact(ctx, c)
	j.Grounded = judge.Score(1, "")
	j.Scores = map[string]judge.Verdict{"f1/zoo": judge.Score(0.5, ""), "by_model": judge.NoScore("no model")}
	return j, err
}

func (t thorough) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	j, err := t.Exact.Summary(ctx, c)
	j.Ceiling, j.Grounded = judge.Score(0.25, ""), judge.Score(0, "")
	return j, err
}

// What a judge gives beyond accuracy, recall and precision has a column; a judge that does not give it has none.
func TestColumnsOfThoroughJudges(t *testing.T) {
	r := study("", nil)
	r.Judge = thorough{}
	rep, err := run(t, r)
	zoo.OK(t, err)
	all := rep.Systems[0].Overall.Types
	if v, ok := all["summary"].Figure("precision_ceiling"); !ok || v != 0.25 {
		t.Errorf("ceiling %v, %v", v, ok)
	}
	if v, ok := all[benchmark.All].Figure("grounded"); !ok || v <= 0 || v >= 1 {
		t.Errorf("grounded %v, %v", v, ok)
	}
	if v, ok := all["single-fact"].Figure("f1/zoo"); !ok || v != 0.5 {
		t.Errorf("a named score is %v, %v", v, ok)
	}
	if v, ok := all["summary"].Figure("f1/zoo"); ok {
		t.Errorf("a named score of no question is %v", v)
	}
	if v, ok := all[benchmark.All].Figure("by_model"); ok {
		t.Errorf("a named score that could not be had is %v", v)
	}
	var csv strings.Builder
	if err := rep.WriteCSV(&csv); err != nil || !strings.Contains(csv.String(), ",unscored,f1/zoo,answered_right,") {
		t.Errorf("%v, %.300s", err, csv.String())
	}
	text := tables(t, rep)
	for _, want := range []string{"Ceiling", "Grounded", "f1/zoo"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	r = study("", nil)
	if rep, err = run(t, r); err != nil {
		t.Fatal(err)
	}
	if text := tables(t, rep); strings.Contains(text, "Ceiling") || strings.Contains(text, "Grounded") {
		t.Errorf("columns without figures:\n%s", text)
	}
}
