// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/llm"
)

// exitIncomplete is the exit status of a run that was stopped or is out of budget, of
// questions without a score and of failed systems; it stands beside cli.Failed, which
// is also that of a figure below its -min.
const exitIncomplete = 3

// errIncomplete marks a run that is done with questions left without a score, or
// with systems that are not compared.
var errIncomplete = errors.New("incomplete")

// status prints the error of a run and returns the exit status.
func status(err error, stderr io.Writer) int {
	if errors.Is(err, context.Canceled) && !errors.Is(err, cli.ErrUsage) {
		fmt.Fprintln(stderr, "\nwildgraphbench: stopped; what is done is kept, start again to go on")
		return exitIncomplete
	}
	code := cli.Fail(stderr, "wildgraphbench", err)
	if errors.Is(err, errIncomplete) || errors.Is(err, llm.ErrBudgetExceeded) {
		return exitIncomplete
	}
	return code
}

// minimum is a demand on every system that ran: -min KEY=VALUE.
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

// verdict is nil when every question has a score, no system failed so much that it
// is not compared, and every figure is at least
// what -min demands of it, over all domains and question types.
func verdict(minima []minimum, r *report.Report) error {
	var missed []error
	var failed []error
	unscored := 0
	for _, sys := range r.Systems {
		if sys.NotApplicable != "" {
			continue
		}
		if len(sys.NotCompared) > 0 {
			failed = append(failed, fmt.Errorf("%w: %s is not compared: %s", errIncomplete, sys.System, strings.Join(sys.NotCompared, "; ")))
		}
		all := sys.Overall.Types[benchmark.All]
		if v := all.Verdicts(); v != nil {
			for _, n := range v.Reasons {
				unscored += n
			}
		}
		for _, m := range minima {
			switch got, ok := all.Figure(m.key); {
			case !ok:
				missed = append(missed, fmt.Errorf("%s has no %s", sys.System, m.key))
			case got < m.value:
				missed = append(missed, fmt.Errorf("%s of %s is %.4f, below %g", m.key, sys.System, got, m.value))
			}
		}
	}
	if unscored > 0 {
		failed = append(failed, fmt.Errorf("%w: %d scores are missing, for the reasons in the report; -retry asks for them again", errIncomplete, unscored))
	}
	return errors.Join(append(failed, missed...)...)
}
