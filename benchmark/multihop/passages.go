// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// passages are the documents of a data set, with an index to find gold among them.
type passages struct {
	docs     []graphrag.Document
	byText   map[string]string   // title and text, blanks aside → ID
	byTitle  map[string][]string // → IDs
	repeated int
}

func textKey(title, text string) string {
	return strings.Join(strings.Fields(title), " ") + "\x00" + strings.Join(strings.Fields(text), "")
}

// add appends a new passage. Its ID is its position.
func (p *passages) add(title, text string) {
	key := textKey(title, text)
	if _, known := p.byText[key]; known {
		p.repeated++
		return
	}
	id := fmt.Sprintf("%06d", len(p.docs)+p.repeated)
	p.byText[key] = id
	p.byTitle[title] = append(p.byTitle[title], id)
	p.docs = append(p.docs, graphrag.Document{ID: id, Title: title, Text: text})
}

// unit returns the gold evidence of a paragraph: the passage with its text, else all with its title; it may
// be empty.
func (p *passages) unit(title, text string) benchmark.Unit {
	if id, ok := p.byText[textKey(title, text)]; ok {
		return benchmark.Unit{id}
	}
	return p.byTitle[title]
}

// passage is a record of a corpus of passages.
type passage struct {
	Title string  `json:"title"`
	Text  *string `json:"text"`
}

// read reads a corpus: objects with a title and a text, or one object of titles with their sentences.
func (p *passages) read(fsys fs.FS, file, joiner string) error {
	byTitle, err := titled(fsys, file)
	switch {
	case err != nil:
		return err
	case byTitle:
		err = p.readTitled(fsys, file, joiner)
	default:
		err = records(fsys, file, func(_ int, v passage) error {
			if v.Text == nil {
				return errors.New(`a passage without "text"`)
			}
			p.add(v.Title, *v.Text)
			return nil
		})
	}
	if err == nil && len(p.docs) == 0 {
		err = fmt.Errorf("%s holds no passage", file)
	}
	return err
}

// firstList matches the beginning of an object of lists.
var firstList = regexp.MustCompile(`^(?:\x{feff})?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[`)

// titled reports whether a file is an object of titles.
func titled(fsys fs.FS, file string) (bool, error) {
	f, err := journal.OpenFile(fsys, file)
	if err != nil {
		return false, err
	}
	defer f.Close() // only read
	head, err := bufio.NewReaderSize(f, 1<<14).Peek(1 << 14)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return firstList.Match(head), nil
}

const byteOrderMark = "\ufeff"

func (p *passages) readTitled(fsys fs.FS, file, joiner string) error {
	f, err := journal.OpenFile(fsys, file)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	in := bufio.NewReader(&journal.CappedReader{R: f, Left: journal.MaxFile})
	if mark, _ := in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = in.Discard(len(byteOrderMark)) // it was just seen
	}
	dec := json.NewDecoder(in)
	n := 0
	fail := func(err error) error { return fmt.Errorf("%s: title %d: %w", file, n, err) }
	if _, err := dec.Token(); err != nil { // the brace
		return fail(err)
	}
	seen := make(map[string]bool)
	for dec.More() {
		n++
		key, err := dec.Token()
		title, ok := key.(string)
		switch {
		case err != nil:
			return fail(err)
		case !ok || strings.ContainsRune(title, utf8.RuneError):
			return fail(errors.New("not a text in UTF-8"))
		case seen[title]:
			return fail(fmt.Errorf("%.80q stands twice", title))
		}
		seen[title] = true
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fail(err)
		}
		var sentences []string
		if !utf8.Valid(raw) {
			return fail(errors.New("not valid UTF-8"))
		}
		if err := json.Unmarshal(raw, &sentences); err != nil {
			return fail(err)
		}
		p.add(title, strings.Join(sentences, joiner))
	}
	if _, err := dec.Token(); err != nil {
		return fail(err)
	}
	return nil
}

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
			text, err := benchmark.ReadText(fsys, file, MaxRecord)
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
