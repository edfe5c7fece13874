// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
)

// agentServer is a model that searches three times and ends, and judges.
func agentServer(t *testing.T, before func(n int, req llm.Request)) (asked func() (n, prompt int, again int)) {
	t.Helper()
	var mu sync.Mutex
	seen := make(map[string]int)
	n, prompt := 0, 0
	serve(t, func(req llm.Request) llm.Reply {
		data, err := json.Marshal(req)
		check.True(t, err == nil, "%v", err)
		mu.Lock()
		n++
		seen[string(data)]++
		prompt += tokens.Cl100k().Count(string(req.Schema))
		for _, m := range req.Messages {
			prompt += tokens.Cl100k().Count(m.Text)
		}
		at := n
		mu.Unlock()
		if before != nil {
			before(at, req)
		}
		if text, ok := setup.DryGrader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		if req.SchemaName == agent.StageSearch {
			req.Stage = agent.StageSearch
			return llm.Reply{Text: setup.DryReply(req)}
		}
		last := req.Messages[len(req.Messages)-1].Text // of another length from system to system
		return llm.Reply{Text: fmt.Sprintf("So it is, in %d words [1]. And that was that, as the passages say at some length, with names and with dates, more than once.", len(strings.Fields(last)))}
	})
	return func() (int, int, int) {
		mu.Lock()
		defer mu.Unlock()
		again := 0
		for _, times := range seen {
			again += times - 1
		}
		return n, prompt, again
	}
}

var agentArgs = []string{"-domains", "seafaring", "-limit", "2", "-systems", "agentic:wild,agentic:bm25,files,context", "-model", "m", "-no-timings", "-concurrency", "1"}

// A dry run of agents is within a fifth of what is then asked, and a second run asks nothing.
func TestDryRunOfAgents(t *testing.T) {
	asked := agentServer(t, nil)
	args := append([]string{"-out", t.TempDir()}, agentArgs...)
	estimate, _, err := bench(t, bare, append(args, "-dry-run")...)
	check.OK(t, err)
	_, stderr, err := bench(t, bare, args...)
	check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v\n%s", err, stderr)
	n, prompt, again := asked()
	row := dryRow(t, estimate, "total")
	for i, got := range []int{n - 1, prompt} { // without a sign of life
		check.True(t, math.Abs(float64(row[i]-got)) <= .2*float64(got), "%d are asked, %d were expected\n%s", got, row[i], estimate)
	}
	check.True(t, again <= 0, "%d calls were made twice", again)
	_, _, err = bench(t, bare, args...)
	check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v", err)
	m, _, _ := asked()
	check.Equal(t, m, n, "a second run asked %d times", m-n)
}

// A run that is killed in the middle of a search goes on, and pays for nothing twice but the
// call that was under way.
func TestKilledAgent(t *testing.T) {
	check.Long(t)
	var cmd *exec.Cmd
	asked := agentServer(t, func(n int, req llm.Request) {
		if n == 4 && cmd != nil { // the third turn of the first question
			check.True(t, len(req.Messages) >= 4, "killed in another place: %d messages", len(req.Messages))
			_ = cmd.Process.Kill()
		}
	})
	out := filepath.Join(t.TempDir(), "out")
	args := append([]string{"-out", out, "-cache", filepath.Join(t.TempDir(), "c")}, agentArgs...)
	cmd = child(args...)
	check.Must(t, cmd.Run() != nil, "it was not killed")
	cmd = nil
	if text, err := child(args...).CombinedOutput(); err != nil {
		exit := (*exec.ExitError)(nil)
		check.Must(t, errors.As(err, &exit) && exit.ExitCode() == setup.ExitIncomplete, "%v\n%s", err, text)
	}
	if n, _, again := asked(); again > 2 || n < 20 { // the sign of life, and the call under way
		t.Errorf("%d of %d calls were made twice", again, n)
	}
}

// Each question is asked three times, each time with another seed; the report says how many
// verdicts stay, and takes four questions for no more than four. A second run asks nothing.
func TestRepeat(t *testing.T) {
	var mu sync.Mutex
	seeds := make(map[int64]int)
	n := 0
	serve(t, func(req llm.Request) llm.Reply {
		mu.Lock()
		defer mu.Unlock()
		n++
		if strings.HasPrefix(req.SchemaName, "judge") {
			right := judgetest.Grader{Fact: func(_, answer string) bool { return strings.Contains(answer, "right") }}
			text, _ := right.Reply(req)
			return llm.Reply{Text: text}
		}
		if strings.HasSuffix(req.Messages[0].Text, "the word ready.") {
			return llm.Reply{Text: "ready"}
		}
		seeds[*req.Seed]++
		if *req.Seed == 7+2 && strings.Contains(req.Messages[len(req.Messages)-1].Text, "Question: How") {
			return llm.Reply{Text: "It is wrong [1]."}
		}
		return llm.Reply{Text: "It is right [1]."}
	})
	dir := t.TempDir()
	data, docs := filepath.Join(dir, "q.jsonl"), filepath.Join(dir, "docs")
	check.OK(t, errors.Join(os.Mkdir(docs, 0o700), os.WriteFile(filepath.Join(docs, "tide.md"), []byte("The tide rises twice a day."), 0o600),
		os.WriteFile(data, []byte(`{"question": "How often does the tide rise?", "answer": "Twice."}
{"question": "What rises?", "answer": "The tide."}
{"question": "When does it rise?", "answer": "Twice a day."}
{"question": "Who sees the tide?", "answer": "Nobody."}`), 0o600)))
	args := []string{"-questions", data, "-docs", docs, "-systems", "bm25", "-model", "m", "-seed", "7", "-no-timings", "-out", filepath.Join(dir, "out")}
	// Offline the seed is that of the index, and changes nothing of words. Why a judge by words
	// has no verdict on "Nobody." stands on the screen.
	offline, told, err := bench(t, bare, append(args[:4:4], "-systems", "bm25,naiverag", "-repeat", "3", "-out", filepath.Join(dir, "offline"))...)
	check.True(t, errors.Is(err, setup.ErrIncomplete) && *readReport(t, filepath.Join(dir, "offline")).Systems[0].Same == 1 && strings.Contains(offline, "Another seed changes no answer and no ranking of") && strings.Contains(offline, "mostly by: the reference holds no word") && strings.Contains(told, "fewer than 10"),
		"offline: %v\n%s", err, offline)
	args = append(args, "-repeat", "3")
	estimate, _, err := bench(t, bare, append(args, "-dry-run")...)
	check.True(t, err == nil && dryRow(t, estimate, "bm25 answer")[0] == 12, "%v\n%s", err, estimate)
	_, stderr, err := bench(t, bare, args...)
	check.OK(t, err, "%v\n%s", err, stderr)
	want := map[int64]int{7: 4, 8: 4, 9: 4}
	check.Equal(t, seeds, want, "seeds")
	s := readReport(t, filepath.Join(dir, "out")).Systems[0]
	all := s.Overall.Types["all"]
	if s.Same == nil || *s.Same != .75 || all.N != 12 || math.Abs(*all.Accuracy-11./12) > 1e-9 || all.Intervals["accuracy"] != (report.Interval{}) {
		t.Errorf("accuracy %v of %d, same %v", *all.Accuracy, all.N, *s.Same)
	}
	before := n
	_, _, err = bench(t, bare, args...)
	check.True(t, err == nil && n == before, "a second run asked %d times, %v", n-before, err)
}
