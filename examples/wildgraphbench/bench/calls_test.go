// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// askedAs tells a request that lacks a temperature, the seed, or the schema of a reply that
// has a form.
func askedAs(t *testing.T, req llm.Request) {
	form := strings.Contains(req.Messages[0].Text+req.Messages[len(req.Messages)-1].Text, "JSON object")
	check.True(t, req.Temperature != nil && *req.Temperature == 0 && req.Seed != nil &&
		(!form || len(req.Schema) != 0), "asked without a temperature, seed or schema: %+v", req)
}

// Each system makes as many calls as its entry in the registry says, at a server that
// speaks HTTP, over a corpus in which no two chunks have a name in common: there is one
// community for each chunk, and nothing to merge or to summarize.
func TestCallsOfSystems(t *testing.T) {
	grader := judgetest.Grader{
		Fact:       func(_, _ string) bool { return true },
		Statements: func(string) []string { return []string{"One thing."} },
		Same:       func(_, predicted string) bool { return predicted == "One thing." },
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-18s %7s %9s %8s %14s %16s\n", "system", "chunks", "to index", "a chunk", "to search", "tokens indexed")
	for _, sys := range all.Systems() {
		server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
			askedAs(t, req)
			if text, ok := grader.Reply(req); ok {
				return llm.Reply{Text: text}
			}
			return baselinestest.Obedient(req)
		}})
		t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
		t.Setenv("OPENAI_API_KEY", "sk")
		dir := t.TempDir()
		args := []string{"-out", dir, "-domains", "seafaring", "-limit", "1", "-systems", sys.Name, "-model", "m", "-no-timings"}
		if sys.Name == "hipporag2" { // vectors find a fact for every question
			args = append(args, "-embed-model", "e")
		}
		_, stderr, err := bench(t, bare, args...)
		server.Close()
		if err != nil {
			t.Errorf("%s: %v\n%s", sys.Name, err, stderr)
			continue
		}
		s := readReport(t, dir).Systems[0]
		index, questions := s.Domains[0].Index, s.Overall.Types["all"].N
		if got := index.Calls; got != sys.Calls.Chunk*index.Chunks+sys.Calls.Once {
			t.Errorf("%s makes %d calls to index %d chunks, want %d each and %d", sys.Name, got, index.Chunks, sys.Calls.Chunk, sys.Calls.Once)
		}
		search := s.AnswerUsage.Calls - questions // each has one call to read
		check.True(t, search == sys.Calls.Question*questions,
			"%s makes %d calls to search for %d questions, want %d each", sys.Name, search, questions, sys.Calls.Question)
		fmt.Fprintf(&table, "%-18s %7d %9d %8.1f %14d %16d\n", sys.Name, index.Chunks, index.Calls, float64(index.Calls)/float64(max(1, index.Chunks)), search, index.PromptTokens+index.CompletionTokens)
	}
	t.Logf("\n%s", &table)
}
