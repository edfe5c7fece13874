// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
)

// benchFiles returns the possible places of the questions of a part of GraphRAG-Bench (arXiv 2506.05690): in
// the folder of the corpus, or in the folders of its repository.
func benchFiles(name string) []string {
	file := name + "_questions.json"
	return []string{file, "Questions/" + file, "Datasets/Questions/" + file}
}

// corpusOf returns the corpus of a file of questions.
func corpusOf(file string) string {
	name := strings.TrimSuffix(path.Base(file), "_questions.json") + ".json"
	if dir := path.Dir(file); path.Base(dir) == "Questions" {
		return path.Join(path.Dir(dir), "Corpus", name)
	}
	return beside(file, name)
}

// benchText is a record of a corpus: one novel, or the guideline.
type benchText struct {
	Name string  `json:"corpus_name"`
	Text *string `json:"context"`
}

// benchQuestion is a question of GraphRAG-Bench.
type benchQuestion struct {
	ID       string `json:"id"`
	Source   string `json:"source"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	Type     string `json:"question_type"`
}

// benchTypes are the types by the names in the files.
var benchTypes = map[string]string{
	"Fact Retrieval": "fact-retrieval", "Complex Reasoning": "complex-reasoning",
	"Contextual Summarize": "contextual-summarize", "Creative Generation": "creative-generation",
}

// loadBench makes a domain of each text and its questions. The text is one document: there are no gold
// passages.
func loadBench(fsys fs.FS, set, file string) (loadedSet, error) {
	var names []string
	bodies := make(map[string]string)
	corpus := corpusOf(file)
	err := records(fsys, corpus, func(_ int, t benchText) error {
		switch _, known := bodies[t.Name]; {
		case t.Text == nil || t.Name == "":
			return errors.New(`a text without "corpus_name" or "context"`)
		case known:
			return fmt.Errorf("two texts are named %.80q", t.Name)
		}
		names, bodies[t.Name] = append(names, t.Name), *t.Text
		return nil
	})
	if err != nil {
		return loadedSet{}, err
	}
	items := make(map[string][]benchmark.Item)
	seen := make(map[string]bool)
	err = records(fsys, file, func(_ int, q benchQuestion) error {
		it := benchmark.Item{
			Type: benchTypes[q.Type], Question: graphrag.Question{ID: q.ID, Text: q.Question}, Reference: q.Answer,
		}
		if it.Type == "" {
			it.Type = q.Type
		}
		if _, known := bodies[q.Source]; !known {
			return fmt.Errorf("the question is about %.80q, which %s does not hold", q.Source, corpus)
		}
		if err := check(set, it, seen); err != nil {
			return err
		}
		items[q.Source] = append(items[q.Source], it)
		return nil
	})
	if err != nil {
		return loadedSet{}, err
	}
	var p loadedSet
	for _, name := range names {
		full := set
		if len(names) > 1 {
			full += "/" + name
		}
		p.domains = append(p.domains, benchmark.NewDomain(full, []graphrag.Document{{ID: name, Title: name, Text: bodies[name]}}, items[name]))
	}
	if len(seen) == 0 {
		return loadedSet{}, fmt.Errorf("%s holds no question", file)
	}
	return p, nil
}
