// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
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
// the data set, only the hashes by which the answers are known again.
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
// each stands for, on the questions that rules were developed on and on the others. All
// answers are made as they were when they were labelled.
func TestLabels(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" || testing.Short() {
		t.Skip("WILDGRAPHBENCH_DIR is not set, or tests are to be short: it answers 323 questions four times")
	}
	all := check.Of(makeAnswers(os.DirFS(dir))).OK(t)
	byName, population, drawn := map[string]made{}, map[bool]float64{}, map[bool]float64{}
	for _, m := range all {
		byName[m.system+" "+m.ID] = m
		population[m.likely]++
	}
	rows := check.Of(csv.NewReader(strings.NewReader(labels)).ReadAll()).OK(t)
	var names []string
	for _, row := range rows[1:] { // below the heading
		m, ok := byName[row[0]+" "+row[1]]
		check.Must(t, ok && m.hash() == row[2],
			"the answer of %s to %s is not the one that was labelled", row[0], row[1])
		drawn[m.likely]++
		names = append(names, row[0]+" "+row[1])
	}
	var drawnAgain []string
	for _, m := range draw(all, 200, 100) {
		drawnAgain = append(drawnAgain, m.system+" "+m.ID)
	}
	slices.Sort(names)
	slices.Sort(drawnAgain)
	check.Equal(t, names, drawnAgain, "labelled are %d answers, not the %d that are drawn", len(names), len(drawnAgain))
	halves := map[bool]*confusion{true: {}, false: {}}
	for _, row := range rows[1:] {
		m := byName[row[0]+" "+row[1]]
		v := verdict(t, judge.Case{Question: m.Question, Reference: m.Reference, Answer: m.answer})
		halves[heldOut(m.ID)].add(row[4] == "1", v, population[m.likely]/drawn[m.likely])
	}
	t.Logf("kappa %.3f on the development half, %.3f on the other", halves[false].kappa(), halves[true].kappa())
	if halves[false].kappa() < .6 || halves[true].kappa() < .35 {
		t.Errorf("kappa %.3f and %.3f, want at least .6 and .35", halves[false].kappa(), halves[true].kappa())
	}
}

// draw takes n answers at random of all, and then k more of the likely ones. What is
// random follows from the hash of system, question and answer.
func draw(all []made, n, k int) []made {
	all = slices.Clone(all)
	place := func(m made) string { return digest(m.system + "\x00" + m.ID + "\x00" + m.answer) }
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

// made is an answer that a frozen system gives to a question of the data set.
type made struct {
	asked
	system, answer string
	// likely tells that the answer holds half of the words by which the reference
	// goes beyond the question: a stratum, drawn from more often.
	likely bool
}

// hash names an answer.
func (m made) hash() string { return digest(m.answer)[:16] }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// makeAnswers has every frozen system answer every question with one gold
// statement of the domains in a folder, sorted by domain, question and system.
func makeAnswers(fsys fs.FS) ([]made, error) {
	files, err := fs.Glob(fsys, "QA/*/questions.jsonl")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no QA/*/questions.jsonl in the folder (%v)", err)
	}
	var out []made
	for _, file := range files {
		domain := path.Base(path.Dir(file))
		names, pages, join, err := readPages(fsys, domain)
		if err != nil {
			return nil, err
		}
		questions, err := readQuestions(fsys, file, domain, join)
		if err != nil {
			return nil, err
		}
		c := newCorpus(names, pages)
		for _, q := range questions {
			for _, name := range slices.Sorted(maps.Keys(systems)) {
				m := made{asked: q, system: name, answer: systems[name](c, q)}
				if m.answer == "" {
					continue
				}
				m.likely = m.holdsKeys()
				out = append(out, m)
			}
		}
	}
	return out, nil
}

func readPages(fsys fs.FS, domain string) (names []string, pages map[string]string, join *wildgraph.Join, err error) {
	files, err := fs.Glob(fsys, "corpus/"+domain+"/*/reference_pages/*.txt")
	if err != nil || len(files) == 0 {
		return nil, nil, nil, fmt.Errorf("no pages of %s in the folder (%v)", domain, err)
	}
	pages = make(map[string]string)
	for _, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, nil, nil, err
		}
		names = append(names, path.Base(file))
		pages[path.Base(file)] = string(data)
	}
	var refs []wildgraph.Reference
	list := path.Join(path.Dir(path.Dir(files[0])), "references.jsonl")
	f, err := fsys.Open(list)
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	for l, err := range jsonl.Read[wildgraph.Reference](f, jsonl.Options{Name: list}) {
		if err != nil {
			return nil, nil, nil, err
		}
		refs = append(refs, l.Value)
	}
	return names, pages, wildgraph.NewJoin(refs, names), nil
}

func readQuestions(fsys fs.FS, file, domain string, join *wildgraph.Join) ([]asked, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	type line struct {
		Question, Answer string
		RefURLs          []string `json:"ref_urls"`
	}
	var out []asked
	for l, err := range jsonl.Read[line](f, jsonl.Options{Name: file}) {
		if err != nil {
			return nil, err
		}
		if l.Value.Answer == "" {
			continue // a summary
		}
		q := asked{ID: fmt.Sprintf("%s/%d", domain, l.Number), Question: l.Value.Question, Reference: l.Value.Answer}
		for _, url := range l.Value.RefURLs {
			q.pages = append(q.pages, join.Pages(url)...)
		}
		out = append(out, q)
	}
	return out, nil
}

// holdsKeys: see made.likely.
func (m made) holdsKeys() bool {
	asked, answer := frozenWords(m.Question), frozenWords(m.answer)
	keys, held := 0, 0
	for _, w := range distinct(frozenWords(m.Reference)) {
		if !slices.Contains(asked, w) {
			keys++
			if slices.Contains(answer, w) {
				held++
			}
		}
	}
	return keys > 0 && 2*held >= keys
}

// heldOut tells to which half a question belongs: all of its answers to the same.
func heldOut(id string) bool { return strings.ContainsAny(digest("half " + id)[:1], "89abcdef") }
