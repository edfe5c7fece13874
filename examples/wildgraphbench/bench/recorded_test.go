// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// recordedKinds identify the calls of systems by the texts of their prompts, present and recorded ones, with
// the stage of each.
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

// recordedKind returns the kind and the stage of a call with the given system message; both are empty for a
// call of which none was recorded, such as a judge's.
func recordedKind(system string) (kind, stage string) {
	for _, k := range recordedKinds {
		if strings.Contains(system, k.mark) {
			return k.kind, k.stage
		}
	}
	return "", ""
}

// replay answers with the recorded reply of the call of the same kind that has most words in common.
type replay map[string][]recorded

type recorded struct {
	words map[string]bool
	more  bool // whether the call reads a passage a second time
	reply string
}

func newRecorded(user, reply string) recorded {
	words := make(map[string]bool)
	for _, w := range strings.Fields(user) {
		words[w] = true
	}
	return recorded{words, strings.Contains(user, "are still missing"), reply}
}

// asRecorded groups recorded calls by their kind.
func asRecorded(calls []llmtest.Call) replay {
	r := replay{}
	for _, c := range calls {
		kind, _ := recordedKind(c.System)
		r[kind] = append(r[kind], newRecorded(c.User, c.Reply))
	}
	return r
}

// Reply returns the reply to a request, "" if no call of its kind was recorded.
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

// An invalid address is a usage error, not a failed run.
func TestBadBaseURLIsAWrongCommandLine(t *testing.T) {
	for _, url := range []string{"localhost:80 80", "ftp://h", "http://10.0.0.1/v1", "http://me:secret@127.0.0.1/v1", "::"} {
		t.Setenv("OPENAI_BASE_URL", url)
		_, _, err := bench(t, bare, "-model", "m", "-out", t.TempDir(), "-cache", filepath.Join(t.TempDir(), "c"))
		var out strings.Builder
		status := setup.Status(&out, "wildgraphbench", err)
		check.True(t, status == cli.WrongUsage && !strings.Contains(out.String(), "secret"), "%s: status %d: %s", url, status, &out)
	}
}

// Writing the ledger replaces a link at its place, and does not write to the link's target. One flag limits all
// concurrent calls.
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

// An incomplete record is reported; a run ends at once if its folder is removed.
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

// dryRow returns a row of an estimate: calls, prompt tokens, reply tokens, embedded tokens; all are 0 if there
// is no such row.
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

// An estimate has the calls of a run with a model: each system alone, and calls that several systems share
// once.
func TestDryRunFollowsTheRun(t *testing.T) {
	server := serve(t, func(req llm.Request) llm.Reply {
		if text, ok := setup.DryGrader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		// The server learns the stage only from the schema's name and the prompt.
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
	check.True(t, dryRow(t, stdout, "lightrag-local index")[0] == 0 && dryRow(t, stdout, "lightrag index")[0] != 0,
		"an extraction that is shared is counted twice:\n%s", stdout)
	before := len(server.Requests())
	_, _, err = bench(t, bare, args...)
	check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v", err)
	asked := len(server.Requests()) - before - 1 // without the call that tests the server
	expected := dryRow(t, stdout, "total")[0]
	check.True(t, math.Abs(float64(asked-expected)) <= .15*float64(asked), "%d calls were made, %d expected:\n%s", asked, expected, stdout)
}

// An estimate is made from a sample: of ten questions of a type three are asked.
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

// Estimated calls and tokens are those of a model with complete replies like the recorded ones.
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

// The printed advice on models has the figures of a dry run.
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

// Answers of another program, without documents: -min lists the questions that failed, and JUnit's file has
// each of them, whatever characters they contain.
func TestFailed(t *testing.T) {
	questions := ownQuestions + `{"question": "Who owns the pier?", "unanswerable": true}` + "\n"
	answers := `{"question": "How do barn owls hunt?", "answer": "By ear.", "evidence": ["no/file.md"]}
{"question": "What does a red light mean?", "answer": "]]><b>\u0000\u001b[31m\ufffe\nEnd & of it"}
{"question": "What is told of otters?", "answer": "Stars are far away."}
{"question": "Where are the crabs?", "answer": ""}
{"question": "Who owns the pier?", "answer": "The king owns the pier."}
`
	for i := range 12 {
		questions += fmt.Sprintf("{\"id\": \"more-%d\", \"question\": \"What is number %[1]d?\", \"answer\": \"An owl\"}\n", i)
		answers += fmt.Sprintf("{\"question\": \"What is number %d?\", \"answer\": \"A stone\"}\n", i)
	}
	dir := files(t, map[string]string{"mine.jsonl": questions, "answers.jsonl": answers})
	file := filepath.Join(dir, "junit.xml")
	_, stderr, err := bench(t, bare, "-questions", filepath.Join(dir, "mine.jsonl"), "-systems", "none", "-score", "mine="+filepath.Join(dir, "answers.jsonl"),
		"-min", "accuracy=0.9", "-min", "f1_of_means=0.5", "-junit", file, "-out", filepath.Join(dir, "out"))
	if setup.Status(&strings.Builder{}, "", err) != 1 || !strings.Contains(stderr, "without documents gold pages and evidence are not looked at") {
		t.Fatalf("%v\n%s", err, stderr)
	}
	check.Equal(t, regexp.MustCompile(`\n  more-[^7].*`).ReplaceAllString(err.Error(), ""), `accuracy of mine is 0.0667, below 0.9
  2: What does a red light mean?: 0, 0 % of the reference
  5: Who owns the pier?: 0, there is no answer
  more-7: What is number 7?: 0, 0 % of the reference
  and 4 questions more
f1_of_means of mine is 0.0000, below 0.5
  3: What is told of otters?: 0, recall 0, precision 0`)
	data := check.Of(os.ReadFile(file)).OK(t)
	var got testsuites
	check.OK(t, xml.Unmarshal(data, &got))
	s := got.Suites[0]
	check.Contains(t, data, xml.Header+`<testsuites><testsuite name="mine" tests="17" failures="15" errors="0" skipped="1"><testcase classname="mine" name="1">`)
	check.Equal(t, []int{s.Tests, s.Failures, s.Errors, s.Skipped, len(s.Cases)}, []int{17, 15, 0, 1, 17}, "tests, failures, errors, skipped, cases")
	for i, want := range []string{"", "failure", "failure", "skipped", "failure"} {
		if c := s.Cases[i]; c.Domain != "mine" || c.ID != fmt.Sprint(i+1) || (c.Failure != nil) != (want == "failure") || (c.Skipped != nil) != (want == "skipped") || c.Error != nil {
			t.Errorf("question %d: %+v, want %q", i+1, c, want)
		}
	}
	f := s.Cases[1].Failure
	want := "question: What does a red light mean?\nanswer: ]]><b>\ufffd\ufffd[31m\ufffd\nEnd & of it\nreference: There is no internet.\njudge: " + f.Message + "\n"
	check.True(t, f.Message != "" && f.Text == want, "%q\nwant %q", f.Text, want)
}

// A failed answer is an error, a question that was not asked is skipped, and a figure of the evidence can fail
// a question that has no verdict.
func TestOutcomes(t *testing.T) {
	half := .5
	var s testsuite
	for _, r := range []benchmark.Result{{Answer: record.Answer{Error: "down"}}, {Skipped: true}, {Evidence: benchmark.Evidence{RecallAt5: &half}}, {}} {
		s.add(r, "", []minimum{{"evidence_recall_at_5", .6}})
	}
	s.add(benchmark.Result{}, "needs a model", nil)
	data := check.Of(xml.Marshal(s.Cases)).OK(t)
	got := strings.Join(regexp.MustCompile(`<\w+ message="[^"]*"`).FindAllString(string(data), -1), "; ")
	if want := `<error message="down"; <skipped message="was not asked"; <failure message="evidence_recall_at_5 is 0.5, below 0.6"; <skipped message="has no verdict"; <skipped message="needs a model"`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// ask, a program and the benchmark give one answer to a question over sheets, mails, minutes, contracts, forms
// and tables that share sentences. An answer is quoted from the question's own file, even a clause that all
// contracts share.
func TestOneAnswer(t *testing.T) {
	const folder = "../../ask/testdata/office"
	lines := func(name string) []string {
		data := check.Of(os.ReadFile(name)).OK(t)
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	for _, name := range []string{"wild", "bm25", "hipporag2"} {
		asked := sessiontest.OpenDir(t, folder+"/docs", name)
		of, _ := all.Find(name)
		for mode, want := range map[reader.Mode]int{reader.Reject: 12, reader.Open: 22} {
			out := t.TempDir()
			_, _, err := bench(t, bare, "-questions", folder+"/questions.jsonl", "-docs", folder+"/docs", "-systems", name, "-mode", string(mode), "-out", out)
			check.OK(t, err)
			predictions := lines(filepath.Join(out, "predictions", name+".jsonl"))
			k := check.Of(kit.Offline(kit.OfflineOptions{Mode: mode})).OK(t)
			s := check.Of(of.New(k, kit.Common{})).OK(t)
			check.OK(t, check.Err(s.Index(t.Context(), load.Options{Formats: office.Formats()}.Documents(t.Context(), os.DirFS(folder+"/docs")))))
			right := 0
			for i, line := range lines(folder + "/questions.jsonl") {
				var q struct {
					Question, Answer string
					Gold             []string
				}
				check.OK(t, json.Unmarshal([]byte(line), &q))
				a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: q.Question})).OK(t)
				var p struct{ Answer string }
				check.OK(t, json.Unmarshal([]byte(predictions[i]), &p))
				check.True(t, p.Answer == a.Text,
					"%s: %q is answered %q by a program, %q in the benchmark", name, q.Question, a.Text, p.Answer)
				if mode == reader.Reject {
					r := check.Of(asked.Ask(t.Context(), session.Query{Question: q.Question})).OK(t)
					check.True(t, r.Refused == a.Refused && (a.Refused || r.Answer == a.Text && r.Sources[0].File == q.Gold[0]),
						"%s: %q is answered %q by a program, %q from %v by ask", name, q.Question, a.Text, r.Answer, r.Sources)
				}
				if strings.Contains(a.Text, q.Answer) {
					right++
				} else if strings.Contains(q.Question, "deposit") && mode == reader.Open {
					t.Errorf("%s: %q is answered %q", name, q.Question, a.Text)
				}
				for _, c := range a.Citations {
					if from, _ := a.Passage(c); from.Doc != q.Gold[0] {
						t.Errorf("%s: %q is answered from %s, want %s", name, q.Question, from.Doc, q.Gold[0])
					}
				}
			}
			check.True(t, right >= want, "%s, %s: %d answers are right, want %d", name, mode, right, want)
		}
	}
}

// TestMain runs the program if a test starts this binary as a child process, so that a test can kill it.
func TestMain(m *testing.M) {
	if os.Getenv("WILDGRAPHBENCH_CHILD") != "" {
		os.Args = append(os.Args[:1], strings.Split(os.Getenv("WILDGRAPHBENCH_CHILD"), "\x1f")...)
		Main()
		return
	}
	os.Exit(m.Run())
}

// child starts the program with the given flags as a child process.
func child(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WILDGRAPHBENCH_CHILD="+strings.Join(args, "\x1f"))
	return cmd
}

// A run that is killed at five random moments ends with the bytes of an uninterrupted run. With
// WILDGRAPHBENCH_DIR set it uses the real data, for three systems.
func TestKill(t *testing.T) {
	check.Long(t)
	dir := t.TempDir()
	flags := func(out string) []string {
		f := []string{"-no-timings", "-out", filepath.Join(dir, out)}
		if data := os.Getenv("WILDGRAPHBENCH_DIR"); data != "" {
			// All systems would take minutes for each start.
			return append(f, "-data", data, "-systems", "naiverag,bm25,hipporag2")
		}
		return append(f, "-systems", "bm25,wild,lightrag,hipporag2,msgraphrag-local,raptor")
	}
	start := time.Now()
	out, err := child(flags("whole")...).CombinedOutput()
	check.OK(t, err, "%v\n%s", err, out)
	whole := time.Since(start)

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	killed := filepath.Join(dir, "killed")
	for kills := 0; kills < 5; {
		cmd := child(flags("killed")...)
		check.OK(t, cmd.Start())
		time.Sleep(time.Duration(random.Int64N(int64(whole) / 2)))
		check.OK(t, cmd.Process.Kill())
		if cmd.Wait() != nil {
			kills++
		} else { // the run ended before the kill: begin again
			check.OK(t, os.RemoveAll(killed))
		}
	}
	out, err = child(flags("killed")...).CombinedOutput()
	check.OK(t, err, "%s", out)
	check.Equal(t, folder(t, killed), folder(t, filepath.Join(dir, "whole")), "after five kills (-whole +killed)")
}

// folder reads all final files of a report folder.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(d.Name(), ".journal") || d.Name() == cli.LedgerName {
			return err
		}
		data, err := os.ReadFile(name)
		out[strings.TrimPrefix(name, dir)] = string(data)
		return err
	})
	check.Must(t, err == nil && len(out) >= 5, "%d files, %v", len(out), err)
	return out
}

// If its terminal is closed, the program ends as after an interrupt: the ledger has what was paid.
func TestHangUp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process hangs up there")
	}
	asked := make(chan struct{})
	var once sync.Once
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		if !strings.HasSuffix(req.Messages[0].Text, "the word ready.") {
			once.Do(func() { close(asked) })
			time.Sleep(100 * time.Millisecond)
		}
		return llmtest.Default(req)
	}})
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "out")
	cmd := child("-out", dir, "-cache", filepath.Join(t.TempDir(), "c"), "-domains", "seafaring", "-systems", "bm25", "-model", "m")
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+server.OpenAIURL(), "OPENAI_API_KEY=sk")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	check.OK(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case <-asked:
		_ = cmd.Process.Signal(syscall.SIGHUP)
		err = <-ended
	case err = <-ended:
	}
	exit := (*exec.ExitError)(nil)
	check.Must(t, errors.As(err, &exit) && exit.ExitCode() == setup.ExitIncomplete, "%v\n%s", err, &out)
	var ledger struct{ Total struct{ Calls int } }
	data, err := os.ReadFile(filepath.Join(dir, cli.LedgerName))
	err = errors.Join(err, json.Unmarshal(data, &ledger))
	check.True(t, err == nil && ledger.Total.Calls >= 2, "%+v, %v\n%s", ledger, err, &out)
}
