// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Stated is a sentence of a section and its statement: understandable without the section, in plain words
// without citation marks, or "" if there is none.
type Stated struct {
	Sentence, Statement string
}

// Stater finds the sentences of a section with citation marks, and writes their statements.
type Stater interface {
	State(ctx context.Context, a *Article, s Section) ([]Stated, error)
}

// Triple is a statement with its sentence and its sources, in the form of the released valid_triples.jsonl.
type Triple struct {
	Sentence  string   `json:"sentence"`
	Statement string   `json:"statement"`
	Numbers   []string `json:"citation_numbers"`
	// Keys are the numbers of marks without a source; a triple with any is not valid.
	Keys  []string `json:"citation_keys"`
	URLs  []string `json:"ref_urls"` // sorted
	Count int      `json:"ref_count"`
}

// Gold is a section with the triples of its sentences.
type Gold struct {
	Title   string   `json:"wiki_title"`
	Path    []string `json:"section_path"`
	Body    string   `json:"section_body"`
	Triples []Triple `json:"triples"`
}

// Dropped is an unused item, and the reason.
type Dropped struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// Grounds maps citation marks to sources that have a page.
type Grounds struct {
	citations *Citations
	paged     func(url string) bool
}

// NewGrounds returns the grounds of the article's citations; paged reports whether a URL has a page.
func NewGrounds(c *Citations, paged func(url string) bool) *Grounds {
	return &Grounds{c, paged}
}

// Triple resolves the marks of a sentence. Every mark must lead to a page; otherwise a part of the statement
// may be unsupported, and ok is false.
func (g *Grounds) Triple(s Stated) (t Triple, ok bool) {
	t = Triple{Sentence: s.Sentence, Statement: s.Statement, Numbers: []string{}, Keys: []string{}, URLs: []string{}}
	marks := Marks(s.Sentence)
	for _, m := range marks {
		t.Numbers = append(t.Numbers, m.Number)
		found := slices.DeleteFunc(g.citations.URLs(m), func(u string) bool { return !g.paged(u) })
		if len(found) == 0 {
			t.Keys = append(t.Keys, m.Number)
		}
		t.URLs = append(t.URLs, found...)
	}
	slices.Sort(t.URLs)
	t.URLs = slices.Compact(t.URLs)
	t.Count = len(t.URLs)
	return t, len(marks) > 0 && len(t.Keys) == 0
}

// Ground makes the gold of a section. Invented sentences, which are not in the section, are dropped.
func (g *Grounds) Ground(a *Article, s Section, stated []Stated) (gold Gold, dropped []Dropped) {
	gold = Gold{Title: a.Title, Path: s.Path, Body: s.Body}
	body := spaced(s.Body)
	seen := make(map[string]bool)
	drop := func(sentence, reason string) { dropped = append(dropped, Dropped{sentence, reason}) }
	for _, st := range stated {
		st.Statement = strings.Join(strings.Fields(st.Statement), " ")
		st.Sentence = original(s.Body, st.Sentence)
		switch t, ok := g.Triple(st); {
		case !strings.Contains(body, spaced(st.Sentence)):
			drop(st.Sentence, "the section does not say so")
		case len(t.Numbers) == 0:
			drop(st.Sentence, "no citation mark")
		case !ok:
			drop(st.Sentence, fmt.Sprintf("no page for the marks %s", strings.Join(t.Keys, ", ")))
		case st.Statement == "":
			drop(st.Sentence, "it states nothing by itself")
		case len(Marks(st.Statement)) > 0 || strings.Contains(st.Statement, "://"):
			drop(st.Sentence, "the statement has marks or URLs")
		case seen[st.Statement]:
			drop(st.Sentence, "stated before")
		default:
			seen[st.Statement] = true
			gold.Triples = append(gold.Triples, t)
		}
	}
	return gold, dropped
}

// original returns the sentence of a section from which one was copied: models omit marks, or write them as
// [5], and omit links and emphasis.
func original(body, sentence string) string {
	if len(Marks(sentence)) > 0 && strings.Contains(spaced(body), spaced(sentence)) {
		return sentence
	}
	letters := func(s string) string {
		return strings.Join(strings.Fields(emphasis.ReplaceAllString(shortMark.ReplaceAllString(plainText(s), ""), "")), "")
	}
	for paragraph := range strings.SplitSeq(body, "\n") {
		for _, s := range sentences(paragraph) {
			if letters(s) == letters(sentence) {
				return s
			}
		}
	}
	return sentence
}

var shortMark = regexp.MustCompile(`(?:\[|【)\^?[0-9]+(?:, ?[0-9]+)*(?:\]|】)`)

func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }
