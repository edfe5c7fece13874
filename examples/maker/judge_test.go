// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// pairs are 120 answers written for this purpose and labelled by one reader: paraphrases,
// numbers, dates, denials, other names, partial answers, further detail, hedges, refusals.
//
//go:embed testdata/pairs.jsonl
var pairs []byte

// labels are the verdicts of a person on 300 drawn answers to real questions: no text of
// the data set, only hashes, and where the pages have the words.
//
//go:embed testdata/labels.csv
var labels string

// confusion is the weight of answers by label and verdict.
type confusion [2][2]float64

func (c *confusion) add(right bool, v judge.Verdict, weight float64) {
	number := map[bool]int{true: 1}
	c[number[right]][number[v.State == judge.Scored && v.Value == 1]] += weight
}

// kappa is Cohen's.
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
	for l, err := range jsonl.Read[pair](bytes.NewReader(pairs), jsonl.Options{Name: "pairs.jsonl"}) {
		check.OK(t, err)
		p := l.Value
		c.add(p.Label == 1, verdict(t, judge.Case{Question: p.Question, Reference: p.Reference, Answer: p.Answer}), 1)
	}
	t.Logf("kappa %.3f of %v", c.kappa(), c)
	check.True(t, c.kappa() >= .76 && c[0][0]+c[0][1]+c[1][0]+c[1][1] == 120, "kappa %.3f of %v, want at least .76 of 120 pairs", c.kappa(), c)
}

// The lexical judge agrees with the labels of real answers, weighted by how many answers
// each stands for, on the questions that rules were developed on and on the others. An answer is
// spans of the pages' prose: sentences that simple rules chose, drawn from 1,292 answers, those
// with half of the reference's own words (stratum likely) more often.
func TestLabels(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	population, drawn := map[string]float64{"other": 1110, "likely": 182}, map[string]float64{}
	rows := check.Of(csv.NewReader(strings.NewReader(labels)).ReadAll()).OK(t)[1:] // below the heading
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
		heldOut := strings.ContainsAny(digest("half " + row[1])[:1], "89abcdef") // all answers to a question in one half
		halves[heldOut].add(row[4] == "1", verdict(t, c), population[row[3]]/drawn[row[3]])
	}
	check.Equal(t, drawn, map[string]float64{"other": 168, "likely": 132}, "answers by stratum")
	t.Logf("kappa %.3f on the development half, %.3f on the other", halves[false].kappa(), halves[true].kappa())
	check.True(t, halves[false].kappa() >= .6 && halves[true].kappa() >= .35,
		"kappa %.3f and %.3f, want at least .6 and .35", halves[false].kappa(), halves[true].kappa())
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// readQuestions reads a domain's questions with a gold statement, by domain and line.
func readQuestions(t *testing.T, dir, domain string, to map[string]judge.Case) {
	t.Helper()
	name := filepath.Join(dir, "QA", domain, "questions.jsonl")
	f := check.Of(os.Open(name)).OK(t)
	defer f.Close()
	type line struct{ Question, Answer string }
	for l, err := range jsonl.Read[line](f, jsonl.Options{Name: name}) {
		check.OK(t, err)
		to[fmt.Sprintf("%s/%d", domain, l.Number)] = judge.Case{Question: l.Value.Question, Reference: l.Value.Answer}
	}
}

var (
	image = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	link  = regexp.MustCompile(`\[([^\[\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)`)
	mark  = regexp.MustCompile("[*_`>|#]+")
)

// prose joins spans of pages: page, line, and bytes of the line without markdown, spans apart by semicolons.
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
