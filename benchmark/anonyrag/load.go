// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// MaxRecord is the largest passage or question that is read, in bytes.
const MaxRecord = 16 << 20

// Load reads a data set from a folder: for each language a file of passages and one of questions, JSON arrays
// or lines, such as eng_corpus.json and eng_qa.json, or several parts: eng_corpus-00000-of-00002.jsonl.
// Convert Parquet, the format on Hugging Face, with buildbench -parquet, which keeps its reader out of other
// programs. A name contains the language (chs, zh, eng, en) and the content of the file (corpus or chunks; qa
// or questions).
//
// A passage is a text, or an object with a "text" ("context", "content", "chunk"), and perhaps an "id" and a
// "title". A question is an object with "question" ("query") and "answer" ("ground_truth", "gold"), and
// perhaps "type" (choice or objective, reversion or subjective), "options", "hops" or "difficulty" (simple,
// complex), "evidence" (IDs of passages), "aliases" and "book". Without a type the answer determines the
// format. Problems name file and line and are reported together.
func Load(fsys fs.FS) (*benchmark.Dataset, error) {
	languages, err := find(fsys)
	if err != nil {
		return nil, fmt.Errorf("anonyrag: reading the data set: %w", err)
	}
	var parts []Language
	var notes []string
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(languages)) {
		l, lost, err := read(fsys, name, languages[name])
		problems = append(problems, err)
		parts = append(parts, l)
		if lost > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d pieces of evidence are no passage of the corpus and were left out", name, lost))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("anonyrag: reading the data set: %w", err)
	}
	set := Dataset(Name, parts...)
	set.Notes = append(set.Notes, notes...)
	return set, nil
}

// languageFiles are the files of a language by content, "corpus" or "qa". Several are parts of one table, in
// order.
type languageFiles map[string][]string

// find finds the files of each language by their names.
func find(fsys fs.FS) (map[string]languageFiles, error) {
	var names []string
	for _, pattern := range []string{"*.json", "*.jsonl"} {
		found, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	out := make(map[string]languageFiles)
	for _, name := range names {
		base := strings.TrimSuffix(name, path.Ext(name))
		language, what := "", ""
		for _, word := range strings.FieldsFunc(strings.ToLower(base), func(r rune) bool { return !unicode.IsLetter(r) }) {
			switch word {
			case "chs", "zh", "chinese":
				language = "chs"
			case "eng", "en", "english":
				language = "eng"
			case "corpus", "chunk", "chunks", "passages":
				what = "corpus"
			case "qa", "questions":
				what = "qa"
			}
		}
		if language == "" || what == "" {
			continue
		}
		if out[language] == nil {
			out[language] = make(languageFiles)
		}
		of := out[language][what]
		if len(of) > 0 && partSuffix.ReplaceAllString(of[0], "") != partSuffix.ReplaceAllString(name, "") {
			return nil, fmt.Errorf("%s and %s both look like the %s of %s: remove one", of[0], name, what, language)
		}
		out[language][what] = append(of, name)
	}
	for language, f := range out {
		if len(f) < 2 {
			return nil, fmt.Errorf("%s has only the file %s: want the passages, such as %[1]s_corpus.json, and the questions, such as %[1]s_qa.json", language, slices.Concat(f["corpus"], f["qa"])[0])
		}
	}
	if len(out) == 0 {
		for _, pattern := range []string{"*.parquet", "*/*.parquet"} {
			if found, err := fs.Glob(fsys, pattern); err == nil && len(found) > 0 {
				return nil, fmt.Errorf("%s: Parquet is not read here: write it as JSON lines with buildbench -parquet FOLDER -out OTHER, and take that", found[0])
			}
		}
		return nil, errors.New("no data set here: want files such as eng_corpus.json and eng_qa.json, or chs_corpus.json and chs_qa.json")
	}
	return out, nil
}

// partSuffix matches the number in the name of a part of a table.
var partSuffix = regexp.MustCompile(`-[0-9]+-of-[0-9]+\.jsonl$`)

// each calls take with each record of the files.
func each(fsys fs.FS, names []string, take func(line int, raw json.RawMessage) error) (err error) {
	for _, name := range names {
		err = errors.Join(err, journal.EachLine(fsys, name, MaxRecord, take))
	}
	return err
}

// object is a record with any keys.
type object map[string]json.RawMessage

// read reads the files of a language. lost is the number of evidence IDs that are not in the corpus.
func read(fsys fs.FS, name string, f languageFiles) (l Language, lost int, err error) {
	l.Name = name
	known := make(map[string]bool)
	n := 0
	err1 := each(fsys, f["corpus"], func(_ int, raw json.RawMessage) error {
		n++
		p, err := readPassage(raw, fmt.Sprintf("%s-%05d", name, n))
		switch {
		case err != nil:
			return err
		case known[p.ID]:
			return fmt.Errorf("an earlier passage has the ID %q", p.ID)
		}
		known[p.ID] = true
		l.Corpus = append(l.Corpus, p)
		return nil
	})
	err2 := each(fsys, f["qa"], func(_ int, raw json.RawMessage) error {
		q, err := readQA(raw)
		if err == nil {
			l.QA = append(l.QA, q)
		}
		return err
	})
	if err1 == nil && n == 0 {
		err1 = fmt.Errorf("%s has no passage", f["corpus"][0])
	}
	if err2 == nil && len(l.QA) == 0 {
		err2 = fmt.Errorf("%s has no question", f["qa"][0])
	}
	for _, q := range l.QA {
		for _, id := range q.Evidence {
			if !known[id] {
				lost++
			}
		}
	}
	return l, lost, errors.Join(err1, err2)
}

func readPassage(raw json.RawMessage, id string) (Passage, error) {
	p := Passage{ID: id}
	if json.Unmarshal(raw, &p.Text) != nil {
		o, err := readObject(raw)
		if err != nil {
			return p, err
		}
		p.Text, p.Title = o.text("text", "context", "content", "chunk"), o.text("title")
		if given := o.text("id", "chunk_id", "idx"); given != "" {
			p.ID = given
		}
	}
	if strings.TrimSpace(p.Text) == "" {
		return p, errors.New(`no "text"`)
	}
	return p, nil
}

func readObject(raw json.RawMessage) (object, error) {
	var o object
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return nil, errors.New("not an object")
	}
	return o, nil
}

// text returns the value of the first of the keys that is present: a text, or a number as text.
func (o object) text(keys ...string) string {
	for _, key := range keys {
		var s string
		var n json.Number
		switch raw, ok := o[key]; {
		case !ok:
		case json.Unmarshal(raw, &s) == nil && s != "":
			return s
		case json.Unmarshal(raw, &n) == nil && n != "":
			return n.String()
		}
	}
	return ""
}

// list returns a list of texts, or one text as a list; it is empty without the key.
func (o object) list(key string) ([]string, error) {
	raw, ok := o[key]
	if !ok || string(raw) == "null" {
		return nil, nil
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	if one := o.text(key); one != "" {
		return []string{one}, nil
	}
	return nil, fmt.Errorf("%q is not a list of texts", key)
}

func readQA(raw json.RawMessage) (QA, error) {
	o, err := readObject(raw)
	if err != nil {
		return QA{}, err
	}
	q := QA{Question: o.text("question", "query"), Answer: o.text("answer", "ground_truth", "gold"), Book: o.text("book"), Made: o.text("made")}
	var errs [4]error
	q.Options, errs[0] = o.list("options")
	q.Aliases, errs[1] = o.list("aliases")
	q.Evidence, errs[2] = o.list("evidence")
	q.Hops, q.Class, errs[3] = o.hops()
	if err := errors.Join(errs[:]...); err != nil {
		return q, err
	}
	if strings.TrimSpace(q.Question) == "" || strings.TrimSpace(q.Answer) == "" {
		return q, errors.New(`want a "question" and an "answer"`)
	}
	q.Format, err = formatOf(o.text("type", "question_type", "format"), q.Answer)
	if err != nil {
		return q, err
	}
	return q, q.check()
}

// hops reads the difficulty of a question.
func (o object) hops() (hops int, class string, err error) {
	if s := o.text("hops", "hop"); s != "" {
		if hops, err = strconv.Atoi(s); err != nil || hops < 1 {
			return 0, "", fmt.Errorf(`"hops" is %q, want a number from 1 on`, s)
		}
		return hops, "", nil
	}
	switch s := strings.ToLower(o.text("difficulty", "level")); s {
	case "":
	case Simple, Complex:
		return 0, s, nil
	default:
		return 0, "", fmt.Errorf(`"difficulty" is %q, want %s or %s`, s, Simple, Complex)
	}
	return 0, "", nil
}

// formatOf determines the format by its name, or by the answer.
func formatOf(name, answer string) (string, error) {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "choice"), name == "objective":
		return Choice, nil
	case strings.Contains(name, "reversion"), name == "subjective":
		return Reversion, nil
	case name != "":
		return "", fmt.Errorf("the type %q is none of choice, objective, reversion, subjective", name)
	case len(ParseReversion(answer)) > 0:
		return Reversion, nil
	}
	if _, ok := ParseChoice(answer); ok {
		return Choice, nil
	}
	return "", fmt.Errorf("no type, and the answer %.60q is neither a letter nor a list of placeholders with their names", answer)
}

// check reports a gold answer that no answer could match.
func (q QA) check() error {
	switch q.Format {
	case Reversion:
		if len(GoldOf(q.Answer)) == 0 {
			return fmt.Errorf("the answer %.60q names no placeholder", q.Answer)
		}
	case Choice:
		letter, ok := ParseChoice(q.Answer)
		if !ok {
			return fmt.Errorf("the answer %.60q is no letter from A to D", q.Answer)
		}
		if n := len(q.Options); n > 0 && (n > 4 || int(letter[0]-'A') >= n) {
			return fmt.Errorf("the answer is %s, but the options are %d", letter, n)
		}
	}
	return nil
}

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
	// Options are the texts of the options A to D; empty if the question contains them.
	Options []string `json:"options,omitempty"`
	// Answer is a letter, or a line PERSON#1——name for each placeholder; Aliases are lines with other names.
	Answer  string   `json:"answer"`
	Aliases []string `json:"aliases,omitempty"`
	// Hops is the number of facts that lead to the answer. With 0 and no Class the difficulty is unknown.
	Hops  int    `json:"hops,omitempty"`
	Class string `json:"difficulty,omitempty"`
	// Evidence are the IDs of the passages that hold the answer.
	Evidence []string `json:"evidence,omitempty"`
	Book     string   `json:"book,omitempty"`
	// Made is the origin of a question that is not of the original data set: "hand" or "model".
	Made string `json:"made,omitempty"`
}

// The classes of questions by hops.
const (
	Simple  = "simple"
	Complex = "complex"
)

// kind returns the key of the question's type: its format, and its class if the class is known.
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

// chinese reports whether a part of the data set is Chinese, by its name.
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

// Dataset makes a data set of languages, each a domain. It has the types of its questions, and notes that count
// the questions by book and type as in the paper's Table 4.
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
	masked := 0 // number of questions with placeholders
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
