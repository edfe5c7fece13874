// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// made is an answer that a frozen system gives to a question of the data set.
type made struct {
	question
	system, answer string
	// likely tells that the answer holds half of the words by which the reference
	// goes beyond the question: a stratum, drawn from more often.
	likely bool
}

// hash names an answer.
func (m made) hash() string { return hashed(m.answer)[:16] }

func hashed(text string) string {
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
				m := made{question: q, system: name, answer: systems[name](c, q)}
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

func readQuestions(fsys fs.FS, file, domain string, join *wildgraph.Join) ([]question, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	type line struct {
		Question, Answer string
		RefURLs          []string `json:"ref_urls"`
	}
	var out []question
	for l, err := range jsonl.Read[line](f, jsonl.Options{Name: file}) {
		if err != nil {
			return nil, err
		}
		if l.Value.Answer == "" {
			continue // a summary
		}
		q := question{ID: fmt.Sprintf("%s/%d", domain, l.Number), Question: l.Value.Question, Reference: l.Value.Answer}
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
func heldOut(id string) bool { return strings.ContainsAny(hashed("half " + id)[:1], "89abcdef") }
