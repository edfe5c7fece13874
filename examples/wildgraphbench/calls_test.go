// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Each system makes as many calls as its description says, at a server that
// speaks HTTP, over a corpus in which no two chunks have a name in common: so
// there is one community to each chunk, and nothing to merge or to condense.
func TestCallsOfSystems(t *testing.T) {
	grader := judgetest.Grader{
		Fact:       func(_, _ string) bool { return true },
		Statements: func(string) []string { return []string{"One thing."} },
		Same:       func(_, predicted string) bool { return predicted == "One thing." },
	}
	type cost struct{ perChunk, toSearch, once int }
	want := map[string]cost{
		"naiverag": {}, "bm25": {}, "linearrag": {}, "zeroshot": {},
		"wild":     {},                                // none of these questions asks for an overview by its wording
		"hipporag": {2, 1, 0}, "hipporag2": {2, 1, 0}, // names, triples; names of the question, or the filter
		"fastgraphrag": {1, 1, 0},                                                                                       // no gleaning; entities of the question
		"lightrag":     {1, 1, 0}, "lightrag-local": {1, 1, 0}, "lightrag-global": {1, 1, 0}, "lightrag-mix": {1, 1, 0}, // no gleaning where all is written; keywords
		"gear": {2, 3, 0}, "gear-original": {2, 3, 0}, // names, triples; read, reflect, filter
		"msgraphrag-local":   {1 + 1, 0, 0},         // a report
		"msgraphrag-global":  {1 + 1, 1, 0},         // one batch of reports
		"msgraphrag-dynamic": {1 + 1, 19 + 1, 0},    // a rating of each report
		"msgraphrag-drift":   {1 + 1, 1 + 5 + 5, 0}, // a hypothetical answer, folds of reports, a follow-up of each
		"hipporag-ircot":     {2, 2 + 2, 0},         // names of the question and of a thought, which is had again
		"youtu":              {1, 3, 2},             // decompose, draft, one reflection; a schema, a batch of names
		"youtu-noagent":      {1, 1, 2},
		"e2graphrag":         {0, 0, 0}, // each page is one chunk
		"gretriever":         {2, 0, 0},
		"raptor":             {0, 0, 18}, // summaries, one for ten leaves of these short pages
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-18s %7s %9s %8s %14s %16s\n", "system", "chunks", "to index", "a chunk", "to search", "tokens indexed")
	for _, sys := range all.Systems() {
		server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
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
		w, ok := want[sys.Name]
		if !ok {
			t.Errorf("%s: how many calls should it make?", sys.Name)
			continue
		}
		if got := index.Calls; got != w.perChunk*index.Chunks+w.once {
			t.Errorf("%s makes %d calls to index %d chunks, want %d each and %d", sys.Name, got, index.Chunks, w.perChunk, w.once)
		}
		search := s.AnswerUsage.Calls - questions // each has one call to read
		if search != w.toSearch*questions {
			t.Errorf("%s makes %d calls to search for %d questions, want %d each", sys.Name, search, questions, w.toSearch)
		}
		fmt.Fprintf(&table, "%-18s %7d %9d %8.1f %14d %16d\n", sys.Name, index.Chunks, index.Calls, float64(index.Calls)/float64(max(1, index.Chunks)), search, index.PromptTokens+index.CompletionTokens)
	}
	t.Logf("\n%s", &table)
}
