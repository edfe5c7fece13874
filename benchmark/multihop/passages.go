// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
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
