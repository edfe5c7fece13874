// SPDX-License-Identifier: Apache-2.0

package lab_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/lab"
)

// The budget goes by the wording; without one there is none, and nothing is decided by it.
func TestContextTokens(t *testing.T) {
	if s := (lab.Settings{}); s.ContextTokens() != nil || s.Decisive()["budget_context"] != nil {
		t.Error("a budget without a flag")
	}
	s := lab.Settings{BudgetContext: 600}
	for question, want := range map[string]int{"Who built the Fram?": 600, "Summarize the voyages of the Fram.": 1200} {
		if got := s.ContextTokens()(question); got != want {
			t.Errorf("%q: %d tokens, want %d", question, got, want)
		}
	}
	if s.Decisive()["budget_context"] != 600 {
		t.Error("the budget decides answers")
	}
}
