// SPDX-License-Identifier: Apache-2.0

package wildgraph

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// Finding is something odd in a data set, and where: questions by domain and line,
// pages by domain and name.
type Finding struct {
	Kind   string
	Places []string
}

// The kinds of findings, in the order of reports.
const (
	findRepeated    = "questions asked more than once"
	findStatements  = "gold statements that are null, blank or repeated"
	findAsksLess    = "questions that ask for a number, and whose reference demands more"
	findGiven       = "gold answers that stand in the question"
	findNoSection   = "summaries whose section is not found, or not clear"
	findNoPage      = "references without a page"
	findNoReference = "pages without a reference"
	findEmpty       = "pages without a word"
	findNoBreak     = "pages without a line break"
	findEncoding    = "pages that are not UTF-8"
	findTitle       = "pages whose first line is too long for a title"
	findOther       = "files among the pages that are no .txt"
)

var kinds = []string{
	findRepeated, findStatements, findAsksLess, findGiven, findNoSection, findNoPage, findNoReference,
	findEmpty, findNoBreak, findEncoding, findTitle, findOther,
}

// Check looks for what is odd in a data set: faults that [Load] refuses, and what it
// takes and somebody should have looked at. Of a domain that cannot be read there is
// what could be; why it cannot be, Load says.
func Check(fsys fs.FS, o Options) ([]Finding, error) {
	names, err := domainNames(fsys, o.Domains)
	if err != nil {
		return nil, err
	}
	c := checkup{fsys: fsys, places: make(map[string][]string), asked: make(map[string]string)}
	for _, name := range names {
		c.domain(name)
	}
	var out []Finding
	for _, kind := range kinds {
		if places := c.places[kind]; len(places) > 0 {
			out = append(out, Finding{kind, places})
		}
	}
	return out, nil
}

// checkup gathers findings.
type checkup struct {
	fsys   fs.FS
	places map[string][]string
	asked  map[string]string // question in plain words → where it was asked first
}

func (c *checkup) find(kind, format string, args ...any) {
	c.places[kind] = append(c.places[kind], fmt.Sprintf(format, args...))
}

func (c *checkup) domain(name string) {
	var sections []section
	if topics, err := subdirectories(c.fsys, path.Join("corpus", name)); err == nil && len(topics) == 1 {
		t := topic{fsys: c.fsys, dir: path.Join("corpus", name, topics[0])}
		_ = t.open() // without references there are still pages
		c.pages(name, t)
		sections, _ = readSections(c.fsys, path.Join("extracted_data", name, topics[0], "valid_triples.jsonl"))
	}
	for l, err := range readLines[question](c.fsys, path.Join("QA", name, "questions.jsonl")) {
		if err == nil {
			c.question(fmt.Sprintf("%s/%d", name, l.Number), l.Value, sections)
		}
	}
}

func (c *checkup) question(id string, q question, sections []section) {
	asked := plain(q.Question)
	if first, ok := c.asked[asked]; ok {
		c.find(findRepeated, "%s (as %s)", id, first)
	} else {
		c.asked[asked] = id
	}
	statements := distinct(q.Statements)
	if n := len(q.Statements) - len(statements); n > 0 {
		c.find(findStatements, "%s (%d)", id, n)
	}
	if asksLess(q.Question, q.Answer) {
		c.find(findAsksLess, "%s", id)
	}
	if slices.ContainsFunc(append(statements, q.Answer), func(gold string) bool {
		return plain(gold) != "" && strings.Contains(" "+asked+" ", " "+plain(gold)+" ")
	}) {
		c.find(findGiven, "%s", id)
	}
	if len(q.Type) == 1 {
		kind, _ := parseType(q.Type[0])
		if _, n := sectionOf(sections, statements); kind == Summary && n != 1 {
			c.find(findNoSection, "%s (%d found)", id, n)
		}
	}
}

func (c *checkup) pages(domain string, t topic) {
	if t.join != nil {
		for _, r := range t.refs {
			if len(t.join.Pages(r.URL)) == 0 {
				c.find(findNoPage, "%s: %.60q", domain, r.Title)
			}
		}
	}
	for _, file := range t.others {
		c.find(findOther, "%s: %s", domain, file)
	}
	for _, file := range t.files {
		place := domain + ": " + file
		if t.join != nil && len(t.join.URLs(file)) == 0 {
			c.find(findNoReference, "%s", place)
		}
		page, err := t.raw(file)
		if err != nil {
			continue // Load says so
		}
		first, _, broken := strings.Cut(page, "\n")
		if plain(page) == "" {
			c.find(findEmpty, "%s", place)
		} else if !broken {
			c.find(findNoBreak, "%s", place)
		}
		if !utf8.ValidString(page) {
			c.find(findEncoding, "%s", place)
		}
		if len(strings.TrimSpace(first)) > MaxTitle {
			c.find(findTitle, "%s (%d bytes)", place, len(first))
		}
	}
}

// raw reads a page as it is.
func (t *topic) raw(file string) (string, error) {
	f, err := jsonl.Open(t.fsys, path.Join(t.dir, "reference_pages", file))
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, MaxPage))
	return string(data), err
}

// plain are the words of a text in small letters, between single blanks.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }), " ")
}

var (
	asksNumber = regexp.MustCompile(`(?i)\bhow (?:many|much|long|old|often|far|tall|large)\b`)
	asksMore   = regexp.MustCompile(`(?i)\b(?:who|whose|which|what|where|when|why|name|list)\b|\band how\b`)
)

// asksLess tells whether a question asks for one number alone ("how many …", without
// a "who", "which", "when" and the like), while its reference holds, beside that
// number, two or more further numbers or capitalised words that the question does
// not. Who answers what was asked is then judged by more than that.
func asksLess(question, reference string) bool {
	if !asksNumber.MatchString(question) || asksMore.MatchString(question) {
		return false
	}
	known := strings.Fields(plain(question))
	more := -1 // the number itself
	for i, word := range strings.FieldsFunc(reference, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '.' && r != ',' }) {
		first, _ := utf8.DecodeRuneInString(word)
		if (unicode.IsNumber(first) || unicode.IsUpper(first) && i > 0) && !slices.Contains(known, plain(word)) {
			more++
		}
	}
	return more >= 2
}
