// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/internal/check"
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
