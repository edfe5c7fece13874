// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag"
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
	if lab.Status(&strings.Builder{}, "", err) != 1 || !strings.Contains(stderr, "without documents gold pages and evidence are not looked at") {
		t.Fatalf("%v\n%s", err, stderr)
	}
	for _, want := range []string{
		"accuracy of mine is 0.0667, below 0.9\n  2: What does a red light mean?: 0, ", "\n  5: Who owns the pier?: 0, ", "\n  more-7: What is number 7?: 0, ", "\n  and 4 questions more",
		"f1_of_means of mine is 0.0000, below 0.5\n  3: What is told of otters?: 0, recall 0, precision 0",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	data, err := os.ReadFile(file)
	must(t, err)
	var got testsuites
	must(t, xml.Unmarshal(data, &got))
	s := got.Suites[0]
	if s.Name != "mine" || s.Tests != 17 || s.Failures != 15 || s.Errors != 0 || s.Skipped != 1 || len(s.Cases) != 17 {
		t.Errorf("%+v", s)
	}
	for i, want := range []string{"", "failure", "failure", "skipped", "failure"} {
		if c := s.Cases[i]; c.Domain != "mine" || c.ID != fmt.Sprint(i+1) || (c.Failure != nil) != (want == "failure") || (c.Skipped != nil) != (want == "skipped") || c.Error != nil {
			t.Errorf("question %d: %+v, want %q", i+1, c, want)
		}
	}
	f := s.Cases[1].Failure
	if want := "question: What does a red light mean?\nanswer: ]]><b>\ufffd\ufffd[31m\ufffd\nEnd & of it\nreference: There is no internet.\njudge: " + f.Message + "\n"; f.Message == "" || f.Text != want {
		t.Errorf("%q\nwant %q", f.Text, want)
	}
	for _, flags := range [][]string{{"-junit", filepath.Join(dir, "none", "x.xml")}, {"-questions", filepath.Join(dir, "mine.jsonl")}} {
		if _, _, err := bench(t, bare, append(flags, "-out", filepath.Join(dir, "out"))...); lab.Status(&strings.Builder{}, "", err) != 64 {
			t.Errorf("%v: %v", flags, err)
		}
	}
}

// A failed answer is an error, what was not asked is skipped, and a figure of the evidence can fail
// a question without a verdict.
func TestOutcomes(t *testing.T) {
	half := .5
	var s testsuite
	for _, r := range []benchmark.Result{
		{Answer: record.Answer{Error: "the server is down"}},
		{Skipped: true},
		{Evidence: benchmark.Evidence{RecallAt5: &half}, Item: benchmark.Item{Question: graphrag.Question{ID: "1"}}},
		{},
	} {
		s.add(r, "", []minimum{{"evidence_recall_at_5", .6}})
	}
	s.add(benchmark.Result{}, "needs a model", nil)
	var got []string
	for _, c := range s.Cases {
		got = append(got, fmt.Sprint(c.Error != nil, c.Failure != nil, c.Skipped != nil))
		for _, o := range []*outcome{c.Error, c.Failure, c.Skipped} {
			if o != nil {
				got[len(got)-1] += " " + o.Message
			}
		}
	}
	if diff := cmp.Diff([]string{
		"true false false the server is down", "false false true was not asked", "false true false evidence_recall_at_5 is 0.5, below 0.6",
		"false false true has no verdict", "false false true needs a model",
	}, got); diff != "" {
		t.Error(diff)
	}
}
