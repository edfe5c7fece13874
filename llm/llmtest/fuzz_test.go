// SPDX-License-Identifier: Apache-2.0

package llmtest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// A cassette that can be read answers its requests or says that it cannot.
func FuzzCassette(f *testing.F) {
	f.Add(`{"model":"m","request":{"messages":[{"role":"user","text":"q"}]},"reply":{"text":"a","finish":"stop","usage":{"llm_calls":1,"prompt_tokens":1,"completion_tokens":1,"embedded_tokens":0}}}`)
	f.Add(`{"model":"m","request":{},"error":{"kind":"timeout","usage":{}}}`)
	f.Add("{")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := llmtest.NewReplay(strings.NewReader(text)); err == nil {
			if _, err := m.Generate(t.Context(), llm.Prompt("q")); err != nil && !errors.As(err, new(*llm.Error)) {
				t.Fatal(err)
			}
		}
	})
}
