// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/internal/check"
)

// files writes a folder of files.
func files(t *testing.T, byName map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range byName {
		name = filepath.Join(dir, filepath.FromSlash(name))
		check.OK(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
	}
	return dir
}

const ownQuestions = `{"question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}
{"question": "What does a red light mean?", "answer": "There is no internet."}
{"question": "What is told of otters?", "statements": ["Otters hold hands."], "gold": ["otters.txt"]}
{"question": "Where are the crabs?", "gold": ["otters.txt"]}
`

func ownData(t *testing.T) (questions, docs string) {
	dir := files(t, map[string]string{
		"mine.jsonl": ownQuestions, "docs/owls.md": "# Owls\n\nBarn owls hunt by ear.\n", "docs/otters.txt": "Otters hold hands. Otters eat crabs.",
		"docs/router.html": "<h1>Router</h1><p>A red light means there is no internet.</p>",
	})
	return filepath.Join(dir, "mine.jsonl"), filepath.Join(dir, "docs")
}

// Questions of one's own are run, resumed, estimated and set beside predictions, and
// what they do not have is not measured.
func TestOwnData(t *testing.T) {
	questions, docs := ownData(t)
	out := t.TempDir()
	args := []string{"-questions", questions, "-docs", docs, "-systems", "bm25", "-out", out}
	stdout, stderr, err := bench(t, bare, args...)
	if err != nil || !strings.Contains(stdout, "bm25  ") || !strings.Contains(stderr, "mine: 1 domain, 3 pages (0.0 MB), 4 questions.") {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	types := readReport(t, out).Systems[0].Overall.Types
	for key, want := range map[string]string{"single-fact": "2 1.00 true", "summary": "1 1.00 false", "search": "1 1.00 false"} {
		r, ok := types[key].Figure("evidence_recall_at_5")
		a, judged := types[key].Figure("accuracy")
		if n := types[key].N; !ok || r != 1 || judged && a != 1 || (strings.HasSuffix(want, "true")) != judged || want[0] != byte('0'+n) {
			t.Errorf("%s: %d questions, recall %v %v, accuracy %v %v", key, n, r, ok, a, judged)
		}
	}
	stdout, _, err = bench(t, bare, args...)
	check.True(t, err == nil && strings.Contains(stdout, "Nothing to do, 4 answers"), "again: %v\n%s", err, stdout)
	stdout, _, err = bench(t, bare, append(args, "-dry-run")...)
	check.True(t, err == nil && strings.Contains(stdout, "makes no call"), "-dry-run: %v\n%s", err, stdout)
	mine := filepath.Join(files(t, map[string]string{"mine.jsonl": `{"question": "How do barn owls hunt?", "answer": "by ear", "evidence": ["owls.md"]}`}), "mine.jsonl")
	stdout, _, err = bench(t, bare, append(args, "-score", "mine="+mine, "-partial")...)
	check.True(t, err == nil && strings.Contains(stdout, "Not ranked: mine (n = 1)"), "-score: %v\n%s", err, stdout)
	r, _ := readReport(t, out).Systems[1].Overall.Types["single-fact"].Figure("evidence_recall_at_5")
	check.Equal(t, r, 1, "recall of the predictions")
}

// A gold page may be a PDF, as it may for ask; an unknown key is reported.
func TestOwnPDF(t *testing.T) {
	page := check.Of(os.ReadFile("testdata/warranty.pdf")).OK(t)
	dir := files(t, map[string]string{"docs/warranty.pdf": string(page), "docs/owls.md": "Barn owls hunt by ear.",
		"mine.jsonl": `{"question": "How long does the warranty of the tide clock last?", "answer": "five years", "gold": ["warranty.pdf"], "golden": 1}`})
	stdout, stderr, err := bench(t, bare, "-questions", filepath.Join(dir, "mine.jsonl"), "-docs", filepath.Join(dir, "docs"), "-systems", "bm25", "-out", t.TempDir())
	check.True(t, err == nil && strings.Contains(stdout, "bm25  ") && strings.Contains(stderr, "2 pages") &&
		strings.Contains(stderr, `mine.jsonl:1: unknown key "golden" ignored`), "%v\n%s%s", err, stdout, stderr)
}

// A folder in BEIR's layout is known by its files, and ranked by nDCG@10.
func TestBEIR(t *testing.T) {
	dir := files(t, map[string]string{
		"corpus.jsonl":   `{"_id": "d1", "text": "Barn owls hunt mice."}` + "\n" + `{"_id": "d2", "text": "Otters eat crabs."}`,
		"queries.jsonl":  `{"_id": "q1", "text": "who eats crabs"}`,
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td2\t2\n",
	})
	stdout, _, err := bench(t, bare, "-data", dir, "-systems", "bm25", "-out", t.TempDir(), "-min", "ndcg_at_10=1")
	if err != nil || !strings.Contains(stdout, "nDCG at 10, %") || !strings.Contains(stdout, "bm25    100.00") || strings.Contains(stdout, "Accuracy") {
		t.Errorf("%v\n%s", err, stdout)
	}
}

func TestOwnDataUsage(t *testing.T) {
	questions, docs := ownData(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-questions", questions}, "go together"},
		{[]string{"-docs", docs}, "go together"},
		{[]string{"-questions", questions, "-docs", docs, "-data", docs}, "give one data set"},
		{[]string{"-questions", questions, "-docs", docs, "-domains", "a"}, "mine.jsonl has one domain"},
		{[]string{"-questions", questions, "-docs", filepath.Dir(docs)}, "may be indexed: move it out"},
		{[]string{"-questions", questions, "-docs", questions}, "may be indexed: move it out"},
		{[]string{"-questions", questions, "-docs", docs + "x"}, "-docs: "},
		{[]string{"-data", questions}, "is not a folder"},
	} {
		_, _, err := bench(t, bare, append(tt.args, "-out", t.TempDir())...)
		check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), tt.want), "%v: %v, want %q", tt.args, err, tt.want)
	}
}

// A file whose figures are other than they look is told of, and its equal rows have no best.
func TestUnfitQuestions(t *testing.T) {
	dir := t.TempDir()
	docs := filepath.Join(dir, "docs")
	check.OK(t, errors.Join(os.Mkdir(docs, 0o700), os.WriteFile(filepath.Join(docs, "tide.md"), []byte("The tide rises twice a day. There are 40 berths, for guests and members."), 0o600)))
	const tide, berths = `{"question": "How often does the tide rise?", "answer": "Twice a day."}`, `{"question": "How many berths are there?", "answer": "40"}`
	const without, yes = `{"question": "Who owns the pier?", "unanswerable": true}`, `{"question": "Is the tide high?", "answer": "no"}`
	for name, tt := range map[string]struct {
		lines []string
		mode  string
		want  []string // in what is said, or the error
		not   string
	}{
		"one":          {[]string{tide}, "open", []string{"1 question: with fewer than 10", "Too few questions to tell which is better: 1."}, "repeat"},
		"twice":        {slices.Repeat([]string{tide, berths}, 6), "open", []string{"10 of 12 questions repeat an earlier one", "Level with it: 1 system"}, "fewer than"},
		"unanswerable": {[]string{tide, without, yes}, "open", []string{"1 of 3 questions have no answer, but -mode open answers them"}, "repeat"},
		"refusing":     {[]string{tide, without}, "reject", []string{"2 questions: with fewer than 10"}, "have no answer"},
		"empty":        {[]string{tide, `{"question": "What?", "answer": " "}`}, "open", []string{"q.jsonl:2: nothing to judge by"}, "Report"},
		"a number":     {[]string{tide, `{"question": "What?", "answer": 40}`}, "open", []string{"q.jsonl:2: answer is a JSON number, want a text"}, "Report"},
		"a list":       {[]string{`{"question": "What?", "answer": ["guests", "members"]}`}, "open", []string{"q.jsonl:1: answer is a JSON array, want a text"}, "Report"},
		"none has one": {[]string{yes}, "open", []string{"Lexical accuracy, %", "0.00"}, "**"},
	} {
		file := filepath.Join(t.TempDir(), "q.jsonl")
		check.OK(t, os.WriteFile(file, []byte(strings.Join(tt.lines, "\n")), 0o600))
		out := filepath.Join(filepath.Dir(file), "out")
		stdout, stderr, err := bench(t, bare, "-questions", file, "-docs", docs, "-systems", "bm25,naiverag", "-mode", tt.mode, "-out", out)
		tables, _ := os.ReadFile(filepath.Join(out, "report.md"))
		said := strings.Join(strings.Fields(fmt.Sprint(stdout, stderr, err)), " ")
		for _, want := range tt.want {
			check.Contains(t, said, want, "%s: no", name)
		}
		check.True(t, !strings.Contains(said, tt.not) && !strings.Contains(string(tables), "**"),
			"%s: %q, or a best of equal rows:\n%s\n%s", name, tt.not, said, tables)
	}
}
