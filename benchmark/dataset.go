// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Dataset is a benchmark: one or more domains, each with a corpus and questions of its own.
type Dataset struct {
	// Name is the name of the data set, e.g. "WildGraphBench".
	Name string
	// Types are the types of questions, in report order.
	Types []Type
	// Domains are the parts of the data set, in report order. Each has its own index.
	Domains []Domain
	// Notes are sentences, without the full stop, on anything unusual in the data and how it was handled.
	Notes []string
	// Published are published figures of this data set, shown with the figures of a run; nil if there are none.
	Published *Published
	// Judges are the procedures that can judge the answers. The first that is possible is the default.
	Judges []judge.Procedure
	// Depth is the number of ranked chunks that are measured; 0 means DefaultDepth.
	Depth int
}

// Type is a type of questions: how they are asked, judged and shown.
type Type struct {
	// Key names the type in files, e.g. "multi-fact".
	Key string
	// Title heads the columns of the type, Short narrow columns. Plural names the questions in a sentence.
	Title, Short, Plural string
	// Form is the form of the answers.
	Form graphrag.Form
	// K is the number of chunks put into a prompt.
	K int
	// Statements is true if answers are judged by recall and precision of statements, not as right or wrong.
	Statements bool
	// Swept is true if the questions are asked again with each top-k of a sweep.
	Swept bool
	// Choices is true if the text of a question ends with its options, a line each: "A. ", "B. " and so on.
	Choices bool
	// Search is true if the questions have no gold answer: their evidence is measured, and nothing is answered.
	Search bool
}

// All is the key of the figures over all types of questions.
const All = "all"

// Domain is a corpus and its questions. Without questions it is only indexed, for its graph and its cost.
type Domain struct {
	// Name is unique within the data set, e.g. "people".
	Name string
	// Documents streams the corpus in a fixed order, any number of times.
	Documents func() iter.Seq2[graphrag.Document, error]
	// Pages is the number of documents, Bytes the length of their texts.
	Pages int
	Bytes int64
	// Items are the questions with their gold, in file order.
	Items []Item
	// Fingerprint is a digest of the corpus. Recorded answers over a corpus with another digest are not used.
	Fingerprint string
	// Altered describes, as a clause, how the domain differs from the released data of its name; "" if it may
	// not.
	Altered string
}

// Item is a question together with what is known about its answer.
type Item struct {
	// Repeat is 0 when the question is asked for the first time, 1 for the second time; see [Options].Repeat.
	Repeat int
	// Type is the key of one of Dataset.Types.
	Type string
	// Question as a system gets it; Form, K and Depth are filled in by the runner.
	Question graphrag.Question
	// Book is the part of the domain that the question is about; "" if the domain has no parts.
	Book string
	// Reference is the gold answer to a question whose answers are judged only as right or wrong.
	Reference string
	// Aliases are other right answers, in addition to the reference.
	Aliases []string
	// Statements are the gold statements of a question that is judged by them.
	Statements []string
	// Unanswerable is true if the question has no answer in its corpus: refusing it is
	// right, answering it is wrong, and no judge is asked.
	Unanswerable bool
	// Gold lists the units of evidence that an answer needs.
	Gold []Unit
	// Grades are the relevance levels of graded documents, 0 for irrelevant ones; nil without grades.
	Grades map[string]int32
}

// Unit is one piece of gold evidence: the sorted IDs of the documents that provide it, each of which suffices.
// Most units have one document. A source that is cited under several titles has several.
type Unit []string

// GoldStatements returns what an answer must say: the reference, or the statements. Callers may append to it.
func (it Item) GoldStatements() []string {
	if len(it.Statements) > 0 {
		// Systems call this concurrently for the same item.
		return slices.Clip(it.Statements)
	}
	if it.Reference == "" {
		return nil
	}
	return []string{it.Reference}
}

// Source returns the first gold page of a question, or the question itself if no page is known. Questions about
// the same page, and repeated questions, are not independent.
func (it Item) Source() string {
	if len(it.Gold) == 0 || len(it.Gold[0]) == 0 {
		return cmp.Or(it.Question.Text, it.Question.ID)
	}
	return it.Gold[0][0]
}

// digest identifies the gold of a question. Recorded judgments by other gold are not used.
func (it Item) digest() string {
	return record.Digest(slices.Concat([]string{it.Reference, ""}, it.Statements, aliases(it.Aliases))...)
}

// aliases returns the part of a digest for other right answers. Without any it is empty, so that digests of
// earlier versions stay valid.
func aliases(others []string) []string {
	if len(others) == 0 {
		return nil
	}
	return append([]string{"", "aliases"}, others...)
}

// typeOf returns a type of questions by its key, the zero value for an unknown key.
func (d *Dataset) typeOf(key string) Type {
	i := slices.IndexFunc(d.Types, func(t Type) bool { return t.Key == key })
	if i < 0 {
		return Type{}
	}
	return d.Types[i]
}

// check reports every fault of the data set that would make figures ambiguous.
func (d *Dataset) check() []error {
	var problems []error
	seen := make(map[string]bool)
	for _, t := range d.Types {
		if t.Key == "" || t.Key == All || seen[t.Key] {
			problems = append(problems, fmt.Errorf("benchmark: a type of questions has the key %q: want keys that differ, and not %q", t.Key, All))
		}
		seen[t.Key] = true
	}
	for it := range d.Items() {
		if !seen[it.Type] {
			problems = append(problems, fmt.Errorf("benchmark: question %s is of type %q, which the data set does not list", it.Question.ID, it.Type))
			break
		}
	}
	domains := make(map[string]bool)
	for _, domain := range d.Domains {
		if domain.Name == "" {
			problems = append(problems, errors.New("benchmark: a domain has no name"))
		}
		if domains[domain.Name] {
			problems = append(problems, fmt.Errorf("benchmark: two domains are named %q", domain.Name))
		}
		domains[domain.Name] = true
		problems = append(problems, domain.check()...)
	}
	return problems
}

// check reports the questions of a domain whose records could not be distinguished.
func (d Domain) check() []error {
	var problems []error
	if d.Documents == nil {
		problems = append(problems, fmt.Errorf("benchmark: domain %q has no documents", d.Name))
	}
	first := make(map[string]string)
	for i, it := range d.Items {
		id, text := it.Question.ID, it.Question.Text
		if id == "" {
			problems = append(problems, fmt.Errorf("benchmark: question %d of domain %q has no ID: %.80q", i+1, d.Name, text))
		} else if other, dup := first[id]; dup {
			problems = append(problems, fmt.Errorf("benchmark: two questions of domain %q have the ID %q: %.80q and %.80q; give each its own", d.Name, id, other, text))
		} else {
			first[id] = text
		}
	}
	if n := len(problems); n > 5 {
		problems = append(problems[:5], fmt.Errorf("benchmark: … and %d more questions of domain %q", n-5, d.Name))
	}
	return problems
}

// Limited returns the data set with the first n questions of each type in each domain; 0 means all questions.
func (d *Dataset) Limited(n int) *Dataset {
	if n <= 0 {
		return d
	}
	out := *d
	out.Domains = slices.Clone(d.Domains)
	for i := range out.Domains {
		taken := make(map[string]int)
		out.Domains[i].Items = slices.DeleteFunc(slices.Clone(d.Domains[i].Items), func(it Item) bool {
			taken[it.Type]++
			return taken[it.Type] > n
		})
	}
	return &out
}

// Items yields the questions of all domains.
func (d *Dataset) Items() iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for _, domain := range d.Domains {
			for _, it := range domain.Items {
				if !yield(it) {
					return
				}
			}
		}
	}
}

// NewDomain makes a domain of documents in memory. Its fingerprint is their digest.
func NewDomain(name string, docs []graphrag.Document, items []Item) Domain {
	d := Domain{Name: name, Pages: len(docs), Items: items}
	sum := sha256.New()
	asked := slices.ContainsFunc(items, func(it Item) bool { return it.Question.Where != nil })
	for _, doc := range docs {
		d.Bytes += int64(len(doc.Text))
		fmt.Fprintf(sum, "%q %q %d\n%s\n", doc.ID, doc.Title, len(doc.Text), doc.Text)
		if asked {
			fields, _ := doc.Fields.MarshalJSON() // fields of a document can always be encoded
			fmt.Fprintf(sum, "%s\n", fields)
		}
	}
	d.Documents = func() iter.Seq2[graphrag.Document, error] {
		if len(docs) == 0 { // a domain for answers of other programs may have no documents
			return func(func(graphrag.Document, error) bool) {}
		}
		return graphrag.Documents(docs...)
	}
	d.Fingerprint = hex.EncodeToString(sum.Sum(nil)[:16])
	return d
}

// Published holds published figures of the same data set. They are shown with a run's figures, marked as
// published, and take part in no comparison.
type Published struct {
	Rows []PublishedRow `json:"rows,omitempty"`
	// Graphs are the rows of the published table of graphs: the name of the data, then tokens, nodes, edges,
	// relations, largest and average degree, isolated nodes in percent.
	Graphs [][]string `json:"graphs,omitempty"`
	// Absent gives the reasons why rows are missing, by domain; "" is the key for all domains together.
	Absent map[string]string `json:"absent,omitempty"`
}

// PublishedRow is a row of a published table of results. Figures are fractions; nil is a missing figure.
type PublishedRow struct {
	// System is the name of the system in this library.
	System string `json:"system"`
	// Source names the publication and the table.
	Source string `json:"source"`
	// Domain is the domain of the row, "" for all domains together.
	Domain string `json:"domain,omitempty"`
	// Questions is the number of questions behind the figures.
	Questions int `json:"questions"`
	// Model is the model that answered, Judge the model that judged. Mode is "open" if answers may use the
	// model's own knowledge, "reject" if not; "" if the publication has no modes.
	Model string `json:"model"`
	Judge string `json:"judge"`
	Mode  string `json:"mode,omitempty"`

	AvgAccuracy *float64 `json:"avg_accuracy,omitempty"`
	SingleFact  *float64 `json:"single_fact_accuracy,omitempty"`
	MultiFact   *float64 `json:"multi_fact_accuracy,omitempty"`
	Recall      *float64 `json:"recall,omitempty"`
	Precision   *float64 `json:"precision,omitempty"`
	// At most one of these is set: the mean of the questions' F1, or the harmonic mean of mean recall and
	// precision.
	F1MeanOfQuestions *float64 `json:"f1_mean_of_questions,omitempty"`
	F1OfMeans         *float64 `json:"f1_of_means,omitempty"`
	// Note qualifies the row, without full stop.
	Note string `json:"note,omitempty"`
}

// Beside returns the rows that fit a data set. A row fits if its domain has the same number of questions, all
// different, and is not [Domain].Altered; a row about all domains needs this of every domain. Absent gives the
// reasons for the omitted rows. Beside returns nil if there is neither a row, a reason nor a graph.
func (p *Published) Beside(d *Dataset) *Published {
	if p == nil {
		return nil
	}
	about := make(map[string]int)
	for _, row := range p.Rows {
		about[row.Domain] = row.Questions
	}
	out := &Published{Graphs: p.Graphs, Absent: make(map[string]string)}
	present, total, others := map[string]bool{"": true}, 0, ""
	for _, domain := range d.Domains {
		total += len(domain.Items)
		present[domain.Name] = true
		n, known := about[domain.Name]
		why := p.Absent[domain.Name]
		if known {
			why = domain.other(n)
		}
		if why != "" {
			out.Absent[domain.Name] = why
		}
		if why != "" || !known {
			others = ", not all of them released ones"
		}
	}
	if n, known := about[""]; known && (total != n || others != "") {
		out.Absent[""] = fmt.Sprintf("they are about all %d questions of the release, these are %d%s", n, total, others)
	} else if why, absent := p.Absent[""]; absent {
		out.Absent[""] = why
	}
	for _, row := range p.Rows {
		if _, absent := out.Absent[row.Domain]; present[row.Domain] && !absent {
			out.Rows = append(out.Rows, row)
		}
	}
	if len(out.Rows)+len(out.Absent)+len(out.Graphs) == 0 {
		return nil
	}
	return out
}

// Withhold removes the published results; Absent says for each domain why the run cannot be compared with them.
func (p *Published) Withhold(why string) {
	p.Absent = make(map[string]string)
	for _, row := range p.Rows {
		p.Absent[row.Domain] = why
	}
	p.Rows = nil
}

// other returns why the questions cannot be the n released questions of the domain; "" if they may be.
func (d Domain) other(n int) string {
	distinct := make(map[string]bool)
	for _, it := range d.Items {
		distinct[it.Question.Text+"\x00"+it.Reference] = true
	}
	switch {
	case d.Altered != "":
		return fmt.Sprintf("they are about %d released questions of %s, and %s", n, d.Name, d.Altered)
	case len(d.Items) != n:
		return fmt.Sprintf("they are about %d questions, this run asks %d", n, len(d.Items))
	case len(distinct) != n:
		return fmt.Sprintf("they are about %d questions, of these %d repeat an earlier one", n, n-len(distinct))
	}
	return ""
}

// ErrUnknownDomain is wrapped by errors about a wanted domain that a data set does not have.
var ErrUnknownDomain = errors.New("unknown domain")

// Layout describes how a package stores its data sets in a folder. See [Open].
type Layout struct {
	// Files describes the files of such a folder, for error messages.
	Files string
	// Domains are the possible values of LoadOptions.Domains; nil if they depend on the folder.
	Domains []string
	// Judges are all procedures of the data sets, and the default for a data set that lists none.
	Judges []judge.Procedure
	// Recognise reports whether a folder has this layout.
	Recognise func(fs.FS, LoadOptions) bool
	// Load reads the data set.
	Load func(fs.FS, LoadOptions) (*Dataset, error)
}

// LoadOptions select the domains of a data set to load, and the published results to compare a run with.
type LoadOptions struct {
	// Name is the name of the folder, for data sets that contain no name.
	Name string
	// Domains are the wanted domains; empty means all.
	Domains []string
	// K is the number of chunks in a prompt, 0 is the default. Mode is the mode of the reader. OwnPrompt is
	// true unless the prompt is the one of the publication. A published row that depends on one of these is
	// left out if it differs.
	K         int
	Mode      string
	OwnPrompt bool
}

// Open reads the data set of a folder by the first layout that recognises it.
func Open(fsys fs.FS, o LoadOptions, layouts ...Layout) (*Dataset, error) {
	var files []string
	for _, l := range layouts {
		if l.Recognise(fsys, o) {
			set, err := l.Load(fsys, o)
			if err == nil && set.Judges == nil {
				set.Judges = l.Judges
			}
			return set, err
		}
		files = append(files, l.Files)
	}
	return nil, fmt.Errorf("benchmark: no data set here: point to the folder with %s", strings.Join(files, "; or "))
}

// ReadText reads a text file of at most limit bytes. If it is not UTF-8 the error names the line.
func ReadText(fsys fs.FS, name string, limit int64) (string, error) {
	f, err := journal.OpenFile(fsys, name)
	if err != nil {
		return "", err
	}
	defer f.Close() // closing a file that was only read cannot lose data
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading %s: %w", name, err)
	case int64(len(data)) > limit:
		return "", fmt.Errorf("%s is larger than %d MiB; remove it or cut it up", name, limit>>20)
	}
	n := 0
	for line := range bytes.Lines(data) {
		if n++; !utf8.Valid(line) {
			return "", &journal.LineError{File: name, Line: n, Err: errors.New("not valid UTF-8; convert the page")}
		}
	}
	return string(data), nil
}
