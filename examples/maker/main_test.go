// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func program(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, progress strings.Builder
	err := run(t.Context(), args, &out, &progress)
	return out.String(), err
}

// A sample is written, is the same the next time, is never overwritten, and its labels give rates.
func TestAudit(t *testing.T) {
	dir := t.TempDir()
	file, again := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	for _, name := range []string{file, again} {
		check.OK(t, check.Err(program(t, "audit", "-data", "../wildgraphbench/bench/musique", "-out", name)))
	}
	a := check.Of(os.ReadFile(file)).OK(t)
	b, err := os.ReadFile(again)
	check.True(t, err == nil && string(a) == string(b), "another run writes another sample: %v", err)
	_, err = program(t, "audit", "-data", "../wildgraphbench/bench/musique", "-out", file)
	check.Fails(t, err, "may hold labels", "labels are written over")
	// One of four answers is wrong in the band of 90, none of one in the band of 10: 22.5 %, with the certainty
	// of five labels. The rule is wrong about most, and empty answers get no label.
	var lines []string
	for i, label := range []string{"misaligned", "Aligned ", "aligned", "aligned", "unsure", "", "aligned"} {
		similarity, of := .9, 90
		if i == 6 {
			similarity, of = .1, 10
		}
		lines = append(lines, fmt.Sprintf(`{"id": "%d", "similarity": %v, "of": %d, "label": %q, "rule": "misaligned"}`, i, similarity, of, label))
	}
	check.OK(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	out, err := program(t, "audited", file)
	for _, want := range []string{"from 0.8       25.0 [4.6, 69.9] of 4 ", "from 0.0       0.0 [0.0, 79.3] of 1 ", "all, weighted  22.5 [3.6, 62.4] of 5 ", "100.0 [", "n/a"} {
		check.True(t, err == nil && strings.Contains(out, want), "%v: no %q in\n%s", err, want, out)
	}
	check.OK(t, os.WriteFile(file, []byte(`{"id": "x", "label": "perhaps"}`+"\n{"), 0o600))
	_, err = program(t, "audited", file)
	check.True(t, err != nil && strings.Contains(err.Error(), `a.jsonl:1: label "perhaps"`) && strings.Contains(err.Error(), "a.jsonl:2:"), "got %v", err)
}

// The questions may come from a file; a model can read and label, and a reply without a verdict is unsure.
func TestAuditByModel(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		switch prompt := req.Messages[0].Text + req.Messages[len(req.Messages)-1].Text; {
		case strings.Contains(prompt, `{"triples": [[`):
			return llm.Reply{Text: `{"triples": [["Fram","builder","Archer"],["Archer","born in","Larvik"]]}`}
		case strings.Contains(prompt, `{"label": "`) && strings.Contains(prompt, "Larvik") && strings.Contains(prompt, "was built by"):
			return llm.Reply{Text: `{"label": "misaligned"}`}
		}
		return llm.Reply{Text: `nothing`}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk")
	dir := t.TempDir()
	path := func(name, text string) string {
		if text != "" {
			check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		return filepath.Join(dir, name)
	}
	out, err := program(t, "audit", "-model", "m", "-questions", path("q.jsonl", `{"question": "Who built the Fram?", "answer": "Archer", "question_categories": [{"category_name": "single-hop"}]}`),
		"-docs", path("fram.md", "The Fram was built by Archer."), "-kg", path("kg.tsv", "Fram\tbuilder\tArcher\nArcher\tborn in\tLarvik\n"), "-out", path("a.jsonl", ""))
	check.True(t, err == nil && strings.Contains(out, "50.0 [9.5, 90.5] of 2"), "%v\n%s", err, out)
	for i, label := range []string{"misaligned", "unsure"} {
		a, err := os.ReadFile(path("a.jsonl", ""))
		check.True(t, err == nil && strings.Count(string(a), `"model":"`+label+`"`) == 1, "%d: %v\n%s", i, err, a)
	}
	out, err = program(t, "audited", path("a.jsonl", ""))
	check.True(t, err == nil && strings.Contains(out, "100.0 [20.7, 100.0] of 1"), "%v\n%s", err, out)
}

func TestCommandLines(t *testing.T) {
	for _, args := range [][]string{
		{"nothing"}, {"audit"}, {"audit", "-data", "x"}, {"audit", "-data", "x", "-questions", "y", "-docs", "z", "-out", "o"}, {"audited"}, {"journal", "mend", "x"},
	} {
		check.Is(t, check.Err(program(t, args...)), cli.ErrUsage, "%q", args)
	}
	out, err := program(t, "-help")
	check.True(t, err == nil && strings.Contains(out, "audit"), "%v\n%s", err, out)
}

// Whole, torn and damaged files are distinguished by the output and the exit status, and a repaired file can be
// opened.
func TestVerifyAndRepair(t *testing.T) {
	dir := t.TempDir()
	header := journal.Header{Schema: "test/1"}
	path := filepath.Join(dir, "j")
	j := check.Of(journal.Open(path, header, journal.Options{})).OK(t)
	for range 100 {
		check.OK(t, j.Append(1, []byte("a reply that was paid for")))
	}
	check.OK(t, j.Close())
	whole := check.Of(os.ReadFile(path)).OK(t)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	newer := bytes.Clone(whole)
	newer[7]++
	for name, tt := range map[string]struct {
		data    []byte
		is      error
		says    string
		records string // in the repaired file; "" is no repair
	}{
		"whole":      {whole, nil, "100 whole records of test/1.\n", "the 100 whole"},
		"torn":       {whole[:len(whole)-3], errTorn, "repeats the call.\nIt begins: ", "the 99 whole"},
		"damaged":    {damaged, errDamaged, "Lost: records ", "the 99 whole"},
		"newer":      {newer, journal.ErrVersion, "", ""},
		"no journal": {[]byte("notes"), journal.ErrCorrupt, "", ""},
	} {
		file := filepath.Join(dir, name)
		check.OK(t, os.WriteFile(file, tt.data, 0o600))
		var out strings.Builder
		if err := run(t.Context(), []string{"journal", "verify", file}, &out, &out); !errors.Is(err, tt.is) || (err == nil) != (tt.is == nil) || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
		out.Reset()
		err := run(t.Context(), []string{"journal", "repair", file, file + ".new"}, &out, &out)
		check.True(t, (err == nil) == (tt.records != "") && strings.Contains(out.String(), tt.records), "%s: %v\n%s", name, err, &out)
		if err != nil {
			continue
		}
		err = run(t.Context(), []string{"journal", "verify", file + ".new"}, &out, &out)
		check.True(t, err == nil, "%s, repaired: %v", name, err)
	}
	for _, args := range [][]string{nil, {"verify"}, {"repair", path}, {"mend", path}} {
		check.Is(t, run(t.Context(), append([]string{"journal"}, args...), &strings.Builder{}, &strings.Builder{}), cli.ErrUsage, "%q", args)
	}
}

// pairs are 120 answers written for this purpose and labelled by one reader: paraphrases,
// numbers, dates, denials, other names, partial answers, further detail, hedges, refusals.
//
//go:embed testdata/pairs.jsonl
var pairs []byte

// labels are a person's verdicts on 300 sampled answers to real questions. The file has no text of the data
// set, but hashes and the places of the words in the pages.
//
//go:embed testdata/labels.csv
var labels string

// confusion has the weights of answers by label and verdict.
type confusion [2][2]float64

func (c *confusion) add(right bool, v judge.Verdict, weight float64) {
	number := map[bool]int{true: 1}
	c[number[right]][number[v.State == judge.Scored && v.Value == 1]] += weight
}

// kappa returns Cohen's kappa.
func (c confusion) kappa() float64 {
	all := c[0][0] + c[0][1] + c[1][0] + c[1][1]
	agree := (c[0][0] + c[1][1]) / all
	chance := ((c[0][0]+c[0][1])*(c[0][0]+c[1][0]) + (c[1][0]+c[1][1])*(c[0][1]+c[1][1])) / (all * all)
	return (agree - chance) / (1 - chance)
}

func verdict(t *testing.T, c judge.Case) judge.Verdict {
	t.Helper()
	j := check.Of(lexical.New(judge.Options{})).OK(t)
	f := check.Of(j.Fact(t.Context(), c)).OK(t)
	return f.Verdict
}

// The lexical judge agrees with the labels of the shipped pairs.
func TestPairs(t *testing.T) {
	type pair struct {
		Question, Reference, Answer string
		Label                       int
	}
	var c confusion
	for l, err := range journal.ReadLines[pair](bytes.NewReader(pairs), journal.LineOptions{Name: "pairs.jsonl"}) {
		check.OK(t, err)
		p := l.Value
		c.add(p.Label == 1, verdict(t, judge.Case{Question: p.Question, Reference: p.Reference, Answer: p.Answer}), 1)
	}
	t.Logf("kappa %.3f of %v", c.kappa(), c)
	check.True(t, c.kappa() >= .76 && c[0][0]+c[0][1]+c[1][0]+c[1][1] == 120, "kappa %.3f of %v, want at least .76 of 120 pairs", c.kappa(), c)
}

// The lexical judge agrees with the labels of real answers, weighted by the number of answers that each
// represents: on the questions on which rules were developed, and on the others. An answer is made of spans of
// the pages' prose, sentences that simple rules chose. It was sampled from 1,292 answers, more often if it has
// half of the reference's words (stratum likely).
func TestLabels(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	population, drawn := map[string]float64{"other": 1110, "likely": 182}, map[string]float64{}
	rows := check.Of(csv.NewReader(strings.NewReader(labels)).ReadAll()).OK(t)[1:] // the rows below the header
	for _, row := range rows {
		drawn[row[3]]++
	}
	halves := map[bool]*confusion{true: {}, false: {}}
	questions, pages := map[string]judge.Case{}, map[string][]string{}
	for _, row := range rows {
		domain := path.Dir(row[1])
		if pages[domain] == nil {
			pages[domain] = check.Of(filepath.Glob(filepath.Join(dir, "corpus", domain, "*", "reference_pages", "*.txt"))).OK(t)
			readQuestions(t, dir, domain, questions)
		}
		c := questions[row[1]]
		c.Answer = prose(t, pages[domain], row[5])
		check.Must(t, digest(c.Answer)[:16] == row[2], "the answer of %s to %s is not the one that was labelled", row[0], row[1])
		heldOut := strings.ContainsAny(digest("half " + row[1])[:1], "89abcdef") // all answers to a question are in one half
		halves[heldOut].add(row[4] == "1", verdict(t, c), population[row[3]]/drawn[row[3]])
	}
	check.Equal(t, drawn, map[string]float64{"other": 168, "likely": 132}, "answers by stratum")
	t.Logf("kappa %.3f on the development half, %.3f on the other", halves[false].kappa(), halves[true].kappa())
	check.True(t, halves[false].kappa() >= .6 && halves[true].kappa() >= .35,
		"kappa %.3f and %.3f, want at least .6 and .35", halves[false].kappa(), halves[true].kappa())
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// readQuestions reads the questions of a domain that have a gold statement, by domain and line.
func readQuestions(t *testing.T, dir, domain string, to map[string]judge.Case) {
	t.Helper()
	name := filepath.Join(dir, "QA", domain, "questions.jsonl")
	f := check.Of(os.Open(name)).OK(t)
	defer f.Close()
	type line struct{ Question, Answer string }
	for l, err := range journal.ReadLines[line](f, journal.LineOptions{Name: name}) {
		check.OK(t, err)
		to[fmt.Sprintf("%s/%d", domain, l.Number)] = judge.Case{Question: l.Value.Question, Reference: l.Value.Answer}
	}
}

var (
	image = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	link  = regexp.MustCompile(`\[([^\[\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)`)
	mark  = regexp.MustCompile("[*_`>|#]+")
)

// prose joins spans of pages. Each is given by page, line, and bytes of the line without markdown; semicolons
// separate them.
func prose(t *testing.T, pages []string, spans string) string {
	t.Helper()
	var texts []string
	for span := range strings.SplitSeq(spans, ";") {
		var page, line, from, to int
		check.OK(t, check.Err(fmt.Sscan(span, &page, &line, &from, &to)))
		lines := strings.Split(string(check.Of(os.ReadFile(pages[page])).OK(t)), "\n")
		plain := link.ReplaceAllString(image.ReplaceAllString(lines[line], " "), "$1")
		plain = strings.Join(strings.Fields(mark.ReplaceAllString(plain, " ")), " ")
		texts = append(texts, plain[from:to])
	}
	return strings.Join(texts, " ")
}
