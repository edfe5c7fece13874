// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// Prompts are replaced for all systems or for one, by name; the models are told the own texts,
// and the run and its report name them.
func TestPromptsAreReplaced(t *testing.T) {
	var mu sync.Mutex
	var told []string
	serve(t, func(req llm.Request) llm.Reply {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, req.Messages[0].Text)
		return baselinestest.Obedient(req)
	})
	dir, out := t.TempDir(), t.TempDir()
	const own = " Say \"{{.Words}}\" to Mr.Smith's question.\n\n问题 }}\n"
	put(t, dir, map[string]string{
		"all.txt":  `Take it apart, our way. {"sub_queries": [{"id": "q1", "text": "", "target": "triple"}]}`,
		"read.txt": `Answer {{if .Reject}}only {{end}}by what follows.`,
		"bad.txt":  `{{.Wrods}}`, "empty.txt": "\n",
		"own.txt": own,
	})
	file := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"-data", "musique", "-limit", "1", "-systems", "youtu,naiverag", "-model", "m", "-out", out, "-no-timings",
		"-prompt", "agent/decompose=" + file("all.txt"), "-prompt", "naiverag:reader/read=" + file("read.txt")}
	stdout, _, err := bench(t, bare, args...)
	if !errors.Is(err, setup.ErrIncomplete) { // the model is no judge
		t.Fatal(err)
	}
	count := func(beginning string) (n int) {
		for _, s := range told {
			if strings.HasPrefix(s, beginning) {
				n++
			}
		}
		return n
	}
	if count("Take it apart, our way.") == 0 || count("You plan how to look up") > 0 || count("Answer by what follows.") == 0 || count("You answer questions for people") == 0 {
		t.Errorf("what models were told begins with %q", told)
	}
	report := check.Of(os.ReadFile(filepath.Join(out, "report.md"))).OK(t)
	for _, text := range []string{stdout, string(report)} {
		if !regexp.MustCompile(`-prompt agent/decompose \([0-9a-f]{8}\), -prompt naiverag:reader/read \([0-9a-f]{8}\)`).MatchString(strings.Join(strings.Fields(text), " ")) {
			t.Errorf("the prompts are not named: %s", text)
		}
	}
	for _, bad := range []struct{ prompt, want string }{
		{"agent/decompose=" + file("bad.txt"), "there is no {{.Wrods}}; there are Data, Most, Nonce, Pieces, Schema"},
		{"agent/compose=" + file("all.txt"), "there is none; there are agent/aspects"},
		{"yuotu:agent/decompose=" + file("all.txt"), `there is no system "yuotu"`},
		{"agent/decompose=" + file("none.txt"), "none.txt"},
		{"judge/joint_fact=" + file("all.txt"), "part of what figures mean"},
		{file("empty.txt"), "want a text of 1 to"},
		{file("none.txt"), "none.txt"},
	} {
		_, _, err := bench(t, bare, append(slices.Clone(args[:10]), "-prompt", bad.prompt)...)
		check.Fails(t, err, bad.want, "-prompt %s", bad.prompt)
	}
	told = nil
	if _, _, err := bench(t, bare, append(slices.Clone(args[:10]), "-fresh", "-prompt", file("own.txt"))...); !errors.Is(err, setup.ErrIncomplete) || count(own) == 0 || count("You answer questions for people") > 0 || slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, own) && s != own }) {
		t.Errorf("%v: the instruction is not sent as it stands: %q", err, told)
	}
	_, _, err = bench(t, bare, "-data", "musique", "-prompt", "agent/decompose="+file("all.txt"))
	check.Fails(t, err, "needs -kit model")
}

// Every prompt that can be replaced says what its places stand for, and -show-prompts shows it.
func TestPromptsAreDocumented(t *testing.T) {
	shown, _, err := bench(t, bare, "-show-prompts")
	check.OK(t, err)
	comment := regexp.MustCompile(`(?s)^\{\{/\*.*?\*/ -\}\}`)
	place := regexp.MustCompile(`\.([A-Z]\w*)`)
	n := 0
	for _, p := range prompts.All() {
		check.Contains(t, shown, "=== "+p.Name+"\n"+p.Text, "%s is not shown", p.Name)
		if strings.HasPrefix(p.Name, "judge") || strings.HasPrefix(p.Name, "anonyrag/") || strings.HasPrefix(p.Name, "construct/") {
			continue
		}
		n++
		said := comment.FindString(p.Text)
		for _, action := range regexp.MustCompile(`(?s)\{\{[^/].*?\}\}`).FindAllString(p.Text[len(said):], -1) {
			for _, m := range place.FindAllStringSubmatch(action, -1) {
				if m[1] != "Nonce" && !regexp.MustCompile(`(?m)(^|\* )`+m[1]+`: \w`).MatchString(said) {
					t.Errorf("%s does not say what %s is", p.Name, m[1])
				}
			}
		}
	}
	check.True(t, n >= 35, "%d prompts", n)
}
