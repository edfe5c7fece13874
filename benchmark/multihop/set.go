// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/short"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Name is the name in reports of all data sets of this package together.
const Name = "Multi-hop QA"

// The names of the data sets.
const (
	HotpotQA  = "hotpotqa"
	TwoWiki   = "2wiki"
	MuSiQue   = "musique"
	Medical   = "graphrag-bench-medical"
	Novel     = "graphrag-bench-novel"
	Textbooks = "graphrag-bench-textbooks"
	AnonyRAG  = "anonyrag"
)

// Sets are the names of all data sets, in report order.
func Sets() []string {
	return []string{HotpotQA, TwoWiki, MuSiQue, Medical, Novel, Textbooks, AnonyRAG}
}

// DefaultK is the number of chunks in a prompt: the top-k of the main results of arXiv 2508.19855, Table 1.
const DefaultK = 20

// depth is the largest depth at which papers on these data sets give recall.
const depth = 20

// questionType is a type of questions that occurs in the listed data sets.
type questionType struct {
	key, title, short string
	sets              []string
	form              graphrag.Form
	scheme            short.Scheme
}

// kinds are the types of all data sets except AnonyRAG, in report order.
var kinds = func() []questionType {
	var out []questionType
	add := func(sets []string, form graphrag.Form, s short.Scheme, named ...string) {
		for _, n := range named {
			key, title, _ := strings.Cut(n, "=")
			short, _, _ := strings.Cut(title, " ")
			out = append(out, questionType{key, title, short, sets, form, s})
		}
	}
	hotpot, twoWiki := short.Scheme{Script: short.HotpotQA}, short.Scheme{Script: short.TwoWiki}
	add([]string{HotpotQA}, graphrag.Short, hotpot, "bridge=Bridge", "comparison=Comparison")
	add([]string{TwoWiki}, graphrag.Short, twoWiki,
		"2wiki-compositional=Compositional", "2wiki-inference=Inference", "2wiki-comparison=Comparison of two", "2wiki-bridge-comparison=Bridge comparison")
	add([]string{MuSiQue}, graphrag.Short, short.Scheme{Script: short.MuSiQue}, "2-hop=2-hop", "3-hop=3-hop", "4-hop=4-hop")
	bench := []string{Medical, Novel}
	fact := short.Scheme{Script: short.MRQA, Rouge: true, Statements: true}
	add(bench, graphrag.Sentence, fact, "fact-retrieval=Fact retrieval", "complex-reasoning=Complex reasoning")
	long := short.Scheme{Script: short.MRQA, Rouge: true, Statements: true, Coverage: true}
	add(bench, graphrag.Overview, long, "contextual-summarize=Contextual summary")
	long.Faithful = true
	add(bench, graphrag.Overview, long, "creative-generation=Creative generation")
	books := []string{Textbooks}
	open := short.Scheme{Script: short.MRQA, Graded: true}
	add(books, graphrag.Short, open, "fill-in-blank=Fill-in-blank")
	add(books, graphrag.Short, short.Scheme{Kind: short.One}, "multi-choice=Multi-choice")
	add(books, graphrag.Short, short.Scheme{Kind: short.Selection}, "multi-select=Multi-select")
	add(books, graphrag.Short, short.Scheme{Kind: short.One}, "true-or-false=True-or-false")
	add(books, graphrag.Sentence, open, "open-ended=Open-ended")
	return out
}()

// types returns the types that occur among questions.
func types(items func(func(benchmark.Item) bool)) []benchmark.Type {
	used := make(map[string]bool)
	for it := range items {
		used[it.Type] = true
	}
	var out []benchmark.Type
	for _, k := range kinds {
		if used[k.key] {
			out = append(out, benchmark.Type{
				Key: k.key, Title: k.title, Short: k.short, Plural: strings.ToLower(k.title) + " questions",
				Form: k.form, K: DefaultK, Swept: true,
			})
		}
	}
	return out
}

// Schemes returns how answers are scored, by the key of the type of questions.
func Schemes() map[string]short.Scheme {
	out := make(map[string]short.Scheme)
	for _, k := range kinds {
		out[k.key] = k.scheme
	}
	return out
}

// paper is the source of the published figures, paperJudge the model that judged the answers there.
const (
	paper      = "arXiv 2508.19855"
	paperJudge = "DeepSeek-V3-0324"
)

// publishedCSV holds Tables 1 to 3 in percent as printed. The table of variants gives one mode of each data
// set. The paper's GraphRAG-Bench is the textbooks; it does not say which of Microsoft GraphRAG's searches
// its GraphRAG is.
//
//go:embed published.csv
var publishedCSV string

// publishedQuestions are the numbers of questions behind the published figures: HippoRAG's samples, all
// questions of the textbooks, and all of each language of AnonyRAG (Table 4).
var publishedQuestions = map[string]int{HotpotQA: 1000, TwoWiki: 1000, MuSiQue: 1000, Textbooks: 1018, "anonyrag-chs": 688, "anonyrag-eng": 709}

// Published returns the accuracies of arXiv 2508.19855, Tables 1 to 3, with k chunks in a prompt and in a
// mode, open or reject. [benchmark.Published.Beside] selects the rows that fit a data set.
func Published(k int, mode string) *benchmark.Published {
	rows, err := csv.NewReader(strings.NewReader(publishedCSV)).ReadAll()
	if err != nil {
		panic(err) // the embedded file is valid
	}
	out := &benchmark.Published{}
	for _, row := range rows[1:] { // without the row of headings
		for i := 5; i < len(row); i++ {
			set, in, _ := strings.Cut(rows[0][i], " ")
			percent, err := strconv.ParseFloat(row[i], 64)
			if err != nil || in != mode || row[1] != strconv.Itoa(k) {
				continue // no figure, or the figure of another mode or k
			}
			accuracy := percent / 100
			if first := slices.IndexFunc(out.Rows, func(r benchmark.PublishedRow) bool { return r.System == row[3] && r.Domain == set }); row[0] == "3" && first >= 0 {
				if r := &out.Rows[first]; *r.AvgAccuracy != accuracy {
					r.Note = "Table 3 has " + row[i] + " for " + row[3]
				}
				continue // Table 1 has given the row already
			}
			out.Rows = append(out.Rows, benchmark.PublishedRow{
				Source: paper + ", Table " + row[0], Model: row[2], Judge: paperJudge, System: row[3],
				Domain: set, Questions: publishedQuestions[set], Mode: mode, AvgAccuracy: &accuracy,
			})
		}
	}
	return out
}

// benchFiles returns the possible paths of the questions of a part of GraphRAG-Bench (arXiv 2506.05690): beside
// the corpus, or in the folders of the original repository.
func benchFiles(name string) []string {
	file := name + "_questions.json"
	return []string{file, "Questions/" + file, "Datasets/Questions/" + file}
}

// corpusOf returns the path of the corpus for a file of questions.
func corpusOf(file string) string {
	name := strings.TrimSuffix(path.Base(file), "_questions.json") + ".json"
	if dir := path.Dir(file); path.Base(dir) == "Questions" {
		return path.Join(path.Dir(dir), "Corpus", name)
	}
	return beside(file, name)
}

// benchQuestion is a question of GraphRAG-Bench.
type benchQuestion struct {
	ID       string `json:"id"`
	Source   string `json:"source"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	Type     string `json:"question_type"`
}

// benchTypes maps the names of types in the files to keys.
var benchTypes = map[string]string{
	"Fact Retrieval": "fact-retrieval", "Complex Reasoning": "complex-reasoning",
	"Contextual Summarize": "contextual-summarize", "Creative Generation": "creative-generation",
}

// loadBench makes a domain of each text and its questions. A text is one document: there are no gold pages.
func loadBench(fsys fs.FS, set, file string) (loadedSet, error) {
	var names []string
	bodies := make(map[string]string)
	corpus := corpusOf(file)
	err := records(fsys, corpus, func(_ int, t struct { // one novel or the guideline
		Name string  `json:"corpus_name"`
		Text *string `json:"context"`
	}) error {
		switch _, known := bodies[t.Name]; {
		case t.Text == nil || t.Name == "":
			return errors.New(`a text without "corpus_name" or "context"`)
		case known:
			return fmt.Errorf("two texts are named %.80q", t.Name)
		}
		names, bodies[t.Name] = append(names, t.Name), *t.Text
		return nil
	})
	if err != nil {
		return loadedSet{}, err
	}
	items := make(map[string][]benchmark.Item)
	seen := make(map[string]bool)
	err = records(fsys, file, func(_ int, q benchQuestion) error {
		it := benchmark.Item{
			Type: cmp.Or(benchTypes[q.Type], q.Type), Question: graphrag.Question{ID: q.ID, Text: q.Question}, Reference: q.Answer,
		}
		if _, known := bodies[q.Source]; !known {
			return fmt.Errorf("the question is about %.80q, which %s does not have", q.Source, corpus)
		}
		if err := checkItem(set, it, seen); err != nil {
			return err
		}
		items[q.Source] = append(items[q.Source], it)
		return nil
	})
	if err != nil {
		return loadedSet{}, err
	}
	var p loadedSet
	for _, name := range names {
		full := set
		if len(names) > 1 {
			full += "/" + name
		}
		p.domains = append(p.domains, benchmark.NewDomain(full, []graphrag.Document{{ID: name, Title: name, Text: bodies[name]}}, items[name]))
	}
	if len(seen) == 0 {
		return loadedSet{}, fmt.Errorf("%s has no question", file)
	}
	return p, nil
}

// loadAnonyRAG makes a domain of each language: anonyrag-chs and anonyrag-eng.
func loadAnonyRAG(fsys fs.FS, set, file string) (loadedSet, error) {
	folder, err := fs.Sub(fsys, path.Dir(file))
	if err != nil {
		return loadedSet{}, err
	}
	hidden, err := anonyrag.Load(folder)
	if err != nil {
		return loadedSet{}, err
	}
	for i := range hidden.Domains {
		hidden.Domains[i].Name = set + "-" + hidden.Domains[i].Name
	}
	return loadedSet{hidden.Domains, hidden.Types, hidden.Notes}, nil
}

// judges returns the procedures for the types of this package and for the given types, whose names are hidden.
func judges(hidden []benchmark.Type) []judge.Procedure {
	own := short.Procedure(Schemes())
	plain := own.New
	if len(hidden) > 0 {
		own.New = func(p judge.Parts) (judge.Judge, error) {
			j, err := plain(p)
			if err != nil {
				return nil, err
			}
			other, err := anonyrag.New(anonyrag.Options{Model: p.Model})
			return byType{j, other, hidden}, err
		}
	}
	return []judge.Procedure{judge.Entailment, own, short.LiveRAGProcedure}
}

// byType judges with another judge the questions of types with hidden names.
type byType struct {
	judge.Judge
	hidden *anonyrag.Judge
	types  []benchmark.Type // types with hidden names
}

// Name implements [judge.Judge].
func (j byType) Name() string { return j.Judge.Name() + "+" + j.hidden.Name() }

// Info describes the judge of the types without hidden names.
func (j byType) Info() judge.Info { return judge.InfoOf(j.Judge) }

// Fact implements [judge.Judge].
func (j byType) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	if slices.ContainsFunc(j.types, func(t benchmark.Type) bool { return t.Key == c.Type }) {
		return j.hidden.Fact(ctx, c)
	}
	return j.Judge.Fact(ctx, c)
}

func textKey(title, text string) string {
	return strings.Join(strings.Fields(title), " ") + "\x00" + strings.Join(strings.Fields(text), "")
}

// addPassage appends a passage unless it is known. The ID is its position in the corpus.
func (r *hopReader) addPassage(title, text string) {
	key := textKey(title, text)
	if _, known := r.byText[key]; known {
		r.repeated++
		return
	}
	id := fmt.Sprintf("%06d", len(r.docs)+r.repeated)
	r.byText[key] = id
	r.byTitle[title] = append(r.byTitle[title], id)
	r.docs = append(r.docs, graphrag.Document{ID: id, Title: title, Text: text})
}

// unit returns the unit of evidence of a paragraph: the passage with its title and text, or else all with its
// title.
func (r *hopReader) unit(title, text string) benchmark.Unit {
	if id, ok := r.byText[textKey(title, text)]; ok {
		return benchmark.Unit{id}
	}
	return r.byTitle[title]
}

// readCorpus reads a corpus: objects with a title and a text, or one object of titles with lists of sentences.
func (r *hopReader) readCorpus(fsys fs.FS, file, joiner string) error {
	text, err := benchmark.ReadText(fsys, file, journal.MaxFile)
	switch {
	case err != nil:
		return err
	case firstList.MatchString(text):
		err = r.readTitled(file, strings.TrimPrefix(text, "\ufeff"), joiner)
	default:
		err = records(fsys, file, func(_ int, v struct {
			Title string  `json:"title"`
			Text  *string `json:"text"`
		}) error {
			if v.Text == nil {
				return errors.New(`a passage without "text"`)
			}
			r.addPassage(v.Title, *v.Text)
			return nil
		})
	}
	if err == nil && len(r.docs) == 0 {
		err = fmt.Errorf("%s has no passage", file)
	}
	return err
}

// firstList matches the beginning of an object whose first value is a list.
var firstList = regexp.MustCompile(`^(?:\x{feff})?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[`)

func (r *hopReader) readTitled(file, text, joiner string) error {
	dec := json.NewDecoder(strings.NewReader(text))
	n := 0
	fail := func(err error) error { return fmt.Errorf("%s: title %d: %w", file, n, err) }
	if _, err := dec.Token(); err != nil { // the opening brace
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
			return fail(errors.New("the text is not valid UTF-8"))
		case seen[title]:
			return fail(fmt.Errorf("two passages have the title %.80q", title))
		}
		seen[title] = true
		var sentences []string
		if err := dec.Decode(&sentences); err != nil {
			return fail(err)
		}
		r.addPassage(title, strings.Join(sentences, joiner))
	}
	if _, err := dec.Token(); err != nil {
		return fail(err)
	}
	return nil
}

// bookFiles are the files of questions about textbooks (arXiv 2506.02404), each of one type, with the
// instruction that is added to the questions of the type.
var bookFiles = []struct{ file, kind, ask string }{
	{"FB.jsonl", "fill-in-blank", ""},
	{"MC.jsonl", "multi-choice", "Answer with the letter of the one choice that is right."},
	{"MS.jsonl", "multi-select", "Answer with the letters of all choices that are right."},
	{"TF.jsonl", "true-or-false", "Answer with True or False."},
	{"OE.jsonl", "open-ended", ""},
}

// bookQuestion is a question about textbooks.
type bookQuestion struct {
	Question string    `json:"Question"`
	Answer   truthText `json:"Answer"`
	Choices  choices   `json:"Choices"`
}

// truthText is a text. JSON's true and false become "True" and "False".
type truthText string

func (w *truthText) UnmarshalJSON(data []byte) error {
	var truth bool
	if json.Unmarshal(data, &truth) == nil && string(data) != "null" {
		*w = "False"
		if truth {
			*w = "True"
		}
		return nil
	}
	return json.Unmarshal(data, (*string)(w))
}

// choices are the options of a question: in JSON a list, or an object with the letters as keys.
type choices []string

func (c *choices) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		for i, text := range list {
			*c = append(*c, labelled(string(rune('A'+i)), text))
		}
		return nil
	}
	var byLetter map[string]string
	if err := json.Unmarshal(data, &byLetter); err != nil {
		return errors.New(`"Choices" is neither a list nor an object of letters`)
	}
	for _, letter := range slices.Sorted(maps.Keys(byLetter)) {
		*c = append(*c, labelled(letter, byLetter[letter]))
	}
	return nil
}

// labelled adds the letter to an option that does not begin with it.
func labelled(letter, text string) string {
	if strings.HasPrefix(text, letter+".") || strings.HasPrefix(text, letter+")") {
		return text
	}
	return letter + ". " + text
}

// loadTextbooks makes one domain of all textbooks, since the data set does not name the book of a question.
func loadTextbooks(fsys fs.FS, set, file string) (loadedSet, error) {
	books, err := readBooks(fsys, path.Dir(path.Dir(file)))
	if err != nil {
		return loadedSet{}, err
	}
	var items []benchmark.Item
	var missing []string
	for _, b := range bookFiles {
		seen := make(map[string]bool)
		name := beside(file, b.file)
		if _, err := fs.Stat(fsys, name); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, b.file)
			continue
		}
		err := records(fsys, name, func(line int, q bookQuestion) error {
			text := strings.TrimSpace(q.Question)
			if text == "" {
				return errors.New("the question is empty")
			}
			if strings.HasPrefix(b.kind, "multi-") && len(q.Choices) == 0 {
				return errors.New(`the question has no "Choices"`)
			}
			for _, more := range append(slices.Clone(q.Choices), b.ask) {
				if more != "" {
					text += "\n" + more
				}
			}
			it := benchmark.Item{
				Type: b.kind, Question: graphrag.Question{ID: fmt.Sprintf("%s/%d", strings.TrimSuffix(b.file, ".jsonl"), line), Text: text},
				Reference: string(q.Answer),
			}
			if err := checkItem(set, it, seen); err != nil {
				return err
			}
			items = append(items, it)
			return nil
		})
		if err != nil {
			return loadedSet{}, err
		}
	}
	p := loadedSet{domains: []benchmark.Domain{benchmark.NewDomain(set, books, items)}}
	if len(items) == 0 {
		return loadedSet{}, fmt.Errorf("%s and the other files in its folder have no question", file)
	}
	if len(missing) > 0 {
		p.notes = append(p.notes, "files of questions that are not there: "+strings.Join(missing, ", "))
	}
	return p, nil
}

// readBooks reads the Markdown files of the corpus in the order of their names.
func readBooks(fsys fs.FS, root string) ([]graphrag.Document, error) {
	for _, name := range []string{"Corpus", "corpus"} {
		dir := path.Join(root, name)
		if _, err := fs.Stat(fsys, dir); err != nil {
			continue
		}
		var out []graphrag.Document
		err := fs.WalkDir(fsys, dir, func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(strings.ToLower(file), ".md") {
				return err
			}
			text, err := benchmark.ReadText(fsys, file, MaxRecord)
			if err == nil {
				id := strings.TrimPrefix(file, dir+"/")
				out = append(out, graphrag.Document{ID: id, Title: strings.TrimSuffix(path.Base(file), path.Ext(file)), Text: text})
			}
			return err
		})
		if err == nil && len(out) == 0 {
			err = fmt.Errorf("%s has no .md file", dir)
		}
		return out, err
	}
	return nil, fmt.Errorf("the folder Corpus with the textbooks is missing in %s", root)
}
