// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
)

// Name is the name of the data set in reports.
const Name = "AnonyRAG"

// MaxSimple is the number of hops up to which a question is simple (Table 4).
const MaxSimple = 4

// TopK is the number of chunks in a prompt (section 5.1: top-20 accuracy).
const TopK = 20

// Language is a part of the data set: the passages of its books, and questions.
type Language struct {
	Name   string
	Corpus []Passage
	QA     []QA
}

// Passage is a piece of a book.
type Passage struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text"`
}

// QA is a question with its gold.
type QA struct {
	// Format is Choice or Reversion.
	Format   string `json:"type"`
	Question string `json:"question"`
	// Options are the texts of A to D; none where the question holds them.
	Options []string `json:"options,omitempty"`
	// Answer is a letter, or a line PERSON#1——name for each placeholder; Aliases are
	// such lines with other names.
	Answer  string   `json:"answer"`
	Aliases []string `json:"aliases,omitempty"`
	// Hops is the number of facts that lead to the answer; 0 is unknown, unless Class is given.
	Hops  int    `json:"hops,omitempty"`
	Class string `json:"difficulty,omitempty"`
	// Evidence are the IDs of the passages that hold the answer.
	Evidence []string `json:"evidence,omitempty"`
	Book     string   `json:"book,omitempty"`
	// Made is the origin of the question: by hand, by a template, by a model.
	Made string `json:"made,omitempty"`
}

// The classes of questions by hops.
const (
	Simple  = "simple"
	Complex = "complex"
)

// kind returns the key of the question's type: its format, and its class if that is known.
func (q QA) kind() string {
	switch {
	case q.Class != "":
		return q.Format + "-" + q.Class
	case q.Hops > MaxSimple:
		return q.Format + "-" + Complex
	case q.Hops > 0:
		return q.Format + "-" + Simple
	}
	return q.Format
}

// text returns the question with its options.
func (q QA) text(language string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(q.Question))
	for i, o := range q.Options {
		fmt.Fprintf(&b, "\n%c. %s", 'A'+i, o)
	}
	if q.Format == Choice {
		b.WriteString(map[bool]string{false: "\nAnswer with the letter of the right option.", true: "\n请用正确选项的字母回答。"}[chinese(language)])
	}
	return b.String()
}

// chinese reports whether a part is Chinese, by its name.
func chinese(language string) bool {
	return strings.HasPrefix(language, "chs") || strings.HasPrefix(language, "zh")
}

// allTypes returns all possible types, in the order of reports.
func allTypes() []benchmark.Type {
	var out []benchmark.Type
	for _, f := range []struct{ format, title, short, plural string }{{Choice, "Choice", "Choice", "multiple-choice questions"}, {Reversion, "Reversion", "Rev.", "reversions"}} {
		for _, class := range []string{Simple, Complex, ""} {
			t := benchmark.Type{Key: f.format, Title: f.title, Short: f.short, Plural: f.plural, Form: graphrag.Short, K: TopK, Swept: true, Choices: f.format == Choice}
			if class != "" {
				t.Key, t.Title, t.Short, t.Plural = f.format+"-"+class, f.title+", "+class, f.short+" "+class, class+" "+f.plural
			}
			out = append(out, t)
		}
	}
	return out
}

// Dataset makes a data set of languages, each a domain. It has the types that occur among the questions, and
// notes that count them by book and type as in Table 4.
func Dataset(name string, languages ...Language) *benchmark.Dataset {
	set := &benchmark.Dataset{Name: name}
	present := make(map[string]bool)
	for _, l := range languages {
		d := l.domain()
		books := make(map[string]int)
		for i, it := range d.Items {
			present[it.Type] = true
			if book := l.QA[i].Book; book != "" {
				books[book+", "+it.Type]++
			}
		}
		for _, of := range slices.Sorted(maps.Keys(books)) {
			set.Notes = append(set.Notes, fmt.Sprintf("%s: %d questions", of, books[of]))
		}
		set.Domains = append(set.Domains, d)
	}
	set.Types = slices.DeleteFunc(allTypes(), func(t benchmark.Type) bool { return !present[t.Key] })
	return set
}

func (l Language) domain() benchmark.Domain {
	var docs []graphrag.Document
	var texts []string
	d := benchmark.Domain{Name: l.Name, Pages: len(l.Corpus)}
	d.Documents = func() iter.Seq2[graphrag.Document, error] { return graphrag.Documents(docs...) }
	known := make(map[string]bool)
	for _, p := range l.Corpus {
		docs = append(docs, graphrag.Document{ID: p.ID, Title: p.Title, Text: p.Text})
		texts = append(texts, p.ID, p.Title, p.Text)
		known[p.ID] = true
		d.Bytes += int64(len(p.Text))
	}
	d.Fingerprint = record.Digest(texts...)
	masked := 0 // questions with placeholders
	for i, q := range l.QA {
		it := benchmark.Item{
			Type:      q.kind(),
			Question:  graphrag.Question{ID: fmt.Sprintf("%s/%d", l.Name, i+1), Text: q.text(l.Name)},
			Reference: q.Answer, Book: q.Book,
			Aliases: q.Aliases,
		}
		for _, id := range q.Evidence {
			if known[id] {
				it.Gold = append(it.Gold, benchmark.Unit{id})
			}
		}
		d.Items = append(d.Items, it)
		if q.Made != "" {
			d.Altered = "these were made by other means"
		}
		if anyPlaceholder.MatchString(it.Question.Text) {
			masked++
		}
	}
	if 2*masked < len(l.QA) {
		d.Altered = "the names of these are not hidden"
	}
	return d
}
