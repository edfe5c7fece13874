// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// dryCalls are the calls of a row of an estimate.
func dryCalls(stdout, stage string) string {
	for line := range strings.Lines(stdout) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), stage+" "); ok {
			fields := strings.Fields(rest)
			return fields[len(fields)-4]
		}
	}
	return "no"
}

// An estimate counts what a run with a model asks: every system alone, and what
// several share once.
func TestDryRunFollowsTheRun(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		if text, ok := grader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		return llm.Reply{Text: extracted(req)}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk")
	args := []string{"-out", t.TempDir(), "-domains", "seafaring", "-limit", "1", "-systems", "lightrag,lightrag-local,hipporag2", "-model", "m"}
	stdout, _, err := bench(t, bare, append(args, "-dry-run")...)
	if err != nil {
		t.Fatal(err)
	}
	if dryCalls(stdout, "lightrag-local index") != "no" || dryCalls(stdout, "lightrag index") == "no" {
		t.Errorf("an extraction that is shared is counted twice:\n%s", stdout)
	}
	before := len(server.Requests())
	if _, _, err := bench(t, bare, args...); err != nil && !errors.Is(err, errIncomplete) {
		t.Fatal(err)
	}
	asked := len(server.Requests()) - before - 2 // a sign of life of each model
	expected, err := strconv.Atoi(strings.ReplaceAll(dryCalls(stdout, "total"), ",", ""))
	if err != nil || math.Abs(float64(asked-expected)) > .15*float64(asked) {
		t.Errorf("%d calls were made, %d expected, %v:\n%s", asked, expected, err, stdout)
	}
}

// A part stands for the whole: of ten questions of a type three are asked.
func TestDryRunOfAPart(t *testing.T) {
	s, err := parse([]string{"-dry-run", "-model", "m", "-systems", "bm25,hipporag2", "-domains", "seafaring"}, bare, io.Discard, all.Names())
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := load(s)
	if err != nil {
		t.Fatal(err)
	}
	var items []benchmark.Item
	for i := range 10 {
		it := set.Domains[0].Items[0]
		it.Question.ID, it.Question.Text = fmt.Sprint("q", i), fmt.Sprint(it.Question.Text, " ", i)
		items = append(items, it)
	}
	set.Domains[0].Items = items
	p, err := newParts(s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := dryRun(t.Context(), &out, s, set, p, nil); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{"bm25 answer", "hipporag2 answer", "hipporag2 search"} {
		if got := dryCalls(out.String(), stage); got != "10" {
			t.Errorf("%s: %s calls, want 10:\n%s", stage, got, &out)
		}
	}
}
