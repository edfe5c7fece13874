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
	check.Must(t, err == nil && m.Name() == "m", "%v, %v", m, err)
	own := llm.Request{MaxTokens: 1, Temperature: &half, TopP: &zero, Seed: new(int64), Stop: []string{}}
	for _, req := range []llm.Request{{}, own} {
		check.OK(t, check.Err(m.Generate(t.Context(), req)))
	}
	want := []llm.Request{{MaxTokens: 99, Temperature: &zero, TopP: &half, Seed: &seed, Stop: []string{"x"}}, own}
	check.Equal(t, script.Requests(), want)
	nan, inf := math.NaN(), math.Inf(1)
	_, err = llm.Defaults(nil, llm.Request{MaxTokens: -1, Temperature: &nan, TopP: &inf})
	check.True(t, err != nil && strings.Count(err.Error(), "\n") == 3, "%v", err)
}
