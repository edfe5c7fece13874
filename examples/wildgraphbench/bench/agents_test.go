// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// agentServer is a model that searches three times and then answers, and that judges.
func agentServer(t *testing.T, before func(n int, req llm.Request)) (asked func() (n, prompt int, again int)) {
	t.Helper()
	var mu sync.Mutex
	seen := make(map[string]int)
	n, prompt := 0, 0
	serve(t, func(req llm.Request) llm.Reply {
		data := check.Of(json.Marshal(req)).OK(t)
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
		last := req.Messages[len(req.Messages)-1].Text // its length differs between systems
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

// A dry run's estimate for agents is within a fifth of the run's calls, and a second run makes no calls.
func TestDryRunOfAgents(t *testing.T) {
	asked := agentServer(t, nil)
	args := append([]string{"-out", t.TempDir()}, agentArgs...)
	estimate, _, err := bench(t, bare, append(args, "-dry-run")...)
	check.OK(t, err)
	_, stderr, err := bench(t, bare, args...)
	check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v\n%s", err, stderr)
	n, prompt, again := asked()
	row := dryRow(t, estimate, "total")
	for i, got := range []int{n - 1, prompt} { // without the call that tests the server
		check.True(t, math.Abs(float64(row[i]-got)) <= .2*float64(got), "%d are asked, %d were expected\n%s", got, row[i], estimate)
	}
	check.True(t, again <= 0, "%d calls were made twice", again)
	_, _, err = bench(t, bare, args...)
	check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v", err)
	m, _, _ := asked()
	check.Equal(t, m, n, "a second run asked %d times", m-n)
}

// A run that is killed in the middle of a search continues, and pays twice only for the call that was running.
func TestKilledAgent(t *testing.T) {
	check.Long(t)
	var cmd *exec.Cmd
	asked := agentServer(t, func(n int, req llm.Request) {
		if n == 4 && cmd != nil { // kills in the third turn of the first question
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
	if n, _, again := asked(); again > 2 || n < 20 { // at most the call that tests the server, and the call that was running
		t.Errorf("%d of %d calls were made twice", again, n)
	}
}

// With -repeat 3 each question is asked three times, each with another seed. The report says how many verdicts
// are equal, and counts four questions as four. A second run makes no calls.
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
	// Offline the seed affects the index only, and not search by words. The screen shows why a judge by words
	// has no verdict on "Nobody.".
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

// files writes files into a new folder.
func files(t *testing.T, byName map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range byName {
		name = filepath.Join(dir, filepath.FromSlash(name))
		check.OK(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
	}
	return dir
}

const ownQuestions = `{"question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}
{"question": "What does a red light mean?", "answer": "There is no internet."}
{"question": "What is told of otters?", "statements": ["Otters hold hands."], "gold": ["otters.txt"]}
{"question": "Where are the crabs?", "gold": ["otters.txt"]}
`

func ownData(t *testing.T) (questions, docs string) {
	dir := files(t, map[string]string{
		"mine.jsonl": ownQuestions, "docs/owls.md": "# Owls\n\nBarn owls hunt by ear.\n", "docs/otters.txt": "Otters hold hands. Otters eat crabs.",
		"docs/router.html": "<h1>Router</h1><p>A red light means there is no internet.</p>",
	})
	return filepath.Join(dir, "mine.jsonl"), filepath.Join(dir, "docs")
}

// Questions of the user are run, resumed, estimated and compared with predictions; figures that they do not
// allow are not computed.
func TestOwnData(t *testing.T) {
	questions, docs := ownData(t)
	out := t.TempDir()
	args := []string{"-questions", questions, "-docs", docs, "-systems", "bm25", "-out", out}
	stdout, stderr, err := bench(t, bare, args...)
	if err != nil || !strings.Contains(stdout, "bm25  ") || !strings.Contains(stderr, "mine: 1 domain, 3 pages (0.0 MB), 4 questions.") {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	types := readReport(t, out).Systems[0].Overall.Types
	for key, want := range map[string]string{"single-fact": "2 1.00 true", "summary": "1 1.00 false", "search": "1 1.00 false"} {
		r, ok := types[key].Figure("evidence_recall_at_5")
		a, judged := types[key].Figure("accuracy")
		if n := types[key].N; !ok || r != 1 || judged && a != 1 || (strings.HasSuffix(want, "true")) != judged || want[0] != byte('0'+n) {
			t.Errorf("%s: %d questions, recall %v %v, accuracy %v %v", key, n, r, ok, a, judged)
		}
	}
	stdout, _, err = bench(t, bare, args...)
	check.True(t, err == nil && strings.Contains(stdout, "Nothing to do, 4 answers"), "again: %v\n%s", err, stdout)
	stdout, _, err = bench(t, bare, append(args, "-dry-run")...)
	check.True(t, err == nil && strings.Contains(stdout, "makes no call"), "-dry-run: %v\n%s", err, stdout)
	mine := filepath.Join(files(t, map[string]string{"mine.jsonl": `{"question": "How do barn owls hunt?", "answer": "by ear", "evidence": ["owls.md"]}`}), "mine.jsonl")
	stdout, _, err = bench(t, bare, append(args, "-score", "mine="+mine, "-partial")...)
	check.True(t, err == nil && strings.Contains(stdout, "Not ranked: mine (n = 1)"), "-score: %v\n%s", err, stdout)
	r, _ := readReport(t, out).Systems[1].Overall.Types["single-fact"].Figure("evidence_recall_at_5")
	check.Equal(t, r, 1, "recall of the predictions")
}

// A gold page may be a PDF, as for ask; an unknown key in the file is reported.
func TestOwnPDF(t *testing.T) {
	page := check.Of(os.ReadFile("testdata/warranty.pdf")).OK(t)
	dir := files(t, map[string]string{"docs/warranty.pdf": string(page), "docs/owls.md": "Barn owls hunt by ear.",
		"mine.jsonl": `{"question": "How long does the warranty of the tide clock last?", "answer": "five years", "gold": ["warranty.pdf"], "golden": 1}`})
	stdout, stderr, err := bench(t, bare, "-questions", filepath.Join(dir, "mine.jsonl"), "-docs", filepath.Join(dir, "docs"), "-systems", "bm25", "-out", t.TempDir())
	check.True(t, err == nil && strings.Contains(stdout, "bm25  ") && strings.Contains(stderr, "2 pages") &&
		strings.Contains(stderr, `mine.jsonl:1: unknown key "golden" ignored`), "%v\n%s%s", err, stdout, stderr)
}

// A folder in BEIR's layout is recognized by its files, and systems are ranked by nDCG@10.
func TestBEIR(t *testing.T) {
	dir := files(t, map[string]string{
		"corpus.jsonl":   `{"_id": "d1", "text": "Barn owls hunt mice."}` + "\n" + `{"_id": "d2", "text": "Otters eat crabs."}`,
		"queries.jsonl":  `{"_id": "q1", "text": "who eats crabs"}`,
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td2\t2\n",
	})
	stdout, _, err := bench(t, bare, "-data", dir, "-systems", "bm25", "-out", t.TempDir(), "-min", "ndcg_at_10=1")
	if err != nil || !strings.Contains(stdout, "nDCG at 10, %") || !strings.Contains(stdout, "bm25    100.00") || strings.Contains(stdout, "Accuracy") {
		t.Errorf("%v\n%s", err, stdout)
	}
}

func TestOwnDataUsage(t *testing.T) {
	questions, docs := ownData(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-questions", questions}, "go together"},
		{[]string{"-docs", docs}, "go together"},
		{[]string{"-questions", questions, "-docs", docs, "-data", docs}, "give one data set"},
		{[]string{"-questions", questions, "-docs", docs, "-domains", "a"}, "mine.jsonl has one domain"},
		{[]string{"-questions", questions, "-docs", filepath.Dir(docs)}, "may be indexed: move it out"},
		{[]string{"-questions", questions, "-docs", questions}, "may be indexed: move it out"},
		{[]string{"-questions", questions, "-docs", docs + "x"}, "-docs: "},
		{[]string{"-data", questions}, "is not a folder"},
	} {
		_, _, err := bench(t, bare, append(tt.args, "-out", t.TempDir())...)
		check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), tt.want), "%v: %v, want %q", tt.args, err, tt.want)
	}
}

// A file whose figures are misleading is reported, and no best is marked among its equal rows.
func TestUnfitQuestions(t *testing.T) {
	dir := t.TempDir()
	docs := filepath.Join(dir, "docs")
	check.OK(t, errors.Join(os.Mkdir(docs, 0o700), os.WriteFile(filepath.Join(docs, "tide.md"), []byte("The tide rises twice a day. There are 40 berths, for guests and members."), 0o600)))
	const tide, berths = `{"question": "How often does the tide rise?", "answer": "Twice a day."}`, `{"question": "How many berths are there?", "answer": "40"}`
	const without, yes = `{"question": "Who owns the pier?", "unanswerable": true}`, `{"question": "Is the tide high?", "answer": "no"}`
	for name, tt := range map[string]struct {
		lines []string
		mode  string
		want  []string // part of the output or of the error
		not   string
	}{
		"one":          {[]string{tide}, "open", []string{"1 question: with fewer than 10", "Too few questions to tell which is better: 1."}, "repeat"},
		"twice":        {slices.Repeat([]string{tide, berths}, 6), "open", []string{"10 of 12 questions repeat an earlier one", "Level with it: 1 system"}, "fewer than"},
		"unanswerable": {[]string{tide, without, yes}, "open", []string{"1 of 3 questions have no answer, but -mode open answers them"}, "repeat"},
		"refusing":     {[]string{tide, without}, "reject", []string{"2 questions: with fewer than 10"}, "have no answer"},
		"empty":        {[]string{tide, `{"question": "What?", "answer": " "}`}, "open", []string{"q.jsonl:2: nothing to judge by"}, "Report"},
		"a number":     {[]string{tide, `{"question": "What?", "answer": 40}`}, "open", []string{"q.jsonl:2: answer is a JSON number, want a text"}, "Report"},
		"a list":       {[]string{`{"question": "What?", "answer": ["guests", "members"]}`}, "open", []string{"q.jsonl:1: answer is a JSON array, want a text"}, "Report"},
		"none has one": {[]string{yes}, "open", []string{"Lexical accuracy, %", "0.00"}, "**"},
	} {
		file := filepath.Join(t.TempDir(), "q.jsonl")
		check.OK(t, os.WriteFile(file, []byte(strings.Join(tt.lines, "\n")), 0o600))
		out := filepath.Join(filepath.Dir(file), "out")
		stdout, stderr, err := bench(t, bare, "-questions", file, "-docs", docs, "-systems", "bm25,naiverag", "-mode", tt.mode, "-out", out)
		tables, _ := os.ReadFile(filepath.Join(out, "report.md"))
		said := strings.Join(strings.Fields(fmt.Sprint(stdout, stderr, err)), " ")
		for _, want := range tt.want {
			check.Contains(t, said, want, "%s: no", name)
		}
		check.True(t, !strings.Contains(said, tt.not) && !strings.Contains(string(tables), "**"),
			"%s: %q, or a best of equal rows:\n%s\n%s", name, tt.not, said, tables)
	}
}

const chaosKey = "sk-chaos-0123456789abcdef"

// lasting are the troubles whose effects look like good replies: replies with another text, and figures that
// are never corrected. Money is exact in spite of them, but the report is of the replies received.
var lasting = []string{"echo", "garbage", "refusal", "key in the reply", "strange usage", "no usage"}

// chaos is the server of a chaos run, with its records of the client.
type chaos struct {
	*llmtest.Server

	mu    sync.Mutex
	acked map[string]bool
	again []string // requests repeated although the reply was on the client's disk
	left  int      // number of requests until the kill
	kill  func()
}

func newChaos(t *testing.T) *chaos {
	c := &chaos{}
	grader := judgetest.Grader{
		Fact:       func(reference, answer string) bool { return len(reference)%2 == 0 },
		Statements: func(string) []string { return []string{"One thing."} },
		Same:       func(_, predicted string) bool { return predicted == "One thing." },
	}
	c.Server = llmtest.NewServer(llmtest.ServerOptions{
		Key: chaosKey,
		Handler: func(req llm.Request) llm.Reply {
			c.serve("chat " + digestOf(messages(req)))
			if text, ok := grader.Reply(req); ok {
				return llm.Reply{Text: text}
			}
			return baselinestest.Obedient(req)
		},
		Embed: func(text string) []float32 {
			v := vectorOf(text)
			c.serve(vectorKey(v))
			return v
		},
	})
	t.Cleanup(c.Close)
	return c
}

func (c *chaos) serve(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.acked[key] {
		c.again = append(c.again, key)
	}
	if c.left--; c.left == 0 && c.kill != nil {
		go c.kill()
	}
}

// start runs the program to its end, or kills it at a request.
func (c *chaos) start(t *testing.T, dir string, killAt int, more ...string) (out []byte, killed bool) {
	t.Helper()
	cmd := child(append([]string{"-no-timings", "-systems", "naiverag,hipporag2", "-domains", "seafaring", "-limit", "1",
		"-model", "m", "-embed-model", "e", "-out", dir, "-cache", filepath.Join(dir, cacheName)}, more...)...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+c.OpenAIURL(), "OPENAI_API_KEY="+chaosKey)
	var once sync.Once
	c.mu.Lock()
	c.left, c.kill = killAt, func() { once.Do(func() { _ = cmd.Process.Kill() }) }
	c.mu.Unlock()
	out, err := cmd.CombinedOutput()
	c.mu.Lock()
	c.left, c.kill = 0, nil
	c.mu.Unlock()
	check.True(t, !strings.Contains(string(out), chaosKey), "the key is shown:\n%s", out)
	exit, _ := err.(*exec.ExitError)
	return out, exit != nil && exit.ExitCode() < 0
}

// audit compares the client's ledger with the server's bill, and reads what is on its disk.
func (c *chaos) audit(t *testing.T, dir string, before llm.Usage) (more int) {
	t.Helper()
	name := filepath.Join(dir, cacheName)
	if data, err := os.ReadFile(name); err != nil {
		return 0 // the program was killed before its first call
	} else if strings.Contains(string(data), chaosKey) {
		t.Error("the key is kept")
	}
	client := check.Of(paid.Open(paid.Options{File: name, Run: dir})).OK(t)
	a, bill := client.Account(), c.Bill().Total
	check.OK(t, client.Close())
	owed := bill.Tokens() - before.Tokens()
	if owed > a.Total.Most.Tokens() || owed > a.Total.Usage.Tokens() && len(a.Unknown) == 0 && !a.Total.Usage.Estimated {
		t.Errorf("%d tokens are billed, the ledger has %d, %d at the most, in doubt %d calls", owed, a.Total.Usage.Tokens(), a.Total.Most.Tokens(), len(a.Unknown))
	}
	j := check.Of(journal.Open(name, journal.Header{Schema: paid.Schema}, journal.Options{})).OK(t)
	defer j.Close()
	now := onDisk(t, j)
	for key := range c.acked {
		check.True(t, now[key], "a reply that was on disk is lost: %q", key)
	}
	c.acked = now
	return a.Total.Unknown
}

// TestChaos runs the whole program against a server that fails at random, kills it sometimes, and compares its
// ledger with the bill: a billed token is in the ledger, or may have been used by a call that is listed as in
// doubt, and no complete reply is requested again. When the server works, the program ends, with -retry, with
// the report of a run without trouble. WILDGRAPH_CHAOS sets the number of seeds, each with every trouble alone
// and with all together.
func TestChaos(t *testing.T) {
	check.Long(t, "WILDGRAPH_CHAOS")
	seeds, all := 1, false
	if v := os.Getenv("WILDGRAPH_CHAOS"); v != "" {
		n := check.Of(strconv.Atoi(v)).OK(t, "WILDGRAPH_CHAOS")
		seeds, all = n, true
	}
	scenarios := map[string][]string{"all": nil, "all that pass": slices.DeleteFunc(slices.Clone(troubles), func(k string) bool { return slices.Contains(lasting, k) })}
	for _, k := range troubles {
		if all {
			scenarios[k] = []string{k}
		}
	}
	for _, k := range lasting {
		check.Must(t, slices.Contains(troubles, k), "there is no trouble %q", k)
	}
	c := newChaos(t)
	whole := filepath.Join(t.TempDir(), "whole")
	out, _ := c.start(t, whole, 0)
	check.Must(t, len(out) != 0, "the program says nothing")
	want := folder(t, whole)
	for seed := range seeds {
		for name, kinds := range scenarios {
			t.Run(name+" "+strconv.Itoa(seed), func(t *testing.T) {
				same := !slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(lasting, k) }) && kinds != nil
				c.ordeal(t, uint64(seed), kinds, want, same)
			})
		}
	}
}

// ordeal makes one run with troubles and kills, and ends it without troubles.
func (c *chaos) ordeal(t *testing.T, seed uint64, kinds []string, want map[string]string, same bool) {
	dir := filepath.Join(t.TempDir(), "run")
	before, kills, starts := c.Bill().Total, 0, 4
	random := rand.New(rand.NewPCG(seed, 7))
	c.acked, c.again = nil, nil
	c.Trouble(trouble{seed, 0.2, kinds}.fault)
	began := time.Now()
	for range starts {
		_, killed := c.start(t, dir, 1+random.IntN(60))
		if killed {
			kills++
		}
		c.audit(t, dir, before)
	}
	c.Trouble(nil)
	out, _ := c.start(t, dir, 0, "-retry") // cut replies are stored, and only -retry requests them again
	doubt := c.audit(t, dir, before)
	n := len(c.again)
	check.True(t, n <= 0 || !same, "%d replies were asked for again though they were on disk", n)
	diff := cmp.Diff(want, folder(t, dir))
	check.True(t, !same || diff == "", "(-healthy +after trouble):\n%.3000s\n%s", diff, out)
	t.Logf("%d kills in %d starts, %d tokens billed, %d attempts in doubt, %v", kills, starts, c.Bill().Total.Tokens()-before.Tokens(), doubt, time.Since(began).Round(time.Second))
}

// TestKillPaid kills the program at requests to a paid server, while it indexes, answers and judges, and
// restarts it. No reply on disk is lost or paid for again, and the final files equal those of an uninterrupted
// run. WILDGRAPH_KILLS sets the number of kills.
func TestKillPaid(t *testing.T) {
	check.Long(t, "WILDGRAPH_KILLS")
	kills := 10
	if v := os.Getenv("WILDGRAPH_KILLS"); v != "" {
		n := check.Of(strconv.Atoi(v)).OK(t, "WILDGRAPH_KILLS")
		kills = n
	}
	c := newChaos(t)
	root := t.TempDir()
	whole := filepath.Join(root, "whole")
	out, _ := c.start(t, whole, 0)
	check.Must(t, len(out) != 0, "the program says nothing")
	want := folder(t, whole)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	runs := 0
	for done := 0; done < kills; runs++ {
		dir, began := filepath.Join(root, strconv.Itoa(runs)), c.Bill().Total
		c.acked = nil
		for killed := true; killed; {
			killAt := 1 + random.IntN(60)
			if done >= kills {
				killAt = 0
			}
			var out []byte
			if out, killed = c.start(t, dir, killAt); killed {
				done++
			} else if diff := cmp.Diff(want, folder(t, dir)); diff != "" {
				t.Fatalf("run %d, after %d kills (-whole +killed):\n%.2000s\n%s", runs, done, diff, out)
			}
			c.audit(t, dir, began)
		}
	}
	t.Logf("%d kills over %d runs: %d replies were paid for again though they were on disk", kills, runs, len(c.again))
	check.True(t, len(c.again) == 0, "%d replies were asked for again though they were on disk", len(c.again))
}

// onDisk returns the replies and vectors that a client has stored; failed replies are requested again and are
// not among the good ones.
func onDisk(t *testing.T, j *journal.Journal) map[string]bool {
	t.Helper()
	now := make(map[string]bool)
	for rec, err := range j.Records() {
		check.OK(t, err)
		var chat struct {
			Request struct {
				Messages []llm.Message `json:"messages"`
			} `json:"request"`
		}
		const failed = 2 // kind of the record
		if rec.Kind == failed {
			continue
		}
		if json.Unmarshal(rec.Payload, &chat) == nil {
			now["chat "+digestOf(messages(llm.Request{Messages: chat.Request.Messages}))] = true
		} else if len(rec.Payload) == 32+4*vectorLength {
			now["vector "+string(rec.Payload[32:])] = true
		}
	}
	return now
}

func messages(r llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Text + "\x00")
	}
	return b.String()
}

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

const vectorLength = 8

// vectorOf returns a vector that encodes its text: small integers, exact in float32.
func vectorOf(text string) []float32 {
	sum := sha256.Sum256([]byte(text))
	v := make([]float32, vectorLength)
	for i := range v {
		v[i] = float32(int(sum[2*i])<<8 | int(sum[2*i+1]))
	}
	return v
}

// vectorKey returns the vector in the cache's bytes.
func vectorKey(v []float32) string { return "vector " + string(littleEndian(v)) }

func littleEndian(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
