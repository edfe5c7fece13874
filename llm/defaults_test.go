// SPDX-License-Identifier: Apache-2.0

package llm_test

import (
	"math"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func TestDefaults(t *testing.T) {
	zero, half, seed := 0.0, 0.5, int64(7)
	script := llmtest.NewScript("m")
	m, err := llm.Defaults(script, llm.Request{MaxTokens: 99, Temperature: &zero, TopP: &half, Seed: &seed, Stop: []string{"x"}, JSON: true, Stage: "s"})
	if err != nil || m.Name() != "m" {
		t.Fatalf("%v, %v", m, err)
	}
	own := llm.Request{MaxTokens: 1, Temperature: &half, TopP: &zero, Seed: new(int64), Stop: []string{}}
	for _, req := range []llm.Request{{}, own} {
		if _, err := m.Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	want := []llm.Request{{MaxTokens: 99, Temperature: &zero, TopP: &half, Seed: &seed, Stop: []string{"x"}}, own}
	check.Equal(t, script.Requests(), want)
	nan, inf := math.NaN(), math.Inf(1)
	if _, err := llm.Defaults(nil, llm.Request{MaxTokens: -1, Temperature: &nan, TopP: &inf}); err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("%v", err)
	}
}
