// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// bookFiles are the files of questions about textbooks (arXiv 2506.02404), each of one type, and the
// instruction that is added to its questions.
var bookFiles = []struct{ file, kind, ask string }{
	{"FB.jsonl", "fill-in-blank", ""},
	{"MC.jsonl", "multi-choice", "Answer with the letter of the one choice that is right."},
	{"MS.jsonl", "multi-select", "Answer with the letters of all choices that are right."},
	{"TF.jsonl", "true-or-false", "Answer with True or False."},
	{"OE.jsonl", "open-ended", ""},
}

// bookQuestion is a question about textbooks.
type bookQuestion struct {
	Question string    `json:"Question"`
	Answer   truthText `json:"Answer"`
	Choices  choices   `json:"Choices"`
}

// truthText is a text, or a truth value as one.
type truthText string

func (w *truthText) UnmarshalJSON(data []byte) error {
	var truth bool
	if json.Unmarshal(data, &truth) == nil && string(data) != "null" {
		*w = "False"
		if truth {
			*w = "True"
		}
		return nil
	}
	return json.Unmarshal(data, (*string)(w))
}

// choices are an object of letters or a list.
type choices []string

func (c *choices) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		for i, text := range list {
			*c = append(*c, labelled(string(rune('A'+i)), text))
		}
		return nil
	}
	var byLetter map[string]string
	if err := json.Unmarshal(data, &byLetter); err != nil {
		return errors.New(`"Choices" is no object of letters`)
	}
	for _, letter := range slices.Sorted(maps.Keys(byLetter)) {
		*c = append(*c, labelled(letter, byLetter[letter]))
	}
	return nil
}

// labelled adds the missing letter of a choice.
func labelled(letter, text string) string {
	if strings.HasPrefix(text, letter+".") || strings.HasPrefix(text, letter+")") {
		return text
	}
	return letter + ". " + text
}

// loadTextbooks makes one domain of all textbooks: the data set does not name a question's book.
func loadTextbooks(fsys fs.FS, set, file string) (loadedSet, error) {
	books, err := readBooks(fsys, path.Dir(path.Dir(file)))
	if err != nil {
		return loadedSet{}, err
	}
	var items []benchmark.Item
	var missing []string
	for _, b := range bookFiles {
		seen := make(map[string]bool)
		name := beside(file, b.file)
		if _, err := fs.Stat(fsys, name); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, b.file)
			continue
		}
		err := records(fsys, name, func(line int, q bookQuestion) error {
			text := strings.TrimSpace(q.Question)
			if text == "" {
				return errors.New("the question is empty")
			}
			if strings.HasPrefix(b.kind, "multi-") && len(q.Choices) == 0 {
				return errors.New(`no "Choices"`)
			}
			for _, more := range append(slices.Clone(q.Choices), b.ask) {
				if more != "" {
					text += "\n" + more
				}
			}
			it := benchmark.Item{
				Type: b.kind, Question: graphrag.Question{ID: fmt.Sprintf("%s/%d", strings.TrimSuffix(b.file, ".jsonl"), line), Text: text},
				Reference: string(q.Answer),
			}
			if err := checkItem(set, it, seen); err != nil {
				return err
			}
			items = append(items, it)
			return nil
		})
		if err != nil {
			return loadedSet{}, err
		}
	}
	p := loadedSet{domains: []benchmark.Domain{benchmark.NewDomain(set, books, items)}}
	if len(items) == 0 {
		return loadedSet{}, fmt.Errorf("%s and the files beside it hold no question", file)
	}
	if len(missing) > 0 {
		p.notes = append(p.notes, "files of questions that are not there: "+strings.Join(missing, ", "))
	}
	return p, nil
}

// readBooks reads the Markdown files of the corpus, by name.
func readBooks(fsys fs.FS, root string) ([]graphrag.Document, error) {
	for _, name := range []string{"Corpus", "corpus"} {
		dir := path.Join(root, name)
		if _, err := fs.Stat(fsys, dir); err != nil {
			continue
		}
		var out []graphrag.Document
		err := fs.WalkDir(fsys, dir, func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(strings.ToLower(file), ".md") {
				return err
			}
			text, err := readText(fsys, file)
			if err == nil {
				id := strings.TrimPrefix(file, dir+"/")
				out = append(out, graphrag.Document{ID: id, Title: strings.TrimSuffix(path.Base(file), path.Ext(file)), Text: text})
			}
			return err
		})
		if err == nil && len(out) == 0 {
			err = fmt.Errorf("%s holds no .md file", dir)
		}
		return out, err
	}
	return nil, fmt.Errorf("no folder Corpus beside the questions in %s", root)
}

func readText(fsys fs.FS, file string) (string, error) {
	f, err := journal.OpenFile(fsys, file)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, MaxRecord+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading %s: %w", file, err)
	case len(data) > MaxRecord:
		return "", fmt.Errorf("%s is larger than %d MiB", file, MaxRecord>>20)
	case !utf8.Valid(data):
		return "", fmt.Errorf("%s is not valid UTF-8", file)
	}
	return string(data), nil
}
