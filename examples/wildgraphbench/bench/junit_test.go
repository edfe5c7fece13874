// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
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
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Answers of another program, without documents: -min names the questions that failed, and JUnit's
// file has each of them, whatever characters they hold.
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

// A failed answer is an error, what was not asked is skipped, and a figure of the evidence can fail
// a question without a verdict.
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

// A question has one answer by ask, by a program, and by the benchmark, over sheets, mails,
// minutes, contracts, forms and tables that share sentences. An answer is quoted from the file of
// its question, and so is the clause that all contracts share.
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

// TestMain lets the test binary be the program, so that a test can kill it.
func TestMain(m *testing.M) {
	if os.Getenv("WILDGRAPHBENCH_CHILD") != "" {
		os.Args = append(os.Args[:1], strings.Split(os.Getenv("WILDGRAPHBENCH_CHILD"), "\x1f")...)
		Main()
		return
	}
	os.Exit(m.Run())
}

// child is the program with the given flags.
func child(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WILDGRAPHBENCH_CHILD="+strings.Join(args, "\x1f"))
	return cmd
}

// A run killed at five random moments ends with the bytes of a run in one go.
// With WILDGRAPHBENCH_DIR set the data are the real ones, for three systems.
func TestKill(t *testing.T) {
	check.Long(t)
	dir := t.TempDir()
	flags := func(out string) []string {
		f := []string{"-no-timings", "-out", filepath.Join(dir, out)}
		if data := os.Getenv("WILDGRAPHBENCH_DIR"); data != "" {
			// All of them would take minutes for each start.
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
		} else { // it was done before: begin again
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

// A terminal that hangs up ends the program as the keyboard does: what was paid is
// in the ledger.
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
