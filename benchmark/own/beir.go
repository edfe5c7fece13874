// SPDX-License-Identifier: Apache-2.0

package own

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// The files of BEIR's layout (arXiv 2104.08663).
const (
	corpusFile  = "corpus.jsonl"
	queriesFile = "queries.jsonl"
)

// splits are the files of judgments, the first existing of which is read.
var splits = []string{"test", "dev", "train"}

// Layout is BEIR's.
var Layout = benchmark.Layout{
	Files:  "corpus.jsonl, queries.jsonl and qrels (BEIR)",
	Judges: wildgraph.Judges(false),
	Recognise: func(fsys fs.FS, _ benchmark.LoadOptions) bool {
		return !slices.ContainsFunc([]string{corpusFile, queriesFile, "qrels"}, func(name string) bool { _, err := fs.Stat(fsys, name); return err != nil })
	},
	Load: func(fsys fs.FS, o benchmark.LoadOptions) (*benchmark.Dataset, error) {
		if len(o.Domains) > 0 {
			return nil, fmt.Errorf("own: %w %q: %s has one domain", benchmark.ErrUnknownDomain, o.Domains[0], o.Name)
		}
		return BEIR(fsys, o.Name)
	},
}

// entry is a line of the corpus or of the queries.
type entry struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
	// Metadata becomes the fields of a document.
	Metadata map[string]any `json:"metadata"`
}

// BEIR reads a data set in BEIR's layout: corpus.jsonl, queries.jsonl and qrels/test.tsv, else dev.tsv or
// train.tsv. Its questions are searched for and not answered; a document judged 1 or higher is a unit of
// evidence, and its level its grade. Queries without such a document are omitted, with a note. The corpus is
// streamed at each indexing and not kept in memory.
func BEIR(fsys fs.FS, name string) (*benchmark.Dataset, error) {
	there := slices.IndexFunc(splits, func(s string) bool { _, err := fs.Stat(fsys, "qrels/"+s+".tsv"); return err == nil })
	if there < 0 {
		return nil, errors.New("own: no qrels/test.tsv, dev.tsv or train.tsv here")
	}
	split := splits[there]
	grades, err := readQrels(fsys, "qrels/"+split+".tsv")
	if err != nil {
		return nil, fmt.Errorf("own: %w", err)
	}
	b := beir{fsys}
	d := benchmark.Domain{Name: name, Documents: b.documents}
	known, err := b.check(&d)
	if err != nil {
		return nil, fmt.Errorf("own: %w", err)
	}
	set := &benchmark.Dataset{Name: name, Judges: wildgraph.Judges(false)}
	judged, absent := 0, 0
	for q, err := range readEntries(fsys, queriesFile) {
		if err != nil {
			return nil, fmt.Errorf("own: %w", err)
		}
		it := benchmark.Item{Type: Search, Question: graphrag.Question{ID: q.ID, Text: strings.TrimSpace(q.Text)}, Grades: grades[q.ID]}
		for doc, level := range it.Grades {
			if level > 0 {
				it.Gold = append(it.Gold, benchmark.Unit{doc})
			}
			if !known[doc] {
				absent++
			}
		}
		slices.SortFunc(it.Gold, func(a, b benchmark.Unit) int { return strings.Compare(a[0], b[0]) })
		if len(it.Gold) > 0 && it.Question.Text != "" {
			d.Items = append(d.Items, it)
		} else if it.Grades != nil {
			judged++
		}
	}
	if len(d.Items) == 0 {
		return nil, fmt.Errorf("own: no query of %s has a relevant document in qrels/%s.tsv", queriesFile, split)
	}
	set.Types, set.Domains = typesOf(d.Items), []benchmark.Domain{d}
	set.Notes = append(set.Notes, fmt.Sprintf("searched for are the %d queries with relevant documents in qrels/%s.tsv", len(d.Items), split))
	if judged > 0 {
		set.Notes = append(set.Notes, fmt.Sprintf("queries left out, having no relevant document: %d", judged))
	}
	if absent > 0 {
		set.Notes = append(set.Notes, fmt.Sprintf("judgments of documents that the corpus does not hold: %d", absent))
	}
	return set, nil
}

// beir is a folder in BEIR's layout.
type beir struct{ fsys fs.FS }

// documents streams the corpus.
func (b beir) documents() iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for e, err := range readEntries(b.fsys, corpusFile) {
			if !yield(graphrag.Document{ID: e.ID, Title: e.Title, Text: e.Text, Fields: load.FieldsOf(e.Metadata)}, err) || err != nil {
				return
			}
		}
	}
}

// check reads the corpus once and returns its IDs; it sets size and digest of the domain.
func (b beir) check(of *benchmark.Domain) (known map[string]bool, err error) {
	known = make(map[string]bool)
	sum := sha256.New()
	for d, err := range b.documents() {
		if err != nil {
			return nil, err
		}
		if known[d.ID] {
			return nil, fmt.Errorf("%s: two documents have the ID %.80q", corpusFile, d.ID)
		}
		known[d.ID] = true
		of.Bytes += int64(len(d.Text))
		fmt.Fprintf(sum, "%q %q %d\n%s\n", d.ID, d.Title, len(d.Text), d.Text)
	}
	of.Pages, of.Fingerprint = len(known), hex.EncodeToString(sum.Sum(nil)[:16])
	return known, nil
}

// readEntries yields the lines of a file, up to the first error.
func readEntries(fsys fs.FS, name string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		f, err := journal.OpenFile(fsys, name)
		if err != nil {
			yield(entry{}, err)
			return
		}
		defer f.Close() // only read
		for l, err := range journal.ReadLines[entry](f, journal.LineOptions{Name: name}) {
			if err == nil && l.Value.ID == "" {
				err = &journal.LineError{File: name, Line: l.Number, Err: errors.New(`no "_id"`)}
			}
			if !yield(l.Value, err) || err != nil {
				return
			}
		}
	}
}

// maxJudgments exceeds any data set; MS MARCO's training set has half a million.
const maxJudgments = 10_000_000

// readQrels reads lines of query, document and level, separated by tabs, after a line of headings.
func readQrels(fsys fs.FS, name string) (map[string]map[string]int32, error) {
	f, err := journal.OpenFile(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	out := make(map[string]map[string]int32)
	in := bufio.NewScanner(io.LimitReader(f, 1<<30))
	for n := 1; in.Scan(); n++ {
		fields := strings.Split(strings.TrimRight(strings.TrimPrefix(in.Text(), "\ufeff"), "\r"), "\t")
		if len(fields) == 1 && fields[0] == "" || n == 1 && fields[len(fields)-1] == "score" {
			continue
		}
		bad := func(format string, args ...any) error {
			return &journal.LineError{File: name, Line: n, Err: fmt.Errorf(format, args...)}
		}
		if len(fields) != 3 {
			return nil, bad("%d columns, want query, document and score, separated by tabs", len(fields))
		}
		level, err := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 32)
		if err != nil {
			return nil, bad("the score %.80q is no whole number", fields[2])
		}
		of := out[fields[0]]
		if of == nil {
			of = make(map[string]int32)
			out[fields[0]] = of
		}
		if _, twice := of[fields[1]]; twice {
			return nil, bad("the document %.80q is judged twice for the query %.80q", fields[1], fields[0])
		}
		if of[fields[1]] = int32(level); n > maxJudgments {
			return nil, bad("more than %d judgments", maxJudgments)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}
