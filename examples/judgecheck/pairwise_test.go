// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

var (
	codeOf  = regexp.MustCompile(`"code": "([0-9a-f]+)"`)
	answers = regexp.MustCompile(`(?s)\[[0-9a-f]{16} answer [12]\]\n(.*?)\n\[/`)
)

// Two files of predictions are compared, whatever the order of their lines.
func TestPairwise(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, lines ...string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	a := write("a.jsonl", `{"question": "Why tides?", "answer": "The moon.", "type": "summary"}`, `{"question": "Why ice?", "answer": "Cold."}`, `{"question": "Why?", "answer": ""}`)
	b := write("b.jsonl", `{"question": "Why ice? ", "answer": "Because of the cold, the wind and the salt."}`, `{"question": "Why tides?", "answer": "The moon and the sun pull."}`)
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(r llm.Request) llm.Reply { // prefers what is longer
		shown := answers.FindAllStringSubmatch(r.Messages[len(r.Messages)-1].Text, -1)
		winner := "1"
		if len(shown[1][1]) > len(shown[0][1]) {
			winner = "2"
		}
		var lines []string
		for _, id := range []string{"c1", "c2", "c3", "c4"} {
			lines = append(lines, `{"id": "`+id+`", "winner": `+winner+`}`)
		}
		return llm.Reply{Text: `{"code": "` + codeOf.FindStringSubmatch(r.Messages[0].Text)[1] + `", "results": [` + strings.Join(lines, ",") + `]}`}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk-planted-secret")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out, err := check(t, "", "-pairwise", a+","+b, "-model", "m")
	for _, want := range []string{
		"2 questions, A a.jsonl, B b.jsonl, compared in both orders by pairwise/v1/",
		"overall                0     2     0         0         0  1.000", "p = 0.5000",
		"1 questions that one file alone answers are left out.",
	} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%v, no %q in\n%s", err, want, out)
		}
	}
	if n := server.Bill().Total.Calls; n != 4 {
		t.Errorf("%d calls, want two for a question", n)
	}
	for want, args := range map[string][]string{
		"two files, with a comma":            {"-pairwise", a, "-model", "m"},
		"-pairwise needs -model":             {"-pairwise", a + "," + b},
		"no such file":                       {"-pairwise", a + "," + dir + "/c", "-model", "m"},
		"have no question in common":         {"-pairwise", a + "," + write("c.jsonl", `{"question": "Who?", "answer": "x"}`), "-model", "m"},
		`d.jsonl:2: no "question", or one t`: {"-pairwise", a + "," + write("d.jsonl", `{"question": "Why?"}`, `{"question": "Why?"}`), "-model", "m"},
	} {
		if _, err := check(t, "", args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
