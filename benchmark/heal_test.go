// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// moody is a judge with a way to fail; its name is that of the zoo's.
type moody struct {
	benchtest.Exact
	cause string
	calls *atomic.Int64
	anew  *atomic.Int64 // calls that pass by caches
}

func (j moody) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	j.calls.Add(1)
	if metering.WantsFreshReply(ctx) {
		j.anew.Add(1)
	}
	if j.cause != "" {
		return judge.FactJudgment{Verdict: judge.NoScore(j.cause + ": the judge failed")}, nil
	}
	return j.Exact.Fact(ctx, c)
}

// watched counts the questions that are asked past caches.
type watched struct {
	benchtest.Parrot
	anew *atomic.Int64
}

func (w *watched) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	if metering.WantsFreshReply(ctx) {
		w.anew.Add(1)
	}
	return w.Parrot.Answer(ctx, q)
}

// What failed for a passing reason is asked again at the next start, and all that
// failed if that is wanted, then past the caches; the report is that of a healthy run.
func TestHealing(t *testing.T) {
	var calls atomic.Int64
	healthy := t.TempDir()
	reported(t, benchtest.Runner(healthy, &calls, nil))
	want := benchtest.Files(t, healthy)
	for _, tt := range []struct {
		cause       llm.Kind
		ofOne       bool // it can be the reason that one question has no answer
		retry, heal bool
	}{
		{llm.ErrEmpty, true, false, true},
		{llm.ErrTruncated, true, false, true},
		{llm.ErrFiltered, true, false, true},
		{llm.ErrTransient, false, false, true},
		{llm.ErrInvalidOutput, true, false, false},
		{llm.ErrInvalidOutput, true, true, true},
		{llm.ErrRefused, true, false, false},
		{llm.ErrRefused, true, true, true},
	} {
		t.Run(fmt.Sprintf("%s, retry %v", string(tt.cause), tt.retry), func(t *testing.T) {
			for _, who := range []string{"answer", "judge"} {
				if who == "answer" && !tt.ofOne {
					continue
				}
				var answers, judged, anew atomic.Int64
				dir := t.TempDir()
				start := func(broken, retry bool) {
					r := benchtest.Runner(dir, &answers, nil)
					r.Options.Retry = retry
					j := moody{calls: &judged, anew: &anew}
					if broken && who == "judge" {
						j.cause = string(tt.cause)
					}
					r.Judge = j
					for n := range r.Systems[:2] {
						r.Systems[n].New = func(string) (benchmark.System, error) {
							return &watched{benchtest.Parrot{Calls: &answers, Fail: func(_ int64, q graphrag.Question) error {
								if broken && who == "answer" && strings.Contains(q.Text, "owl") {
									return &llm.Error{Kind: tt.cause}
								}
								return nil
							}}, &anew}, nil
						}
					}
					reported(t, r)
				}
				start(true, false)
				for again := range 2 { // the second finds nothing to do
					answers.Store(0)
					judged.Store(0)
					anew.Store(0)
					start(false, tt.retry)
					expected := [3]int64{}
					switch {
					case !tt.heal || again > 0:
					case who == "answer":
						expected = [3]int64{2, 2, 2} // the owl, of two systems
					default:
						expected = [3]int64{0, 10, 10} // all facts
					}
					if !tt.retry {
						expected[2] = 0
					}
					if asked := [3]int64{answers.Load(), judged.Load(), anew.Load()}; asked != expected {
						t.Errorf("%s, start %d: answers, judgments and calls past caches %v, want %v", who, again, asked, expected)
					}
				}
				if healed := cmp.Diff(want, benchtest.Files(t, dir)) == ""; healed != tt.heal {
					t.Errorf("%s: healed %v, want %v", who, healed, tt.heal)
				}
			}
		})
	}
}
