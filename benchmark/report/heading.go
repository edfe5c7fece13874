// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/wildgraph/wildgraph/benchmark"
)

func (r *Report) heading() string {
	name, _ := r.Config["dataset"].(string)
	if lexical(r.Kit) {
		return name + ", offline kit"
	}
	return name
}

// summary is the run in one sentence.
func (r *Report) summary() string {
	if len(r.Systems) == 0 {
		return "No system was run."
	}
	n := r.Systems[0].Overall.Types[benchmark.All].N
	return fmt.Sprintf("%s and %s over %s. Judge: %v.", plural(len(r.Systems), "system"), plural(n, "question"),
		plural(len(r.Systems[0].Domains), "domain"), r.Config["judge"])
}
