// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/dry"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// agentServer is a model that searches three times and ends, and judges.
func agentServer(t *testing.T, before func(n int, req llm.Request)) (asked func() (n, prompt int, again int)) {
	t.Helper()
	var mu sync.Mutex
	seen := make(map[string]int)
	n, prompt := 0, 0
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		data, err := json.Marshal(req)
		if err != nil {
			t.Error(err)
		}
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
		if text, ok := dry.Grader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		if req.SchemaName == agent.StageSearch {
			req.Stage = agent.StageSearch
			return llm.Reply{Text: dry.Extracted(req)}
		}
		last := req.Messages[len(req.Messages)-1].Text // of another length from system to system
		return llm.Reply{Text: fmt.Sprintf("So it is, in %d words [1]. And that was that, as the passages say at some length, with names and with dates, more than once.", len(strings.Fields(last)))}
	}})
	t.Cleanup(server.Close)
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk")
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
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := bench(t, bare, args...); err != nil && !errors.Is(err, lab.ErrIncomplete) {
		t.Fatalf("%v\n%s", err, stderr)
	}
	n, prompt, again := asked()
	row := dryRow(t, estimate, "total")
	for i, got := range []int{n - 1, prompt} { // without a sign of life
		if math.Abs(float64(row[i]-got)) > .2*float64(got) {
			t.Errorf("%d are asked, %d were expected\n%s", got, row[i], estimate)
		}
	}
	if again > 0 {
		t.Errorf("%d calls were made twice", again)
	}
	if _, _, err := bench(t, bare, args...); err != nil && !errors.Is(err, lab.ErrIncomplete) {
		t.Fatal(err)
	}
	if m, _, _ := asked(); m != n {
		t.Errorf("a second run asked %d times", m-n)
	}
}

// A run that is killed in the middle of a search goes on, and pays for nothing twice but the
// call that was under way.
func TestKilledAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program")
	}
	var cmd *exec.Cmd
	asked := agentServer(t, func(n int, req llm.Request) {
		if n == 4 && cmd != nil { // the third turn of the first question
			if len(req.Messages) < 4 {
				t.Errorf("killed in another place: %d messages", len(req.Messages))
			}
			_ = cmd.Process.Kill()
		}
	})
	out := filepath.Join(t.TempDir(), "out")
	args := append([]string{"-out", out, "-cache", filepath.Join(t.TempDir(), "c")}, agentArgs...)
	cmd = child(args...)
	if err := cmd.Run(); err == nil {
		t.Fatal("it was not killed")
	}
	cmd = nil
	if text, err := child(args...).CombinedOutput(); err != nil {
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != lab.ExitIncomplete {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	if n, _, again := asked(); again > 2 || n < 20 { // the sign of life, and the call under way
		t.Errorf("%d of %d calls were made twice", again, n)
	}
}
