// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// library makes a small data set in the layout of WildGraphBench.
func library(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"QA/towers/questions.jsonl": `{"question": "When was the tower of Porto lit for the first time?", "answer": "The tower of Porto was first lit in 1873.", "ref_urls": ["https://a.example/porto"]}
{"question": "How did the towers develop?", "gold_statements": ["They grew."], "ref_urls": []}
`,
		"corpus/towers/Tower/references.jsonl":           `{"title": "Porto", "url": "https://a.example/porto"}` + "\n",
		"corpus/towers/Tower/reference_pages/Porto.txt":  "# Porto\n\nThe [tower of Porto](https://x.example) was first lit in 1873 by Dr. Alves. It was lit with oil then. Short one.\n",
		"corpus/towers/Tower/reference_pages/Lisbon.txt": "The tower of Lisbon was lit in 1901 for the first time. Nobody knows who built the tower there.\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The frozen systems answer as they did when people read their answers.
func TestFrozenAnswers(t *testing.T) {
	all, err := makeAnswers(os.DirFS(library(t)))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, m := range all {
		fmt.Fprintf(&got, "%s %s %v %s %s\n", m.ID, m.system, m.likely, m.hash(), m.answer)
	}
	const want = `towers/1 given true 5dc8ddfd310df588 The tower of Porto was first lit in 1873 by Dr. Alves. It was lit with oil then.
towers/1 passage true 5dc8ddfd310df588 The tower of Porto was first lit in 1873 by Dr. Alves. It was lit with oil then.
towers/1 sentence true b1870d5e4191c8b3 The tower of Porto was first lit in 1873 by Dr. Alves.
towers/1 three true a00e7c9ca674f87f The tower of Porto was first lit in 1873 by Dr. Alves. It was lit with oil then. The tower of Lisbon was lit in 1901 for the first time.
`
	if got.String() != want {
		t.Errorf("got\n%s", got.String())
	}
}

// Answers that are made otherwise now are counted and left out.
func TestChangedAnswers(t *testing.T) {
	out, err := check(t, "", "-data", library(t))
	if err == nil || !strings.Contains(out, "0 labelled answers of 4") || !strings.Contains(out, "300 changed") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The weighted kappa, by hand.
func TestTable(t *testing.T) {
	part := []labelled{{right: true, weight: 3}, {right: false, weight: 5}, {right: true, weight: 2}}
	part[0].judged.State, part[0].judged.Value = "scored", 1
	table := tableOf(part, []int32{0, 1, 2})
	// agree .8; chance .5 · .7 + .5 · .3 = .5
	if k := table.kappa(); k < 0.6-1e-12 || k > 0.6+1e-12 {
		t.Errorf("kappa %v of %v", k, table)
	}
}

// The figures that docs/judge.md shows.
func TestLabelsOfTheDataSet(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" || testing.Short() {
		t.Skip("WILDGRAPHBENCH_DIR is not set, or tests are to be short: it answers 323 questions four times")
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-data", dir}, &out, &out); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../../docs/judge.md")
	if err != nil || !strings.Contains(string(doc), strings.TrimSpace(out.String())) {
		t.Errorf("docs/judge.md does not show\n%s", out.String())
	}
}

// The labels are of answers that nobody chose: a draw by hash makes them again.
func TestLabelsAreADraw(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" || testing.Short() {
		t.Skip("WILDGRAPHBENCH_DIR is not set, or tests are to be short: it answers 323 questions four times")
	}
	all, err := makeAnswers(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	pairs, changed, err := readLabels(all)
	if err != nil || changed != 0 {
		t.Fatalf("%d changed, %v", changed, err)
	}
	names := func(m made) string { return m.system + " " + m.ID }
	var want, got []string
	for _, m := range draw(all, 200, 100) {
		want = append(want, names(m))
	}
	for _, p := range pairs {
		got = append(got, names(p.made))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("labelled are %d answers, not the %d that are drawn", len(got), len(want))
	}
}

// draw takes n answers at random of all, and then k more of the likely ones. What
// is random follows from the hash of system, question and answer.
func draw(all []made, n, k int) []made {
	all = slices.Clone(all)
	place := func(m made) string { return hashed(m.system + "\x00" + m.ID + "\x00" + m.answer) }
	slices.SortFunc(all, func(a, b made) int { return cmp.Compare(place(a), place(b)) })
	n = min(n, len(all))
	out := all[:n:n]
	for _, m := range all[n:] {
		if m.likely && k > 0 {
			out, k = append(out, m), k-1
		}
	}
	return out
}
