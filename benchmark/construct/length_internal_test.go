// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"context"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
)

// says asks the same of every draft.
type says string

func (s says) Ask(context.Context, Draft) (string, error) { return string(s), nil }

// The question of a summary has 20 to 200 characters, as the paper's prompt asks for; others may be
// shorter and longer.
func TestSummaryLength(t *testing.T) {
	of := func(n int) string { return strings.Repeat("ö", n-1) + "?" }
	for _, x := range []struct {
		kind  string
		n     int
		taken bool
	}{
		{wildgraph.Summary, 19, false}, {wildgraph.Summary, 20, true}, {wildgraph.Summary, 200, true}, {wildgraph.Summary, 201, false},
		{wildgraph.SingleFact, 19, true}, {wildgraph.SingleFact, 201, true}, {wildgraph.SingleFact, 601, false},
	} {
		m := maker{Parts: Parts{Ask: says(of(x.n))}}
		q, err := m.asked(t.Context(), Draft{Type: x.kind, Triples: []Triple{{Statement: "Owls hunt."}}})
		if err != nil || (q != "") != x.taken {
			t.Errorf("%s of %d characters: %q, %v", x.kind, x.n, q, err)
		}
	}
}
