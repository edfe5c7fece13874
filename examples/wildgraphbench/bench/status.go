// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
)

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

// missed says which figures are less than -min demands, over all domains and question
// types.
func missed(minima []minimum, r *report.Report) error {
	var problems []error
	for _, sys := range r.Systems {
		if sys.NotApplicable != "" {
			continue
		}
		all := sys.Overall.Types[benchmark.All]
		for _, m := range minima {
			switch got, ok := all.Figure(m.key); {
			case !ok:
				problems = append(problems, fmt.Errorf("%s has no %s", sys.System, m.key))
			case got < m.value:
				problems = append(problems, fmt.Errorf("%s of %s is %.4f, below %g", m.key, sys.System, got, m.value))
			}
		}
	}
	return errors.Join(problems...)
}
