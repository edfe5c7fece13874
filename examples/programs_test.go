// SPDX-License-Identifier: Apache-2.0

// Package examples_test runs the small programs: each shows one idea in at most 80 lines.
package examples_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Each of the small programs runs and prints what it is for.
func TestSmallPrograms(t *testing.T) {
	check.Long(t)
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		if strings.Contains(req.Messages[len(req.Messages)-1].Text, "Question: ") {
			return llm.Reply{Text: "Colin Archer built it [1]."}
		}
		return baselinestest.Obedient(req)
	}})
	defer server.Close()
	const docs, question = "ask/testdata/corpus", "Why are there two high tides a day?"
	programs := []struct {
		args []string
		want string
	}{
		{[]string{"ollama", server.URL, "m", docs, question}, "3 calls to index 3 documents"},
		{[]string{"ownparts"}, "2 chunks; answer: Colin Archer built the ship in Larvik."},
		{[]string{"tenants"}, "key-of-hr-4Zr1xq: Ada Lovelace earns 90,000 crowns a year.\nkey-of-ops-9Lm3ed: The evidence does not contain the answer.\nguessed: no such token"},
	}
	bin := t.TempDir()
	build := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", bin + string(filepath.Separator)}
	for _, p := range programs {
		build = append(build, "./"+p.args[0])
	}
	out, err := exec.Command("go", build...).CombinedOutput()
	check.OK(t, err, "%v\n%s", err, out)
	for _, tt := range programs {
		name := tt.args[0]
		source, err := os.ReadFile(filepath.Join(name, "main.go"))
		n := bytes.Count(source, []byte("\n"))
		check.True(t, err == nil && n <= 80, "%s has %d lines, %v", name, n, err)
		out, err := exec.Command(filepath.Join(bin, name), tt.args[1:]...).CombinedOutput()
		check.True(t, err == nil && strings.Contains(string(out), tt.want), "%v: %v, want %q in\n%s", tt.args, err, tt.want, out)
	}
	check.True(t, slices.ContainsFunc(server.Requests(), func(r llmtest.Received) bool { return strings.Contains(r.Path, "/api/chat") }),
		"no request was made to Ollama")
}
