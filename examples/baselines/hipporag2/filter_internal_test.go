// SPDX-License-Identifier: Apache-2.0

package hipporag2

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Whatever form a model writes a fact in, the filter takes the nearest candidate; only an
// empty list selects none.
func TestNearestFact(t *testing.T) {
	data := check.Of(os.ReadFile("testdata/facts.json")).OK(t)
	var facts []graphrag.Triple
	check.OK(t, json.Unmarshal(data, &facts))
	table := check.Of(os.ReadFile("testdata/filter.tsv")).OK(t)
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		reply, want, _ := strings.Cut(line, "\t")
		m := llmtest.NewScript("m").Reply(llmtest.Any, reply)
		places, err := choose(t.Context(), m, "Who built the ferry?", facts)
		got := strings.Trim(fmt.Sprint(places), "[]")
		if got == "" {
			got = "-"
		}
		check.True(t, err == nil && got == want, "%s: facts %s, %v, want %s", reply, got, err, want)
	}
}
