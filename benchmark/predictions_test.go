// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/zoo"
	"github.com/wildgraph/wildgraph/graphrag"
)

func TestReadPredictions(t *testing.T) {
	want := []string{"What?", "Who?"}
	known := func(q string) bool { return slices.Contains([]string{"What?", "Who?", "When?"}, q) }
	for _, tt := range []struct {
		name, data string
		what, who  string
		err        string
	}{
		{"lines", "{\"question\": \" What? \", \"answer\": \"that \"}\n\n{\"question\": \"Who?\", \"pred_answer\": \"she\"}", "that", "she", ""},
		{"array", `[{"question": "What?", "result": {"response": "that"}}, {"question": "Who?", "response": "she"}]`, "that", "she", ""},
		{"first key present counts, even if empty", `{"question": "What?", "pred_answer": null, "answer": "x"} {"question": "Who?", "result": "she"}`, "", "she", ""},
		{"more than asked for", `[{"question": "What?", "answer": "a"}, {"question": "Who?", "answer": "b"}, {"question": "When?", "answer": "c"}]`, "a", "b", ""},
		{"byte order mark", "\ufeff" + `[{"question": "What?", "answer": "a"}, {"question": "Who?", "answer": "b"}]`, "a", "b", ""},
		{"gap", `{"question": "What?", "answer": "a"}`, "", "", `no line for 1 of 2 questions, the first is "Who?"`},
		{"empty", ``, "", "", "no line for 2 of 2 questions"},
		{"duplicate", "{\"question\": \"What?\", \"answer\": \"a\"}\n{\"question\": \"What?\", \"answer\": \"b\"}", "", "", "f.jsonl:2: the question of line 1 again"},
		{"stranger", "{\"question\": \"What?\", \"answer\": \"a\"}\n\n{\"question\": \"Where?\", \"answer\": \"b\"}", "", "", "f.jsonl:3: the data set does not have this question"},
		{"no answer", `{"question": "What?", "text": "a"}`, "", "", "f.jsonl:1: no answer"},
		{"answer is no text", `{"question": "What?", "answer": 7}`, "", "", `f.jsonl:1: "answer" is not a text`},
		{"no question", `{"answer": "a"}`, "", "", `f.jsonl:1: no "question"`},
		{"not an object", "[\n1]", "", "", "f.jsonl:2: json: cannot unmarshal number"},
		{"cut off", "{\"question\": \"What?\", \"answer\": \"a\"}\n{\"question\": ", "", "", "f.jsonl:2: unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := benchmark.ReadPredictions("foreign", "f.jsonl", strings.NewReader(tt.data), want, known)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for q, a := range map[string]string{"What?": tt.what, "Who?": tt.who} {
				got, err := p.Answer(t.Context(), graphrag.Question{Text: q})
				if err != nil || got.Text != a {
					t.Errorf("%s: %q, %v, want %q", q, got.Text, err, a)
				}
			}
		})
	}
}

func TestForeignPredictionsAreJudged(t *testing.T) {
	set := zoo.Dataset()
	var data strings.Builder
	var questions []string
	for _, d := range set.Domains {
		for _, it := range d.Items {
			questions = append(questions, it.Question.Text)
			data.WriteString(`{"question": "` + it.Question.Text + `", "answer": "` + it.GoldStatements()[0] + "\"}\n")
		}
	}
	p, err := benchmark.ReadPredictions("theirs", "f", strings.NewReader(data.String()), questions, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	run, err := (&benchmark.Runner{Dataset: set, Systems: []benchmark.Entry{p.Entry()}, Judge: zoo.Exact{}}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range run.Systems[0].Domains {
		for _, r := range d.Results {
			if f := r.Judgment.Fact; f != nil && f.Value != 1 || r.Evidence.RecallAt5 != nil {
				t.Errorf("%+v", r)
			}
		}
	}
}

func FuzzReadPredictions(f *testing.F) {
	f.Add(`{"question": "What?", "answer": "a"}`)
	f.Add(`[{"question": "What?", "result": {"response": "a"}}]`)
	f.Add("\ufeff[{]")
	f.Fuzz(func(t *testing.T, data string) {
		p, err := benchmark.ReadPredictions("p", "f", strings.NewReader(data), []string{"What?"}, func(q string) bool { return q == "What?" })
		if err == nil {
			if _, err := p.Answer(t.Context(), graphrag.Question{Text: "What?"}); err != nil {
				t.Errorf("accepted without an answer: %v", err)
			}
		}
	})
}
