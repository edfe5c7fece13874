// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

// answer stands in for the caller's pipeline.
func answer(t *testing.T, question string) string {
	t.Logf("asked %q", question)
	return "On 17 September Typhoon Sanba made landfall over South Korea."
}

func TestAnswers(t *testing.T) {
	j, err := lexical.New(judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := j.Fact(t.Context(), judge.Case{
		Question:  "When did Typhoon Sanba reach South Korea?",
		Reference: "Typhoon Sanba made landfall over South Korea on September 17.",
		Answer:    answer(t, "When did Typhoon Sanba reach South Korea?"), // your pipeline
	})
	if err != nil || got.Value != 1 {
		t.Errorf("%v, %+v", err, got)
	}
}
