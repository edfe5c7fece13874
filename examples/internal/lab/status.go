// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/llm"
)

// ExitIncomplete is the exit status of a run that was stopped or ran out of budget, that left
// questions without a score, or in which a system failed.
const ExitIncomplete = 3

// ErrIncomplete marks a finished run with questions without a score or systems that are not compared.
var ErrIncomplete = errors.New("incomplete")

// Status prints the error of a run and returns the exit status.
func Status(w io.Writer, program string, err error) int {
	if errors.Is(err, context.Canceled) && !errors.Is(err, cli.ErrUsage) {
		fmt.Fprintf(w, "\n%s: stopped; finished work is kept, start it again to continue\n", program)
		return ExitIncomplete
	}
	code := cli.Fail(w, program, err)
	if errors.Is(err, ErrIncomplete) || errors.Is(err, llm.ErrBudgetExceeded) {
		return ExitIncomplete
	}
	return code
}

// Complete returns an error if a question has no score, or a system failed too often to be compared.
func Complete(r *report.Report) error {
	var failed []error
	unscored := 0
	for _, sys := range r.Systems {
		if sys.NotApplicable != "" {
			continue
		}
		if len(sys.NotCompared) > 0 {
			failed = append(failed, fmt.Errorf("%w: %s is not compared: %s", ErrIncomplete, sys.System, strings.Join(sys.NotCompared, "; ")))
		}
		if v := sys.Overall.Types[benchmark.All].Verdicts(); v != nil {
			for _, n := range v.Reasons {
				unscored += n
			}
		}
	}
	if unscored > 0 {
		failed = append(failed, fmt.Errorf("%w: %d scores are missing, for the reasons in the report; -retry asks for them again", ErrIncomplete, unscored))
	}
	return errors.Join(failed...)
}

// MaxFailed translates the flag: in a library's options 0 is the default, and -1 allows no failure.
func MaxFailed(share float64) float64 {
	if share == 0 {
		return -1
	}
	return share
}
