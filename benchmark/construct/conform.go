// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/article"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// Conformity counts what of a released topic is found again from its article, and how
// much of that is equal, byte for byte.
type Conformity struct {
	Domain                     string
	Sections, SectionsEqual    int
	Triples, TriplesEqual      int // the sources of a sentence's marks
	References, ReferencesSame int
	// Extra are references found that were not released.
	Extra int
	// Facts are the released questions of one fact, Overlap those of them whose answer is
	// a gold statement of a summary (Overlaps).
	Facts, Overlap int
	// Notes name what differs.
	Notes []string
}

// Conform makes the stages without a model again for all topics of a released data set,
// and compares.
func Conform(fsys fs.FS) ([]Conformity, error) {
	topics, err := fs.Glob(fsys, "corpus/*/*")
	if err != nil || len(topics) == 0 {
		return nil, fmt.Errorf("construct: no corpus/<domain>/<topic> here (%w)", fs.ErrNotExist)
	}
	var out []Conformity
	for _, dir := range topics {
		c, err := conform(fsys, dir)
		if err != nil {
			return nil, fmt.Errorf("construct: %s: %w", dir, err)
		}
		out = append(out, c)
	}
	return out, nil
}

func conform(fsys fs.FS, dir string) (Conformity, error) {
	topic, domain := path.Base(dir), path.Base(path.Dir(dir))
	c := Conformity{Domain: domain}
	text, err := fs.ReadFile(fsys, path.Join(dir, topic+".txt"))
	if err != nil {
		return c, err
	}
	refs, err := readLines[article.Reference](fsys, path.Join(dir, "references.jsonl"))
	if err != nil {
		return c, err
	}
	golds, err := readLines[Gold](fsys, path.Join("extracted_data", domain, topic, "valid_triples.jsonl"))
	if err != nil {
		return c, err
	}
	pages, err := fs.ReadDir(fsys, path.Join(dir, "reference_pages"))
	if err != nil {
		return c, err
	}
	a := article.Parse(string(text), topic, article.Options{Released: true})
	questions, err := readLines[Question](fsys, path.Join("QA", domain, "questions.jsonl"))
	if err != nil {
		return c, err
	}
	for _, q := range questions {
		if q.Answer != "" {
			c.Facts++
		}
	}
	c.Overlap = len(Overlaps(questions))
	c.references(a.References(), refs)
	c.golds(a, golds, joined(refs, pages))
	return c, nil
}

func joined(refs []article.Reference, pages []fs.DirEntry) *wildgraph.Join {
	files := make([]string, len(pages))
	for i, p := range pages {
		files[i] = p.Name()
	}
	known := make([]wildgraph.Reference, len(refs))
	for i, r := range refs {
		known[i] = wildgraph.Reference{Title: r.Title, URL: r.URL}
	}
	return wildgraph.NewJoin(known, files)
}

func (c *Conformity) references(found, released []article.Reference) {
	c.References = len(released)
	for _, r := range released {
		if slices.Contains(found, r) {
			c.ReferencesSame++
		} else {
			c.Notes = append(c.Notes, "reference not found: "+r.URL)
		}
	}
	for _, r := range found {
		if !slices.Contains(released, r) {
			c.Extra++
		}
	}
}

func (c *Conformity) golds(a *article.Article, golds []Gold, join *wildgraph.Join) {
	grounds := NewGrounds(a.Citations(), func(url string) bool { return len(join.Pages(url)) > 0 })
	found := make(map[string]string)
	for _, s := range a.Sections() {
		found[strings.Join(s.Path, "\x00")] = s.Body
	}
	for _, g := range golds {
		if c.Sections++; found[strings.Join(g.Path, "\x00")] == g.Body {
			c.SectionsEqual++
		} else {
			c.Notes = append(c.Notes, "section differs: "+strings.Join(g.Path, " > "))
		}
		for _, want := range g.Triples {
			t, ok := grounds.Triple(Stated{Sentence: want.Sentence})
			if c.Triples++; ok && slices.Equal(t.URLs, want.URLs) {
				c.TriplesEqual++
			} else {
				c.Notes = append(c.Notes, "sources differ: "+want.Sentence)
			}
		}
	}
}

func readLines[T any](fsys fs.FS, name string) ([]T, error) {
	f, err := jsonl.Open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var out []T
	for l, err := range jsonl.Read[T](f, jsonl.Options{Name: name}) {
		if err != nil {
			return nil, err
		}
		out = append(out, l.Value)
	}
	return out, nil
}
