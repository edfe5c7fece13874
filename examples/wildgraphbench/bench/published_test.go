// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/internal/check"
)

// numbered are n lines of a format that takes the number of the line.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

const (
	hop    = `{"id": "2hop__%d_2", "question": "Who founded abbey %[1]d?", "answer": "Ada Moss", "paragraphs": [{"title": "Elm Abbey", "paragraph_text": "Ada Moss founded it.", "is_supporting": true}]}`
	whale  = `{"question": "Who is [PERSON#%d]?", "answer": "PERSON#%[1]d——Ahab", "type": "reversion"}`
	raw    = `{"question": "Who is the captain of boat %d?", "answer": "A", "options": ["Ahab", "Bulkington"], "type": "choice"}`
	atlas  = `{"question": "Which road leads to town %d?", "question_type": ["single-fact"], "answer": "Road %[1]d.", "ref_urls": ["https://a.example/roads"]}`
	eng    = `{"text": "[PERSON#1] sails."}`
	mapped = "corpus/geography/Road/reference_pages/Roads.txt"
	refs   = "corpus/geography/Road/references.jsonl"
	places = "QA/geography/questions.jsonl"
)

// roads are n questions below the name of a domain of the paper, of which the number is known.
func roads(n int) map[string]string {
	return map[string]string{places: numbered(n, atlas), mapped: "Roads\nAda Moss founded Elm Abbey in Kent. Bo Reed was born in Kent.\n", refs: `{"title": "Roads", "url": "https://a.example/roads"}`}
}

// Published rows stand beside the questions that they are about, and nothing else: no sample, no
// file of another length or of training questions, no names that can be read, no edited question.
func TestPublishedBesideOwnData(t *testing.T) {
	serveGrader(t)
	hops := func(name string, n int) map[string]string { return map[string]string{name: numbered(n, hop)} }
	hidden := func(question string, n int) map[string]string {
		return map[string]string{"eng_corpus.jsonl": eng, "eng_qa.jsonl": numbered(n, question)}
	}
	named := strings.NewReplacer("geography", "people")
	people := make(map[string]string)
	for name, content := range roads(154) {
		people[named.Replace(name)] = content
	}
	for name, tt := range map[string]struct {
		files map[string]string
		args  string
		want  string // a row, or why there is none
	}{
		"released":    {hops("musique.json", 1000), "-prompt minimal", "zeroshot | ↳ published: accuracy, DeepSeek-V3-0324, open, 1,000 questions | 25.70 |"},
		"our rules":   {hops("musique.json", 2), "", "here: their prompt is -prompt minimal."},
		"limited":     {hops("musique.json", 1000), "-prompt minimal -limit 9", "here: they are about 1000 questions, this run asks 9."},
		"seven":       {hops("musique.json", 2), "-prompt minimal -k 7", "here: they are for 10 and 20 chunks and the modes open and reject."},
		"sample":      {hops("musique.json", 1), "-prompt minimal", "here: they are about 1000 questions, this run asks 1."},
		"training":    {hops("musique_train.json", 2), "-prompt minimal", "and these are training questions, of musique_train.json."},
		"hidden":      {hidden(whale, 709), "-prompt minimal", "zeroshot | ↳ published: accuracy, DeepSeek-V3-0324, open, 709 questions | 8.18 |"},
		"not hidden":  {hidden(raw, 2), "-prompt minimal", "and the names of these are not hidden."},
		"made":        {hidden(whale[:len(whale)-1]+`, "made": "by a model"}`, 2), "-prompt minimal", "and these were made by other means."},
		"roads":       {roads(98), "", "bm25 | ↳ published: accuracy and mean F1, gpt-4o-mini, 98 questions | "},
		"fewer roads": {roads(97), "-judge-profile paper", "here: they are about 98 questions, this run asks 97."},
		"no people":   {people, "-judge-profile paper -index-kit offline -limit 5", "and its questions, answers or pages are not the released ones."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, tt.files)
			system := "zeroshot"
			if tt.files[refs] != "" {
				system = "bm25"
			} else if name == "no people" {
				system = "lightrag" // whose graph has no published rows either
			}
			out := filepath.Join(dir, "out")
			_, _, err := bench(t, bare, append(strings.Fields(tt.args), "-data", dir, "-systems", system, "-model", "m", "-out", out, "-no-timings")...)
			check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v", err)
			md := check.Of(os.ReadFile(filepath.Join(out, "report.md"))).OK(t)
			_, row, isRow := strings.Cut(tt.want, " | ")
			if !isRow {
				row = tt.want
			}
			if !strings.Contains(string(md), row) || strings.Contains(string(md), "published: ") != isRow {
				t.Errorf("no %q, or other published rows, in\n%s", row, md)
			}
		})
	}
}

// So it is with the released files.
func TestPublishedBesideReleasedData(t *testing.T) {
	data := os.Getenv("WILDGRAPHBENCH_DIR")
	if data == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	serveGrader(t)
	edited := t.TempDir()
	for _, folder := range []string{"QA", "corpus", "extracted_data"} {
		check.OK(t, os.CopyFS(filepath.Join(edited, folder, "mathematics"), os.DirFS(filepath.Join(data, folder, "mathematics"))))
	}
	file := filepath.Join(edited, "QA", "mathematics", "questions.jsonl")
	text, err := os.ReadFile(file)
	check.OK(t, errors.Join(err, os.WriteFile(file, []byte(strings.Replace(string(text), "?", " ?", 1)), 0o600)))
	for _, tt := range []struct {
		args []string
		rows bool
	}{{[]string{"-data", data}, true}, {[]string{"-data", data, "-limit", "10"}, false}, {[]string{"-data", edited}, false}} {
		out := t.TempDir()
		_, _, err := bench(t, bare, append(tt.args, "-domains", "mathematics", "-systems", "bm25", "-model", "m", "-judge-profile", "paper", "-out", out, "-no-timings")...)
		md, err2 := os.ReadFile(filepath.Join(out, "report.md"))
		if check.OK(t, errors.Join(err, err2)); strings.Contains(string(md), "| ↳ published: accuracy and mean F1, gpt-4o-mini, 33 questions |") != tt.rows || strings.Count(string(md), "stand here") != map[bool]int{true: 1, false: 2}[tt.rows] {
			t.Errorf("%v: published rows %t\n%s", tt.args, !tt.rows, md)
		}
	}
}
