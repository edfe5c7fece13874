// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/jsonl"
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
	for _, p := range llm.Templates() {
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

// labelled is a line of testdata/reader.
type labelled struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Held   bool   `json:"held"`
	Answer string `json:"answer"`
	Judge  bool   `json:"judge"`
	Label  string `json:"label"`
	// Of are the contexts that the answer was given over.
	Of []string `json:"of"`
}

func readLabels(t *testing.T, name string) []labelled {
	t.Helper()
	var out []labelled
	f := check.Of(os.Open("testdata/reader/" + name)).OK(t)
	defer f.Close()
	for l, err := range jsonl.Read[labelled](f, jsonl.Options{}) {
		check.OK(t, err)
		out = append(out, l.Value)
	}
	return out
}

// The labels are as docs/offline.md counts them, and the offline reader still gives the
// answers.
func TestReaderLabels(t *testing.T) {
	held := make(map[string]bool)
	for _, x := range readLabels(t, "drawn.jsonl") {
		held[x.ID] = x.Held
	}
	type count struct{ asked, right, held int }
	got, answers := make(map[string]count), make(map[string]labelled)
	blind := readLabels(t, "blind.jsonl")
	for _, x := range blind {
		_, ok := held[x.ID]
		check.Must(t, ok && slices.Contains([]string{"right", "partly", "wrong", "refused"}, x.Label), "%s is not drawn, or labelled %q", x.ID, x.Label)
		for _, of := range x.Of {
			c := got[of]
			c.asked++
			if x.Label == "right" {
				c.right++
				if held[x.ID] {
					c.held++
				}
			}
			got[of] = c
			if of == "calibrated" {
				answers[x.ID] = x
			}
		}
	}
	if want := map[string]count{
		"after": {126, 46, 14}, "bm25": {126, 46, 14}, "bm25, encoder": {126, 46, 13}, "wild": {125, 43, 14}, "wild, encoder": {125, 49, 18}, "calibrated": {126, 47, 14},
	}; !maps.Equal(got, want) {
		t.Errorf("right: %v, want %v", got, want)
	}
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	set := check.Of(wildgraph.Load(os.DirFS(dir), benchmark.LoadOptions{})).OK(t)
	other := maps.Clone(answers)
	for _, d := range set.Domains {
		parts := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
		system := check.Of(flat.NewBM25(parts, flat.BM25Options{})).OK(t)
		check.OK(t, check.Err(system.Index(t.Context(), d.Documents())))
		for _, it := range d.Items {
			x, ok := answers[it.Question.ID]
			if !ok {
				continue
			}
			q, form := it.Question, slices.IndexFunc(set.Types, func(ty benchmark.Type) bool { return ty.Key == it.Type })
			q.Form, q.K = set.Types[form].Form, set.Types[form].K
			a := check.Of(system.Answer(t.Context(), q)).OK(t)
			if a.Text == x.Answer {
				delete(other, x.ID)
			}
		}
	}
	if n := len(other); n > 6 { // one in twenty
		t.Errorf("%d of %d answers are others: label them again", n, len(answers))
	}
}
