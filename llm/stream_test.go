// SPDX-License-Identifier: Apache-2.0

package llm_test

import (
	"errors"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// A model that knows no pieces gives its reply in one, or its error.
func TestPiecesOfAPlainModel(t *testing.T) {
	m := llmtest.NewScript("m").Fail(llmtest.Contains("bad"), &llm.Error{Kind: llm.ErrAuth}).Reply(llmtest.Any, "a b")
	ctx := t.Context()
	var got []string
	for text, err := range llm.Pieces(ctx, m, llm.Prompt("x")) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
	}
	if len(got) != 1 || got[0] != "a b" {
		t.Errorf("%q", got)
	}
	n := 0
	for text, err := range llm.Pieces(ctx, m, llm.Prompt("bad")) {
		if n++; text != "" || !errors.Is(err, llm.ErrAuth) {
			t.Errorf("%q, %v", text, err)
		}
	}
	if n != 1 {
		t.Errorf("%d pieces of an error", n)
	}
	for range llm.Pieces(ctx, m, llm.Prompt("x")) {
		break
	}
}
