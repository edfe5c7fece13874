// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// dryRow is a row of an estimate: calls, prompt tokens, reply tokens, embedded
// tokens, all 0 if it has none.
func dryRow(t *testing.T, estimate, stage string) (row [4]int) {
	t.Helper()
	for line := range strings.Lines(estimate) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), stage+" ")
		if !ok {
			continue
		}
		fields := strings.Fields(strings.ReplaceAll(rest, ",", ""))
		for i, f := range fields[len(fields)-4:] {
			n := check.Of(strconv.Atoi(f)).OK(t, "%q", line)
			row[i] = n
		}
	}
	return row
}

// An estimate counts what a run with a model asks: every system alone, and what
// several share once.
func TestDryRunFollowsTheRun(t *testing.T) {
	server := serve(t, func(req llm.Request) llm.Reply {
		if text, ok := setup.DryGrader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		// A server knows of the stage what the schema's name and the prompt tell.
		if strings.Contains(req.Messages[0].Text, "entity<|#|>") {
			req.Stage = extract.StageRecords
		}
		for _, stage := range []string{extract.StageEntities, extract.StageTriples, lightrag.StageKeywords, hipporag2.StageFilter} {
			if strings.ReplaceAll(stage, " ", "_") == req.SchemaName {
				req.Stage = stage
			}
		}
		return llm.Reply{Text: setup.DryReply(req)}
	})
	args := []string{"-out", t.TempDir(), "-domains", "seafaring", "-limit", "1", "-systems", "lightrag,lightrag-local,hipporag2", "-model", "m"}
	stdout, _, err := bench(t, bare, append(args, "-dry-run")...)
	check.OK(t, err)
	if dryRow(t, stdout, "lightrag-local index")[0] != 0 || dryRow(t, stdout, "lightrag index")[0] == 0 {
		t.Errorf("an extraction that is shared is counted twice:\n%s", stdout)
	}
	before := len(server.Requests())
	_, _, err = bench(t, bare, args...)
	check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v", err)
	asked := len(server.Requests()) - before - 1 // a sign of life
	expected := dryRow(t, stdout, "total")[0]
	check.True(t, math.Abs(float64(asked-expected)) <= .15*float64(asked), "%d calls were made, %d expected:\n%s", asked, expected, stdout)
}

// A part stands for the whole: of ten questions of a type three are asked.
func TestDryRunOfAPart(t *testing.T) {
	s := check.Of(parseFlags([]string{"-dry-run", "-model", "m", "-systems", "bm25,hipporag2", "-domains", "seafaring"}, bare, io.Discard, all.Names())).OK(t)
	set := check.Of(loaded(t.Context(), s)).OK(t)
	var items []benchmark.Item
	for i := range 10 {
		it := set.Domains[0].Items[0]
		it.Question.ID, it.Question.Text = fmt.Sprint("q", i), fmt.Sprint(it.Question.Text, " ", i)
		items = append(items, it)
	}
	set.Domains[0].Items = items
	p := check.Of(newParts(t.Context(), s, set, slog.New(slog.DiscardHandler))).OK(t)
	var out strings.Builder
	check.OK(t, p.DryRun(t.Context(), &out, set, nil, s.runners(set, p)))
	for _, stage := range []string{"bm25 answer", "hipporag2 answer", "hipporag2 search"} {
		got := dryRow(t, out.String(), stage)[0]
		check.Equal(t, got, 10, "%s: %d calls, want 10:\n%s", stage, got, &out)
	}
}

// What an estimate says of calls and tokens is what a careful model takes that
// replies as one was recorded to.
func TestDryRunOfARecordedModel(t *testing.T) {
	check.Long(t)
	recorded := asRecorded(llmtest.Calls(t))
	count := tokens.Cl100k().Count
	var mu sync.Mutex
	var taken map[string]llm.Usage
	serve(t, func(req llm.Request) llm.Reply {
		_, stage := recordedKind(req.Messages[0].Text)
		if stage == "" {
			text, _ := setup.DryGrader.Reply(req)
			return llm.Reply{Text: text}
		}
		u := llm.Usage{Calls: 1, PromptTokens: count(string(req.Schema))}
		for _, m := range req.Messages {
			u.PromptTokens += count(m.Text)
		}
		text := recorded.Reply(req)
		u.CompletionTokens = count(text)
		mu.Lock()
		taken[stage] = taken[stage].Add(u)
		mu.Unlock()
		return llm.Reply{Text: text}
	})
	for _, system := range []string{"bm25", "fastgraphrag", "msgraphrag-local", "msgraphrag-global", "lightrag", "hipporag2", "zeroshot"} {
		taken = map[string]llm.Usage{}
		args := []string{"-out", t.TempDir(), "-domains", "seafaring", "-limit", "2", "-systems", system, "-model", "m"}
		estimate, _, err := bench(t, bare, append(args, "-dry-run")...)
		check.OK(t, err)
		_, _, err = bench(t, bare, args...)
		check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v", err)
		var sum llm.Usage
		var expected [4]int
		for _, stage := range []string{"index", "search", "answer"} {
			row := dryRow(t, estimate, system+" "+stage)
			t.Logf("%-18s %-7s %+v, expected %v", system, stage, taken[stage], row)
			sum = sum.Add(taken[stage])
			for i, n := range row {
				expected[i] += n
			}
		}
		for _, x := range []struct {
			what            string
			taken, expected int
			within          float64
		}{
			{"calls", sum.Calls, expected[0], .1}, {"prompt tokens", sum.PromptTokens, expected[1], .15}, {"reply tokens", sum.CompletionTokens, expected[2], .25},
		} {
			check.True(t, math.Abs(float64(x.expected-x.taken)) <= x.within*float64(x.taken),
				"%s: %d %s, expected %d", system, x.taken, x.what, x.expected)
		}
	}
}

// What the first command says of models is what a dry run finds.
func TestSampleTakes(t *testing.T) {
	check.Long(t)
	stdout, _, err := bench(t, bare, "-dry-run", "-model", "m", "-out", t.TempDir())
	check.OK(t, err)
	_, total, _ := strings.Cut(stdout, " total ")
	var figures []float64
	for _, field := range strings.Fields(total)[:3] {
		n := check.Of(strconv.ParseFloat(strings.ReplaceAll(field, ",", ""), 64)).OK(t)
		figures = append(figures, n)
	}
	for said, found := range map[float64]float64{sampleCalls: figures[0], sampleTokens: figures[1] + figures[2]} {
		check.True(t, found >= .85*said && found <= 1.15*said, "%v is said, a dry run finds %v", said, found)
	}
}
