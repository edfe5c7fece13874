// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
)

// New computes the report of a run.
func New(run *benchmark.Run) (*Report, error) {
	r := &Report{
		Version: Version, Kit: run.Kit, Config: run.Config,
		Published: run.Dataset.Published, types: run.Dataset.Types, label: labelOf(run),
		Data: run.Dataset.Notes,
	}
	var compared []benchmark.SystemRun
	for _, s := range run.Systems {
		system := newSystem(run, s)
		r.Systems = append(r.Systems, system)
		if system.compared() {
			compared = append(compared, s)
		}
	}
	var err error
	r.Pairs, err = pairs(run, compared)
	return r, err
}

func newSystem(run *benchmark.Run, of benchmark.SystemRun) System {
	out := System{System: of.Name, Also: of.Also, NotApplicable: of.NotApplicable}
	overall := newTally(run, of)
	var millis []float64
	var peak float64
	for i, d := range of.Domains {
		t := newTally(run, of)
		for _, r := range d.Results {
			t.add(r)
			overall.add(r)
			millis = append(millis, r.Answer.Millis)
			out.AnswerUsage = out.AnswerUsage.Add(r.Answer.Usage)
			out.JudgeUsage = out.JudgeUsage.Add(r.Judgment.Usage())
		}
		index := Index{IndexStats: d.Index.Stats, ByStage: d.Index.Usage, Bytes: d.Index.Bytes, Degrees: d.Index.Degrees, Edges: d.Index.Edges}
		if !run.NoTimings && of.NotApplicable == "" && !of.Foreign {
			index.Seconds = ref(round(d.Index.Seconds, 3))
		}
		out.Domains = append(out.Domains, Domain{run.Dataset.Domains[i].Name, index, t.report()})
		peak = max(peak, d.PeakRSSMB)
	}
	out.Overall = overall.overall()
	out.health(run, of)
	out.foreign, out.provenance, out.baseline = of.Foreign, provenance(of), of.Baseline
	out.Cost, out.Sweep = out.cost(), sweep(run, of)
	if !run.NoTimings && of.NotApplicable == "" && !of.Foreign && len(millis) > 0 {
		slices.Sort(millis)
		out.QueryMsP50 = ref(quantile(millis, 0.50))
		out.QueryMsP99 = ref(quantile(millis, 0.99))
		if peak > 0 {
			out.PeakRSSMB = ref(round(peak, 1))
		}
	}
	return out
}

// sweep gathers the points of a system, over all questions that are swept.
func sweep(run *benchmark.Run, of benchmark.SystemRun) []SweepPoint {
	var out []SweepPoint
	for _, s := range of.Sweep {
		t := newTally(run, of)
		var point SweepPoint
		for _, r := range s.Results {
			t.add(r)
			point.AnswerUsage = point.AnswerUsage.Add(r.Answer.Usage)
			point.JudgeUsage = point.JudgeUsage.Add(r.Judgment.Usage())
		}
		if point.Type = t.report()[benchmark.All]; point.N > 0 {
			point.K = s.K
			out = append(out, point)
		}
	}
	return out
}
