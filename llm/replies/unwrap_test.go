// SPDX-License-Identifier: Apache-2.0

package replies_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// table calls one for each line of a file of test data.
func table[T any](t *testing.T, name string, one func(T)) {
	t.Helper()
	check.OK(t, journal.EachLine(os.DirFS("testdata"), name, 1<<20, func(_ int, v T) error { one(v); return nil }))
}

// Each line has a reply, its question and the reply without wrappings.
func TestUnwrap(t *testing.T) {
	table(t, "wrappings.jsonl", func(c struct{ Input, Question, Want string }) {
		got := replies.Unwrap(c.Input, c.Question)
		check.Equal(t, got, c.Want, "%q:\n%q, want\n%q", c.Input, got, c.Want)
		check.Equal(t, replies.Unwrap(c.Want, c.Question), c.Want, "%q became", c.Want)
	})
	for _, of := range []string{"`", "\"", "{", "[", "'", "“", "<think>", "<|channel|>", "Answer: ", "</think>", "\\boxed{", "* ", "{\"answer\":", "analysis", "</s>", "```\n", "Q: A: "} {
		long := strings.Repeat(of, 1<<20/len(of))
		got := replies.Unwrap(long, "Who?")
		check.True(t, len(got) <= len(long), "a megabyte of %q became %d bytes", of, len(got))
	}
}

func ExampleDecode() {
	model := llmtest.NewScript("demo").Reply(llmtest.Any, "Of course!\n```json\n{'score': 4,}\n```")
	grade, _, err := replies.Decode[struct {
		Score int `json:"score"`
	}](context.Background(), model, llm.Prompt("How good is it?"))
	fmt.Println(grade.Score, err)
	// Output: 4 <nil>
}
