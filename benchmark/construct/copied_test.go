// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Questions that may be asked, and those that copy, give away or name nothing: a line each.
func TestFault(t *testing.T) {
	table := check.Of(os.ReadFile("testdata/questions.tsv")).OK(t)
	for line := range strings.Lines(strings.TrimSpace(string(table))) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		d := Draft{Title: f[0], Type: wildgraph.SingleFact}
		if f[1] == wildgraph.Summary {
			d.Type = f[1]
		}
		for s := range strings.SplitSeq(f[2], " | ") {
			d.Triples = append(d.Triples, Triple{Statement: s})
		}
		reason, got := questionFault(f[3], d)
		if f[1] != "kind" && (got != f[4] || (reason == "") != (f[4] == "")) {
			t.Errorf("%s\n%s\ngot %s\nwant %q", f[2], f[3], got, f[4])
		}
	}
}
