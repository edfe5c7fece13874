// SPDX-License-Identifier: Apache-2.0

package wildgraph

import (
	"io/fs"
	"regexp"
	"strings"
)

// section is one line of valid_triples.jsonl.
type section struct {
	Path    []string `json:"section_path"`
	Body    string   `json:"section_body"`
	Triples []triple `json:"triples"`
}

type triple struct {
	Statement *string `json:"statement"` // null in five released triples
}

var (
	citationMark = regexp.MustCompile(`\[\[[0-9]+\]\](?:\([^)]*\))?`)
	bareURL      = regexp.MustCompile(`https?://[^\s)]+`)
	blanks       = regexp.MustCompile(`[ \t]+`)
	blankLines   = regexp.MustCompile(`\n{3,}`)
)

// sectionText cleans the body of an article section the way the released
// construction tool made the reference answer of a summary question: citation
// marks and URLs deleted, blanks collapsed, at most one empty line in a row.
// The remains of links and tooltips stay, as they did there.
func sectionText(body string) string {
	body = citationMark.ReplaceAllString(body, "")
	body = bareURL.ReplaceAllString(body, "")
	body = blanks.ReplaceAllString(body, " ")
	body = blankLines.ReplaceAllString(body, "\n\n")
	return strings.TrimSpace(body)
}

// readSections returns the sections of a topic, none when the data set comes
// without them.
func readSections(fsys fs.FS, name string) ([]section, error) {
	if _, err := fs.Stat(fsys, name); err != nil {
		return nil, nil
	}
	var sections []section
	for l, err := range readLines[section](fsys, name) {
		if err != nil {
			return nil, err
		}
		sections = append(sections, l.Value)
	}
	return sections, nil
}

// sectionOf returns the cleaned text of the section that states all of the
// given statements, and how many sections do.
func sectionOf(sections []section, statements []string) (text string, n int) {
	for _, s := range sections {
		if states(s, statements) {
			if n++; n == 1 {
				text = sectionText(s.Body)
			}
		}
	}
	if n != 1 {
		text = ""
	}
	return text, n
}

func states(s section, statements []string) bool {
	has := make(map[string]bool, len(s.Triples))
	for _, t := range s.Triples {
		if t.Statement != nil {
			has[*t.Statement] = true
		}
	}
	for _, want := range statements {
		if !has[want] {
			return false
		}
	}
	return len(statements) > 0
}
