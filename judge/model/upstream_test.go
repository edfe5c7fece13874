// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/model"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func byUpstream(t *testing.T, m llm.Model, o model.Options) *model.Judge {
	t.Helper()
	return byProfile(t, m, model.Upstream, o)
}

func TestUpstreamFact(t *testing.T) {
	for reply, want := range map[string]struct {
		value    float64
		failures int
	}{
		`{"score": 1, "reason": "ok"}`: {1, 0}, `{"score": 1.0}`: {1, 0}, `{"score": true}`: {1, 0}, `{"score": " Correct "}`: {1, 0}, `{"score": "YES"}`: {1, 0},
		`{"score": 0}`: {0, 0}, `{"score": 0.9}`: {0, 0}, `{"score": "1.0"}`: {0, 0}, `{"score": 2}`: {0, 0}, `{"reason": "?"}`: {0, 0}, `{"score": null}`: {0, 0},
		"```json\n{\"score\": 1}\n```":                 {1, 0},
		`I say {"score": 1} and not {"score": 0}.`:     {1, 0}, // the first balanced object
		`Well: {"score": 1, "why": {"a": {"b": {}}}}.`: {0, 0}, // the innermost object is the first of at most one level
		`Well: {"score": 1, "why": "}{"} so.`:          {1, 0}, // the first brace to the last
		`no idea`:                                      {0, 1}, `{"score": 1`: {0, 1}, `[1]`: {0, 1}, ``: {0, 1},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, reply)
		got, err := byUpstream(t, m, model.Options{}).Fact(t.Context(), judge.Case{Reference: "R.", Answer: "A.", Refused: true})
		if err != nil || got.State != judge.Scored || got.Value != want.value || got.Protocol.Failures != want.failures || m.Calls() != 1 {
			t.Errorf("%s: %+v, %v after %d calls", reply, got, err, m.Calls())
		}
	}
	m := llmtest.NewScript("m")
	if got, err := byUpstream(t, m, model.Options{}).Fact(t.Context(), judge.Case{Answer: " "}); err != nil || got.Value != 0 || m.Calls() != 0 {
		t.Errorf("empty: %+v, %v after %d calls", got, err, m.Calls())
	}
}

func TestUpstreamSummary(t *testing.T) {
	gold := []string{"g1", "g2"}
	for _, tt := range []struct {
		name                       string
		extract, recall, precision string
		o                          model.Options
		want                       [2]float64 // recall, precision, strict
		failures, calls            int
	}{
		{"as asked", `{"statements": ["p1"]}`, `{"scores": [{"idx": 1, "score": 1}, {"idx": 2, "score": 0}]}`, `{"scores": [{"idx": 1, "score": 1}]}`,
			model.Options{}, [2]float64{0.5, 1}, 0, 3},
		{"other keys, strings, halves", `{"statements": "p1. p2；p2"}`, `{"results": [{"idx": "1", "score": "0.5"}, {"idx": 2, "score": 0.49}]}`, `{"items": [{"idx": 1, "score": true}, {"idx": 2, "score": 1}]}`,
			model.Options{}, [2]float64{0.5, 1}, 0, 3},
		{"an object that holds scores", `{"statements": ["p1"]}`, `{"scores": {"scores": [{"idx": 1, "score": 1}, {"idx": 2, "score": 1}]}}`, `{"scores": [{"idx": 1, "score": 1}]}`,
			model.Options{}, [2]float64{1, 1}, 0, 3},
		{"the last of two wins, out of range is ignored", `{"statements": ["p1"]}`, `{"scores": [{"idx": 1, "score": 1}, {"idx": 1, "score": 0}, {"idx": 2, "score": 0}, {"idx": 2, "score": 1}, {"idx": 3, "score": 1}, {"idx": 0, "score": 1}]}`, `{"scores": [{"idx": 1, "score": 1}]}`,
			model.Options{}, [2]float64{0.5, 1}, 0, 3},
		{"failed calls are zeros", `{"statements": ["p1"]}`, `<html>`, `{"scores": [{"idx": 1, "score": "1"}]}`, model.Options{}, [2]float64{0, 1}, 1, 3},
		{"failed extraction", `hm`, ``, ``, model.Options{}, [2]float64{}, 1, 1},
		{"no reference text, as released", `{"statements": ["p1"]}`, `{"scores": [{"idx": 1, "score": 1}, {"idx": 2, "score": 1}]}`, ``,
			model.Options{Options: judge.Options{Precision: judge.RefNone}}, [2]float64{1, 0}, 0, 2},
		{"section not known", `{"statements": ["p1"]}`, `{"scores": [{"idx": 1, "score": 1}, {"idx": 2, "score": 1}]}`, ``,
			model.Options{Options: judge.Options{Precision: judge.RefSection}}, [2]float64{1, 0}, 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := llmtest.NewScript("m").Reply(llmtest.Stage("judge-extract"), tt.extract).Reply(llmtest.Stage("judge-support"), tt.recall, tt.precision)
			got, err := byUpstream(t, m, tt.o).Summary(t.Context(), judge.Case{Question: "Q?", Statements: gold, Answer: "The answer."})
			if err != nil || got.Recall.State != judge.Scored || got.Precision.State != judge.Scored {
				t.Fatalf("%+v, %v", got, err)
			}
			if f := [2]float64{got.Recall.Value, got.Precision.Value}; f != tt.want || got.Protocol.Failures != tt.failures || m.Calls() != tt.calls {
				t.Errorf("%v with %d failures after %d calls, want %v, %d, %d", f, got.Protocol.Failures, m.Calls(), tt.want, tt.failures, tt.calls)
			}
			// The first list is compared with the whole answer, the second
			// against the joined gold.
			if asked := m.Requests(); len(asked) == 3 && (!strings.Contains(asked[1].Messages[0].Text, "The answer.") || !strings.Contains(asked[2].Messages[0].Text, "g1\ng2")) {
				t.Error("the texts to be held against are others")
			}
		})
	}
}

func TestUpstreamParameters(t *testing.T) {
	for off, want := range map[bool]int{false: 2048, true: 0} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, `{"score": 1}`)
		j := byUpstream(t, m, model.Options{NoParameters: off})
		if _, err := j.Fact(t.Context(), judge.Case{Reference: "R.", Answer: "A."}); err != nil {
			t.Fatal(err)
		}
		r := m.Requests()[0]
		if r.MaxTokens != want || (r.Temperature != nil) == off || r.JSON {
			t.Errorf("without parameters %v: %+v", off, r)
		}
		if strings.Contains(j.Name(), "noparameters") != off {
			t.Errorf("name %s", j.Name())
		}
	}
}

func TestUpstreamWarning(t *testing.T) {
	m := llmtest.NewScript("m")
	if w := byUpstream(t, m, model.Options{Options: judge.Options{Precision: judge.RefNone}}).Warning(); !strings.Contains(w, "always 0") {
		t.Errorf("upstream as released: %s", w)
	}
	if w := byUpstream(t, m, model.Options{Options: judge.Options{Precision: judge.RefSection}}).Warning(); w == "" || strings.Contains(w, "always 0") {
		t.Errorf("upstream with sections: %s", w)
	}
}

func TestUpstreamErrors(t *testing.T) {
	m := llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrFiltered, Usage: llm.Usage{Calls: 1}})
	got, err := byUpstream(t, m, model.Options{}).Fact(t.Context(), judge.Case{Reference: "R.", Answer: "A."})
	if err != nil || got.State != judge.Scored || got.Value != 0 || got.Protocol.Failures != 1 || got.Usage.Calls != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	m = llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth})
	if _, err := byUpstream(t, m, model.Options{}).Summary(t.Context(), judge.Case{Statements: []string{"g"}, Answer: "A."}); err == nil {
		t.Error("a wrong key does not end the run")
	}
}

// The evidence is not shown.
func TestUpstreamNoEvidence(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, `{"score": 1}`)
	if _, err := byUpstream(t, m, model.Options{}).Fact(t.Context(), judge.Case{Reference: "R.", Answer: "A.", Evidence: []string{"the evidence"}}); err != nil || strings.Contains(m.Requests()[0].Messages[0].Text, "the evidence") {
		t.Errorf("%v", err)
	}
}

// The prompts of a kind begin alike up to the code of the marks, and what follows that is
// what is judged: a provider's cache of beginnings serves the rest.
func TestPromptsBeginAlike(t *testing.T) {
	for _, profile := range []model.Profile{model.Joint, model.Paper, model.Upstream} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, `{"statements": ["p1"], "results": []}`)
		j := byProfile(t, m, profile, model.Options{})
		for _, text := range []string{"The Fram was built by Colin Archer.", "Nansen came to Svalbard."} {
			c := judge.Case{Question: "What is said?", Reference: text, Answer: "Says: " + text, Statements: []string{text}}
			_, _ = j.Fact(t.Context(), c) // the replies are of no use
			_, _ = j.Summary(t.Context(), c)
		}
		begins := map[string]string{}
		for _, r := range m.Requests() {
			text := r.Messages[0].Text
			if len(r.Messages) > 1 {
				text += r.Messages[1].Text
			}
			before, _, _ := strings.Cut(text, " question]\n")
			old, ok := begins[r.Stage]
			if n := common(old, text); ok && len(before)-n > 300 {
				t.Errorf("%s, %s: only %d bytes before the data of %d are alike", profile, r.Stage, n, len(before))
			}
			begins[r.Stage] = text
		}
	}
}

// common is the length of the beginning that two texts have in common.
func common(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
