// SPDX-License-Identifier: Apache-2.0

package setup_test

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/internal/check"
)

// The budget depends on the wording; a question without a text has no budget, and its wording decides nothing.
func TestContextTokens(t *testing.T) {
	if s := (setup.Settings{}); s.ContextTokens() != nil || s.Decisive()["budget_context"] != nil {
		t.Error("a budget without a flag")
	}
	s := setup.Settings{BudgetContext: 600}
	for question, want := range map[string]int{"Who built the Fram?": 600, "Summarize the voyages of the Fram.": 1200} {
		got := s.ContextTokens()(question)
		check.Equal(t, got, want, "%q: %d tokens", question, got)
	}
	check.True(t, s.Decisive()["budget_context"] == 600, "the budget decides answers")
}

// The line above the tables: the flags that decide figures and differ from their defaults.
func TestNonDefault(t *testing.T) {
	for args, want := range map[string]string{
		"": "", "-chunk-size 1200 -concurrency 2 -seed 1": "", "-limit 8 -chunk-size 600 -out x": "-chunk-size 600, -limit 8",
		"-temperature none": "-temperature none", "-temperature 0": "", "-temperature 0.7": "-temperature 0.7",
	} {
		var s setup.Settings
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		s.Declare(fs, io.Discard, "", s.Flags(func(string) string { return "" }, "out"))
		check.OK(t, fs.Parse(strings.Fields(args)))
		s.Complete(fs, nil)
		check.Equal(t, strings.Join(s.NonDefault(), ", "), want, "%s", args)
	}
}

// The settings that decide answers, with the keys and values in the records of earlier versions.
func TestDecisive(t *testing.T) {
	const always = "chunk_overlap:100 chunk_size:1200 chunks_per_page:0"
	for args, want := range map[string]string{
		"-seed 2":         always + " encoding:cl100k_base mode:open seed:2",
		"-model m":        always + " embed_model: encoding:cl100k_base mode:open model:m seed:1 temperature:0",
		"-prompt minimal": always + " encoding:cl100k_base mode:open seed:1",
		"-model m -reply-tokens 9 -temperature none -budget-context 7": "budget_context:7 " + always + " embed_model: encoding:cl100k_base mode:open model:m reply_tokens:9 seed:1 temperature:none",
	} {
		var s setup.Settings
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		s.Declare(fs, io.Discard, "", s.Flags(func(string) string { return "" }, "out"))
		check.OK(t, fs.Parse(strings.Fields(args)))
		s.Complete(fs, nil)
		got := fmt.Sprint(s.Decisive())
		check.True(t, got == "map["+want+"]", "%s: %s, want %s", args, got, want)
	}
}
