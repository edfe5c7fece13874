// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// recordedKinds tell the calls of systems apart by what their prompts ask for,
// those of now and those that were recorded, with the stage they belong to.
var recordedKinds = []struct{ kind, stage, mark string }{
	{"tuples", "index", `("entity"<|>`},
	{"lines", "index", "entity<|#|>"},
	{"objects", "index", `"other_relationships"`},
	{"triples", "index", `{"triples": [[`},
	{"names", "index", `{"named_entities": [`},
	{"report", "index", `"rating_explanation": `},
	{"describe", "index", "You make one description of several"},
	{"filter", "search", `{"fact": [[`},
	{"keywords", "search", `{"high_level_keywords": [`},
	{"parts", "search", `{"named": [`},
	{"points", "search", `{"points": [{`},
	{"answer", "answer", "You answer questions for people who will check"},
}

// recordedKind is the kind and the stage of a call with this system message; both
// are empty of one that was not recorded, such as a judge's.
func recordedKind(system string) (kind, stage string) {
	for _, k := range recordedKinds {
		if strings.Contains(system, k.mark) {
			return k.kind, k.stage
		}
	}
	return "", ""
}

// replay answers as a recorded model did to the call of the same kind with most words in
// common.
type replay map[string][]recorded

type recorded struct {
	words map[string]bool
	more  bool // a second look at a passage
	reply string
}

func newRecorded(user, reply string) recorded {
	words := make(map[string]bool)
	for _, w := range strings.Fields(user) {
		words[w] = true
	}
	return recorded{words, strings.Contains(user, "are still missing"), reply}
}

// asRecorded sorts recorded calls by their kind.
func asRecorded(calls []llmtest.Call) replay {
	r := replay{}
	for _, c := range calls {
		kind, _ := recordedKind(c.System)
		r[kind] = append(r[kind], newRecorded(c.User, c.Reply))
	}
	return r
}

// Reply is the reply to a request, "" if no call of its kind was recorded.
func (r replay) Reply(req llm.Request) string {
	var asked []string
	for _, m := range req.Messages {
		if m.Role == llm.User {
			asked = append(asked, m.Text)
		}
	}
	kind, _ := recordedKind(req.Messages[0].Text)
	of, best, reply := newRecorded(strings.Join(asked, "\n"), ""), -1.0, ""
	of.more = of.more || len(asked) > 1
	for _, c := range r[kind] {
		same := 0
		for w := range of.words {
			if c.words[w] {
				same++
			}
		}
		if like := float64(same) / float64(len(of.words)+len(c.words)); c.more == of.more && like > best {
			best, reply = like, c.reply
		}
	}
	return reply
}

// An address that cannot be one is a wrong command line, not a failed run.
func TestBadBaseURLIsAWrongCommandLine(t *testing.T) {
	for _, url := range []string{"localhost:80 80", "ftp://h", "http://10.0.0.1/v1", "http://me:secret@127.0.0.1/v1", "::"} {
		t.Setenv("OPENAI_BASE_URL", url)
		_, _, err := bench(t, bare, "-model", "m", "-out", t.TempDir(), "-cache", filepath.Join(t.TempDir(), "c"))
		var out strings.Builder
		status := setup.Status(&out, "wildgraphbench", err)
		check.True(t, status == cli.WrongUsage && !strings.Contains(out.String(), "secret"), "%s: status %d: %s", url, status, &out)
	}
}

// The ledger replaces a link, and does not write through it; one flag bounds all
// calls in flight.
func TestLedgerFileAndCallsInFlight(t *testing.T) {
	const most = 2
	inFlight := make(chan struct{}, most)
	serve(t, func(req llm.Request) llm.Reply {
		select {
		case inFlight <- struct{}{}:
			defer func() { <-inFlight }()
			time.Sleep(2 * time.Millisecond)
		default:
			t.Errorf("more than %d calls at a time", most)
		}
		return llmtest.Default(req)
	})
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	check.OK(t, os.WriteFile(victim, []byte("mine"), 0o600))
	if err := os.Symlink(victim, filepath.Join(dir, cli.LedgerName)); err != nil {
		t.Skip(err)
	}
	_, stderr, _ := bench(t, bare, "-out", dir, "-domains", "seafaring", "-limit", "1", "-systems", "bm25,hipporag2", "-model", "m", "-concurrency", "2")
	data, err := os.ReadFile(victim)
	check.True(t, err == nil && string(data) == "mine", "the ledger was written through a link: %q, %v", data, err)
	info, err := os.Lstat(filepath.Join(dir, cli.LedgerName))
	check.True(t, err == nil && info.Mode().IsRegular(), "no ledger: %v\n%s", err, stderr)
}

// An incomplete record is reported; a folder that is removed ends the run at once.
func TestTornAndRemovedFolders(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-out", dir, "-domains", "seafaring", "-systems", "bm25", "-limit", "2"}
	if _, stderr, err := bench(t, bare, args...); err != nil || strings.Contains(stderr, "incomplete") {
		t.Fatalf("%v\n%s", err, stderr)
	}
	file := filepath.Join(dir, record.JournalName)
	data := check.Of(os.ReadFile(file)).OK(t)
	check.OK(t, os.WriteFile(file, data[:len(data)-3], 0o600))
	if _, stderr, err := bench(t, bare, args...); err != nil || strings.Count(stderr, "an incomplete record was removed") != 1 {
		t.Errorf("%v\n%s", err, stderr)
	}

	asked := 0
	var mu sync.Mutex
	serve(t, func(req llm.Request) llm.Reply {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked == 10 {
			check.OK(t, os.RemoveAll(dir))
		}
		return llmtest.Default(req)
	})
	_, stderr, err := bench(t, bare, "-out", dir, "-domains", "seafaring", "-systems", "bm25", "-model", "m", "-concurrency", "1")
	check.Is(t, err, journal.ErrGone, "%v\n%s", err, stderr)
	check.True(t, asked <= 12, "%d calls were made after the folder was gone", asked-10)
}

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
	count := text.Cl100k().Count
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
