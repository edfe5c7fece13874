// SPDX-License-Identifier: Apache-2.0

package own

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Search is the type of questions without an answer, which are only searched for.
const Search = "search"

// Types returns the types of WildGraphBench, and [Search].
func Types() []benchmark.Type {
	return append(wildgraph.Types(), benchmark.Type{Key: Search, Title: "Search", Short: "Search", Plural: "searches", K: benchmark.DefaultDepth, Search: true})
}

// question is one line of a file of questions.
type question struct {
	ID           string          `json:"id"`
	Question     string          `json:"question"`
	Type         string          `json:"type"`
	Answer       string          `json:"answer"`
	Aliases      []string        `json:"aliases"`
	Statements   []string        `json:"statements"`
	Gold         []journal.Texts `json:"gold"`
	Unanswerable bool            `json:"unanswerable"`

	Where *graphrag.Condition `json:"where"`

	Categories  []category `json:"question_categories"`
	Users       []category `json:"user_categories"`
	DocumentIDs []string   `json:"document_ids"`
}

// category is a category in files of DataMorgana, the question generator of the LiveRAG challenge.
type category struct {
	Name string `json:"category_name"`
}

// Load reads questions and their documents into a data set of one domain; name is the name of the file of
// questions. Documents are the files that o reads, or the rows of a single .csv, .tsv or .jsonl
// ([load.Rows]); with nil docs there are none, and no gold. Notes of the data set name omissions and unknown
// keys. All problems are reported together, the first few in full; problems of a line are [*journal.LineError].
//
// A line is an object with the keys
//
//	question      the text of the question
//	id            unique; by default the number of the line
//	answer        the right answer, of a question that is right or wrong
//	aliases       other right answers
//	statements    the statements of a good answer, in place of the answer
//	type          single-fact (the default), multi-fact, or summary for statements
//	gold          the evidence: names of files, each or a list of which any will do
//	unanswerable  true if the documents do not say: refusing is right
//	where         a condition that limits it to some documents, see graphrag.ParseCondition
//
// The lines of DataMorgana, of the LiveRAG challenge, are such objects: the categories of a question and its
// user make its type, and files that document_ids names are its evidence.
//
// A file is named by its path in the folder, or by its unique base name.
func Load(ctx context.Context, name string, questions io.Reader, docs fs.FS, o load.Options) (*benchmark.Dataset, error) {
	pages, skipped, err := documents(ctx, docs, o)
	if err != nil {
		return nil, fmt.Errorf("own: documents: %w", err)
	}
	named, notes := make(fileNames), []string(nil)
	if docs == nil {
		named, notes = nil, []string{"without documents gold pages and evidence are not looked at"}
	}
	for _, d := range pages {
		named[d.ID] = []string{d.ID}
		if base := path.Base(d.ID); base != d.ID {
			named[base] = append(named[base], d.ID)
		}
	}
	items, unknown, err := readQuestions(name, questions, named)
	if err != nil {
		return nil, fmt.Errorf("own: %w", err)
	}
	short := strings.TrimSuffix(path.Base(name), path.Ext(name))
	set := &benchmark.Dataset{
		Name: short, Types: typesOf(items), Domains: []benchmark.Domain{benchmark.NewDomain(short, pages, items)}, Notes: notes, Judges: wildgraph.Judges(false),
	}
	for _, s := range skipped {
		set.Notes = append(set.Notes, "left out: "+s.Error())
	}
	set.Notes = append(set.Notes, unknown...)
	return set, nil
}

// documents reads the files of a folder, or the rows of a single file of records.
func documents(ctx context.Context, docs fs.FS, o load.Options) (pages []graphrag.Document, skipped []error, err error) {
	if docs == nil {
		return nil, nil, nil
	}
	if entries, err := fs.ReadDir(docs, "."); err == nil && len(entries) == 1 && slices.Contains([]string{".csv", ".tsv", ".jsonl"}, path.Ext(entries[0].Name())) {
		return rows(docs, entries[0].Name())
	}
	files, skipped, err := o.Folder(ctx, docs)
	for _, f := range files {
		pages = append(pages, f.Document)
	}
	return pages, skipped, err
}

// rows reads a file of records.
func rows(docs fs.FS, name string) (pages []graphrag.Document, skipped []error, err error) {
	f, err := docs.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // closing a file that was only read cannot lose data
	seen := make(map[string]bool)
	for d, err := range load.Rows(name, f, func(err error) { skipped = append(skipped, err) }) {
		if err != nil {
			return nil, nil, err
		}
		if seen[d.ID] {
			return nil, nil, fmt.Errorf("%s: two rows have the ID %.80q: give each its own", name, d.ID)
		}
		seen[d.ID] = true
		pages = append(pages, d)
	}
	return pages, skipped, nil
}

// knownKeys lists the keys of a question, and the keys of DataMorgana that are ignored.
var knownKeys = []string{"id", "question", "type", "answer", "aliases", "statements", "gold", "unanswerable", "where",
	"question_categories", "user_categories", "document_ids", "context", "prompt"}

// questionLine is a question with the names of its unknown keys.
type questionLine struct {
	question
	unknown []string
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *questionLine) UnmarshalJSON(data []byte) error {
	var keys map[string]json.RawMessage
	if err := cmp.Or(json.Unmarshal(data, &l.question), json.Unmarshal(data, &keys)); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(knownKeys, strings.ToLower(key)) {
			l.unknown = append(l.unknown, key)
		}
	}
	return nil
}

// byCategory separates a type from its categories, andCategory one category from the next. If the categories
// would give more than mostTypes types, only the first category of each question counts.
const byCategory, andCategory, mostTypes = ": ", " / ", 12

// typesOf returns the types of the questions, each with its categories, sorted.
func typesOf(items []benchmark.Item) (out []benchmark.Type) {
	for _, t := range Types() {
		keys := make(map[string]bool)
		for _, it := range items {
			if base, _, _ := strings.Cut(it.Type, byCategory); base == t.Key {
				keys[it.Type] = true
			}
		}
		for _, t.Key = range slices.Sorted(maps.Keys(keys)) {
			if _, c, ok := strings.Cut(t.Key, byCategory); ok {
				t.Title, t.Short, t.Plural = c, c, "questions of "+c
			}
			out = append(out, t)
		}
	}
	return out
}

// maxListed is the largest number of listed problems of a file, and of categories of a question that count.
const maxListed = 10

func readQuestions(name string, r io.Reader, named fileNames) (items []benchmark.Item, notes []string, err error) {
	told, elsewhere := make(map[string]bool), 0
	var problems []error
	lines := make(map[string]int)
	for l, err := range journal.ReadLines[questionLine](r, journal.LineOptions{Name: name}) {
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, key := range l.Value.unknown {
			if !told[key] {
				told[key] = true
				notes = append(notes, fmt.Sprintf("%s:%d: unknown key %.80q ignored", name, l.Number, key))
			}
		}
		it, err := l.Value.item(named)
		it.Question.ID = cmp.Or(l.Value.ID, fmt.Sprint(l.Number))
		if first, twice := lines[it.Question.ID]; twice && err == nil {
			err = fmt.Errorf("line %[2]d has the ID %.80[1]q too; give each question its own", it.Question.ID, first)
		}
		if err != nil {
			problems = append(problems, &journal.LineError{File: name, Line: l.Number, Err: err})
			continue
		}
		lines[it.Question.ID] = l.Number
		items = append(items, it)
		if len(l.Value.DocumentIDs) > len(it.Gold) {
			elsewhere++
		}
	}
	if elsewhere > 0 {
		notes = append(notes, fmt.Sprintf("questions with document_ids that are no file here, and are no evidence: %d", elsewhere))
	}
	if n := len(typesOf(items)); n > mostTypes {
		notes = append(notes, fmt.Sprintf("%d combinations of categories: the first category of each question is its type", n))
		for i := range items {
			items[i].Type, _, _ = strings.Cut(items[i].Type, andCategory)
		}
	}
	if len(items) == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf(`%s has no question; want a line such as {"question": "…", "answer": "…"}`, name))
	}
	return items, notes, journal.FirstErrors(problems, maxListed)
}

// item checks a question and finds the documents of its gold evidence.
func (q question) item(named fileNames) (benchmark.Item, error) {
	it := benchmark.Item{
		Type: q.Type, Question: graphrag.Question{Text: strings.TrimSpace(q.Question), Where: q.Where},
		Reference: strings.TrimSpace(q.Answer), Aliases: q.Aliases, Unanswerable: q.Unanswerable,
	}
	for _, s := range q.Statements {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(it.Statements, s) {
			it.Statements = append(it.Statements, s)
		}
	}
	if it.Type == "" {
		switch {
		case len(it.Statements) > 0:
			it.Type = wildgraph.Summary
		case it.Reference == "" && !it.Unanswerable:
			it.Type = Search
		default:
			it.Type = wildgraph.SingleFact
		}
	}
	answered := it.Type == wildgraph.SingleFact || it.Type == wildgraph.MultiFact
	for _, bad := range []struct {
		is   bool
		text string
	}{
		{it.Question.Text == "", `no "question"`},
		{!answered && it.Type != wildgraph.Summary && it.Type != Search, fmt.Sprintf("the type %.80q is none of %s, %s, %s and %s", it.Type, wildgraph.SingleFact, wildgraph.MultiFact, wildgraph.Summary, Search)},
		{it.Unanswerable && (it.Reference != "" || len(it.Statements) > 0 || !answered), "an unanswerable question with an answer: leave one out"},
		{it.Reference != "" && len(it.Statements) > 0, `both "answer" and "statements": an answer is judged by one of them, leave the other out`},
		{answered && !it.Unanswerable && it.Reference == "", fmt.Sprintf(`a question of type %s without an "answer"`, it.Type)},
		{it.Type == wildgraph.Summary && len(it.Statements) == 0, `a summary without "statements": a list of what a good answer says`},
		{it.Type == Search && len(q.Gold) == 0, `nothing to judge by: want an "answer", "statements" or "gold" pages`},
		{it.Type == Search && (it.Reference != "" || len(it.Statements) > 0), "a question that is only searched for, with an answer: leave the type or the answer out"},
	} {
		if bad.is {
			return it, errors.New(bad.text)
		}
	}
	it.Type += q.categories()
	for _, id := range slices.Compact(slices.Sorted(slices.Values(q.DocumentIDs))) {
		if page, err := named.find(id); err == nil && len(q.Gold) == 0 {
			it.Gold = append(it.Gold, benchmark.Unit{page})
		}
	}
	if named == nil {
		return it, nil
	}
	for _, any := range q.Gold {
		var unit benchmark.Unit
		for _, page := range any {
			id, err := named.find(page)
			if err != nil {
				return it, err
			}
			unit = append(unit, id)
		}
		if slices.Sort(unit); len(unit) > 0 {
			it.Gold = append(it.Gold, slices.Compact(unit))
		}
	}
	return it, nil
}

// categories returns the first categories of a question as a suffix of its type.
func (q question) categories() (out string) {
	by, all := byCategory, slices.Concat(q.Categories, q.Users)
	for _, c := range all[:min(len(all), maxListed)] {
		if name := strings.Join(strings.Fields(display.OneLine(c.Name)), " "); name != "" {
			out += fmt.Sprintf("%s%.40s", by, name)
			by = andCategory
		}
	}
	return out
}

// fileNames maps the path and the base name of each file to the paths of the files with it.
type fileNames map[string][]string

func (n fileNames) find(page string) (string, error) {
	switch found := n[path.Clean(strings.ReplaceAll(page, `\`, "/"))]; len(found) {
	case 0:
		return "", fmt.Errorf("the gold page %.80q is not among the files that were read", page)
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("%d files are named %.80q: name its folders as well, such as %.80q", len(found), page, found[0])
	}
}

// The files of BEIR's layout (arXiv 2104.08663).
const (
	corpusFile  = "corpus.jsonl"
	queriesFile = "queries.jsonl"
)

// splits are the names of files of judgments. The first that exists is read.
var splits = []string{"test", "dev", "train"}

// Layout is the layout of a folder that [BEIR] reads.
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

// entry is a line of the corpus or of the file of queries.
type entry struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
	// Metadata becomes the fields of the document.
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
		return nil, fmt.Errorf("own: reading the judgments: %w", err)
	}
	d := benchmark.Domain{Name: name, Documents: func() iter.Seq2[graphrag.Document, error] { return corpus(fsys) }}
	known, err := check(&d)
	if err != nil {
		return nil, fmt.Errorf("own: reading the corpus: %w", err)
	}
	set := &benchmark.Dataset{Name: name, Judges: wildgraph.Judges(false)}
	judged, absent := 0, 0
	for q, err := range readEntries(fsys, queriesFile) {
		if err != nil {
			return nil, fmt.Errorf("own: reading the queries: %w", err)
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

// corpus streams the documents of the corpus.
func corpus(fsys fs.FS) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for e, err := range readEntries(fsys, corpusFile) {
			if !yield(graphrag.Document{ID: e.ID, Title: e.Title, Text: e.Text, Fields: load.FieldsOf(e.Metadata)}, err) || err != nil {
				return
			}
		}
	}
}

// check reads the corpus once, sets size and digest of the domain, and returns the IDs of the documents.
func check(of *benchmark.Domain) (known map[string]bool, err error) {
	known = make(map[string]bool)
	sum := sha256.New()
	for d, err := range of.Documents() {
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

// readEntries yields the lines of a file. It ends at the first error.
func readEntries(fsys fs.FS, name string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		f, err := journal.OpenFile(fsys, name)
		if err != nil {
			yield(entry{}, err)
			return
		}
		defer f.Close() // closing a file that was only read cannot lose data
		for l, err := range journal.ReadLines[entry](f, journal.LineOptions{Name: name}) {
			if err == nil && l.Value.ID == "" {
				err = &journal.LineError{File: name, Line: l.Number, Err: errors.New(`the line has no "_id"`)}
			}
			if !yield(l.Value, err) || err != nil {
				return
			}
		}
	}
}

// maxJudgments is a limit that no data set reaches: MS MARCO's training set has half a million judgments.
const maxJudgments = 10_000_000

// readQrels reads lines of query ID, document ID and level, separated by tabs, below a line of headings.
func readQrels(fsys fs.FS, name string) (map[string]map[string]int32, error) {
	f, err := journal.OpenFile(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // closing a file that was only read cannot lose data
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
